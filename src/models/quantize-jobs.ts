/**
 * `POST /v1/models/quantize`, apart from HTTP: at most one job a model at a time. The registry loads the quantized
 * weights beside those that serve, so that running requests finish on the old ones; what quantizes is the registry's
 * `openEngine`, and what looks at files is passed in.
 */
import { ServiceError, StartError } from '../core/errors.ts'
import type { QuantMode } from '../core/quant-mode.ts'
import type { ModelSource } from '../protocol/model-source.ts'
import type { ModelRegistry } from './registry.ts'

export interface QuantizedSize {
  /** Weight matrices whose type changed. */
  readonly layersQuantized: number
  /** Of all weights. */
  readonly sizeBytes: number
}

export interface QuantizeResult extends QuantizedSize {
  readonly modelId: string
  readonly mode: QuantMode
}

export interface QuantizeJobsDeps {
  readonly registry: Pick<ModelRegistry, 'get' | 'source' | 'reload'>
  /** The type of weights that are quantized in the source itself; null where there are none. */
  readonly findQuantizedType: (source: ModelSource) => Promise<string | null>
  /** What quantizing gave; asked, with the very object that `openEngine` was given, when that serves. */
  readonly resultOf: (source: ModelSource) => QuantizedSize
}

export class QuantizeJobs {
  readonly #deps: QuantizeJobsDeps
  /** Ids of the models that are being quantized. */
  readonly #running = new Set<string>()

  constructor(deps: QuantizeJobsDeps) {
    this.#deps = deps
  }

  /**
   * Resolves when the quantized model serves. The passthrough model has nothing to quantize.
   * @throws ServiceError `model_not_found`, `quantization_running`, `not_quantizable`, `quantization_failed`,
   * `model_loading_failed`, `shutting_down`.
   */
  async quantize(modelId: string, mode: QuantMode): Promise<QuantizeResult> {
    const id = this.#realId(modelId)
    if (this.#running.has(id)) throw new ServiceError('quantization_running', { model: id })
    this.#running.add(id)
    try {
      return { modelId: id, mode, ...(await this.#run(id, mode)) }
    } catch (error) {
      throw toQuantizeError(id, error)
    } finally {
      this.#running.delete(id)
    }
  }

  #realId(modelId: string): string {
    try {
      return this.#deps.registry.get(modelId).id
    } catch (error) {
      throw toQuantizeError(modelId, error)
    }
  }

  async #run(id: string, mode: QuantMode): Promise<QuantizedSize> {
    const { registry, findQuantizedType, resultOf } = this.#deps
    const source = await registry.source(id)
    if (source === null) return { layersQuantized: 0, sizeBytes: 0 }
    const type = await findQuantizedType(source)
    if (type !== null) throw new ServiceError('not_quantizable', { model: id, type }, { param: 'model_id' })
    return resultOf(await registry.reload(id, (before) => ({ ...before, quantization: mode })))
  }
}

function toQuantizeError(model: string, error: unknown): unknown {
  if (error instanceof StartError)
    return new ServiceError('quantization_failed', { model, message: error.message }, { cause: error })
  if (error instanceof Error && error.name === 'AbortError') return new ServiceError('shutting_down')
  if (error instanceof ServiceError && error.code === 'model_not_found')
    return new ServiceError(error.code, error.params, { param: 'model_id', cause: error })
  return error
}
