/**
 * The checkpoint of a light server: the full server's registry and engine process, without its HTTP, accounts and
 * limits. Loaded only where a checkpoint is given.
 */
import { completeConfig } from '../config/resolve.ts'
import type { SleepingClock } from '../core/clock.ts'
import { StartError } from '../core/errors.ts'
import { InProcessEngine } from '../engines/process/step-loop/in-process-engine.ts'
import { PassthroughRunner } from '../engines/passthrough/passthrough-runner.ts'
import type { GivenModelOptions, OnError } from '../light/light-options.ts'
import type { CheckpointContext, OpenedModel } from '../light/light-server.ts'
import { createRegistryHost } from '../light/registry-host.ts'
import { ModelRegistry } from '../models/registry.ts'
import { createLog, type Log } from '../telemetry/log.ts'
import { outlineCheckpoint } from '../checkpoints/checkpoint-outline.ts'
import { checkpointName } from '../checkpoints/hub/hub-reference.ts'
import { localCheckpoint } from '../checkpoints/hub/local-checkpoint.ts'
import { availableMemoryBytes } from '../checkpoints/memory/available-memory.ts'
import { MemoryFit } from '../checkpoints/memory/memory-need.ts'
import { createCheckpointOpener } from './models/open-checkpoint.ts'

/** Resolves once the headers have been checked; the weights go on loading. @throws StartError */
export async function openLightCheckpoint(
  given: GivenModelOptions & { readonly checkpoint: string },
  { maxQueue, onError, clock, signal }: CheckpointContext & { readonly clock: SleepingClock },
): Promise<OpenedModel> {
  const config = completeConfig({ ...given, maxQueue })
  const { modelConfig, tokenizer, quantization, maxSeqLen, kvCacheTokens, maxBatchSize } = config
  const log = createErrorLog(onError)
  const id = config.modelId ?? checkpointName(given.checkpoint)
  const checkpoint = await localCheckpoint(given.checkpoint, { signal, checksConfig: modelConfig === null })
  const source = { checkpoint, modelConfig, tokenizer, quantization }
  const outline = await outlineCheckpoint(source, { maxSeqLen, kvCacheTokens, signal })
  const openLocal = createCheckpointOpener({ config, log, memory: new MemoryFit(availableMemoryBytes) })
  const registry = new ModelRegistry({
    openEngine: async (modelId, opened, hooks) => {
      if (opened.kind !== 'local') throw new StartError('The light server serves local models only.')
      return await openLocal(modelId, opened, hooks)
    },
    // Never called: the checkpoint is registered at once and never removed.
    openFallback: () => new InProcessEngine({ runner: new PassthroughRunner({ maxBatchSize, maxSeqLen }) }),
    maxQueue,
    clock,
  })
  const loaded = registry.register(id, source, { outline })
  // A caller that does not await it sees the failure in `/v1/models` and in every answer.
  loaded.catch(() => {})
  return { host: createRegistryHost(registry, clock), loaded }
}

/** Failures go to the application's `onError`; nothing is written to its console. */
function createErrorLog(onError: OnError): Log {
  const write = (line: string): void => {
    const { msg, model } = JSON.parse(line) as { readonly msg: string; readonly model?: string }
    onError(new Error(model === undefined ? msg : `Model '${model}': ${msg}`), null)
  }
  return createLog({ level: 'warn', destination: { write } })
}
