/** Beam search on llama.cpp: against PyTorch's (`tools/demo-model/evaluation/beams.py`), and beside streams in a real step loop. */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openLlamaRunner } from '../../src/engines/llamacpp/open-runner.ts'
import { InProcessEngine } from '../../src/engines/process/step-loop/in-process-engine.ts'
import type { EngineEvent } from '../../src/protocol/engine-events.ts'
import type { ModelRunner, StepPlan } from '../../src/protocol/model-runner.ts'
import type { RunnerOptions } from '../../src/protocol/runner-options.ts'
import { GREEDY } from '../../src/scheduler/sequence.ts'
import { searchWithBeams } from '../support/engines/beam-run.ts'
import { engineRequest, runRequest } from '../support/engines/engine-requests.ts'
import { convertToF32 } from '../support/engines/small-llama.ts'
import { lengthOf } from '../support/length-of.ts'
import { continueGreedily } from '../support/engines/model-run.ts'

interface BeamCase {
  readonly prompt_token_ids: readonly number[]
  readonly num_beams: number
  readonly max_new_tokens: number
  readonly repetition_penalty: number
  readonly token_ids: readonly number[]
  readonly score: number
  readonly gap: number
}

/** Sums of log-probabilities in F32 differ by less than this; a closer race may end either way. */
const SCORE_MARGIN = 1e-4

/** Of the reference's searches one in so many, of each number of beams and of each length some. */
const EVERY = lengthOf({ test: 8, soak: 1 })

const root = path.resolve(import.meta.dirname, '../..')
const SMALL_LLAMA = 'test/data/small-llama'
const DEMO = 'models/demo'

let folder: string

/** Of the small Llama: a fifth of the demo model's work, and its texts end and repeat as a model's do. */
const openSmall = (overrides: Partial<RunnerOptions> = {}) => open(SMALL_LLAMA, overrides)

async function open(checkpoint: string, overrides: Partial<RunnerOptions> = {}): Promise<ModelRunner> {
  const options: RunnerOptions = {
    modelId: path.basename(checkpoint),
    modelPath: convertedPath(checkpoint),
    maxBatchSize: 8,
    maxSeqLen: 512,
    threads: 1,
    gpu: 'off',
    gpuLayers: null,
    kvCacheType: 'f32',
  }
  return openLlamaRunner({ ...options, ...overrides }, () => {})
}

/** The engine, and the plans it made. */
function watch(runner: ModelRunner): { engine: InProcessEngine; plans: StepPlan[] } {
  const plans: StepPlan[] = []
  const execute = runner.execute.bind(runner)
  runner.execute = (plan) => {
    plans.push(plan)
    return execute(plan)
  }
  return { engine: new InProcessEngine({ runner }), plans }
}

const promptTokensOf = ({ beams }: StepPlan): number =>
  (beams?.groups ?? []).reduce((sum, { runs, beams: ranked }) => {
    const isPrompt = ranked.length === 0 || ranked[0]?.tokenIds.length === 0
    return sum + (isPrompt ? runs.reduce((tokens, { tokenIds }) => tokens + tokenIds.length, 0) : 0)
  }, 0)

const convertedPath = (checkpoint: string): string => path.join(folder, `${path.basename(checkpoint)}.gguf`)

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'sluice-test-'))
  for (const checkpoint of [SMALL_LLAMA, DEMO]) {
    await convertToF32(path.join(root, checkpoint), convertedPath(checkpoint))
  }
})

afterAll(() => rm(folder, { recursive: true, force: true }))

describe('beam search', () => {
  it('finds with the demo model what PyTorch finds, with the same score, with weights and KV cache in F32', async () => {
    const text = await readFile(path.join(root, 'test/model/reference/demo/beams.json'), 'utf8')
    const all = (JSON.parse(text) as { cases: readonly BeamCase[] }).cases
    const cases = all.filter((_, index) => index % EVERY === 0)
    const runner = await open(DEMO)
    let compared = 0
    for (const reference of cases) {
      const found = await searchWithBeams(runner, {
        promptTokenIds: Int32Array.from(reference.prompt_token_ids),
        numBeams: reference.num_beams,
        maxNewTokens: reference.max_new_tokens,
        sampling: { ...GREEDY, repetitionPenalty: reference.repetition_penalty },
      })
      if (reference.gap < SCORE_MARGIN && found.tokenIds.join() !== reference.token_ids.join()) continue
      expect(found.tokenIds).toEqual(reference.token_ids)
      expect(Math.abs(found.normalizedScore - reference.score)).toBeLessThan(SCORE_MARGIN)
      compared++
    }
    expect(compared).toBeGreaterThanOrEqual(Math.floor((83 / all.length) * cases.length))
    runner.close()
  })

  it('computes the prompt once for all beams', async () => {
    const { engine, plans } = watch(await openSmall())
    const prompt = 'Once upon a time there was a dog. '.repeat(25)
    const [result] = await runRequest(engine, engineRequest(prompt, { numBeams: 6, maxNewTokens: 8 }))
    expect(result).toMatchObject({ ends: ['length'] })
    expect(result?.tokenIds).toHaveLength(8)
    const chunks = plans.map(promptTokensOf).filter((tokens) => tokens > 0)
    expect(chunks.slice(0, -1).every((tokens) => tokens === 128)).toBe(true)
    expect(chunks.reduce((sum, tokens) => sum + tokens, 0)).toBe(
      plans[0]?.beams?.starts[0]?.promptTokenIds.length,
    )
    await engine.close()
  })

  it('is greedy with one beam', async () => {
    const runner = await openSmall()
    const ids = runner.tokenize({ pieces: ['Once upon a time'], addSpecial: true })
    const greedy = continueGreedily(runner, ids, 20)
    const engine = new InProcessEngine({ runner })
    const request = engineRequest('Once upon a time', { numBeams: 1, maxNewTokens: 20 })
    expect(await runRequest(engine, request)).toMatchObject([{ tokenIds: greedy }])
    await engine.close()
  })

  it('gives each prompt of a batch what it gives it alone', async () => {
    const { engine } = watch(await openSmall())
    const prompts = [
      'Hello',
      'Once upon a time',
      'One rainy day, Mira',
      '1, 2, 3,',
      'Rosa is 29 years old and',
    ]
    const options = { numBeams: 3, maxNewTokens: 16 }
    const alone = []
    for (const prompt of prompts) alone.push(...(await runRequest(engine, engineRequest(prompt, options))))
    expect(await runRequest(engine, engineRequest(prompts, options))).toEqual(alone)
    await engine.close()
  })

  it('draws the same beams from the same seed, and others from another', async () => {
    const { engine } = watch(await openSmall())
    const draw = async (seed: number): Promise<string> => {
      const sampling = { ...GREEDY, temperature: 1.3, topK: 40, topP: 0.95, seed }
      const request = engineRequest('Once upon a time', { numBeams: 4, maxNewTokens: 24, sampling })
      return (await runRequest(engine, request))[0]?.text ?? ''
    }
    const first = await draw(7)
    expect(await draw(7)).toBe(first)
    const others = await Promise.all([1, 2, 3].map(draw))
    expect(others.some((text) => text !== first)).toBe(true)
    await engine.close()
  })

  it('draws them again to the last bit after whatever ran before, left early or beside others', async () => {
    const runner = await openSmall()
    const execute = runner.execute.bind(runner)
    let scores: number[] = []
    runner.execute = (plan) => {
      const output = execute(plan)
      scores.push(...(output.beamChoices ?? []).flat().map(({ score }) => score))
      return output
    }
    const engine = new InProcessEngine({ runner })
    const sampling = { ...GREEDY, temperature: 1.3, topP: 0.95, seed: 7 }
    const draw = async () => {
      scores = []
      await runRequest(engine, engineRequest('Once upon a time', { numBeams: 4, maxNewTokens: 24, sampling }))
      return [...scores]
    }
    const first = await draw()
    const leaving = new AbortController()
    const left = runRequest(
      engine,
      engineRequest('One rainy day, Mira', { numBeams: 3, maxNewTokens: 200 }),
      leaving.signal,
    )
    const search = engineRequest('Tom had a red ball', { numBeams: 5, maxNewTokens: 40 })
    await Promise.all([
      runRequest(engine, search),
      runRequest(engine, engineRequest('Lily', { maxNewTokens: 9 })),
    ])
    leaving.abort()
    await expect(left).rejects.toThrow('abort')
    expect(await draw()).toEqual(first)
    await engine.close()
  })

  it('ends a beam at a stop string and counts its tokens', async () => {
    const { engine } = watch(await openSmall())
    const request = engineRequest('Once upon a time', { numBeams: 4, maxNewTokens: 60, stopStrings: ['.'] })
    const [result] = await runRequest(engine, request)
    expect(result?.ends).toEqual(['stop'])
    expect(result?.text).not.toContain('.')
    const runner = await openSmall()
    const bytes = result?.tokenIds.map((tokenId) => Buffer.from(runner.tokenBytes(tokenId)))
    expect(Buffer.concat(bytes ?? []).toString()).toContain(`${result?.text}.`)
    runner.close()
    await engine.close()
  })

  it('runs 8 beams beside 8 streams, which all get a token in every step', async () => {
    const { engine, plans } = watch(await openSmall())
    const streams = Array.from({ length: 8 }, (_, i) =>
      runRequest(engine, engineRequest(`Story ${i}: once upon a time`, { maxNewTokens: 40 })),
    )
    const beams = runRequest(engine, engineRequest('One rainy day, Mira', { numBeams: 8, maxNewTokens: 40 }))
    const results = await Promise.all([...streams, beams])
    expect(results.every(([result]) => result?.ends.length === 1)).toBe(true)
    const shared = plans.filter((plan) => plan.beams !== undefined && plan.runs.length > 0)
    expect(shared.length).toBeGreaterThan(20)
    const alone = await runRequest(
      engine,
      engineRequest('One rainy day, Mira', { numBeams: 8, maxNewTokens: 40 }),
    )
    expect(await beams).toEqual(alone)
    await engine.close()
  })

  it('forgets a search whose client leaves within one step, and the next one has all its room', async () => {
    const { engine, plans } = watch(await openSmall({ maxBatchSize: 1 }))
    const controller = new AbortController()
    const options = { numBeams: 8, maxNewTokens: 24 }
    const left = runRequest(engine, engineRequest('Once upon a time', options), controller.signal)
    const ended = left.then(() => expect.unreachable('the search ended by itself'))
    while (plans.length < 8) await Promise.race([ended, new Promise(setImmediate)])
    controller.abort()
    const steps = plans.length
    await expect(ended).rejects.toThrow('abort')
    await new Promise(setImmediate)
    await new Promise(setImmediate)
    expect(plans.length).toBeLessThanOrEqual(steps + 1)
    for (let i = 0; i < 3; i++) {
      expect(await runRequest(engine, engineRequest('Once upon a time', options))).toMatchObject([
        { ends: [expect.stringMatching('stop|length')] },
      ])
    }
    await engine.close()
  })

  it('fills its room to the last token, search after search and two at once', async () => {
    const runner = await openSmall({ maxBatchSize: 1, maxSeqLen: 256 })
    const promptTokens = runner.tokenize({ pieces: ['Hello'], addSpecial: true }).length
    const { engine } = watch(runner)
    const run = (numBeams: number, room: number, seed: number) => {
      const maxNewTokens = Math.floor((room - promptTokens) / numBeams)
      const sampling = { ...GREEDY, temperature: 3, seed }
      return runRequest(engine, engineRequest('Hello', { numBeams, maxNewTokens, sampling }))
    }
    const seeds = Array.from({ length: lengthOf({ test: 2, soak: 20 }) }, (_, index) => index + 1)
    const runs = seeds.flatMap((seed) => [run(8, 256, seed), run(4, 128, seed), run(4, 128, seed + 10)])
    for (const [result] of await Promise.all(runs)) {
      expect(result?.ends).toEqual([expect.stringMatching('stop|length')])
    }
    await engine.close()
  })

  it('refuses beams that its cache cannot hold in one sentence, and loses no other prompt', async () => {
    const { engine } = watch(await openSmall({ maxBatchSize: 1, maxSeqLen: 256 }))
    const events: EngineEvent[] = []
    const request = engineRequest(['Hello', 'Hello'], { numBeams: 4, maxNewTokens: 100 })
    for await (const some of engine.generate(request, new AbortController().signal)) events.push(...some)
    expect(events).toMatchObject([
      {
        type: 'sequence-end',
        index: 0,
        error: { code: 'beams_too_large', params: { given: 402, max: 256 } },
      },
      { type: 'sequence-end', index: 1, finishReason: 'error' },
    ])
    await engine.close()
  })
})
