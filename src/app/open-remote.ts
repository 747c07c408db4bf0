/** Opens models by the kind of their source: engine processes of this server for local ones, clients of other servers for remote ones. */
import { systemClock } from '../core/clock.ts'
import { RemoteEngine } from '../engines/remote/remote-engine.ts'
import type { OpenEngine } from '../models/registry.ts'
import type { Log } from '../telemetry/log.ts'
import type { OpenLocalEngine } from './open-checkpoint.ts'

interface OpenerDeps {
  readonly openLocal: OpenLocalEngine
  readonly log: Pick<Log, 'info' | 'warn'>
  /** Called when an endpoint takes work, or takes none. */
  readonly onEngineChange?: () => void
}

export function createOpener({ openLocal, log, onEngineChange = () => {} }: OpenerDeps): OpenEngine {
  return async (modelId, source, hooks) => {
    if (source.kind === 'local') return await openLocal(modelId, source, hooks)
    return await RemoteEngine.open({
      ...source,
      modelId,
      clock: systemClock,
      onHealth: (url, isHealthy) => {
        if (isHealthy) log.info({ model: modelId, endpoint: url }, 'an endpoint takes requests')
        else log.warn({ model: modelId, endpoint: url }, 'an endpoint does not answer its health probe')
        onEngineChange()
      },
    })
  }
}
