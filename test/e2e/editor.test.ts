/** What an editor shows to a user of the package: TypeScript's language server over the published declarations. */
import { mkdirSync, symlinkSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { OPTION_NAMES } from '../../src/config/options.ts'
import { describeDefault, describeOption } from '../../tools/cli-docs/config-comments.mjs'
import { startLanguageServer } from '../support/language-server.ts'
import { temporaryFolder } from '../support/servers/server-process.ts'

const ROOT = path.resolve(import.meta.dirname, '../..')

const inOneLine = (text: string): string => text.replaceAll(/\s+/g, ' ')

it('documents every option of createServer: what it does, its bounds and its default', async () => {
  const folder = temporaryFolder()
  mkdirSync(path.join(folder, 'node_modules'))
  symlinkSync(ROOT, path.join(folder, 'node_modules/sluice'))
  await using editor = await startLanguageServer(folder)
  const names = OPTION_NAMES.filter((name) => name !== 'config')
  const head = [`import { createServer } from 'sluice'`, `await createServer({`]
  editor.open('app.mts', [...head, ...names.map((name) => `  ${name}: undefined,`), '})'].join('\n'))
  for (const [index, name] of names.entries()) {
    const shown = inOneLine(await editor.hover('app.mts', { line: head.length + index, character: 3 }))
    expect(shown).toContain(`.${name}?: `)
    expect(shown).toContain(describeOption(name))
    expect(shown.split(' @default — ').at(-1)).toBe(describeDefault(name))
  }
})
