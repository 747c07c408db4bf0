import { expect, it } from 'vitest'
import { generalMetadata, sizeLabel } from './general-metadata.ts'

const TENSORS = [{ name: 'token_embd.weight', shape: [1024, 151_936], type: 'BF16' as const }]

function described(files: {
  readonly config?: object
  readonly generation?: object
  readonly card?: string
}) {
  const { config = {}, generation, card = null } = files
  const entries = generalMetadata(
    {
      architecture: 'qwen3',
      config: { path: 'config.json', fields: { ...config } },
      generationConfig:
        generation === undefined ? null : { path: 'generation_config.json', fields: { ...generation } },
      modelCard: card,
    },
    TENSORS,
  )
  return Object.fromEntries(
    entries.map(([key, value]) => [key, value.type === 'array' ? value.items : value.value]),
  )
}

it('names the model by its config, its card, or what it is', () => {
  expect(described({})).toEqual({ 'general.name': 'qwen3 156M', 'general.size_label': '156M' })
  expect(described({ config: { _name_or_path: 'acme/qwen3-0.6B-base' } })['general.name']).toBe(
    'Qwen3 0.6B Base',
  )
  expect(described({ config: { _name_or_path: '/root/run/7' } })['general.name']).toBe('qwen3 156M')
  expect(described({ card: '---\nmodel_name: Rain\n---\n' })['general.name']).toBe('Rain')
})

it('gives no name by which llama.cpp tokenizes otherwise', () => {
  expect(described({ config: { _name_or_path: 'acme/phi3-mini' } })).not.toHaveProperty(['general.name'])
})

it('has the license and the base models of the card', () => {
  const card = [
    '---',
    'license: other',
    'license_name: "acme"',
    'license_link: https://example.org/a',
    'tags:',
    '- chat',
    'base_model:',
    '  - acme/rain-1B',
    '  - not an id',
    '---',
    'license: none',
  ].join('\n')
  expect(described({ card })).toMatchObject({
    'general.license': 'other',
    'general.license.name': 'acme',
    'general.license.link': 'https://example.org/a',
    'general.base_model.count': 1,
    'general.base_model.0.name': 'Rain 1B',
    'general.base_model.0.organization': 'Acme',
    'general.base_model.0.repo_url': 'https://huggingface.co/acme/rain-1B',
  })
  expect(described({ card: '# No front matter\nlicense: mit' })).not.toHaveProperty(['general.license'])
})

it('has the sampling of generation_config.json', () => {
  const generation = {
    temperature: 0.6,
    top_k: 20,
    top_p: 0.95,
    min_p: 0,
    repetition_penalty: 1.05,
    eos_token_id: 1,
  }
  expect(described({ generation })).toMatchObject({
    'general.sampling.temp': 0.6,
    'general.sampling.top_k': 20,
    'general.sampling.top_p': 0.95,
    'general.sampling.min_p': 0,
    'general.sampling.penalty_repeat': 1.05,
  })
  expect(described({ generation: { temperature: null, top_k: 'x' } })).toEqual(described({}))
})

it('labels sizes as llama.cpp does', () => {
  const label = (parameters: number) => sizeLabel([{ name: 'x', shape: [parameters], type: 'F32' }])
  expect([596e6, 1.54e9, 8e9, 1.2e12, 250e3, 4e3].map(label)).toEqual([
    '596M',
    '1.5B',
    '8.0B',
    '1.2T',
    '250K',
    '4.0K',
  ])
  const experts = { name: 'blk.0.ffn_up_exps.weight', shape: [100, 1000, 8], type: 'F32' as const }
  expect(sizeLabel([experts, { name: 'y', shape: [1_000_000], type: 'F32' }])).toBe('8x1.1M')
})
