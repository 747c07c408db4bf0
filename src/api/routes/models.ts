/** `GET /v1/models` and `GET /v1/models/{model_id}`; an id may contain `/`, written plain or as `%2F`. */
import type { FastifyInstance } from 'fastify'
import type { AppDeps } from '../deps.ts'
import { describeRoute } from '../route-schema.ts'
import { model, modelList, modelParams, toModel } from '../schemas/models.ts'

const access = 'key'

export function registerModelRoutes(app: FastifyInstance, { registry }: AppDeps): void {
  app.route({
    method: 'GET',
    url: '/v1/models',
    config: { access },
    schema: describeRoute({
      operationId: 'listModels',
      summary: 'The models this server serves',
      tag: 'Models',
      access,
      ok: modelList,
      errors: [401, 429, 500],
      isOpenAiShaped: true,
    }),
    handler: () => ({ object: 'list', data: registry.list().map(toModel) }),
  })

  app.route<{ Params: { '*': string } }>({
    method: 'GET',
    url: '/v1/models/*',
    config: { access },
    schema: describeRoute({
      operationId: 'getModel',
      summary: 'One model',
      tag: 'Models',
      access,
      params: modelParams,
      ok: model,
      errors: [401, 404, 429, 500],
      isOpenAiShaped: true,
    }),
    handler: ({ params }) => toModel(registry.get(params['*'])),
  })
}
