import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { useConversions } from '../../../test/support/checkpoints/conversions.ts'
import { type TinyBertOptions, writeTinyBert } from '../../../test/support/checkpoints/tiny-bert.ts'
import { numberValue } from '../gguf/gguf-file.ts'

const { converted, folder, resolve, write } = useConversions()

const [MEAN, CLS] = [1, 2]
const TRANSFORMER = { idx: 0, name: '0', path: '', type: 'sentence_transformers.models.Transformer' }
const POOLING = { idx: 1, name: '1', path: '1_Pooling', type: 'sentence_transformers.models.Pooling' }
const DENSE = { idx: 2, name: '2', path: '2_Dense', type: 'sentence_transformers.models.Dense' }
const NORMALIZE = { idx: 3, name: '3', path: '3_Normalize', type: 'sentence_transformers.models.Normalize' }

async function writeModules(checkpoint: string, modules: unknown): Promise<string> {
  await writeFile(join(checkpoint, 'modules.json'), JSON.stringify(modules))
  return checkpoint
}

const bertOf = async (modules: unknown, options: TinyBertOptions = {}) =>
  writeModules(await writeTinyBert(folder(), options), modules)

async function poolingOf(checkpoint: string): Promise<unknown> {
  const { model } = await resolve(checkpoint)
  return numberValue(model.metadata, `${model.architecture}.pooling_type`)
}

describe('the modules of an embedding model', () => {
  it('may be a transformer, its pooling and what gives vectors the length 1', async () => {
    const pooling = { pooling_mode_cls_token: true }
    expect(await poolingOf(await bertOf([TRANSFORMER, POOLING, NORMALIZE], { pooling }))).toBe(CLS)
    const custom = { ...TRANSFORMER, type: 'custom_st.Transformer' }
    expect(await poolingOf(await bertOf([custom, POOLING], { pooling }))).toBe(CLS)
  })

  it('are refused where one would be left out', async () => {
    const checkpoint = await bertOf([TRANSFORMER, POOLING, DENSE, NORMALIZE])
    await expect(resolve(checkpoint)).rejects.toThrow(
      'modules.json cannot be converted: its module "sentence_transformers.models.Dense" is not computed; ' +
        'Transformer, Pooling, Normalize are.',
    )
    const weighted = { ...POOLING, type: 'sentence_transformers.models.WeightedLayerPooling' }
    const decoder = await writeModules(await write(), [TRANSFORMER, weighted])
    await expect(resolve(decoder)).rejects.toThrow('WeightedLayerPooling" is not computed')
  })

  it('have their pooling in the folder that they name', async () => {
    const checkpoint = await bertOf([TRANSFORMER, { ...POOLING, path: 'pooled/first' }])
    await expect(resolve(checkpoint)).rejects.toThrow(/pooled.first.config\.json: it does not exist/)
    await mkdir(join(checkpoint, 'pooled/first'), { recursive: true })
    await writeFile(join(checkpoint, 'pooled/first/config.json'), '{"pooling_mode_cls_token": true}')
    expect(await poolingOf(checkpoint)).toBe(CLS)
  })

  it.each([
    [[{ ...POOLING, path: '../other' }], '"../other" is no folder of the model'],
    [[TRANSFORMER, {}], 'each module must have a "type" and a "path"'],
  ])('are refused as %j', async (modules, reason) => {
    await expect(resolve(await bertOf(modules))).rejects.toThrow(`modules.json is not usable: ${reason}`)
  })

  it('make another conversion, where there are any', async () => {
    const checkpoint = await writeTinyBert(folder())
    expect(await poolingOf(checkpoint)).toBe(MEAN)
    await writeModules(checkpoint, [TRANSFORMER, POOLING])
    expect(await poolingOf(checkpoint)).toBe(MEAN)
    expect(converted()).toBe(2)
  })
})

describe('the modules of another model', () => {
  it('change nothing', async () => {
    const score = { ...DENSE, type: 'sentence_transformers.cross_encoder.modules.LogitScore' }
    const reranker = await bertOf([TRANSFORMER, score], { isReranker: true, pooling: null })
    await expect(resolve(reranker)).resolves.toBeDefined()
    const decoder = await writeModules(await write(), [TRANSFORMER, score])
    expect(await poolingOf(decoder)).toBeNull()
    await writeModules(decoder, { version: 1 })
    expect(await poolingOf(decoder)).toBeNull()
  })
})
