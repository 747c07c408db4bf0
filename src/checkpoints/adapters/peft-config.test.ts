import { describe, expect, it } from 'vitest'
import { readPeftConfig } from './peft-config.ts'

const read = (fields: object) =>
  readPeftConfig({ path: 'adapter_config.json', fields: { peft_type: 'LORA', lora_alpha: 8, ...fields } })

describe('alpha_pattern', () => {
  const Q = 'model.layers.0.self_attn.q_proj'

  it('gives the modules that end with a name or a pattern an alpha of their own', () => {
    const { alphaOf } = read({ alpha_pattern: { 'layers.[12].self_attn.q_proj': 2, q_proj: 4 } })
    expect(alphaOf(Q, 8)).toBe(4)
    expect(alphaOf('model.layers.1.self_attn.q_proj', 8)).toBe(2)
    expect(alphaOf('model.layers.1.self_attn.v_proj', 8)).toBe(8)
    expect(alphaOf('model.layers.1.self_attn.no_q_proj', 8)).toBe(8)
  })

  it('is refused where a search would not end, within a second for all modules', () => {
    const { alphaOf } = read({ alpha_pattern: { '(?:[a-z_0-9.]*)*(?:[a-z_0-9.]+)*!': 2 } })
    const start = performance.now()
    expect(() => alphaOf(Q, 8)).toThrow(
      'adapter_config.json is not usable: "(?:[a-z_0-9.]*)*(?:[a-z_0-9.]+)*!" of "alpha_pattern" takes too long to be searched.',
    )
    expect(() => alphaOf(Q, 8)).toThrow('takes too long')
    expect(performance.now() - start).toBeLessThan(5000)
  })
})

describe('fields of another kind', () => {
  // `String` of such an object is a TypeError.
  const odd = { toString: 1 }

  it.each([
    [{ peft_type: odd }, 'has the peft_type {'],
    [{ bias: odd }, 'asks for biases ("bias": {'],
  ])('are named as they are: %j', (fields, words) => {
    expect(() => read(fields)).toThrow(words)
  })
})
