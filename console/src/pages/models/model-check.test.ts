import { expect, it } from 'vitest'
import { checkOf, type ModelCheck } from './model-check.ts'

const check = { architecture: 'llama', fits: true } as ModelCheck
const sent = { checkpoint: 'one.gguf', quantization: 'none' }

it('holds for what was sent', () => {
  expect(checkOf({ ...sent }, { source: sent, check })).toBe(check)
  expect(checkOf(sent, null)).toBeNull()
})

it.each([{ checkpoint: 'other.gguf' }, { quantization: 'int4' }])(
  'is no answer for %j, which was written while it was on its way',
  (changed) => {
    expect(checkOf({ ...sent, ...changed }, { source: sent, check })).toBeNull()
  },
)
