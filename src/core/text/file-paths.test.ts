import { expect, it } from 'vitest'
import { withoutFolders } from './file-paths.ts'

it.each([
  ['/srv/models/demo/config.json is damaged.', 'config.json is damaged.'],
  ["'/srv/my models/x.gguf' is not a GGUF model file.", "'x.gguf' is not a GGUF model file."],
  [
    'Cannot read /Users/Jo Doe/a b.gguf: the disk reports an input/output error.',
    'Cannot read a b.gguf: the disk reports an input/output error.',
  ],
  ["Cannot read /Users/Jo's Mac/x.gguf: it is a folder.", 'Cannot read x.gguf: it is a folder.'],
  [
    'llama.cpp could not quantize /a/b/x.gguf to Q8_0 in /c/d/y.gguf.',
    'llama.cpp could not quantize x.gguf to Q8_0 in y.gguf.',
  ],
  [
    'needs 9 bytes in /srv/data/models, but only 3 are free.',
    'needs 9 bytes in models, but only 3 are free.',
  ],
  ['C:\\Users\\Jo\\x.gguf is damaged.', 'x.gguf is damaged.'],
  ['\\\\host\\share\\x.gguf is damaged.', 'x.gguf is damaged.'],
  ['a folder (/srv/x)', 'a folder (x)'],
])('takes the folders out of %s', (sentence, expected) => {
  expect(withoutFolders(sentence)).toBe(expected)
})

it.each([
  'There is no model acme/tiny at https://hub.example.org/api.',
  'hf:org/repo:a/b.gguf has no file.',
  'models/demo/config.json is damaged.',
  'It makes 10 tokens/s and/or less.',
  'a \\"quoted\\" word',
])('leaves %s', (sentence) => {
  expect(withoutFolders(sentence)).toBe(sentence)
})
