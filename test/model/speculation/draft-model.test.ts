/** Guesses of a draft model on llama.cpp: for all sequences that run, the text with them is the text without. */
import { copyFile, mkdtemp, open as openFile, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type * as Quantize from '../../../src/engines/llamacpp/quantize/quantize-weights.ts'
import type * as Runner from '../../../src/engines/llamacpp/open-runner.ts'
import type * as InProcess from '../../../src/engines/process/step-loop/in-process-engine.ts'
import { openGgufModel } from '../../../src/checkpoints/gguf/gguf-file.ts'
import { storedTensors } from '../../../src/checkpoints/gguf/gguf-tensor-data.ts'
import type { Sampling, SequenceOptions } from '../../../src/protocol/engine.ts'
import type { DraftCounts } from '../../../src/protocol/engine-events.ts'
import type { ModelRunner, StepPlan } from '../../../src/protocol/model-runner.ts'
import { GREEDY } from '../../../src/scheduler/sequence.ts'
import { convertToF32 } from '../../support/engines/small-llama.ts'
import { engineRequest } from '../../support/engines/engine-requests.ts'
import { lengthOf } from '../../support/length-of.ts'

const root = path.resolve(import.meta.dirname, '../../..')
// Constraints are matched in threads, which run built files only.
const dist = path.join(root, 'dist/engines')
const { openLlamaRunner }: typeof Runner = await import(`${dist}/llamacpp/open-runner.js`)
const { quantizeWeights }: typeof Quantize = await import(`${dist}/llamacpp/quantize/quantize-weights.js`)
const { InProcessEngine }: typeof InProcess = await import(`${dist}/process/step-loop/in-process-engine.js`)
let folder: string
let target: string
/** A quantized copy of it, and one with noise in the place of its layers. */
let copy: string
let noise: string
let prompts: string[]

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'sluice-test-'))
  const pathOf = (name: string) => path.join(folder, `${name}.gguf`)
  ;[target, copy, noise] = [pathOf('target'), pathOf('copy'), pathOf('noise')]
  await convertToF32(path.join(root, 'test/data/small-llama'), target)
  await quantizeWeights({ sourcePath: target, outputPath: copy, format: 'IQ4_NL', threads: 1 }, () => {})
  await copyFile(target, noise)
  await fillWithNoise(noise)
  const lines = (await readFile(path.join(root, 'test/data/small-llama-held-out.jsonl'), 'utf8'))
    .trim()
    .split('\n')
  prompts = lines
    .map((line) => (JSON.parse(line) as { text: string }).text)
    .filter((text) => text.length > 200)
    .slice(0, lengthOf({ test: 10, soak: 100 }))
    .map((text) => text.slice(0, 200))
})

afterAll(() => rm(folder, { recursive: true, force: true }))

async function fillWithNoise(modelPath: string): Promise<void> {
  const file = await openFile(modelPath, 'r+')
  let state = 1
  const next = () => ((state = (state * 48_271) % 2_147_483_647) / 2_147_483_647 - 0.5) / 4
  for (const { name, stored } of await storedTensors(await openGgufModel(modelPath))) {
    if (!/^blk\..*(?:attn|ffn)_(?:q|k|v|output|gate|up|down)\.weight$/.test(name)) continue
    const values = Float32Array.from({ length: stored.sizeBytes / 4 }, next)
    await file.write(new Uint8Array(values.buffer), 0, stored.sizeBytes, stored.offsetBytes)
  }
  await file.close()
}

function openRunner(draft: string | null): Promise<ModelRunner> {
  const sizes = { maxBatchSize: 8, maxSeqLen: 512, threads: 1 }
  const device = { gpu: 'off', gpuLayers: null, kvCacheType: 'f32' } as const
  return openLlamaRunner(
    {
      ...{ modelId: 'small-llama', modelPath: target, ...sizes, ...device, speculation: 'off' as const },
      draft: draft === null ? null : { name: 'draft', modelPath: draft },
    },
    () => {},
  )
}

/** The runner as if guesses were cheap on this machine: whether they are made depends on right ones alone. */
function asIfCheap(runner: ModelRunner, onPlan: (plan: StepPlan) => void): ModelRunner {
  return new Proxy(runner, {
    get(own, key) {
      const value: unknown = Reflect.get(own, key, own)
      if (key !== 'execute') return typeof value === 'function' ? (value.bind(own) as unknown) : value
      return (plan: StepPlan) => {
        onPlan(plan)
        const proposes = proposesOf(plan)
        const draft = { proposalsMs: proposes, catchUpMs: 0.01 }
        return { ...own.execute(plan), times: { decodeMs: 10 + proposes, promptMs: 1, draft } }
      }
    },
  })
}

const proposesOf = ({ drafts = [] }: StepPlan): number =>
  Math.max(0, ...drafts.map(({ proposes }) => proposes))

interface Made {
  readonly tokenIds: readonly (readonly number[])[]
  readonly drafts: DraftCounts
  readonly plans: readonly StepPlan[]
}

/** By options: two tests compare with what is made greedily. */
const plains = new Map<string, Promise<Made>>()

function continuePlainly(options: Partial<SequenceOptions>): Promise<Made> {
  const key = JSON.stringify(options)
  const plain = plains.get(key) ?? continueAll(null, options)
  plains.set(key, plain)
  return plain
}

/** Continues the prompts, eight at a time. */
async function continueAll(draft: string | null, options: Partial<SequenceOptions>): Promise<Made> {
  const plans: StepPlan[] = []
  const runner = await openRunner(draft)
  const engine = new InProcessEngine({ runner: asIfCheap(runner, (plan) => plans.push(plan)) })
  const tokenIds: number[][] = prompts.map(() => [])
  const drafts = { draftedTokens: 0, acceptedTokens: 0 }
  try {
    const request = engineRequest(prompts, { maxNewTokens: 50, ...options })
    for await (const events of engine.generate(request, new AbortController().signal)) {
      for (const event of events) {
        if (event.type === 'text-delta') tokenIds[event.index]?.push(...event.tokenIds)
        if (event.type !== 'sequence-end' || event.drafts === undefined) continue
        drafts.draftedTokens += event.drafts.draftedTokens
        drafts.acceptedTokens += event.drafts.acceptedTokens
      }
    }
  } finally {
    await engine.close()
  }
  return { tokenIds, drafts, plans }
}

describe('a draft model', () => {
  it.each<[string, Partial<SequenceOptions>]>([
    ['greedy', {}],
    [
      'greedy with penalties and bias',
      { sampling: { ...GREEDY, repetitionPenalty: 1.1, presencePenalty: 0.2, logitBias: [[5, 1]] } },
    ],
    ['greedy with log probabilities and a stop string', { topLogprobs: 2, stopStrings: ['. '] }],
    ['greedy with a constraint', { constraint: { kind: 'regex', pattern: '[a-z ,.]{20,80}' } }],
  ])('makes the same tokens for all that run as without, %s', async (_name, options) => {
    const [plain, drafted] = [await continuePlainly(options), await continueAll(copy, options)]
    expect(drafted.tokenIds).toEqual(plain.tokenIds)
    expect(plain.drafts.draftedTokens).toBe(0)
    expect(drafted.drafts.acceptedTokens).toBeGreaterThan(30)
    const together = drafted.plans.map(({ drafts = [] }) => drafts.filter(({ proposes }) => proposes > 0))
    expect(together.some(({ length }) => length > 4)).toBe(true)
    expect(drafted.plans.length).toBeLessThan(plain.plans.length)
  })

  it('makes the very tokens of a seed, whatever it proposes: no distribution changes', async () => {
    let accepted = 0
    for (const draft of [copy, noise]) {
      const runner = await openRunner(draft)
      for (let seed = 1; seed <= lengthOf({ test: 5, soak: 400 }); seed++) {
        const sampling = { ...GREEDY, temperature: 0.9, topP: 0.95, seed }
        const plain = drawTokens(runner, sampling, 0)
        const drafted = drawTokens(runner, sampling, 3)
        expect(drafted.tokenIds).toEqual(plain.tokenIds)
        accepted += drafted.accepted
      }
      runner.close()
    }
    expect(accepted).toBeGreaterThan(lengthOf({ test: 12, soak: 1000 }))
  })

  it('stops guessing where it guesses wrong', async () => {
    const [plain, drafted] = [await continuePlainly({}), await continueAll(noise, {})]
    expect(drafted.tokenIds).toEqual(plain.tokenIds)
    const share = drafted.plans.filter((plan) => proposesOf(plan) > 0).length / drafted.plans.length
    expect(share).toBeGreaterThan(0)
    expect(share).toBeLessThan(0.3)
  })

  it('is refused where its vocabulary is another', async () => {
    const other = path.join(folder, 'other.gguf')
    const bytes = await readFile(target)
    bytes.write('<|reserved_9|>', bytes.indexOf('<|reserved_0|>'))
    await writeFile(other, bytes)
    await expect(openRunner(other)).rejects.toThrow(
      `'draft' cannot be the draft model of 'small-llama': token 4102 is "<|reserved_9|>" instead of "<|reserved_0|>".`,
    )
  })
})

const PROMPT = Int32Array.from([4096, 300, 301, 302, 303, 304])

/** The first tokens of a seed, with so many proposals in each step. */
function drawTokens(runner: ModelRunner, sampling: Sampling, proposes: number) {
  const start = { slotId: 0, promptTokenIds: PROMPT, sampling, cachedTokens: 0, copyFromSlotId: null }
  const text = [...PROMPT]
  let accepted = 0
  for (let computed = 0; text.length < PROMPT.length + 12;) {
    const tokenIds = text.slice(computed)
    const isFirst = computed === 0
    const {
      tokenIds: sampled,
      acceptedTokens,
      proposals,
    } = runner.execute({
      starts: isFirst ? [start] : [],
      runs: [{ slotId: 0, position: computed, tokenIds, wantsToken: true }],
      ...(proposes > 0 && !isFirst && { drafts: [{ slotId: 0, position: 0, tokenIds: text, proposes }] }),
    })
    const right = Array.from(proposals?.[0] ?? []).slice(0, acceptedTokens?.[0])
    accepted += right.length
    computed = text.length + right.length
    text.push(...right, sampled[0] ?? -1)
  }
  return { tokenIds: text.slice(0, PROMPT.length + 12), accepted }
}
