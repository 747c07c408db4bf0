/**
 * What `serve` prints below its address: that the passthrough model serves, where no other was given, the link of the console, and how to get a key,
 * where none was configured. Pure; called once, when the server listens.
 */
import path from 'node:path'
import type { RunningServer } from '../../app/create-server.ts'
import { BUNDLED_NAME, countBundledParameters, isBundled } from '../../checkpoints/bundled-model.ts'
import type { ServerConfig } from '../../config/server-config.ts'
import { isPostgresUrl, shownLocation } from '../../core/text/database-location.ts'

/** Printed by `sluice light` too. */
export const PASSTHROUGH_SERVES =
  'sluice: no --checkpoint given, so the passthrough model serves: it repeats each prompt and understands nothing; ' +
  `--checkpoint ${BUNDLED_NAME} serves the demo model, --checkpoint PATH your own.`

type DescribedServer = Pick<RunningServer, 'address' | 'consoleUrl' | 'operatorKey' | 'withoutOperatorKey'>

export function describeStart(config: ServerConfig, server: DescribedServer): readonly string[] {
  const { checkpoint, upstream, models } = config
  const isPassthrough = checkpoint === null && upstream.length === 0 && models.length === 0
  const key = describeKey(config, server)
  const { consoleUrl } = server
  return [
    ...(isPassthrough ? [PASSTHROUGH_SERVES] : []),
    ...(consoleUrl === null ? [] : [`sluice: open ${consoleUrl}`]),
    ...(key === null ? [] : [key]),
  ]
}

/** That the bundled model is a toy; null for another. */
export async function describeDemo({ checkpoint }: Pick<ServerConfig, 'checkpoint'>): Promise<string | null> {
  if (checkpoint === null || !isBundled(checkpoint)) return null
  const millions = Math.round((await countBundledParameters()) / 1e6)
  return `sluice: demo model: a toy of ${millions} million parameters; your own: --checkpoint PATH or hf:org/repo`
}

function describeKey(config: ServerConfig, server: DescribedServer): string | null {
  switch (server.withoutOperatorKey) {
    case null:
      return server.operatorKey === null ? null : firstRequest(server.address, server.operatorKey)
    case 'admin-key':
      return `sluice: no key is printed because an admin key is set; ${keyCommand(config, server.address)} makes one.`
    case 'accounts':
      return `sluice: no key is printed because there are accounts or keys already; ${keyCommand(config, server.address)} makes one.`
    case 'api-keys':
    case 'open':
      return null
  }
}

/** A request to paste into a shell, with the key of this run, which is shown only here. */
function firstRequest(address: string, operatorKey: string): string {
  return [
    'sluice: no --api-keys given, so this run has a key of its own; try it:',
    `  curl ${address}/v1/chat/completions \\`,
    `    -H 'Authorization: Bearer ${operatorKey}' \\`,
    `    -H 'Content-Type: application/json' \\`,
    `    -d '{"messages": [{"role": "user", "content": "Tell me a story."}]}'`,
  ].join('\n')
}

/** The command that makes a key for this server, with the options that lead to its database. */
function keyCommand({ apiDb, dataDir }: ServerConfig, address: string): string {
  // Another process cannot reach a database in memory.
  if (apiDb === ':memory:')
    return `curl -X POST -H 'Authorization: Bearer <admin key>' ${address}/v1/admin/keys`
  const [flag, location] = apiDb === null ? ['--data-dir', dataDir] : ['--api-db', apiDb]
  const named = isPostgresUrl(location) ? shownLocation(location) : path.resolve(location)
  return `sluice keys create ${flag} ${quoteForShell(named)}`
}

function quoteForShell(text: string): string {
  return /^[\w./:@%+=~-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
