/** The four endpoints every light server has, in the shapes of the full server (spec: interface, rule 3). */
import type { Clock } from '../core/clock.ts'
import { ServiceError } from '../core/errors.ts'
import { INTERFACE_VERSION } from '../core/interface-version.ts'
import { type Continuation, toGenerateAnswer } from '../generation/generate-answer.ts'
import { type ModelRecord, toModelObject } from '../models/model-record.ts'
import { unknownParameter } from '../net/requests/request-fields.ts'
import { JsonText } from './answers.ts'
import type { Exchange } from './exchange.ts'
import { type GenerateRequest, parseGenerateRequest } from './generate-request.ts'

interface GenerateRun {
  readonly requestId: string
  /** Aborts when the client leaves. */
  readonly signal: AbortSignal
  /** Calls back when the connection ends, until the function that it returns is called. A signal costs as much as the rest of a short generation. */
  onLeave(callback: () => void): () => void
}

interface Generated extends Continuation {
  /** The real id, also where the request named an alias. */
  readonly modelId: string
}

export interface ModelHost {
  list(): readonly ModelRecord[]
  /** Null and `default` name the default model. @throws ServiceError `model_not_found`. */
  get(modelId: string | null): ModelRecord
  /** @throws ServiceError when the request is refused or fails, the signal's reason when that aborts. */
  generate(request: GenerateRequest, run: GenerateRun): Promise<Generated>
  close(): Promise<void>
}

export interface EndpointDeps {
  readonly clock: Clock
  readonly models: ModelHost
  /** The start of `uptime_seconds`. */
  readonly startedMs: number
  readonly isClosing: () => boolean
}

export class Endpoints {
  readonly #deps: EndpointDeps
  #health: { readonly uptimeMs: number; readonly ready: number; readonly answer: JsonText } | null = null

  constructor(deps: EndpointDeps) {
    this.#deps = deps
  }

  /** No endpoint takes a parameter; routes of the application read their own. @throws ServiceError `invalid_request` */
  refuseQuery(exchange: Pick<Exchange, 'queryText' | 'query'>): void {
    // Parsing an empty query would cost as much as the shortest answer.
    if (exchange.queryText === '') return
    for (const name of exchange.query.keys()) throw unknownParameter(name, [])
  }

  /** Load balancers ask thousands of times a second; the answer is written once a millisecond. */
  health(): JsonText {
    const { clock, models, startedMs } = this.#deps
    const uptimeMs = Math.trunc(clock.nowMs() - startedMs)
    const ready = countReady(models)
    if (this.#health?.uptimeMs !== uptimeMs || this.#health.ready !== ready) {
      const answer = new JsonText({
        status: 'ok',
        version: INTERFACE_VERSION,
        models_loaded: ready,
        uptime_seconds: uptimeMs / 1000,
      })
      this.#health = { uptimeMs, ready, answer }
    }
    return this.#health.answer
  }

  listModels(): unknown {
    return { object: 'list', data: this.#deps.models.list().map(toModelObject) }
  }

  getModel(id: string): unknown {
    return toModelObject(this.#deps.models.get(id))
  }

  async generate(exchange: Exchange): Promise<unknown> {
    const { clock, models, isClosing } = this.#deps
    if (isClosing()) throw new ServiceError('shutting_down')
    const request = parseGenerateRequest(exchange.body)
    const createdUnixSeconds = Math.floor(clock.unixSeconds())
    const generated = await models.generate(request, exchange)
    return toGenerateAnswer({ modelId: generated.modelId, createdUnixSeconds }, generated)
  }
}

function countReady(models: ModelHost): number {
  let count = 0
  for (const { state } of models.list()) if (state === 'ready') count++
  return count
}
