// @ts-check
/** Writes docs/cli.md, docs/metrics.md, the comments of `ConfigOptions` and the table of fields of docs/clients.md from the built program. */
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { prepareOrTell, ROOT } from '../prepare.mjs'

if (await prepareOrTell()) {
  const { renderCliDocs } = await import('./cli-docs.mjs')
  writeFileSync(path.join(ROOT, 'docs', 'cli.md'), renderCliDocs())
  const { CONFIG_FILE, renderConfigFile } = await import('./config-comments.mjs')
  writeFileSync(CONFIG_FILE, renderConfigFile())
  const { renderMetricsDocs } = await import('../metrics-docs/metrics-docs.mjs')
  writeFileSync(path.join(ROOT, 'docs', 'metrics.md'), renderMetricsDocs())
  const { withFieldTables } = await import('../field-docs/field-docs.mjs')
  const clients = path.join(ROOT, 'docs', 'clients.md')
  writeFileSync(clients, withFieldTables(readFileSync(clients, 'utf8')))
}
