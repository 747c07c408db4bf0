/** The four endpoints every light server has, in the shapes of the full server (spec: interface, rule 3). */
import type { Clock } from '../../core/clock.ts'
import { ServiceError } from '../../core/errors.ts'
import { INTERFACE_VERSION } from '../../core/interface-version.ts'
import type { ModelRecord } from '../../models/model-record.ts'
import type { EndpointHandler } from '../answer-request.ts'
import type { Exchange } from '../exchange.ts'
import { parseGenerateRequest } from '../generate-request.ts'
import { JsonText } from '../json-text.ts'
import type { ModelHost } from '../model-host.ts'
import { GENERATE_PATH } from './public-paths.ts'
import type { Method } from './router.ts'

export interface EndpointDeps {
  readonly clock: Clock
  readonly isClosing: () => boolean
  /** Of a server that has been listening, which a request's always has. */
  readonly models: () => ModelHost
}

export type AddRoute = (method: Method, pattern: string, handler: EndpointHandler) => void

export function addEndpoints(addRoute: AddRoute, deps: EndpointDeps): void {
  const { models } = deps
  addRoute('GET', '/v1/health', createHealth(deps))
  addRoute('GET', '/v1/models', () => ({ object: 'list', data: models().list().map(toModel) }))
  addRoute('GET', '/v1/models/{id}', ({ params }) => toModel(models().get(params['id'] ?? '')))
  addRoute('POST', GENERATE_PATH, (request) => generate(deps, request))
}

/** Asked for by the thousands a second, when a server's answer differs only from one millisecond to the next. */
function createHealth({ clock, models }: EndpointDeps): () => JsonText {
  const startedMs = clock.nowMs()
  let uptimeMs = -1
  let ready = 0
  let answer: JsonText | null = null
  return () => {
    const nowMs = Math.trunc(clock.nowMs() - startedMs)
    const nowReady = countReady(models())
    if (answer !== null && nowMs === uptimeMs && nowReady === ready) return answer
    uptimeMs = nowMs
    ready = nowReady
    answer = new JsonText({
      status: 'ok',
      version: INTERFACE_VERSION,
      models_loaded: ready,
      uptime_seconds: uptimeMs / 1000,
    })
    return answer
  }
}

async function generate(deps: EndpointDeps, exchange: Exchange): Promise<unknown> {
  if (deps.isClosing()) throw new ServiceError('shutting_down')
  const request = parseGenerateRequest(exchange.body)
  const createdUnixSeconds = Math.floor(deps.clock.unixSeconds())
  const { text, tokenIds, promptTokens, finishReason, modelId } = await deps
    .models()
    .generate(request, exchange)
  return {
    generated_text: text,
    token_ids: tokenIds,
    prompt_tokens: promptTokens,
    completion_tokens: tokenIds.length,
    total_tokens: promptTokens + tokenIds.length,
    model: modelId,
    created: createdUnixSeconds,
    finish_reason: finishReason,
  }
}

function countReady(models: ModelHost): number {
  let count = 0
  for (const { state } of models.list()) if (state === 'ready') count++
  return count
}

const BYTES_PER_MB = 1_000_000

/** As a list item and as the answer for one model; a test compares it with the full server's. */
function toModel({ outline, quantization, ...model }: ModelRecord) {
  return {
    id: model.id,
    object: 'model',
    created: Math.floor(model.createdUnixSeconds),
    owned_by: 'sluice',
    meta: {
      architecture: outline?.architecture ?? null,
      parameters: outline?.parameters ?? null,
      size_mb: outline === null ? null : outline.sizeBytes / BYTES_PER_MB,
      quantization: quantization === 'fp8' ? quantization : (outline?.quantization ?? null),
      max_seq_len: outline?.maxSeqLen ?? null,
      vocab_size: outline?.vocabSize ?? null,
      engine: outline?.engine ?? null,
      state: model.state,
      load_progress: model.loadFraction,
      failure: model.failure,
    },
  }
}
