import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { flagName } from '../../src/config/option-names.ts'
import { FLAG_NAMES } from '../../src/config/options.ts'
import { renderCliDocs } from './cli-docs.mjs'

it('lists every option', () => {
  const docs = renderCliDocs()
  for (const name of FLAG_NAMES) expect(docs).toMatch(new RegExp(`^\\| \`${flagName(name)}[ \`]`, 'm'))
})

it.each(['keys create', 'keys list', 'keys revoke', 'keys set-tier', 'users list', 'users set-tier'])(
  'describes sluice %s',
  (words) => {
    expect(renderCliDocs()).toMatch(new RegExp(`^sluice ${words} .*  \\w`, 'm'))
    expect(renderCliDocs()).toMatch(new RegExp(`^### \`sluice ${words} `, 'm'))
  },
)

it('docs/cli.md is what `npm run docs` gives', () => {
  expect(readFileSync(new URL('../../docs/cli.md', import.meta.url), 'utf8')).toBe(renderCliDocs())
})
