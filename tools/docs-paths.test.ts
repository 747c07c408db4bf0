/** Documents name files of the tree; a file that moves takes its mentions along. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'

const ROOT = path.resolve(import.meta.dirname, '..')
const DOCUMENTS = [
  'README.md',
  'CONTRIBUTING.md',
  ...readdirSync(path.join(ROOT, 'docs')).map((name) => `docs/${name}`),
]
const PATH = /`(?<path>(?:src|test|tools|bench|docs|models|examples)\/[\w./-]*)`/g

it.each(DOCUMENTS.filter((name) => name.endsWith('.md')))(
  '%s names only files and folders that are there',
  (document) => {
    const text = readFileSync(path.join(ROOT, document), 'utf8')
    const missing = Array.from(text.matchAll(PATH), ({ groups }) => groups?.['path'] ?? '').filter(
      (file) => !existsSync(path.join(ROOT, file)),
    )
    expect(missing).toEqual([])
  },
)
