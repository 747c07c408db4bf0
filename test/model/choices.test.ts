/** Several answers to one prompt of the small Llama: its prompt is computed once, and each is what it would be alone. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SlotStart } from '../../src/protocol/model-runner.ts'
import { GREEDY } from '../../src/scheduler/sequence.ts'
import { type SmallLlama, openSmallLlama } from '../support/engines/small-llama.ts'
import { engineRequest, runRequest } from '../support/engines/engine-requests.ts'

const PROMPT = `${'Once upon a time there was a fox who lived in a little house in the woods. '.repeat(8)}One day`
const CHOICES = 4
let llama: SmallLlama
let starts: SlotStart[] = []

beforeAll(async () => {
  llama = await openSmallLlama({ maxBatchSize: CHOICES })
  const { runner } = llama
  const execute = runner.execute.bind(runner)
  runner.execute = (plan) => {
    starts.push(...plan.starts)
    return execute(plan)
  }
})

afterAll(() => llama.close())

describe('choices of one prompt', () => {
  it('compute it once, and are greedily all the same text', async () => {
    starts = []
    const request = engineRequest(PROMPT, { maxNewTokens: 20 })

    const texts = (await runRequest(llama.engine, { ...request, choices: CHOICES })).map(({ text }) => text)

    expect(texts).toEqual(Array(CHOICES).fill(texts[0]))
    const computed = starts.map(({ promptTokenIds, cachedTokens }) => promptTokenIds.length - cachedTokens)
    const [promptTokens = 0] = starts.map(({ promptTokenIds }) => promptTokenIds.length)
    expect(promptTokens).toBeGreaterThan(128)
    expect(computed[0]).toBe(promptTokens)
    for (const tokens of computed.slice(1)) expect(tokens).toBeLessThan(64)
  })

  it('are, with a seed, the texts of the seeds that follow it', async () => {
    const options = (seed: number) => ({
      maxNewTokens: 20,
      sampling: { ...GREEDY, temperature: 1.5, seed, presencePenalty: 0.5, minP: 0.02 },
    })
    const together = await runRequest(llama.engine, {
      ...engineRequest(PROMPT, options(40)),
      choices: CHOICES,
    })

    expect(new Set(together.map(({ text }) => text)).size).toBe(CHOICES)
    expect(
      await runRequest(llama.engine, { ...engineRequest(PROMPT, options(40)), choices: CHOICES }),
    ).toEqual(together)
    const alone = []
    for (const seed of [40, 41, 42, 43])
      alone.push(...(await runRequest(llama.engine, engineRequest(PROMPT, options(seed)))))
    expect(together).toEqual(alone)
  })

  it('are drawn apart without a seed', async () => {
    const request = engineRequest(PROMPT, { maxNewTokens: 20, sampling: { ...GREEDY, temperature: 1.5 } })
    const results = await runRequest(llama.engine, { ...request, choices: CHOICES })
    expect(new Set(results.map(({ text }) => text)).size).toBe(CHOICES)
  })
})
