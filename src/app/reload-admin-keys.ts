/**
 * Replaces the admin keys of a running server with those that its operator has written since (SIGHUP). All or nothing: keys
 * that cannot be used change nothing. Whether there is an admin API at all is decided at the start, so an operator who
 * empties a file by mistake is not locked out, and nobody is let in by a file that appears.
 */
import { flagName } from '../config/option-names.ts'
import { checkRules } from '../config/rules.ts'
import { listSecrets } from '../config/secret-kinds.ts'
import type { ServerConfig } from '../config/server-config.ts'
import { StartError } from '../core/errors.ts'
import type { Log } from '../telemetry/log.ts'
import type { Guards } from './guards.ts'
import type { ServerState } from './state.ts'

interface ReloadDeps extends Pick<ServerState, 'adminKeys'> {
  readonly guards: Pick<Guards, 'watchForAdminKeys'>
  readonly log: Log
}

export function createAdminKeyReload(config: ServerConfig, { adminKeys, guards, log }: ReloadDeps) {
  let current = listSecrets(config.adminKey)
  return (read: () => ServerConfig['adminKey']): void => {
    try {
      const adminKey = read()
      const keys = listSecrets(adminKey)
      if (hasSame(keys, current)) return
      if (keys.length === 0 || current.length === 0) {
        const change = current.length === 0 ? 'on' : 'off'
        throw new StartError(
          `The admin API is switched ${change} by a restart, not while the server runs.`,
          2,
        )
      }
      checkRules({ ...config, adminKey }, flagName)
      adminKeys.replace(keys)
      guards.watchForAdminKeys(keys)
      current = keys
      log.info({ count: keys.length }, 'the admin keys were replaced')
    } catch (error) {
      if (!(error instanceof StartError)) throw error
      log.warn({ problem: error.message }, 'the admin keys cannot be read; those from before stay valid')
    }
  }
}

function hasSame(keys: readonly string[], others: readonly string[]): boolean {
  return keys.every((key) => others.includes(key)) && others.every((key) => keys.includes(key))
}
