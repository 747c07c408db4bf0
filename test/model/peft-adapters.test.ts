/** Adapters as PEFT saves them: converted and loaded beside the small Llama, each gives what the merged checkpoint gives. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAdapterOpener } from '../../src/app/models/open-adapter.ts'
import { type BaseModel, openAdapterModel } from '../../src/checkpoints/adapters/adapter-model.ts'
import { convertAdapter } from '../../src/checkpoints/adapters/convert-adapter.ts'
import { type AdapterWork, prepareAdapter } from '../../src/checkpoints/adapters/prepare-adapter.ts'
import { type GgufModel, openGgufModel } from '../../src/checkpoints/gguf/gguf-file.ts'
import { readTensorData, storedTensors } from '../../src/checkpoints/gguf/gguf-tensor-data.ts'
import { MemoryFit } from '../../src/checkpoints/memory/memory-need.ts'
import type { LoadHooks } from '../../src/models/registry.ts'
import type { Engine } from '../../src/protocol/engine.ts'
import { convertToF32, type SmallLlama, openSmallLlama } from '../support/engines/small-llama.ts'
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
    convert: convertAdapter,
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

/** One of the tiny checkpoints, converted. */
async function openTiny(name: string): Promise<BaseModel> {
  const checkpoint = await writeTiny(name)
  const modelPath = path.join(checkpoint, 'model.gguf')
  await convertToF32(checkpoint, modelPath)
  return { modelId: 'tiny', ...(await openGgufModel(modelPath)) }
}

/** Halves of pairs for the experts of the first layer, by their names in it. */
type Halves = Readonly<Record<string, { readonly shape: number[]; readonly numbers: Float32Array }>>

function zeros(shapes: Readonly<Record<string, [rows: number, columns: number]>>): Halves {
  const half = (shape: [number, number]) => ({ shape, numbers: new Float32Array(shape[0] * shape[1]) })
  return Object.fromEntries(Object.entries(shapes).map(([name, shape]) => [name, half(shape)]))
}

/** An adapter for the experts of the first layer alone. Resolves with its folder. */
async function writeExperts(name: string, halves: Halves): Promise<string> {
  const to = path.join(folder, name)
  await mkdir(to)
  await writeFile(path.join(to, 'adapter_config.json'), '{"peft_type":"LORA","r":4,"lora_alpha":8}')
  const entries = Object.entries(halves).map(
    ([part, half]) => [`base_model.model.model.layers.0.mlp.${part}.weight`, half] as const,
  )
  const shapes = Object.fromEntries(entries.map(([part, { shape }]) => [part, shape]))
  const numbers = new Map<string, Float32Array>(entries.map(([part, half]) => [part, half.numbers]))
  const weights = safetensors(shapes, 'F32', (part) => numbers.get(part) ?? new Float32Array())
  await writeFile(path.join(to, 'adapter_model.safetensors'), weights)
  return to
}

/**
 * The same pairs twice. For all experts, after PEFT's `ParamWrapper.get_delta_weight`: A is experts x ranks x columns and B is
 * rows x ranks x experts; gate and up are one parameter, gate's rows before up's or in turns.
 */
function makeExpertHalves(
  { tensors }: BaseModel,
  gateUp: 'halves' | 'turns',
): { ofAll: Halves; ofEach: Halves } {
  const shape = tensors.find(({ name }) => name === 'blk.0.ffn_gate_exps.weight')?.shape
  const [size = 0, rows = 0, count = 0] = shape ?? []
  const rank = 4
  const ofEach: Record<string, { shape: number[]; numbers: Float32Array }> = {}
  const at = (e: number, k: number, i: number) => e * 1000 + k * 200 + i
  for (let e = 0; e < count; e++) {
    const matrices = { gate: [rows, size, 0.25], up: [rows, size, 0.25], down: [size, rows, 0.75] } as const
    for (const [matrix, [height, width, first]] of Object.entries(matrices)) {
      const a = Float32Array.from(
        { length: rank * width },
        (_, n) => first + at(e, Math.floor(n / width), n % width),
      )
      // Up has rows of its own; A is the same for gate and up.
      const own = matrix === 'up' ? 100_000 : 0
      const b = Float32Array.from(
        { length: height * rank },
        (_, n) => own - first - at(e, n % rank, Math.floor(n / rank)),
      )
      ofEach[`experts.${e}.${matrix}_proj.lora_A`] = { shape: [rank, width], numbers: a }
      ofEach[`experts.${e}.${matrix}_proj.lora_B`] = { shape: [height, rank], numbers: b }
    }
  }
  const numberOf = (matrix: string, e: number, part: string, n: number) =>
    ofEach[`experts.${e}.${matrix}_proj.lora_${part}`]?.numbers[n] ?? Number.NaN
  const joinA = (matrix: string, width: number) =>
    Float32Array.from({ length: count * rank * width }, (_, n) => {
      const e = Math.floor(n / (rank * width))
      return numberOf(matrix, e, 'A', n % (rank * width))
    })
  const joinB = (height: number, rowOf: (row: number) => readonly [matrix: string, row: number]) =>
    Float32Array.from({ length: height * rank * count }, (_, n) => {
      const [matrix, row] = rowOf(Math.floor(n / (rank * count)))
      const k = Math.floor(n / count) % rank
      return numberOf(matrix, n % count, 'B', row * rank + k)
    })
  const gateUpRow = (row: number): readonly [string, number] => {
    if (gateUp === 'turns') return [row % 2 === 0 ? 'gate' : 'up', Math.floor(row / 2)]
    return row < rows ? ['gate', row] : ['up', row - rows]
  }
  const ranks = rank * count
  return {
    ofEach,
    ofAll: {
      'experts.base_layer.lora_A': { shape: [ranks, size], numbers: joinA('gate', size) },
      'experts.base_layer.lora_B': { shape: [2 * rows, ranks], numbers: joinB(2 * rows, gateUpRow) },
      'experts.lora_A': { shape: [ranks, rows], numbers: joinA('down', rows) },
      'experts.lora_B': { shape: [size, ranks], numbers: joinB(size, (row) => ['down', row]) },
    },
  }
}

/** By name, as bytes in hexadecimal digits. */
async function tensorsOf(filePath: string): Promise<Map<string, string>> {
  const byName = new Map<string, string>()
  for (const tensor of await storedTensors({ filePaths: [filePath] })) {
    const chunks: Buffer[] = []
    for await (const chunk of readTensorData(tensor)) chunks.push(Buffer.from(chunk))
    byName.set(tensor.name, `${tensor.shape.join(' x ')} ${Buffer.concat(chunks).toString('hex')}`)
  }
  return byName
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

  it.each(['qwen3 moe, tied', 'gpt-oss, experts in BF16, layer types'])(
    'for all experts of a layer at once, as newer releases of PEFT save it, is what one for each of them is: %s',
    async (name) => {
      const experts = await openTiny(name)
      const both = makeExpertHalves(experts, name.startsWith('gpt-oss') ? 'turns' : 'halves')
      const [ofAll, ofEach] = [
        await prepare(await writeExperts(`all ${name}`, both.ofAll), { base: experts }),
        await prepare(await writeExperts(`each ${name}`, both.ofEach), { base: experts }),
      ]
      const numbers = await tensorsOf(ofEach.path)
      expect(numbers.size).toBe(6)
      expect(await tensorsOf(ofAll.path)).toEqual(numbers)
    },
  )

  it.each<[string, Halves, string]>([
    [
      'for half a pair of an expert',
      zeros({ 'experts.1.up_proj.lora_A': [4, 64] }),
      'lacks the other half of',
    ],
    ['for half a pair of all experts', zeros({ 'experts.lora_A': [24, 64] }), 'lacks the other half of'],
    [
      'for experts with different ranks',
      zeros({
        'experts.0.up_proj.lora_A': [4, 64],
        'experts.0.up_proj.lora_B': [32, 4],
        'experts.1.up_proj.lora_A': [2, 64],
        'experts.1.up_proj.lora_B': [32, 2],
      }),
      'of 2 x 64, but "base_model.model.model.layers.0.mlp.experts.0.up_proj.lora_A.weight" of 4 x 64: experts of a layer must have one rank',
    ],
    [
      'for an expert that the model has not',
      zeros({ 'experts.99.up_proj.lora_A': [4, 64], 'experts.99.up_proj.lora_B': [32, 4] }),
      'but its base model "tiny" has no such expert',
    ],
    [
      'for experts of other sizes',
      zeros({ 'experts.1.up_proj.lora_A': [4, 8], 'experts.1.up_proj.lora_B': [32, 4] }),
      'is for a tensor "blk.0.ffn_up_exps.weight" of 8 x 32 x',
    ],
    [
      'for all experts, of other sizes',
      zeros({ 'experts.lora_A': [24, 8], 'experts.lora_B': [32, 24] }),
      'for matrices of 32 x 8, but experts of its base model "tiny" have 64 x 64 (gate and up) and 64 x 32 (down)',
    ],
    [
      'for another number of experts',
      zeros({ 'experts.lora_A': [22, 32], 'experts.lora_B': [64, 22] }),
      'of 22 rows, and 22 columns for them, which are no rank for each of',
    ],
  ])('%s is refused with what is wrong', async (name, halves, sentence) => {
    const experts = await openTiny('qwen3 moe, tied')
    await expect(prepare(await writeExperts(name, halves), { base: experts })).rejects.toThrow(sentence)
  })

  it('for experts of a layer that the model has not is refused with what is wrong', async () => {
    const experts = await openTiny('qwen3 moe, tied')
    const tensors = experts.tensors.filter(({ name }) => !/^blk\.0\..*_exps/.test(name))
    const halves = zeros({ 'experts.lora_A': [16, 32], 'experts.lora_B': [64, 16] })
    await expect(
      prepare(await writeExperts('other layer', halves), { base: { ...experts, tensors } }),
    ).rejects.toThrow('but its base model "tiny" has no experts in that layer')
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
