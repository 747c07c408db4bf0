// @ts-check
/** Writes docs/cli.md from the option table of the built program. */
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { prepareOrTell, ROOT } from '../prepare.mjs'

if (await prepareOrTell()) {
  const { renderCliDocs } = await import('./cli-docs.mjs')
  writeFileSync(path.join(ROOT, 'docs', 'cli.md'), renderCliDocs())
}
