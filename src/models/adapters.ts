/**
 * LoRA adapters in the registry: which model one is for, and what follows for that model. An adapter holds a lease on its base, so
 * that the engine which both share is open as long as either serves. Decides; the registry changes its entries.
 */
import { ServiceError, StartError } from '../core/errors.ts'
import type { AdapterModelSource } from '../protocol/model-source.ts'
import type { LoadedModel } from './loaded-model.ts'
import type { ModelEntry } from './model-entry.ts'

/** @throws StartError where the base is not registered, or is the adapter itself or another one */
export function requireBase(
  id: string,
  { base }: AdapterModelSource,
  find: (id: string) => ModelEntry | null,
): ModelEntry {
  const entry = find(base)
  if (entry === null) throw new StartError(`Its base model '${base}' is not registered.`)
  if (entry.id === id) throw new StartError(`Its base model '${base}' is itself.`)
  if (entry.baseId !== null) throw new StartError(`Its base model '${base}' is itself an adapter.`)
  return entry
}

/**
 * The model that an adapter is loaded into, once a load of it that is under way has finished.
 * @throws StartError where it is not loaded, or takes no adapters
 */
export async function servingBase(base: ModelEntry, signal: AbortSignal): Promise<LoadedModel> {
  while (base.current === null && !base.loads.isIdle) await base.loads.nextRelease(signal)
  const { current, id, failure } = base
  if (current === null)
    throw new StartError(`Its base model '${id}' is not loaded: ${failure ?? 'it was unregistered.'}`)
  const { engine } = current
  if (engine.openAdapter === undefined || engine.info().embedding !== undefined)
    throw new StartError(
      `Its base model '${id}' takes no adapters: only a model that generates text in an engine of this server does.`,
    )
  return current
}

/** @throws ServiceError `model_has_adapters` where others are adapters of the model */
export function refuseBase(
  id: string,
  models: Iterable<{ readonly id: string; readonly baseId: string | null }>,
): void {
  const adapters = [...models].filter(({ baseId }) => baseId === id).map((model) => `'${model.id}'`)
  if (adapters.length === 0) return
  throw new ServiceError(
    'model_has_adapters',
    { model: id, adapters: adapters.join(', ') },
    { param: 'model' },
  )
}
