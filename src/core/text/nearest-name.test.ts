import { expect, it } from 'vitest'
import { meantName, nearestName } from './nearest-name.ts'

it.each([
  ['Max-Tokens', ['model_id', 'max_tokens'], 'max_tokens'],
  ['quant_mod', ['model_id', 'quant_mode'], 'quant_mode'],
  ['mode', ['model_id', 'quant_mode'], 'quant_mode'],
  ['key', ['api_key_name', 'keys'], 'api_key_name'],
  ['x'.repeat(10_000), ['a', 'b'], 'a'],
])('%s is nearest among %j to %s', (given, candidates, nearest) => {
  expect(nearestName(given, candidates)).toBe(nearest)
})

it.each([
  ['max_batch_sze', 'maxBatchSize'],
  ['prot', 'port'],
  ['hots', 'host'],
  ['batch', null],
  ['serve', null],
  ['x', null],
  ['', null],
])('%s means %s', (given, meant) => {
  expect(meantName(given, ['port', 'host', 'maxBatchSize'])).toBe(meant)
})
