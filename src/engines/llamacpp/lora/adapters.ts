/**
 * The LoRA adapters of a loaded model, by the numbers that requests name them by. Owned by the runner, which tells its contexts which
 * one a decode is for. Called between steps only.
 * Invariant: no context decodes with an adapter that was freed: the runner makes its contexts forget it first.
 */
import { InvariantError, ServiceError } from '../../../core/errors.ts'
import type { AdapterStore } from '../../../protocol/model-runner.ts'
import type { NumberedAdapter } from '../../../protocol/adapter.ts'
import type { Bindings } from '../ffi/bindings.ts'
import type { Pointer } from '../ffi/structs.ts'
import type { Model } from '../model.ts'

/** An adapter as a context decodes with it. */
export interface ActiveAdapter {
  readonly handle: Pointer
  readonly scale: number
}

export class Adapters implements AdapterStore {
  readonly #api: Bindings
  readonly #model: Pick<Model, 'handle'>
  readonly #loaded = new Map<number, ActiveAdapter>()
  readonly #onFree: () => void

  /** @param onFree called before an adapter is freed: no context may hold it then */
  constructor(api: Bindings, model: Pick<Model, 'handle'>, onFree: () => void) {
    this.#api = api
    this.#model = model
    this.#onFree = onFree
  }

  has(adapterId: number): boolean {
    return this.#loaded.has(adapterId)
  }

  load({ adapterId, modelId, path, scale }: NumberedAdapter): void {
    if (this.#loaded.has(adapterId)) return
    const handle = this.#api.adapterInit(this.#model.handle, path)
    if (handle === null) {
      const message = `llama.cpp cannot load the adapter '${path}': it is damaged, or made for another model.`
      throw new ServiceError('model_not_loadable', { model: modelId, message })
    }
    this.#loaded.set(adapterId, { handle, scale })
  }

  free(adapterId: number): void {
    const adapter = this.#loaded.get(adapterId)
    if (adapter === undefined) return
    this.#onFree()
    this.#loaded.delete(adapterId)
    this.#api.adapterFree(adapter.handle)
  }

  /** @throws InvariantError where it was not loaded, or freed */
  get(adapterId: number): ActiveAdapter {
    const adapter = this.#loaded.get(adapterId)
    if (adapter === undefined) throw new InvariantError(`Adapter ${adapterId} is not loaded.`)
    return adapter
  }
}
