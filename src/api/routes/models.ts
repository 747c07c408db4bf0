/**
 * `/v1/models`: the served models, and their quantization. An id may contain `/`, written plain or as `%2F`; `default` is the
 * default model.
 */
import type { FastifyInstance } from 'fastify'
import { OPERATOR_ACCOUNT_ID } from '../../core/credential.ts'
import { ServiceError } from '../../core/errors.ts'
import { refuseHidden } from '../../models/lease-model.ts'
import { mayUse } from '../../protocol/model-policy.ts'
import type { AppDeps } from '../deps.ts'
import { modelPageQuery, modelQuery, toModelFor, toModelList } from '../dialects/anthropic-messages/models.ts'
import { addRoute } from '../openapi/add-route.ts'
import {
  model,
  modelList,
  modelParams,
  quantizeQuery,
  quantizeResult,
  toQuantizeBody,
} from '../schemas/models.ts'

const QUANTIZE_ERRORS = [
  ...[
    'unsupported_value',
    'not_quantizable',
    'quantization_failed',
    'model_not_found',
    'quantization_running',
  ],
  ...['quantization_too_soon', 'model_loading_failed', 'engine_unavailable', 'no_model', 'shutting_down'],
] as const

export function registerModelRoutes(
  app: FastifyInstance,
  {
    registry,
    quantizeJobs,
    modelAdmin,
    log,
  }: Pick<AppDeps, 'registry' | 'quantizeJobs' | 'modelAdmin' | 'log'>,
): void {
  addRoute(app, 'GET /v1/models', {
    operationId: 'listModels',
    summary: 'The models this server serves',
    tag: 'Models',
    access: 'key',
    query: modelPageQuery,
    ok: modelList,
    errorShape: 'openai',
    handler: ({ query, context }) => {
      const models = registry.list().filter(({ policy }) => mayUse(policy, context.credential))
      return toModelList(models, query, context.request.headers)
    },
  })

  addRoute(app, 'GET /v1/models/*', {
    operationId: 'getModel',
    summary: 'One model',
    tag: 'Models',
    access: 'key',
    query: modelQuery,
    params: modelParams,
    ok: model,
    errors: ['model_not_found'],
    errorShape: 'openai',
    handler: ({ params, context }) => {
      const modelId = params['*']
      refuseHidden(registry, { modelId, caller: context.credential })
      return toModelFor(context.request.headers, registry.get(modelId))
    },
  })

  addRoute(app, 'POST /v1/models/quantize', {
    operationId: 'quantizeModel',
    audit: 'model.quantize',
    summary: 'Quantize a model from its full-precision source and serve the result under the same id',
    tag: 'Models',
    access: modelAdmin,
    query: quantizeQuery,
    ok: quantizeResult,
    errors: QUANTIZE_ERRORS,
    errorShape: 'openai',
    handler: async ({ query: { model_id: id, quant_mode: mode }, context }) => {
      const { optionalCredential: caller } = context
      // Without a credential it is the admin.
      const isOperator = caller === null || caller.accountId === OPERATOR_ACCOUNT_ID
      if (caller !== null) refuseHidden(registry, { modelId: id, caller, param: 'model_id' })
      try {
        return toQuantizeBody(await quantizeJobs.quantize(id, mode, { isOperator }))
      } catch (error) {
        // The answer does not show the folders of the files.
        if (error instanceof ServiceError && error.code === 'quantization_failed')
          log.warn({ model: id, mode, err: error.cause }, 'a model was not quantized')
        throw error
      }
    },
  })
}
