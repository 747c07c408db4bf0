/** Several answers to one prompt of the bundled model: its prompt is computed once, and each is what it would be alone. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findCheckpointFiles } from '../../src/checkpoints/checkpoint-files.ts'
import { convertCheckpoint } from '../../src/checkpoints/conversion/convert.ts'
import { openLlamaRunner } from '../../src/engines/llamacpp/runner.ts'
import { InProcessEngine } from '../../src/engines/process/step-loop/in-process-engine.ts'
import type { SlotStart } from '../../src/protocol/model-runner.ts'
import { GREEDY } from '../../src/scheduler/sequence.ts'
import { engineRequest, runRequest } from '../support/engines/engine-requests.ts'

const root = path.resolve(import.meta.dirname, '../..')
const PROMPT = `${'Once upon a time there was a fox who lived in a little house in the woods. '.repeat(8)}One day`
const CHOICES = 4
let folder: string
let engine: InProcessEngine
let starts: SlotStart[] = []

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'sluice-test-'))
  const checkpoint = path.join(root, 'models/demo')
  const source = await findCheckpointFiles({ checkpoint, modelConfig: null, tokenizer: null })
  if (source.kind !== 'hugging-face') throw new Error('the bundled model is a safetensors checkpoint')
  const modelPath = path.join(folder, 'demo.gguf')
  await convertCheckpoint({ source, tensorType: 'f32', outputPath: modelPath })
  const sizes = { maxBatchSize: CHOICES, maxSeqLen: 512, threads: 1 }
  const device = { gpu: 'off', gpuLayers: null, kvCacheType: 'f32' } as const
  const runner = await openLlamaRunner({ modelId: 'demo', modelPath, ...sizes, ...device }, () => {})
  const execute = runner.execute.bind(runner)
  runner.execute = (plan) => {
    starts.push(...plan.starts)
    return execute(plan)
  }
  engine = new InProcessEngine({ runner })
})

afterAll(async () => {
  await engine.close()
  await rm(folder, { recursive: true, force: true })
})

describe('choices of one prompt', () => {
  it('compute it once, and are greedily all the same text', async () => {
    starts = []
    const request = engineRequest(PROMPT, { maxNewTokens: 20 })

    const texts = (await runRequest(engine, { ...request, choices: CHOICES })).map(({ text }) => text)

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
    const together = await runRequest(engine, { ...engineRequest(PROMPT, options(40)), choices: CHOICES })

    expect(new Set(together.map(({ text }) => text)).size).toBe(CHOICES)
    expect(await runRequest(engine, { ...engineRequest(PROMPT, options(40)), choices: CHOICES })).toEqual(
      together,
    )
    const alone = []
    for (const seed of [40, 41, 42, 43])
      alone.push(...(await runRequest(engine, engineRequest(PROMPT, options(seed)))))
    expect(together).toEqual(alone)
  })

  it('are drawn apart without a seed', async () => {
    const request = engineRequest(PROMPT, { maxNewTokens: 20, sampling: { ...GREEDY, temperature: 1.5 } })
    const results = await runRequest(engine, { ...request, choices: CHOICES })
    expect(new Set(results.map(({ text }) => text)).size).toBe(CHOICES)
  })
})
