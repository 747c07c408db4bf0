/** A KV cache that all slots share, smaller than what runs in them comes to: texts go on as if there were room for all. */
import { describe, expect, it } from 'vitest'
import type { SequenceOptions } from '../../../src/protocol/engine.ts'
import { GREEDY } from '../../../src/scheduler/sequence.ts'
import { type SmallLlama, openSmallLlama } from '../../support/engines/small-llama.ts'
import { engineRequest, runRequest, type SequenceResult } from '../../support/engines/engine-requests.ts'
import { shared, whenUnused } from '../../support/shared.ts'

const SLOTS = 4
const TIGHT = 256
/** One slot less than all need at most, so that they share it too. */
const AMPLE = 3 * 256
const DRAWN = { ...GREEDY, temperature: 0.9, topK: 40, topP: 0.95 }
const PENALTIES = { repetitionPenalty: 1.2, presencePenalty: 0.4, frequencyPenalty: 0.3 }
const NEVER_ENDS = { stopTokenIds: [], ignoresEndTokens: true, minTokens: 0 }
const TEXTS: readonly (readonly [prompt: string, options: Partial<SequenceOptions>])[] = [
  ['Once upon a time', {}],
  ['One rainy day, Mira', { sampling: { ...DRAWN, seed: 11 } }],
  ['Tom had a red ball. '.repeat(12), { sampling: { ...GREEDY, ...PENALTIES } }],
  ['Rosa is 29 years old and', { stopStrings: [' and then', 'e. T'] }],
  ['1, 2, 3,', { sampling: { ...DRAWN, ...PENALTIES, seed: 12 } }],
  ['The capital of', {}],
  ['Lily went to the park with her mom. '.repeat(8), {}],
  ['Hello', { sampling: { ...DRAWN, seed: 13 }, stopStrings: ['never said'] }],
]

function openShared(kvCacheTokens: number, prefixCacheBytes = 0): () => SmallLlama {
  return shared(async () => {
    const sizes = { maxBatchSize: SLOTS, maxSeqLen: 256, kvCacheTokens, prefixCacheBytes }
    const model = await openSmallLlama(sizes)
    whenUnused(() => model.close())
    return model
  })
}

const preemptionsOf = ({ engine }: SmallLlama): number => engine.status().preemptions ?? 0

async function continueAll({ engine }: SmallLlama): Promise<SequenceResult[]> {
  const requests = TEXTS.map(([prompt, options]) =>
    runRequest(engine, engineRequest(prompt, { maxNewTokens: 110, endRules: NEVER_ENDS, ...options })),
  )
  return (await Promise.all(requests)).flat()
}

describe('a KV cache that all slots share', () => {
  const ample = openShared(AMPLE)
  const expected = shared(() => continueAll(ample()))

  it('has the tokens that are configured, for sequences that may be as long', () => {
    expect(ample().engine.info()).toMatchObject({ kvCacheTokens: AMPLE, maxSeqLen: 256, sharesKvCache: true })
  })

  it('preempts nothing where there is room', () => {
    expect(expected().map(({ ends }) => ends)).toEqual(TEXTS.map(() => [expect.any(String)]))
    expect(preemptionsOf(ample())).toBe(0)
  })

  it.each([
    ['computed again', 0],
    ['copied back from host memory', 1e9],
  ])('gives the same texts where there is too little, and what was preempted is %s', async (_, bytes) => {
    const tight = await openSmallLlama({
      ...{ maxBatchSize: SLOTS, maxSeqLen: 256, kvCacheTokens: TIGHT },
      prefixCacheBytes: bytes,
    })
    try {
      expect(await continueAll(tight)).toEqual(expected())
      expect(preemptionsOf(tight)).toBeGreaterThan(0)
    } finally {
      await tight.close()
    }
  })

  it('keeps texts to their constraint over a preemption', async () => {
    const sizes = { maxBatchSize: SLOTS, maxSeqLen: 256, kvCacheTokens: TIGHT }
    const tight = await openSmallLlama({ ...sizes, isBuilt: true })
    try {
      const constraint = { kind: 'regex', pattern: '[0-9]{60}' } as const
      const numbers = TEXTS.slice(0, 5).map(([prompt]) =>
        runRequest(tight.engine, engineRequest(prompt, { maxNewTokens: 110, constraint })),
      )
      const results = (await Promise.all(numbers)).flat()
      for (const { text, ends } of results)
        expect([text, ends]).toEqual([expect.stringMatching(/^[0-9]{60}$/), ['stop']])
      expect(preemptionsOf(tight)).toBeGreaterThan(0)
    } finally {
      await tight.close()
    }
  })

  it('holds what choices of one prompt have in common once', async () => {
    const tight = await openSmallLlama({ maxBatchSize: SLOTS, maxSeqLen: 256, kvCacheTokens: TIGHT })
    try {
      const options = { maxNewTokens: 10, endRules: NEVER_ENDS }
      const request = engineRequest('The cat sat on the mat. '.repeat(20), options)
      const [alone] = await runRequest(tight.engine, request)
      const all = await runRequest(tight.engine, { ...request, choices: SLOTS })
      expect(all).toEqual(Array(SLOTS).fill(alone))
      expect(preemptionsOf(tight)).toBe(0)
    } finally {
      await tight.close()
    }
  })
})
