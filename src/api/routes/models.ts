/** `GET /v1/models`, `GET /v1/models/{model_id}` and `POST /v1/models/quantize`; an id may contain `/`, written plain or as `%2F`. */
import { ServiceError } from '../../core/errors.ts'
import type { AppDeps } from '../deps.ts'
import { describeRoute, type RouteApp } from '../openapi/describe-route.ts'
import {
  model,
  modelList,
  modelParams,
  quantizeQuery,
  quantizeResult,
  toModel,
  toQuantizeBody,
} from '../schemas/models.ts'

const access = 'key'

export function registerModelRoutes(
  app: RouteApp,
  {
    registry,
    quantizeJobs,
    modelAdmin,
    log,
  }: Pick<AppDeps, 'registry' | 'quantizeJobs' | 'modelAdmin' | 'log'>,
): void {
  app.route({
    method: 'GET',
    url: '/v1/models',
    ...describeRoute({
      operationId: 'listModels',
      summary: 'The models this server serves',
      tag: 'Models',
      access,
      ok: modelList,
      errors: [401, 429, 500],
      errorShape: 'openai',
    }),
    handler: () => ({ object: 'list', data: registry.list().map(toModel) }),
  })

  app.route<{ Params: { '*': string } }>({
    method: 'GET',
    url: '/v1/models/*',
    ...describeRoute({
      operationId: 'getModel',
      summary: 'One model',
      tag: 'Models',
      access,
      params: modelParams,
      ok: model,
      errors: [401, 404, 429, 500],
      errorShape: 'openai',
    }),
    handler: ({ params }) => toModel(registry.get(params['*'])),
  })

  app.route({
    method: 'POST',
    url: '/v1/models/quantize',
    ...describeRoute({
      operationId: 'quantizeModel',
      summary: 'Quantize a model from its full-precision source and serve the result under the same id',
      tag: 'Models',
      access: modelAdmin,
      query: quantizeQuery,
      ok: quantizeResult,
      errors: [400, 401, 404, 409, 429, 500, 503],
      errorShape: 'openai',
    }),
    handler: async ({ query: { model_id: id, quant_mode: mode } }) => {
      try {
        return toQuantizeBody(await quantizeJobs.quantize(id, mode))
      } catch (error) {
        // The answer does not show the folders of the files.
        if (error instanceof ServiceError && error.code === 'quantization_failed')
          log.warn({ model: id, mode, err: error.cause }, 'a model was not quantized')
        throw error
      }
    },
  })
}
