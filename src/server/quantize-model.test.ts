import { describe, expect, it } from 'vitest'
import type { GgufModel } from '../weights/gguf-file.ts'
import { checkMemory } from './quantize-model.ts'

const model = { path: 'm.gguf', sizeBytes: 4e9 } as GgufModel
const need = { model, format: 'Q8_0', newBytes: 2e9, servedBytes: 1e9 } as const

describe('checkMemory', () => {
  it('lets source, new and served weights pass when they fit together', () => {
    expect(() => checkMemory(need, 7e9)).not.toThrow()
  })

  it('refuses them with all numbers when they do not', () => {
    expect(() => checkMemory(need, 6.99e9)).toThrow(
      'Quantizing m.gguf to Q8_0 needs 7.00 GB of memory (4.00 GB source, 2.00 GB new weights, ' +
        '1.00 GB served meanwhile), but 6.99 GB is available.',
    )
  })
})
