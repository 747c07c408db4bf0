import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { CONFIG_FILE, describeDefault, describeOption, renderConfigFile } from './config-comments.mjs'

it('says what an option does, its bounds and its default, under the names that code has', () => {
  expect(describeOption('maxBatchSize')).toBe(
    'Sequences in one running batch. Must be a whole number from 1 to 256.',
  )
  expect(describeDefault('maxBatchSize')).toBe('8')
  expect(describeOption('tlsKeyfile')).toBe('PEM key; needs `tlsCertfile`. Must be a path.')
  expect(describeDefault('enableFirewall')).toBe('false')
})

it('src/config/server-config.ts has the comments that `npm run docs` gives', () => {
  expect(readFileSync(CONFIG_FILE, 'utf8')).toBe(renderConfigFile())
})
