// @ts-check
/** Writes docs/cli.md and the comments of `ConfigOptions` from the option table of the built program. */
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { prepareOrTell, ROOT } from '../prepare.mjs'

if (await prepareOrTell()) {
  const { renderCliDocs } = await import('./cli-docs.mjs')
  writeFileSync(path.join(ROOT, 'docs', 'cli.md'), renderCliDocs())
  const { CONFIG_FILE, renderConfigFile } = await import('./config-comments.mjs')
  writeFileSync(CONFIG_FILE, renderConfigFile())
}
