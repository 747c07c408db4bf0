/**
 * `POST /v1/models/quantize`, apart from HTTP: at most one job a model at a time, and a pause between jobs for those who are
 * not the operator, since each one reloads a model that others use. The registry loads the quantized weights beside those
 * that serve, so that running requests finish on the old ones; what quantizes is the registry's `openEngine`, and what looks
 * at files is passed in.
 */
import type { Clock } from '../core/clock.ts'
import { ServiceError, StartError } from '../core/errors.ts'
import type { Quantization } from '../core/choices/quant-mode.ts'
import type { LocalModelSource, ModelSource } from '../protocol/model-source.ts'
import type { ModelRegistry } from './registry.ts'

/** From the end of one quantization of a model to the next that a key other than the operator's may ask for. */
export const QUANTIZATION_PAUSE_MS = 60_000

export interface QuantizedSize {
  /** Weight matrices whose type changed. */
  readonly layersQuantized: number
  /** Of all weights. */
  readonly sizeBytes: number
}

export interface QuantizeResult extends QuantizedSize {
  readonly modelId: string
  readonly mode: Quantization
}

export interface QuantizeJobsDeps {
  readonly registry: Pick<ModelRegistry, 'get' | 'source' | 'reload'>
  /** The type of weights that are quantized in the source itself; null where there are none. */
  readonly findQuantizedType: (source: LocalModelSource) => Promise<string | null>
  /** What quantizing gave; asked, with the very object that `openEngine` was given, when that serves. */
  readonly resultOf: (source: LocalModelSource) => QuantizedSize
  readonly clock: Clock
}

interface QuantizeRequest {
  /** Whether the one who asks may do so without a pause. @default true */
  readonly isOperator: boolean
}

export class QuantizeJobs {
  readonly #deps: QuantizeJobsDeps
  /** Ids of the models that are being quantized. */
  readonly #running = new Set<string>()
  /** When the last quantization of a model ended. */
  readonly #endedMs = new Map<string, number>()

  constructor(deps: QuantizeJobsDeps) {
    this.#deps = deps
  }

  /**
   * Resolves when the quantized model serves; `none` loads the source as it is. The mode that serves already loads nothing.
   * The passthrough model has nothing to quantize.
   * @throws ServiceError `model_not_found`, `quantization_running`, `quantization_too_soon`, `not_quantizable`,
   * `quantization_failed`, `model_loading_failed`, `shutting_down`.
   */
  async quantize(
    modelId: string,
    mode: Quantization,
    options: QuantizeRequest = { isOperator: true },
  ): Promise<QuantizeResult> {
    const id = this.#realId(modelId)
    if (this.#running.has(id)) throw new ServiceError('quantization_running', { model: id })
    this.#running.add(id)
    try {
      return { modelId: id, mode, ...(await this.#run(id, mode, options)) }
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

  async #run(id: string, mode: Quantization, { isOperator }: QuantizeRequest): Promise<QuantizedSize> {
    const { registry, clock } = this.#deps
    const found = await registry.source(id)
    const source = found === null ? null : localSource(id, found)
    if (source === null) return { layersQuantized: 0, sizeBytes: 0 }
    const { state, loadFraction } = registry.get(id)
    const isServing = state === 'ready' && loadFraction === 1
    if (isServing && source.quantization === mode) return this.#sizeOf(id, source)
    if (!isOperator) this.#requirePause(id)
    try {
      return await this.#load(id, source, mode)
    } finally {
      this.#endedMs.set(id, clock.nowMs())
    }
  }

  async #load(id: string, source: LocalModelSource, mode: Quantization): Promise<QuantizedSize> {
    const { registry, findQuantizedType } = this.#deps
    const type = mode === 'none' ? null : await findQuantizedType(source)
    if (type !== null) throw new ServiceError('not_quantizable', { model: id, type }, { param: 'model_id' })
    const loaded = await registry.reload(id, (before) => ({ ...localSource(id, before), quantization: mode }))
    return this.#sizeOf(id, localSource(id, loaded))
  }

  #sizeOf(id: string, source: LocalModelSource): QuantizedSize {
    const { registry, resultOf } = this.#deps
    if (source.quantization !== 'none') return resultOf(source)
    return { layersQuantized: 0, sizeBytes: registry.get(id).info?.sizeBytes ?? 0 }
  }

  #requirePause(id: string): void {
    const endedMs = this.#endedMs.get(id)
    if (endedMs === undefined) return
    const leftMs = endedMs + QUANTIZATION_PAUSE_MS - this.#deps.clock.nowMs()
    if (leftMs <= 0) return void this.#endedMs.delete(id)
    const seconds = Math.ceil(leftMs / 1000)
    throw new ServiceError(
      'quantization_too_soon',
      { model: id, pauseSeconds: QUANTIZATION_PAUSE_MS / 1000, seconds },
      { param: 'model_id', retryAfterSeconds: seconds },
    )
  }
}

/** @throws ServiceError `unsupported_value` for a model whose weights are another's */
function localSource(model: string, source: ModelSource): LocalModelSource {
  if (source.kind === 'local') return source
  const what = source.kind === 'adapter' ? `an adapter of '${source.base}'` : 'served by an upstream'
  const message = `model_id must be a model of this server's own, but '${model}' is ${what}.`
  throw new ServiceError('unsupported_value', { message }, { param: 'model_id' })
}

function toQuantizeError(model: string, error: unknown): unknown {
  if (error instanceof StartError)
    return new ServiceError('quantization_failed', { model, message: error.message }, { cause: error })
  if (error instanceof Error && error.name === 'AbortError') return new ServiceError('shutting_down')
  if (error instanceof ServiceError && error.code === 'model_not_found')
    return new ServiceError(error.code, error.params, { param: 'model_id', cause: error })
  return error
}
