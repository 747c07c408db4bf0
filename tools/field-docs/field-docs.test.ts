import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { unplacedFields, withFieldTables } from './field-docs.mjs'

it('no field of another server is in neither list', () => {
  expect(unplacedFields()).toEqual([])
})

it('the table of docs/clients.md is what `npm run docs` gives', () => {
  const text = readFileSync(new URL('../../docs/clients.md', import.meta.url), 'utf8')
  expect(withFieldTables(text)).toBe(text)
})
