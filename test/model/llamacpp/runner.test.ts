import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { openLlamaRunner } from '../../../src/engines/llamacpp/open-runner.ts'
import type { Sampling } from '../../../src/protocol/engine.ts'
import type { ModelRunner, SlotRun, SlotStart } from '../../../src/protocol/model-runner.ts'
import type { RunnerOptions } from '../../../src/protocol/runner-options.ts'
import { writeTinyModel } from '../../support/engines/llamacpp-tiny-model.ts'

const folder = mkdtempSync(path.join(os.tmpdir(), 'llamacpp-runner-'))
const modelPath = path.join(folder, 'tiny.gguf')
writeTinyModel(modelPath)
afterAll(() => rmSync(folder, { recursive: true }))

const opened: ModelRunner[] = []
afterEach(() => {
  for (const runner of opened.splice(0)) runner.close()
})

const GREEDY: Sampling = { temperature: 0, topK: 0, topP: 1, repetitionPenalty: 1, seed: null }
const PROMPTS = [
  'the thing in a',
  'once upon',
  'a',
  'Zürich ist schön 😀',
  '{"json": [1, 2, 3]}',
  'the the the',
]

async function openRunner(overrides: Partial<RunnerOptions> = {}): Promise<ModelRunner> {
  const runner = await openLlamaRunner(
    {
      modelId: 'tiny',
      modelPath,
      maxBatchSize: 6,
      maxSeqLen: 256,
      threads: 1,
      gpu: 'off',
      gpuLayers: null,
      kvCacheType: 'f32',
      ...overrides,
    },
    () => {},
  )
  opened.push(runner)
  return runner
}

const tokenize = (runner: ModelRunner, text: string) => runner.tokenize({ pieces: [text], addSpecial: true })

function start(slotId: number, promptTokenIds: Int32Array, overrides: Partial<SlotStart> = {}): SlotStart {
  return { slotId, promptTokenIds, sampling: GREEDY, cachedTokens: 0, copyFromSlotId: null, ...overrides }
}

interface Continuation {
  readonly prompt: Int32Array
  readonly slotId?: number
  readonly sampling?: Sampling
  readonly count?: number
  /** Prompt tokens computed at once. */
  readonly chunkTokens?: number
  readonly cachedTokens?: number
  readonly copyFromSlotId?: number
}

/** Runs one sequence alone and returns its tokens. */
function continueText(runner: ModelRunner, options: Continuation): number[] {
  const { prompt, slotId = 0, sampling = GREEDY, count = 24, cachedTokens = 0 } = options
  const chunkTokens = options.chunkTokens ?? runner.maxStepTokens
  let starts = [
    start(slotId, prompt, { sampling, cachedTokens, copyFromSlotId: options.copyFromSlotId ?? null }),
  ]
  const out: number[] = []
  let position = cachedTokens
  let next: ArrayLike<number> = prompt.subarray(position, position + chunkTokens)
  while (out.length < count) {
    const wantsToken = position + next.length >= prompt.length
    const { tokenIds } = runner.execute({ starts, runs: [{ slotId, position, tokenIds: next, wantsToken }] })
    starts = []
    position += next.length
    next = wantsToken ? [tokenOf(tokenIds, 0)] : prompt.subarray(position, position + chunkTokens)
    if (wantsToken) out.push(tokenOf(tokenIds, 0))
  }
  return out
}

function tokenOf(tokenIds: ArrayLike<number | null>, index: number): number {
  const tokenId = tokenIds[index]
  if (typeof tokenId !== 'number') throw new Error(`no token ${index} was sampled`)
  return tokenId
}

describe('the llama.cpp runner', () => {
  it('tells what is known of the model', async () => {
    const runner = await openRunner({ maxBatchSize: 3 })
    expect(runner.info()).toMatchObject({
      architecture: 'llama',
      parameters: 107_840,
      sizeBytes: 107_840 * 4,
      quantization: 'F32',
      maxSeqLen: 256,
      vocabSize: 264,
      engine: 'llama.cpp',
      maxBatchSize: 3,
      chatTemplate: '{{ messages[0].content }}',
      toolTemplate: '{{ tools }}',
      threads: 1,
      // Weights, and for 3 slots of 256 tokens: keys and values of 2 layers and 2 heads of 16 numbers of 4 bytes.
      memoryBytes: 107_840 * 4 + 3 * 256 * 2 * 2 * 2 * 16 * 4,
    })
    expect(runner).toMatchObject({ canReusePrefixes: true, canCopySlots: true })
  })

  it("takes the model's own length when none is given, and tells its progress", async () => {
    const fractions: number[] = []
    const options = { modelId: 'tiny', modelPath, maxBatchSize: 1, maxSeqLen: null, threads: null } as const
    const runner = await openLlamaRunner(
      { ...options, gpu: 'auto', gpuLayers: null, kvCacheType: 'f16' },
      (fraction) => fractions.push(fraction),
    )
    opened.push(runner)
    // Weights this small keep no more than one thread busy.
    expect(runner.info()).toMatchObject({ maxSeqLen: 1024, threads: 1 })
    expect(fractions.at(-1)).toBe(1)
    expect(fractions).toEqual(fractions.toSorted((a, b) => a - b))
  })

  it("takes metadata given in place of the file's own", async () => {
    const runner = await openRunner({
      maxSeqLen: null,
      metadataOverrides: [
        { key: 'llama.context_length', type: 'int', value: 256 },
        { key: 'llama.rope.freq_base', type: 'float', value: 500 },
      ],
    })
    expect(runner.info().maxSeqLen).toBe(256)
    const plain = await openRunner({ maxSeqLen: null })
    const prompt = tokenize(plain, 'the thing in a box that is once upon a time in the end')
    expect(continueText(runner, { prompt })).not.toEqual(continueText(plain, { prompt }))
  })

  it('gives the same tokens whether a prompt is computed whole, in chunks or token by token', async () => {
    const runner = await openRunner()
    for (const text of PROMPTS) {
      const prompt = tokenize(runner, text)
      const whole = continueText(runner, { prompt })
      expect(new Set(whole).size).toBeGreaterThan(4)
      for (const chunkTokens of [1, 2, 5])
        expect(continueText(runner, { prompt, chunkTokens })).toEqual(whole)
    }
  })

  it('gives each of several sequences in one batch the tokens it gets alone', async () => {
    const runner = await openRunner()
    const prompts = PROMPTS.map((text) => tokenize(runner, text))
    const alone = prompts.map((prompt) => continueText(runner, { prompt }))

    const together: number[][] = prompts.map(() => [])
    let starts = prompts.map((prompt, slotId) => start(slotId, prompt))
    let runs: SlotRun[] = prompts.map((tokenIds, slotId) => ({
      slotId,
      position: 0,
      tokenIds,
      wantsToken: true,
    }))
    for (let step = 0; step < 24; step++) {
      const { tokenIds } = runner.execute({ starts, runs })
      starts = []
      runs = runs.map(({ slotId, position, tokenIds: before }, i) => {
        const next = tokenOf(tokenIds, i)
        together[slotId]?.push(next)
        return { slotId, position: position + before.length, tokenIds: [next], wantsToken: true }
      })
    }
    expect(together).toEqual(alone)
  })

  it('mixes decoding and prefill in a step, and samples only where a token is wanted', async () => {
    const runner = await openRunner()
    const [first, second] = [tokenize(runner, 'the thing in a'), tokenize(runner, 'once upon a time')]
    const expected = continueText(runner, { prompt: first, count: 3 })
    const expectedSecond = continueText(runner, { prompt: second, slotId: 1, count: 1 })

    const prefill = runner.execute({
      starts: [start(0, first)],
      runs: [{ slotId: 0, position: 0, tokenIds: first, wantsToken: true }],
    })
    const decode = runner.execute({
      starts: [start(1, second)],
      runs: [
        { slotId: 1, position: 0, tokenIds: second.subarray(0, 6), wantsToken: false },
        { slotId: 0, position: first.length, tokenIds: [tokenOf(prefill.tokenIds, 0)], wantsToken: true },
      ],
    })
    expect(decode.tokenIds).toHaveLength(1)
    const last = runner.execute({
      starts: [],
      runs: [
        { slotId: 0, position: first.length + 1, tokenIds: [tokenOf(decode.tokenIds, 0)], wantsToken: true },
        { slotId: 1, position: 6, tokenIds: second.subarray(6), wantsToken: true },
      ],
    })
    expect([prefill, decode, last].map(({ tokenIds }) => tokenOf(tokenIds, 0))).toEqual(expected)
    expect(tokenOf(last.tokenIds, 1)).toBe(expectedSecond[0])
  })

  it('keeps a prefix of its own cache, and of a cache copied from another slot', async () => {
    const runner = await openRunner()
    const shared = 'a long shared beginning of two prompts, and then '
    const [first, second] = [tokenize(runner, `${shared}one`), tokenize(runner, `${shared}the other`)]
    const cachedTokens = [...first].findIndex((tokenId, i) => tokenId !== second[i])
    expect(cachedTokens).toBeGreaterThan(20)
    const expected = continueText(runner, { prompt: second, slotId: 5 })

    continueText(runner, { prompt: first, slotId: 0 })
    expect(continueText(runner, { prompt: second, slotId: 3, cachedTokens, copyFromSlotId: 0 })).toEqual(
      expected,
    )
    expect(continueText(runner, { prompt: second, slotId: 0, cachedTokens })).toEqual(expected)
    expect(continueText(runner, { prompt: second, slotId: 0 })).toEqual(expected)
  })

  it('fills a slot to its last token, with prompts as long as a step and longer', async () => {
    const runner = await openRunner({ maxSeqLen: 700, maxBatchSize: 2 })
    const prompt = Int32Array.from({ length: 698 }, (_, i) => (i * 7) % 250)
    expect(continueText(runner, { prompt, count: 3 })).toHaveLength(3)
    expect(continueText(runner, { prompt, slotId: 1, count: 3 })).toHaveLength(3)
    const tooMany = {
      slotId: 0,
      position: 0,
      tokenIds: new Int32Array(runner.maxStepTokens + 1),
      wantsToken: true,
    }
    expect(() => runner.execute({ starts: [start(0, prompt)], runs: [tooMany] })).toThrow(
      'more than 512 tokens',
    )
  })

  it('repeats its draws with a seed, in any slot and beside any neighbour', async () => {
    const runner = await openRunner()
    const prompt = tokenize(runner, 'the thing in a')
    const sampling = { ...GREEDY, temperature: 1, topP: 0.95, seed: 17 }
    const first = continueText(runner, { prompt, sampling })
    expect(continueText(runner, { prompt, sampling, slotId: 4 })).toEqual(first)
    expect(continueText(runner, { prompt, sampling: { ...sampling, seed: 18 } })).not.toEqual(first)
  })

  it('penalizes repetition: at 10 no token comes back while others are near', async () => {
    const runner = await openRunner()
    const prompt = tokenize(runner, 'the the the')
    const plain = continueText(runner, { prompt, count: 60 })
    const penalized = continueText(runner, {
      prompt,
      count: 60,
      sampling: { ...GREEDY, repetitionPenalty: 10 },
    })
    expect(new Set(plain).size).toBeLessThan(60)
    expect(new Set(penalized).size).toBe(60)
    expect(penalized.filter((tokenId) => prompt.includes(tokenId))).toEqual([])
  })

  it('agrees with an F16 cache on a clear choice', async () => {
    const prompt = tokenize(await openRunner(), 'the thing in a')
    const [f32, f16] = [await openRunner(), await openRunner({ kvCacheType: 'f16' })]
    expect(continueText(f16, { prompt, count: 4 })).toEqual(continueText(f32, { prompt, count: 4 }))
  })
})
