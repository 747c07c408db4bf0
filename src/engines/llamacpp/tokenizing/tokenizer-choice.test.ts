import { expect, it } from 'vitest'
import { normalizesText } from './tokenizer-choice.ts'

it('brings text into NFC where the name of the pre-tokenizer says so, unless the file says otherwise', () => {
  const normalizes = (metadata: Readonly<Record<string, string>>) =>
    normalizesText((key) => metadata[key] ?? null)
  const nfc = 'sluice.tokenizer.nfc'
  const pre = 'tokenizer.ggml.pre'
  expect(normalizes({ [pre]: 'qwen2' })).toBe(true)
  expect(normalizes({ [pre]: 'qwen2', [nfc]: 'false' })).toBe(false)
  expect(normalizes({ [pre]: 'llama-bpe' })).toBe(false)
  expect(normalizes({ [pre]: 'llama-bpe', [nfc]: 'true' })).toBe(true)
  expect(normalizes({})).toBe(false)
})
