/** Where the small Llama's texts end: least tokens, ignored end tokens and stop tokens, in slots and in beam searches. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { EndRules, SequenceOptions } from '../../src/protocol/engine.ts'
import { type SmallLlama, openSmallLlama } from '../support/engines/small-llama.ts'
import { engineRequest, runRequest, type SequenceResult } from '../support/engines/engine-requests.ts'

const PROMPT = '<|user|>Say hello.<|assistant|>'
const RULES: EndRules = { minTokens: 0, ignoresEndTokens: false, stopTokenIds: [] }
let llama: SmallLlama

beforeAll(async () => {
  llama = await openSmallLlama({ maxBatchSize: 2 })
})

afterAll(() => llama.close())

async function say(options: Partial<SequenceOptions>): Promise<SequenceResult> {
  const [result] = await runRequest(llama.engine, engineRequest(PROMPT, { maxNewTokens: 120, ...options }))
  if (result === undefined) throw new Error('there is a sequence')
  return result
}

const endsOf = (tokenIds: readonly number[]): number[] =>
  tokenIds.flatMap((tokenId, index) => (llama.runner.isEndOfGeneration(tokenId) ? [index] : []))

describe.each([
  ['a slot', 1],
  ['a beam search', 3],
])('in %s', (_, numBeams) => {
  it('takes no end token before the least number of tokens, and the likeliest text up to there', async () => {
    const plain = await say({ numBeams })
    const length = plain.tokenIds.length
    expect(plain.ends).toEqual(['stop'])
    expect(length).toBeLessThan(60)

    const longer = await say({ numBeams, endRules: { ...RULES, minTokens: length + 10 } })

    expect(longer.tokenIds.length).toBeGreaterThan(length + 10)
    for (const end of endsOf(longer.tokenIds)) expect(end).toBeGreaterThanOrEqual(length + 10)
    if (numBeams === 1) expect(longer.tokenIds.slice(0, length - 1)).toEqual(plain.tokenIds.slice(0, -1))
  })

  it('goes on behind end tokens that are ignored', async () => {
    const endRules = { ...RULES, ignoresEndTokens: true }
    const { tokenIds, ends } = await say({ numBeams, endRules })
    expect(tokenIds).toHaveLength(120)
    expect(ends).toEqual(['length'])
    expect(numBeams > 1 || endsOf(tokenIds).length > 0).toBe(true)
  })

  it('ends at a stop token, whose text is left out', async () => {
    const plain = await say({ numBeams })
    const stop = plain.tokenIds[2] ?? -1
    const at = plain.tokenIds.indexOf(stop)
    const stopped = await say({ numBeams, endRules: { ...RULES, stopTokenIds: [stop] } })
    expect(stopped.ends).toEqual(['stop'])
    // A beam search may find that another end is likelier.
    const last = stopped.tokenIds.at(-1) ?? -1
    expect(last === stop || (numBeams > 1 && llama.runner.isEndOfGeneration(last))).toBe(true)
    expect(stopped.tokenIds.slice(0, -1)).not.toContain(stop)
    expect(stopped.text).toBe(
      stopped.tokenIds
        .slice(0, -1)
        .map((tokenId) => Buffer.from(llama.runner.tokenBytes(tokenId)).toString())
        .join(''),
    )
    if (numBeams === 1) expect(stopped.tokenIds).toEqual(plain.tokenIds.slice(0, at + 1))
  })
})
