import { appendFile, mkdir, readFile, stat, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { useConversions } from '../../test/support/checkpoints/conversions.ts'
import { plannedFile, planConversion } from './conversion/conversion-plan.ts'
import type * as conversionThread from './conversion/conversion-thread.ts'
import { convertCheckpoint } from './conversion/convert.ts'
import { checkRoom } from './files/disk-room.ts'
import { findCheckpointFiles, type HfFiles } from './checkpoint-files.ts'
import { safetensors, SHAPES } from '../../test/support/checkpoints/tiny-checkpoint.ts'

const conversions = useConversions()
const { check, converted, optionsFor, resolve, write, modelFiles } = conversions

describe('the cache', () => {
  const mustNotConvert = () => Promise.reject(new Error('converted again'))

  const makeOld = async (path: string) => {
    const halfAMinuteAgo = Date.now() / 1000 - 30
    await utimes(path, halfAMinuteAgo, halfAMinuteAgo)
  }

  it('gives the same file for the same content, wherever it lies', async () => {
    const first = await resolve(await write())
    const copy = await write({ name: 'copy' })
    const second = await resolve(copy, { convert: mustNotConvert })
    expect(second).toMatchObject({ model: { path: first.model.path } })
    await writeFile(join(conversions.folder(), 'data', 'models', 'hashes.json'), 'damaged')
    expect(await resolve(copy, { convert: mustNotConvert })).toEqual(second)
  })

  it('converts again when any input differs', async () => {
    const checkpoint = await write()
    const paths = [await resolve(checkpoint), await resolve(checkpoint, { tensorType: 'f32' })]
    await writeFile(join(checkpoint, 'generation_config.json'), '{"eos_token_id":[5,4]}')
    paths.push(await resolve(checkpoint))
    await write({ config: { rope_theta: 5000 } })
    paths.push(await resolve(checkpoint))
    await write({
      weights: { 'model.safetensors': safetensors(SHAPES, 'BF16') },
      config: { rope_theta: 5000 },
    })
    paths.push(await resolve(checkpoint))
    await writeFile(join(checkpoint, 'tokenizer_config.json'), '{"chat_template":"x"}')
    paths.push(await resolve(checkpoint))
    expect(new Set(paths.map(({ model }) => model.path)).size).toBe(paths.length)
  })

  it('replaces a cached file that was damaged', async () => {
    const checkpoint = await write()
    const { model } = await resolve(checkpoint)
    const whole = await readFile(model.path)
    await writeFile(model.path, whole.subarray(0, -100))
    await resolve(checkpoint)
    expect(converted()).toBe(2)
    expect(await readFile(model.path)).toEqual(whole)
  })

  it('keeps nothing of a checkpoint that is replaced while it is converted', async () => {
    const checkpoint = await write()
    const replaced = resolve(checkpoint, {
      convert: async (options) => {
        await write({ config: { rope_theta: 5000 } })
        await convertCheckpoint(options)
      },
    })
    await expect(replaced).rejects.toThrow(/changed while it was converted\.$/)
    expect(await modelFiles()).toEqual([])
  })

  it('serves two that convert at once', async () => {
    const checkpoint = await write()
    const [a, b] = await Promise.all([resolve(checkpoint), resolve(checkpoint)])
    expect(a.model.path).toBe(b.model.path)
    expect(await modelFiles()).toHaveLength(1)
  })

  it('removes what a killed process left half a minute ago, and nothing younger', async () => {
    const models = join(conversions.folder(), 'data', 'models')
    await mkdir(models, { recursive: true })
    await writeFile(join(models, 'old.gguf.1.tmp'), '')
    await writeFile(join(models, 'young.gguf.2.tmp'), '')
    await makeOld(join(models, 'old.gguf.1.tmp'))
    await resolve(await write())
    expect((await modelFiles()).filter((name) => name.endsWith('.tmp'))).toEqual(['young.gguf.2.tmp'])
  })

  it('leaves alone what somebody writes, however slowly', async () => {
    const other = await write({ name: 'other', config: { rope_theta: 5000 } })
    await resolve(await write(), {
      convert: async (options) => {
        await convertCheckpoint(options)
        await makeOld(options.outputPath)
        const { mtimeMs } = await stat(options.outputPath)
        await vi.waitFor(async () => {
          expect((await stat(options.outputPath)).mtimeMs).toBeGreaterThan(mtimeMs)
        }, 5000)
        await resolve(other)
      },
    })
    expect(await modelFiles()).toHaveLength(2)
  })

  it('stops when it is told to, and leaves nothing behind', async () => {
    const controller = new AbortController()
    const onProgress = () => controller.abort()
    await expect(resolve(await write(), { onProgress, signal: controller.signal })).rejects.toThrow('aborted')
    expect(await modelFiles()).toEqual([])
  })

  it('asks for room on the disk first', () => {
    const file = { folder: '/data/models', neededBytes: 1_000_000_000 }
    expect(() => checkRoom(file, 5_000_000)).toThrow(
      'needs 1000000000 bytes in /data/models and 16777216 to spare, but only 5000000 are free.',
    )
    expect(() => checkRoom(file, 2_000_000_000)).not.toThrow()
  })
})

describe('a GGUF file', () => {
  it('is served as it is, alone or as the only one in a folder', async () => {
    const { model } = await resolve(await write())
    const served = await resolve(model.path, { convert: () => Promise.reject(new Error('converted')) })
    expect(served).toMatchObject({ model: { path: model.path } })
    expect((await resolve(dirname(model.path))).model.path).toBe(model.path)
  })

  it('takes no tokenizer and notices damage', async () => {
    const { model } = await resolve(await write())
    await expect(check(model.path, { tokenizer: 'tokenizer.json' })).rejects.toThrow('--tokenizer')
    await writeFile(model.path, (await readFile(model.path)).subarray(0, -100))
    await expect(check(model.path)).rejects.toThrow('is truncated')
  })
})

describe('--model-config with a GGUF file', () => {
  const overridesFor = async (config: object, original: object = {}) => {
    const { model } = await resolve(await write({ config: original }))
    const modelConfig = join(await write({ name: 'other', config }), 'config.json')
    return (await resolve(model.path, { modelConfig })).overrides
  }
  const rope_scaling = { type: 'linear', factor: 4 }

  it('overrides what leaves the weights as they are', async () => {
    expect(await overridesFor({})).toEqual([])
    expect(await overridesFor({ max_position_embeddings: 64, rope_theta: 20_000, rope_scaling })).toEqual([
      { key: 'llama.context_length', type: 'int', value: 64 },
      { key: 'llama.rope.freq_base', type: 'float', value: 20_000 },
      { key: 'llama.rope.scaling.type', type: 'string', value: 'linear' },
      { key: 'llama.rope.scaling.factor', type: 'float', value: 4 },
    ])
    expect(await overridesFor({}, { rope_scaling })).toEqual([
      { key: 'llama.rope.scaling.type', type: 'string', value: 'none' },
    ])
  })

  it('is refused when it belongs to another model', async () => {
    await expect(overridesFor({ num_hidden_layers: 3 })).rejects.toThrow('"llama.block_count" would be 3')
    const llama3 = {
      rope_type: 'llama3',
      factor: 8,
      low_freq_factor: 1,
      high_freq_factor: 4,
      original_max_position_embeddings: 16,
    }
    await expect(overridesFor({ rope_scaling: llama3 })).rejects.toThrow('is part of the weights')
  })
})

describe('the worker thread', () => {
  async function sourceOf(checkpoint: string): Promise<HfFiles> {
    const source = await findCheckpointFiles(optionsFor(checkpoint))
    if (source.kind !== 'hugging-face') throw new Error('not a checkpoint')
    return source
  }

  /** As the package has it, because Node 20 runs no TypeScript in a thread. */
  const importBuilt = (): Promise<typeof conversionThread> =>
    import(
      /* @vite-ignore */ new URL('../../dist/checkpoints/conversion/conversion-thread.js', import.meta.url)
        .href
    )

  it.each([
    ['here', 0],
    ['in a thread', 300_000],
  ])('plans %s as ever, hands on what is wrong, and ends when told', async (_, padding) => {
    const { planAside } = await importBuilt()
    const sized = async (options?: Parameters<typeof write>[0]) => {
      const files = await sourceOf(await write(options))
      await appendFile(files.tokenizerPath, ' '.repeat(padding))
      return files
    }
    const source = await sized()
    expect(await planAside(source, 'f16')).toEqual(plannedFile(await planConversion(source, 'f16')))
    const small = await sized({ name: 'small', config: { vocab_size: 3 } })
    await expect(planAside(small, 'f16')).rejects.toThrow(/of shape \[6, 8\], but should be \[3, 8\]/)

    const stopping = new AbortController()
    const stopped = planAside(source, 'f16', stopping.signal)
    stopping.abort()
    await expect(stopped).rejects.toThrow('aborted')
  })

  it('says of a model that takes images how many tensors are left out, and what they are called', async () => {
    const { convertInWorker } = await importBuilt()
    const text = {
      ...{ hidden_size: 8, intermediate_size: 12, num_hidden_layers: 2, num_attention_heads: 2 },
      ...{ num_key_value_heads: 1, vocab_size: 6, max_position_embeddings: 32, tie_word_embeddings: true },
    }
    const ofImages = {
      'vision_tower.patch_conv.weight': [2, 2],
      'vision_tower.ln_pre.weight': [2],
      'multi_modal_projector.linear_1.weight': [2, 2],
    }
    const checkpoint = await write({
      name: 'images',
      config: { architectures: ['Mistral3ForConditionalGeneration'], text_config: text },
      weights: { 'model.safetensors': safetensors({ ...SHAPES, ...ofImages }, 'F16') },
    })
    const leftOut: unknown[] = []
    const options = { convert: convertInWorker, onLeftOut: (tensors: unknown) => leftOut.push(tensors) }
    await resolve(checkpoint, options)
    await resolve(await write({ name: 'text-alone' }), options)
    expect(leftOut).toEqual([{ count: 3, prefixes: ['multi_modal_projector', 'vision_tower'] }])
  })

  it('converts as the main thread does, reports progress, and hands on what is wrong', async () => {
    const { convertInWorker } = await importBuilt()
    const checkpoint = await write()
    const expected = await readFile((await resolve(checkpoint)).model.path)
    const progress: number[] = []
    const dataDir = join(conversions.folder(), 'worker-data')
    const { model } = await resolve(checkpoint, {
      dataDir,
      convert: convertInWorker,
      onProgress: (share) => progress.push(share),
    })
    expect(await readFile(model.path)).toEqual(expected)
    expect(progress.at(-1)).toBeGreaterThan(0.9)

    await appendFile(join(checkpoint, 'model.safetensors'), 'x')
    const source = await sourceOf(await write({ name: 'whole' }))
    const damaged = { ...source, weightsPath: join(checkpoint, 'model.safetensors') }
    const conversion = convertInWorker({
      source: damaged,
      tensorType: 'f32',
      outputPath: join(conversions.folder(), 'x.gguf'),
    })
    await expect(conversion).rejects.toThrow('is corrupted: its tensors end at byte')
    const aborted = convertInWorker({
      source,
      tensorType: 'f32',
      outputPath: join(conversions.folder(), 'y.gguf'),
      signal: AbortSignal.abort(),
    })
    await expect(aborted).rejects.toThrow('aborted')
  })
})
