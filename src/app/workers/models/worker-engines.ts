/** Engines as a worker uses them: clients of the supervisor's engine processes, or of an upstream. */
import type { Channel } from '../../../core/channel/channel.ts'
import { systemClock } from '../../../core/clock.ts'
import { SecretText } from '../../../core/text/secret-text.ts'
import { AdapterEngine } from '../../../engines/process/host/adapter-engine.ts'
import { AttachedEngine } from '../../../engines/process/host/attached-engine.ts'
import { ReplicatedEngine } from '../../../engines/process/host/replicated-engine.ts'
import type { Engine, EnginePlace } from '../../../protocol/engine.ts'
import type { Log } from '../../../telemetry/log.ts'
import type { UpstreamMetrics } from '../../../telemetry/upstream-metrics.ts'
import type { VersionData } from './models-table.ts'

export interface OpenedEngine {
  readonly engine: Engine
  /** Where its processes are by now. */
  readonly update: (places: readonly EnginePlace[]) => void
}

interface WorkerEnginesDeps {
  readonly channel: Pick<Channel, 'cast'>
  readonly log: Pick<Log, 'warn'>
  readonly upstreams: UpstreamMetrics
}

export function createWorkerEngines({ channel, log, upstreams }: WorkerEnginesDeps) {
  return async ({ version, modelId, engine: data }: VersionData): Promise<OpenedEngine> => {
    if (data.kind === 'upstream') {
      const { RemoteEngine } = await import('../../../engines/remote/remote-engine.ts')
      const { endpoints, model, apiKey } = data.source
      const secret = apiKey === null ? null : new SecretText(apiKey)
      // What its endpoints answer is in the supervisor's log.
      const observer = upstreams.of(modelId)
      const options = { endpoints, model, apiKey: secret, modelId, clock: systemClock, observer }
      return { engine: await RemoteEngine.open(options), update: () => {} }
    }
    const replicas = data.places.map(
      (place, index) =>
        new AttachedEngine(place, {
          onBusy: (isBusy) => channel.cast('engine.busy', [version, index, isBusy]),
          onHung: (pid) => channel.cast('engine.hung', [version, index, pid]),
          onOverload: (message) => log.warn({ model: modelId }, message),
        }),
    )
    // The replica with the fewest sequences of this worker: with many requests those of all workers spread alike.
    const own = new ReplicatedEngine(replicas)
    const { adapter } = data
    return {
      engine: adapter === null ? own : new AdapterEngine({ base: own, adapter, onClose: () => own.close() }),
      update: (places) => {
        for (const [index, place] of places.entries()) replicas[index]?.update(place)
      },
    }
  }
}
