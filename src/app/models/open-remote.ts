/**
 * Opens models by the kind of their source: engine processes of this server for local ones, those of their base models for
 * adapters, clients of other servers for remote ones.
 */
import { systemClock } from '../../core/clock.ts'
import type { LogWriter } from '../../core/log-writer.ts'
import { localCheckpointLogged } from '../../checkpoints/hub/local-checkpoint.ts'
import type { KnownOutlines } from '../../checkpoints/known-outlines.ts'
import type { OpenEngine, OutlineModel } from '../../models/registry.ts'
import type { Log } from '../../telemetry/log.ts'
import type { UpstreamMetrics } from '../../telemetry/upstream-metrics.ts'
import type { OpenAdapterEngine } from './open-adapter.ts'
import type { OpenLocalEngine } from './open-checkpoint.ts'

interface OpenerDeps {
  readonly openLocal: OpenLocalEngine
  readonly openAdapter: OpenAdapterEngine
  readonly log: Pick<Log, 'info' | 'warn'>
  readonly upstreams?: UpstreamMetrics
  /** Called when an endpoint takes work, or takes none. */
  readonly onEngineChange?: () => void
}

export function createOpener(deps: OpenerDeps): OpenEngine {
  const { openLocal, openAdapter, log, upstreams, onEngineChange = () => {} } = deps
  return async (modelId, source, hooks) => {
    if (source.kind === 'local') return await openLocal(modelId, source, hooks)
    if (source.kind === 'adapter') return await openAdapter(modelId, source, hooks)
    // Loaded where there is one: its HTTP client is a tenth of all that a start loads.
    const { RemoteEngine } = await import('../../engines/remote/remote-engine.ts')
    return await RemoteEngine.open({
      ...source,
      modelId,
      clock: systemClock,
      ...(upstreams !== undefined && { observer: upstreams.of(modelId) }),
      onHealth: (url, isHealthy) => {
        if (isHealthy) log.info({ model: modelId, endpoint: url }, 'an endpoint takes requests')
        else log.warn({ model: modelId, endpoint: url }, 'an endpoint does not answer its health probe')
        onEngineChange()
      },
    })
  }
}

/** Downloads what is not here yet: its first request waits for the weights only. An upstream is not asked. */
export function createOutliner(outlines: KnownOutlines, log: LogWriter): OutlineModel {
  return async (modelId, source, { onProgress, signal }) => {
    if (source.kind !== 'local') return null
    const options = { modelId, log, signal, onProgress }
    const checkpoint = await localCheckpointLogged(source.checkpoint, options)
    return await outlines.read({ ...source, checkpoint }, signal)
  }
}
