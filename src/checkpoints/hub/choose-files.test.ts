import { describe, expect, it } from 'vitest'
import { chooseFiles } from './choose-files.ts'

const reference = (file: string | null = null) => ({ repo: 'acme/tiny', revision: 'main', file })
const adapter = { isAdapter: true }

describe('the files of an adapter', () => {
  it('are those that PEFT saves', () => {
    const names = ['README.md', 'adapter_config.json', 'adapter_model.safetensors', 'tokenizer.json']
    expect(chooseFiles(reference(), names, adapter)).toEqual({
      opened: 'adapter_model.safetensors',
      weights: ['adapter_model.safetensors'],
      others: ['adapter_config.json'],
    })
  })

  it('are the GGUF file that is named', () => {
    const names = ['a.gguf', 'b.gguf']
    expect(chooseFiles(reference('b.gguf'), names, adapter).opened).toBe('b.gguf')
    expect(() => chooseFiles(reference(), names, adapter)).toThrow(
      'name one of them, as in hf:acme/tiny:FILE: a.gguf, b.gguf.',
    )
  })

  it('are not those of a model', () => {
    expect(() => chooseFiles(reference(), ['config.json', 'model.safetensors'], adapter)).toThrow(
      'acme/tiny holds no adapter: neither adapter_config.json with adapter_model.safetensors, nor a GGUF file.',
    )
  })
})

describe('the tokenizer of a model', () => {
  it("is Mistral's own file where there is no other", () => {
    const names = ['config.json', 'model.safetensors', 'tekken.json']
    expect(chooseFiles(reference(), names).others).toEqual(['config.json', 'tekken.json'])
    expect(chooseFiles(reference(), [...names, 'tokenizer.json']).others).toEqual([
      'config.json',
      'tokenizer.json',
    ])
  })
})

it('are those of sentence-transformers that say how vectors are made', () => {
  const names = [
    ...['1_Pooling/config.json', '2_Dense/config.json', 'config.json', 'model.safetensors', 'modules.json'],
    ...['onnx/1_Pooling/config.json', '3_WeightedPooling/config.json', 'tokenizer.json'],
  ]
  expect(chooseFiles(reference(), names).others).toEqual([
    ...['1_Pooling/config.json', '3_WeightedPooling/config.json', 'config.json', 'modules.json'],
    'tokenizer.json',
  ])
})
