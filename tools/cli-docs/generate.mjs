// @ts-check
/** Writes docs/cli.md from the option table of the built program. */
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { prepareOrTell, ROOT } from './prepare.mjs'

if (await prepareOrTell()) {
  const { renderCliDocs } = await import(pathToFileURL(path.join(ROOT, 'dist', 'cli', 'cli-docs.js')).href)
  writeFileSync(path.join(ROOT, 'docs', 'cli.md'), renderCliDocs())
}
