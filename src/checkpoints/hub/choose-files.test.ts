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

it('are found among many in no time', () => {
  const part = (number: number) => `m-${String(number).padStart(5, '0')}-of-10000.gguf`
  const names = Array.from({ length: 100_000 }, (_, index) => `${100_000 - index}.txt`)
  const parts = Array.from({ length: 10_000 }, (_, index) => part(index + 1))
  const start = process.cpuUsage()
  expect(chooseFiles(reference(part(1)), [...names, ...parts]).weights).toEqual(parts)
  expect(process.cpuUsage(start).user).toBeLessThan(2e6)
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
