import { describe, expect, it, vi } from 'vitest'
import { ServiceError } from '../../core/errors.ts'
import type { LongPrompt } from '../../protocol/model-runner.ts'
import { TokenizingQueue } from './tokenizing-queue.ts'

const MIB = 1024 * 1024
const NO_TOKENS = new Int32Array(0)

/** A queue whose prompts take as many slices as they have letters; `next` lets one slice end. */
function createQueue() {
  const slices: string[] = []
  const onBroken = vi.fn()
  const waiting: { end: () => void; fail: (error: Error) => void }[] = []
  const begin = (prompt: LongPrompt) => {
    let left = 'pieces' in prompt ? prompt.pieces.join('') : ''
    return {
      advance: async () => {
        slices.push(left.charAt(0))
        await new Promise<void>((resolve, reject) => waiting.push({ end: resolve, fail: reject }))
        left = left.slice(1)
        if (left === '!') return new ServiceError('prompt_empty')
        return left === '' ? NO_TOKENS : null
      },
      drop: () => void slices.push(`drop ${left}`),
    }
  }
  const queue = new TokenizingQueue({ begin, onSlice: () => {}, onBroken })
  const turn = () => new Promise((resolve) => void setImmediate(resolve))
  const next = async (times = 1) => {
    for (let i = 0; i < times; i++) {
      waiting.shift()?.end()
      await turn()
    }
  }
  const add = (accountId: string, texts: readonly string[], bytes = 1) => {
    const onDone = vi.fn()
    const onDropped = vi.fn()
    const onFailed = vi.fn()
    const prompts = texts.map((text) => ({ pieces: [text], addSpecial: true }))
    const drop = queue.add({ accountId, bytes, prompts, onDone, onDropped, onFailed })
    return { onDone, onDropped, onFailed, drop }
  }
  return { add, next, slices, queue, onBroken, fail: (error: Error) => waiting.shift()?.fail(error), turn }
}

describe('the tokenizing queue', () => {
  it('works for each account in turn, and for the requests of one in their order', async () => {
    const { add, next, slices } = createQueue()
    add('a', ['123', '4'])
    add('a', ['56'])
    add('b', ['xy'])

    await next(8)

    expect(slices.join('')).toBe('1x2y3456')
  })

  it('gives one outcome for each prompt, tokens or why there are none', async () => {
    const { add, next } = createQueue()
    const { onDone, onDropped } = add('a', ['1', '2!', '3'])

    await next(3)

    expect(onDone).toHaveBeenCalledExactlyOnceWith([
      NO_TOKENS,
      expect.objectContaining({ code: 'prompt_empty' }),
      NO_TOKENS,
    ])
    expect(onDropped).not.toHaveBeenCalled()
  })

  it('drops what waits at once, and what is being worked on after the running slice', async () => {
    const { add, next, slices } = createQueue()
    const running = add('a', ['123'])
    const waiting = add('a', ['4'])

    waiting.drop()
    running.drop()
    running.drop()

    expect(waiting.onDropped).toHaveBeenCalledOnce()
    expect(running.onDropped).not.toHaveBeenCalled()
    await next()
    expect(running.onDropped).toHaveBeenCalledOnce()
    expect(slices).toEqual(['1', 'drop 23'])
    expect(running.onDone).not.toHaveBeenCalled()
  })

  it('refuses what is too much for one account, and in all', () => {
    const { add } = createQueue()
    const first = add('a', ['1'], 16 * MIB)
    expect(() => add('a', ['1'], 1)).toThrow(
      'at most 16777216 bytes of one account may, 16777216 do, and this request brings 1.',
    )
    for (const account of ['b', 'c', 'd']) add(account, ['1'], 16 * MIB)
    expect(() => add('e', ['1'], 1)).toThrow('at most 67108864 bytes in all may')
    add('f', ['1'], 0).drop()
    first.drop()
  })

  it('has room again when a request has been tokenized or dropped', async () => {
    const { add, next } = createQueue()
    add('a', ['1'], 16 * MIB)
    await next()
    const second = add('a', ['12'], 16 * MIB)
    second.drop()
    await next()
    add('a', ['1'], 16 * MIB)
  })

  it('reports once that slices cannot be computed any more', async () => {
    const { add, fail, turn, onBroken } = createQueue()
    const { onDone } = add('a', ['12'])
    fail(new Error('the thread died'))
    await turn()
    expect(onBroken).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ message: 'the thread died' }))
    expect(onDone).not.toHaveBeenCalled()
  })

  it('does nothing when a task is dropped that has ended', async () => {
    const { add, next } = createQueue()
    const { drop, onDone, onDropped } = add('a', ['1'])
    await next()

    drop()

    expect(onDone).toHaveBeenCalledOnce()
    expect(onDropped).not.toHaveBeenCalled()
  })

  it('fails the tasks that are left when it is closed, the running one too', async () => {
    const { add, next, queue } = createQueue()
    const running = add('a', ['12'])
    const waiting = add('b', ['3'])
    const error = new ServiceError('engine_failed')

    queue.close(error)
    running.drop()
    waiting.drop()
    await next(2)

    for (const task of [running, waiting]) {
      expect(task.onFailed.mock.calls).toEqual([[error]])
      expect(task.onDone).not.toHaveBeenCalled()
      expect(task.onDropped).not.toHaveBeenCalled()
    }
  })
})
