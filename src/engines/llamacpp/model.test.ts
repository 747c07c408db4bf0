import { expect, it } from 'vitest'
import { toQuantization } from './model.ts'

it.each([
  ['llama 1B F16', 'F16'],
  ['llama ?B all F32', 'F32'],
  ['qwen2 0.5B BF16', 'BF16'],
  ['llama 8B Q4_0', 'Q4_0'],
  ['llama 8B Q4_K - Medium', 'Q4_K_M'],
  ['llama4 17Bx16E (Scout) IQ2_XXS - 2.0625 bpw', 'IQ2_XXS'],
  ['gpt-oss 20B MXFP4 MoE', 'MXFP4'],
  ['falcon 7B (guessed) Q8_0', 'Q8_0'],
  ['llama 8B unknown, may not work', 'unknown'],
])('calls the weights of "%s" %s', (description, quantization) => {
  expect(toQuantization(description)).toBe(quantization)
})
