import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import type { ServiceError } from '../../core/errors.ts'
import type { ModelInfo } from '../../protocol/model-info.ts'
import type { Runner } from '../../protocol/model-runner.ts'
import { PromptTokenizer } from './prompt-tokenizer.ts'

const KIB = 1024

/** One token for each byte of a text. `elsewhere` counts the texts that are not tokenized in this thread. */
function createTokenizer(maxSeqLen: number | null = null) {
  let elsewhere = 0
  const runner: Runner = {
    info: () => ({ maxSeqLen }) as ModelInfo,
    maxTokenBytes: 1,
    tokenize: ({ pieces }) => new Int32Array(pieces.join('').length),
    beginTokenizing: () => {
      elsewhere++
      return { advance: async () => Int32Array.of(1), drop: () => {} }
    },
    close: () => {},
  }
  const tokenizer = new PromptTokenizer({ runner, onSlice: () => {}, onBroken: () => {} })
  const add = (sizes: readonly number[]) => {
    const onDone = vi.fn<(outcomes: readonly (Int32Array | ServiceError)[]) => void>()
    const prompts = sizes.map((size) => ({ pieces: ['a'.repeat(size)], addSpecial: true }))
    tokenizer.add({ accountId: 'a', prompts, onDone, onDropped: () => {}, onFailed: () => {} })
    return onDone
  }
  return { add, elsewhere: () => elsewhere }
}

describe('the prompt tokenizer', () => {
  it('tokenizes a short request at once', () => {
    const { add } = createTokenizer()

    expect(add([8 * KIB])).toHaveBeenCalledOnce()
  })

  it('tokenizes the short texts of a large request in its thread, 8 KiB in a turn of the event loop', async () => {
    const { add, elsewhere } = createTokenizer()
    const onDone = add(Array<number>(32).fill(KIB))

    for (let turn = 0; turn < 3; turn++) await nextTurn()
    const isDoneEarly = onDone.mock.calls.length > 0
    await expect.poll(() => onDone.mock.calls.length).toBe(1)

    expect(isDoneEarly).toBe(false)
    expect(onDone.mock.calls[0]?.[0]).toHaveLength(32)
    expect(elsewhere()).toBe(0)
  })

  it('leaves room for a short request beside a large one', async () => {
    const { add } = createTokenizer()
    add(Array<number>(32).fill(KIB))
    await Promise.resolve()

    expect(add([8 * KIB])).toHaveBeenCalledOnce()
  })

  it('tokenizes a long text elsewhere, and refuses one that cannot fit unread', async () => {
    const { add, elsewhere } = createTokenizer(10 * KIB)
    const onDone = add([9 * KIB, 11 * KIB])
    await expect.poll(() => onDone.mock.calls.length).toBe(1)

    const params = { given: `at least ${11 * KIB}`, max: 10 * KIB }
    expect(onDone.mock.calls[0]?.[0]).toMatchObject([
      Int32Array.of(1),
      { code: 'context_length_exceeded', params },
    ])
    expect(elsewhere()).toBe(1)
  })
})
