import { describe, expect, it, vi } from 'vitest'
import { systemClock } from '../../../core/clock.ts'
import { ServiceError } from '../../../core/errors.ts'
import { withResolvers } from '../../../core/concurrency/with-resolvers.ts'
import type { EmbeddingRunner } from '../../../protocol/embedding-runner.ts'
import type { EngineEvent } from '../../../protocol/engine-events.ts'
import type { ModelInfo } from '../../../protocol/model-info.ts'
import { EmbeddingLoop } from './embedding-loop.ts'

const INFO = { maxSeqLen: 10, maxBatchSize: 3, embedding: { pooling: 'mean' } } as ModelInfo

/** Each word of a text is a token; its vector holds the count of them. */
function createLoop(execute?: EmbeddingRunner['execute']) {
  const batches: number[][] = []
  const onBroken = vi.fn<(error: ServiceError) => void>()
  const runner: EmbeddingRunner = {
    info: () => INFO,
    maxBatchTokens: 8,
    maxTokenBytes: Infinity,
    tokenize: ({ pieces }) => Int32Array.from(pieces.join('').split(' '), Number),
    beginTokenizing: () => ({ advance: async () => Int32Array.of(1), drop: () => {} }),
    execute:
      execute ??
      ((texts) => {
        batches.push(texts.map(({ length }) => length))
        return texts.map(({ length }) => Float32Array.of(length))
      }),
    close: () => {},
  }
  const loop = new EmbeddingLoop({ runner, schedulePolicy: 'priority', clock: systemClock, onBroken })
  const submit = (sizes: readonly number[], accountId = 'a') => {
    const events: EngineEvent[] = []
    const { promise, resolve, reject } = withResolvers<readonly EngineEvent[]>()
    const handle = loop.submit(
      {
        reqId: 'r',
        place: { priorityClass: 0, priority: 0, accountId },
        prompts: sizes.map((size) => ({ pieces: [Array(size).fill('1').join(' ')], addSpecial: true })),
      },
      {
        deliver: (more) => void events.push(...more),
        fail: reject,
        end: () => resolve(events),
      },
    )
    return { handle, done: promise, events }
  }
  return { loop, submit, batches, onBroken }
}

function vectorsOf(events: readonly EngineEvent[]): (number | string)[] {
  const vectors: (number | string)[] = []
  for (const event of events) {
    if (event.type !== 'sequence-end') continue
    const bytes = new Uint8Array(Buffer.from(event.vector ?? '', 'base64'))
    vectors[event.index] = event.error?.code ?? new Float32Array(bytes.buffer)[0] ?? 'none'
  }
  return vectors
}

describe('the embedding loop', () => {
  it('gives each text its vector, in batches that are full of tokens or of texts', async () => {
    const { submit, batches } = createLoop()

    const events = await submit([3, 5, 1, 1, 1, 1, 10]).done

    expect(vectorsOf(events)).toEqual([3, 5, 1, 1, 1, 1, 10])
    expect(events.filter(({ type }) => type === 'sequence-start')).toHaveLength(7)
    expect(batches).toEqual([[3, 5], [1, 1, 1], [1], [10]])
  })

  it('computes the texts of concurrent requests together', async () => {
    const { submit, batches } = createLoop()

    await Promise.all([submit([2]).done, submit([3]).done, submit([1], 'b').done])

    expect(batches).toHaveLength(1)
  })

  it('lets another account in before a large request is done', async () => {
    const { submit, batches } = createLoop()
    const large = submit(Array<number>(60).fill(8))

    await submit([1], 'b').done

    expect(batches.length).toBeLessThan(10)
    expect(vectorsOf(await large.done)).toHaveLength(60)
  })

  it('ends a text that is too long with an error', async () => {
    const { submit } = createLoop()

    const events = await submit([1, 11]).done

    expect(vectorsOf(events)).toEqual([1, 'context_length_exceeded'])
  })

  it('computes nothing more of a request that was aborted', async () => {
    const { submit, batches } = createLoop()
    const { handle, done } = submit(Array<number>(50).fill(8))
    await expect.poll(() => batches.length).toBeGreaterThan(0)

    handle.abort()
    await done
    const computed = batches.length
    await submit([1]).done

    expect(batches.length).toBe(computed + 1)
  })

  it('can be aborted while its texts are tokenized', async () => {
    const { submit, batches } = createLoop()
    const { handle, done } = submit([1, 1])

    handle.abort()

    expect(await done).toEqual([])
    expect(batches).toEqual([])
  })

  it('is broken by a batch that cannot be computed, and fails what is open', async () => {
    const { loop, submit, onBroken } = createLoop(() => {
      throw new Error('no')
    })
    const { done } = submit([1])
    await expect.poll(() => onBroken.mock.calls.length).toBe(1)

    loop.stop(new ServiceError('engine_failed'))

    await expect(done).rejects.toMatchObject({ code: 'engine_failed' })
    expect(() => submit([1])).toThrow('engine')
  })
})
