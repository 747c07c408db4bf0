/** Opens LoRA adapters: prepares the file of one and loads it into the engine of its base model, which this server has opened. */
import { prepareAdapter } from '../../checkpoints/adapters/prepare-adapter.ts'
import { touchWhileOpen } from '../../checkpoints/cache/artifact-manifest.ts'
import { convertAdapterInWorker } from '../../checkpoints/conversion/conversion-thread.ts'
import type { GgufModel } from '../../checkpoints/gguf/gguf-file.ts'
import type { MemoryFit } from '../../checkpoints/memory/memory-need.ts'
import { InvariantError } from '../../core/errors.ts'
import type { LogWriter } from '../../core/log-writer.ts'
import type { LoadHooks } from '../../models/registry.ts'
import { servingBytes } from '../../protocol/compute-device.ts'
import type { Engine } from '../../protocol/engine.ts'
import type { AdapterModelSource } from '../../protocol/model-source.ts'

/** What each engine of a local model has opened. */
export type OpenedModels = WeakMap<Engine, GgufModel>

interface AdapterOpenerDeps {
  readonly dataDir: string
  readonly log: LogWriter
  readonly opened: OpenedModels
  readonly memory: MemoryFit
  /** Engine processes of a base model, each of which loads the adapter. */
  readonly replicas: number
}

/** `OpenEngine` for adapters. */
export type OpenAdapterEngine = (
  modelId: string,
  source: AdapterModelSource,
  hooks: LoadHooks,
) => Promise<Engine>

export function createAdapterOpener(deps: AdapterOpenerDeps): OpenAdapterEngine {
  const { dataDir, log, opened, memory, replicas } = deps
  return async (modelId, source, { base, loaded, signal, onProgress, onOutline }) => {
    const model = base === null ? undefined : opened.get(base)
    if (base?.openAdapter === undefined || model === undefined)
      throw new InvariantError(`the engine of '${source.base}' takes no adapters`)
    const { adapter, scale } = source
    const { architecture, metadata, tensors } = model
    const prepared = await prepareAdapter({
      ...{ modelId, adapter, dataDir, log, signal, onProgress },
      base: { modelId: source.base, architecture, metadata, tensors },
      convert: convertAdapterInWorker,
    })
    const { path, parameters, sizeBytes } = prepared
    onOutline({ ...base.info(), parameters, sizeBytes })
    const need = { weightBytes: sizeBytes, kvCacheBytes: 0, replicas, sourceBytes: 0 }
    using _reserved = memory.reserve(modelId, need, servingBytes(loaded()))
    const engine = await base.openAdapter({ modelId, path, scale, parameters, sizeBytes }, signal)
    return touchWhileOpen(engine, path)
  }
}
