/** Adapters as PEFT saves them: converted and loaded beside the small Llama, each gives what the merged checkpoint gives. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAdapterOpener } from '../../src/app/open-adapter.ts'
import { type BaseModel, openAdapterModel } from '../../src/checkpoints/adapters/adapter-model.ts'
import { type AdapterWork, prepareAdapter } from '../../src/checkpoints/adapters/prepare-adapter.ts'
import { type GgufModel, openGgufModel } from '../../src/checkpoints/gguf/gguf-file.ts'
import { MemoryFit } from '../../src/checkpoints/memory/memory-need.ts'
import type { LoadHooks } from '../../src/models/registry.ts'
import type { Engine } from '../../src/protocol/engine.ts'
import { convertSmallLlama, type SmallLlama, openSmallLlama } from '../support/engines/small-llama.ts'
import { engineRequest, runRequest } from '../support/engines/engine-requests.ts'
import { writeTinyModel } from '../support/engines/llamacpp-tiny-model.ts'
import {
  type PeftAdapter,
  writeMergedCheckpoint,
  writePeftAdapter,
} from '../support/checkpoints/peft-adapter.ts'
import {
  type LogitsCase,
  readReference,
  type TokenizerCase,
  writeReference,
} from '../support/checkpoints/reference-checkpoints.ts'
import { safetensors } from '../support/checkpoints/tiny-checkpoint.ts'

const references = await readReference<LogitsCase>('logits')
const tokenizers = await readReference<TokenizerCase>('tokenizers')
const SMALL_LLAMA = path.resolve(import.meta.dirname, '../data/small-llama')
const PROMPTS = ['Once upon a time', 'The king said', 'A dog and a cat', 'In the morning']
let folder = ''
let llama: SmallLlama
let model: GgufModel
let base: BaseModel

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'sluice-peft-'))
  llama = await openSmallLlama({ maxBatchSize: 4 })
  model = await openGgufModel(llama.modelPath)
  base = { modelId: 'small-llama', ...model }
})

afterAll(async () => {
  await llama.close()
  await rm(folder, { recursive: true })
})

function prepare(adapter: string, changes: Partial<AdapterWork> = {}) {
  const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
  return prepareAdapter({
    ...{ modelId: 'mine', adapter, base, dataDir: path.join(folder, 'data'), log },
    onProgress: () => {},
    signal: new AbortController().signal,
    ...changes,
  })
}

const hooks = (engine: Engine): LoadHooks => ({
  ...{ outline: null, base: engine, loaded: () => [], signal: new AbortController().signal },
  onProgress: () => {},
  onOutline: () => {},
  makeRoom: ({ reserve }) => Promise.resolve(reserve()),
})

/** Writes an adapter under a name of the test's folder. */
async function write(name: string, adapter: Omit<PeftAdapter, 'base'>): Promise<string> {
  const to = path.join(folder, name)
  await writePeftAdapter(to, { base: SMALL_LLAMA, ...adapter })
  return to
}

const textsOf = async (model: SmallLlama, adapterId?: number) => {
  const request = engineRequest(PROMPTS, { maxNewTokens: 32 })
  const ofAdapter = adapterId === undefined ? {} : { adapterId }
  return (await runRequest(model.engine, { ...request, ...ofAdapter })).map(({ text }) => text)
}

/** Resolves with the folder of one of the tiny checkpoints with random weights. */
async function writeTiny(name: string): Promise<string> {
  const reference = references.find((candidate) => candidate.name === name)
  const tokenizer = tokenizers.find((candidate) => candidate.name === reference?.tokenizer)
  if (reference === undefined || tokenizer === undefined) throw new Error(`no checkpoint ${name}`)
  const to = await mkdtemp(path.join(folder, 'tiny-'))
  await writeReference(to, { reference: { ...reference, shards: 1, dtype: 'F32' }, tokenizer })
  await writeFile(path.join(to, 'generation_config.json'), '{}')
  return to
}

/** Texts of the checkpoint in which the adapter's sums are part of the weights. */
async function mergedTexts(
  name: string,
  adapter: Omit<PeftAdapter, 'base'> & { readonly base?: string },
  sizes: { readonly maxSeqLen?: number } = {},
): Promise<string[]> {
  const checkpoint = path.join(folder, `merged-${name}`)
  const whole = { base: SMALL_LLAMA, ...adapter }
  await writeMergedCheckpoint(checkpoint, { base: whole.base, adapter: whole })
  const merged = await openSmallLlama({ maxBatchSize: 4, checkpoint, ...sizes })
  try {
    return await textsOf(merged)
  } finally {
    await merged.close()
  }
}

const FACTORS: readonly (readonly [name: string, adapter: Omit<PeftAdapter, 'base'>])[] = [
  ['plain', { seed: 1 }],
  ['rank-stabilized', { seed: 2, alpha: 3, config: { use_rslora: true }, factorOf: () => 3 / Math.sqrt(4) }],
  [
    'with an alpha of its own for some layers',
    {
      seed: 3,
      config: { alpha_pattern: { 'layers.[01].self_attn.q_proj': 20, down_proj: 2 } },
      factorOf: (module) => {
        if (/layers\.[01]\.self_attn\.q_proj$/.test(module)) return 20 / 4
        return module.endsWith('down_proj') ? 2 / 4 : 8 / 4
      },
    },
  ],
]

describe('an adapter of PEFT', () => {
  it.each(FACTORS)('that is %s gives the texts of the merged checkpoint', async (name, adapter) => {
    const { path: converted, parameters } = await prepare(await write(name, adapter))
    const adapterId = adapter.seed
    llama.runner.adapters?.load({ adapterId, modelId: 'mine', path: converted, scale: 1 })

    const texts = await textsOf(llama, adapterId)

    expect(parameters).toBe(77_824)
    expect(texts).toEqual(await mergedTexts(name, adapter))
    expect(texts).not.toEqual(await textsOf(llama))
  })

  it.each(['mistral3 with images, new names', 'qwen3 moe, tied', 'gpt-oss, experts in BF16, layer types'])(
    'for a tiny checkpoint, %s, gives the texts of the merged one',
    async (name) => {
      const checkpoint = await writeTiny(name)
      const adapter = { base: checkpoint, seed: 7, size: 0.3 }
      const to = path.join(folder, `for ${name}`)
      await writePeftAdapter(to, adapter)
      const tiny = await openSmallLlama({ maxBatchSize: 4, maxSeqLen: 256, checkpoint })
      try {
        const tinyBase = { modelId: 'tiny', ...(await openGgufModel(tiny.modelPath)) }
        const { path: converted } = await prepare(to, { base: tinyBase })
        tiny.runner.adapters?.load({ adapterId: 7, modelId: 'mine', path: converted, scale: 1 })

        const texts = await textsOf(tiny, 7)

        expect(texts).toEqual(await mergedTexts(name, adapter, { maxSeqLen: 256 }))
        expect(texts).not.toEqual(await textsOf(tiny))
      } finally {
        await tiny.close()
      }
    },
  )

  it('for some experts of a layer leaves the others as they are', async () => {
    const checkpoint = await writeTiny('qwen3 moe, tied')
    const isTouched = (module: string) => !/\.experts\.\d*[02468]\./.test(module)
    const adapter = { base: checkpoint, seed: 11, size: 0.3, isTouched }
    const to = path.join(folder, 'of-some-experts')
    await writePeftAdapter(to, adapter)
    const tiny = await openSmallLlama({ maxBatchSize: 4, maxSeqLen: 256, checkpoint })
    try {
      const tinyBase = { modelId: 'tiny', ...(await openGgufModel(tiny.modelPath)) }
      const { path: converted } = await prepare(to, { base: tinyBase })
      tiny.runner.adapters?.load({ adapterId: 11, modelId: 'mine', path: converted, scale: 1 })

      const texts = await textsOf(tiny, 11)

      expect(texts).toEqual(await mergedTexts('of-some-experts', adapter, { maxSeqLen: 256 }))
      const noExperts = { ...adapter, isTouched: (module: string) => !module.includes('.experts.') }
      expect(texts).not.toEqual(await mergedTexts('of-no-experts', noExperts, { maxSeqLen: 256 }))
    } finally {
      await tiny.close()
    }
  })

  it.each<[string, Readonly<Record<string, number[]>>, string]>([
    [
      'for all experts of a layer at once',
      { 'experts.lora_A': [4, 64], 'experts.lora_B': [32, 4] },
      'which is for all experts of a layer at once: such an adapter is not served',
    ],
    ['for half a pair of an expert', { 'experts.1.up_proj.lora_A': [4, 64] }, 'lacks the other half of'],
    [
      'for experts with different ranks',
      {
        'experts.0.up_proj.lora_A': [4, 64],
        'experts.0.up_proj.lora_B': [32, 4],
        'experts.1.up_proj.lora_A': [2, 64],
        'experts.1.up_proj.lora_B': [32, 2],
      },
      'of 2 x 64, but "base_model.model.model.layers.0.mlp.experts.0.up_proj.lora_A.weight" of 4 x 64: experts of a layer must have one rank',
    ],
    [
      'for an expert that the model has not',
      { 'experts.99.up_proj.lora_A': [4, 64], 'experts.99.up_proj.lora_B': [32, 4] },
      'but its base model "tiny" has no such expert',
    ],
    [
      'for experts of other sizes',
      { 'experts.1.up_proj.lora_A': [4, 8], 'experts.1.up_proj.lora_B': [32, 4] },
      'is for a tensor "blk.0.ffn_up_exps.weight" of 8 x 32 x',
    ],
  ])('%s is refused with what is wrong', async (name, shapes, sentence) => {
    const checkpoint = await writeTiny('qwen3 moe, tied')
    const to = path.join(folder, name)
    await mkdir(to)
    await writeFile(path.join(to, 'adapter_config.json'), '{"peft_type":"LORA","r":4,"lora_alpha":8}')
    const named = Object.entries(shapes).map(([part, shape]) => [
      `base_model.model.model.layers.0.mlp.${part}.weight`,
      shape,
    ])
    const weights = safetensors(Object.fromEntries(named) as Record<string, number[]>, 'F32')
    await writeFile(path.join(to, 'adapter_model.safetensors'), weights)
    const modelPath = path.join(checkpoint, 'model.gguf')
    await convertSmallLlama(checkpoint, modelPath)
    const experts = { modelId: 'tiny', ...(await openGgufModel(modelPath)) }
    await expect(prepare(to, { base: experts })).rejects.toThrow(sentence)
  })

  it('is converted once', async () => {
    const to = await write('twice', { seed: 4 })
    expect((await prepare(to)).path).toBe((await prepare(path.join(to, 'adapter_model.safetensors'))).path)
    await writePeftAdapter(to, { base: SMALL_LLAMA, seed: 5 })
    expect((await prepare(to)).path).not.toBe((await prepare(await write('other', { seed: 4 }))).path)
  })

  it.each<[string, Record<string, unknown>, string]>([
    ['DoRA', { use_dora: true }, 'asks for DoRA ("use_dora")'],
    ['biases', { bias: 'all' }, 'asks for biases ("bias": "all")'],
    ['whole layers', { modules_to_save: ['lm_head'] }, '("modules_to_save": "lm_head")'],
    ['new tokens', { trainable_token_indices: [1] }, 'asks for "trainable_token_indices"'],
    ['another method', { peft_type: 'IA3' }, 'has the peft_type "IA3"'],
    [
      'changed base weights',
      { init_lora_weights: 'pissa_niter_4' },
      '("init_lora_weights": "pissa_niter_4")',
    ],
    ['no alpha', { lora_alpha: 0 }, '"lora_alpha" must be a number above 0'],
    ['a broken pattern', { alpha_pattern: { '(': 1 } }, 'is no pattern'],
  ])('with %s is refused by name', async (name, config, sentence) => {
    const to = await write(`refused ${name}`, { seed: 6, config })
    await expect(prepare(to)).rejects.toThrow(sentence)
  })

  it('for which there is no memory in each replica is refused with the numbers, and not loaded', async () => {
    const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
    const engine: Engine = Object.assign(llama.engine, {
      openAdapter: () => Promise.reject(new Error('it was loaded')),
    })
    const { sizeBytes } = await prepare(await write('large', { seed: 9 }))
    const open = (availableBytes: number) =>
      createAdapterOpener({
        ...{ dataDir: path.join(folder, 'data'), log, replicas: 2 },
        opened: new WeakMap([[engine, model]]),
        memory: new MemoryFit(() => availableBytes),
      })(
        'mine',
        { kind: 'adapter', base: 'small-llama', adapter: path.join(folder, 'large'), scale: 1 },
        hooks(engine),
      )

    await expect(open(2 * sizeBytes - 1)).rejects.toThrow(
      /^'mine' needs 1 MB of memory \(1 MB weights for each of 2 replicas\), but 0 MB is available\.$/,
    )
    await expect(open(2 * sizeBytes)).rejects.toThrow('it was loaded')
  })

  it('of another model is refused, with the tensor and both shapes', async () => {
    const tiny = path.join(folder, 'tiny.gguf')
    writeTinyModel(tiny)
    const model = await openGgufModel(tiny)
    const to = await write('too large', { seed: 7 })
    await expect(prepare(to, { base: { modelId: 'tiny', ...model } })).rejects.toThrow(
      /"blk\.0\.\w+\.weight" of \d+ x 256, but its base model "tiny" has \d+ x \d+: it was made for another model/,
    )
    const bert = { ...base, modelId: 'bert', architecture: 'bert' }
    await expect(prepare(to, { base: bert })).rejects.toThrow('is for a model of the architecture "bert"')
    const { path: converted } = await prepare(to)
    await expect(openAdapterModel(converted, { ...base, architecture: 'qwen2' })).rejects.toThrow(
      'is for the architecture "llama", but its base model "small-llama" has "qwen2"',
    )
  })

  it('that is none is refused with what it is', async () => {
    await expect(prepare(SMALL_LLAMA)).rejects.toThrow(
      'holds a model, not an adapter: register it with "checkpoint"',
    )
    await expect(prepare(llama.modelPath)).rejects.toThrow('is a GGUF file but no adapter')
    await expect(prepare(path.join(folder, 'nowhere'))).rejects.toThrow('does not exist')
    const to = await write('damaged', { seed: 8 })
    await writeFile(path.join(to, 'adapter_model.safetensors'), 'nothing')
    await expect(prepare(to)).rejects.toThrow('is no safetensors file')
  })
})
