import { describe, expect, it } from 'vitest'
import { ServiceError } from './errors.ts'
import { folderless } from './folderless.ts'

describe('what users may read', () => {
  it.each([
    ['/srv/models/m.gguf is damaged.', 'm.gguf is damaged.'],
    ["The model file '/srv/models/m.gguf' does not exist.", "The model file 'm.gguf' does not exist."],
    [
      'Cannot write /srv/a-b/über.gguf.tmp: the disk is full.',
      'Cannot write über.gguf.tmp: the disk is full.',
    ],
    ['Two of them: /srv/a.gguf, /srv/b.gguf.', 'Two of them: a.gguf, b.gguf.'],
    ['/srv/models is a folder without a .gguf file.', 'models is a folder without a .gguf file.'],
    ['its terms are at http://127.0.0.1:80/acme/demo.', 'its terms are at http://127.0.0.1:80/acme/demo.'],
    ['There is no model acme/tiny and no org/a/b.', 'There is no model acme/tiny and no org/a/b.'],
    ['needs 1.5 GB of memory / 2 GB.', 'needs 1.5 GB of memory / 2 GB.'],
  ])('%j names no folder', (sentence, shown) => {
    expect(folderless(sentence)).toBe(shown)
  })

  it.each([
    'model_loading_failed',
    'quantization_failed',
    'engine_unavailable',
    'beams_unavailable',
  ] as const)('holds for %s', (code) => {
    const error = new ServiceError(code, { model: 'm', message: '/srv/models/m.gguf is damaged.' })
    expect(error.message).toMatch(/: m\.gguf is damaged\.$/)
  })

  it('leaves the whole path to the admin who gave it', () => {
    const error = new ServiceError('model_not_loadable', { model: 'm', message: '/srv/m.gguf is damaged.' })
    expect(error.message).toBe("Model 'm' was not registered: /srv/m.gguf is damaged.")
  })
})
