/** The four endpoints every light server has, in the shapes of the full server (spec: interface, rule 3). */
import type { Clock } from '../core/clock.ts'
import { ServiceError } from '../core/errors.ts'
import { INTERFACE_VERSION } from '../core/interface-version.ts'
import type { Engine } from '../protocol/engine.ts'
import type { Handler, LightRequest } from './answer-request.ts'
import { parseGenerateRequest } from './generate-request.ts'
import { runPrompt } from './generation.ts'
import { GENERATE_PATH } from './public-paths.ts'
import type { Router } from './router.ts'

/** The one model there is, and the alias of the default model. */
const MODEL_ID = 'default'

export interface EndpointDeps {
  readonly engine: Engine
  readonly clock: Clock
  readonly isClosing: () => boolean
}

export function addEndpoints(router: Router<Handler>, deps: EndpointDeps): void {
  const { engine, clock } = deps
  const startedMs = clock.nowMs()
  const model = createModel(engine, Math.floor(clock.unixSeconds()))

  router.add('GET', '/v1/health', () => ({
    status: 'ok',
    version: INTERFACE_VERSION,
    models_loaded: 1,
    uptime_seconds: (clock.nowMs() - startedMs) / 1000,
  }))
  router.add('GET', '/v1/models', () => ({ object: 'list', data: [model] }))
  router.add('GET', '/v1/models/{id}', ({ params }) => {
    requireModel(params['id'] ?? '')
    return model
  })
  router.add('POST', GENERATE_PATH, (request) => generate(deps, request))
}

async function generate(deps: EndpointDeps, { body, requestId, signal }: LightRequest): Promise<unknown> {
  if (deps.isClosing()) throw new ServiceError('shutting_down')
  const request = parseGenerateRequest(body)
  requireModel(request.modelId ?? MODEL_ID)
  const createdUnixSeconds = Math.floor(deps.clock.unixSeconds())
  const { text, tokenIds, promptTokens, finishReason } = await runPrompt(deps.engine, request, {
    requestId,
    signal,
  })
  return {
    generated_text: text,
    token_ids: tokenIds,
    prompt_tokens: promptTokens,
    completion_tokens: tokenIds.length,
    total_tokens: promptTokens + tokenIds.length,
    model: MODEL_ID,
    created: createdUnixSeconds,
    finish_reason: finishReason,
  }
}

function requireModel(id: string): void {
  if (id !== MODEL_ID) throw new ServiceError('model_not_found', { model: id }, { param: 'model' })
}

const BYTES_PER_MB = 1_000_000

/** As a list item and as the answer for one model. */
function createModel(engine: Engine, createdUnixSeconds: number) {
  const info = engine.info()
  return {
    id: MODEL_ID,
    object: 'model',
    created: createdUnixSeconds,
    owned_by: 'sluice',
    meta: {
      architecture: info.architecture,
      parameters: info.parameters,
      size_mb: info.sizeBytes / BYTES_PER_MB,
      quantization: info.quantization,
      max_seq_len: info.maxSeqLen,
      vocab_size: info.vocabSize,
      engine: info.engine,
      state: 'ready',
      load_progress: 1,
      failure: null,
    },
  }
}
