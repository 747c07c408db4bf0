/**
 * `/v1/admin/models`: registers, replaces and unregisters models while the server runs. An id may contain `/`, written
 * plain or as `%2F`; `default` is the default model here as everywhere.
 */
import { ServiceError, StartError } from '../../core/errors.ts'
import { DEFAULT_MODEL_ID, type ModelRegistry } from '../../models/registry.ts'
import type { AppDeps } from '../deps.ts'
import { describeRoute, type RouteApp } from '../openapi/describe-route.ts'
import {
  model,
  modelParams,
  registerModelQuery,
  registerModelRequest,
  toModel,
  unregisteredModel,
} from '../schemas/models.ts'

const access = 'admin'
const tag = 'Admin'

export function registerAdminModelRoutes(
  app: RouteApp,
  { registry, log }: Pick<AppDeps, 'registry' | 'log'>,
): void {
  app.route({
    method: 'POST',
    url: '/v1/admin/models',
    ...describeRoute({
      operationId: 'registerModel',
      summary: 'Load a model and serve it, in place of the one with this id where there is one',
      tag,
      access,
      body: registerModelRequest,
      query: registerModelQuery,
      ok: model,
      errors: [400, 401, 404, 500, 503],
    }),
    handler: async ({ body, query }) => {
      const { checkpoint, model_config: modelConfig, tokenizer, quantization } = body
      const id = realId(registry, body.id)
      const waits = query.wait === 'true'
      const source = { checkpoint, modelConfig, tokenizer, quantization }
      const registered = registry.register(id, source, { keepsFailed: !waits }).catch((error: unknown) => {
        log.warn({ model: id, err: error }, 'a model was not registered')
        throw toRefusal(id, error)
      })
      const served = registered.then(() => log.info({ model: id, ...source }, 'a model was registered'))
      if (waits) await served
      else served.catch(() => {})
      return toModel(registry.get(id))
    },
  })

  app.route({
    method: 'DELETE',
    url: '/v1/admin/models/*',
    ...describeRoute({
      operationId: 'unregisterModel',
      summary: 'Stop serving a model; its running requests finish',
      tag,
      access,
      params: modelParams,
      ok: unregisteredModel,
      errors: [401, 404, 500],
    }),
    handler: ({ params }) => {
      const id = realId(registry, params['*'])
      if (!registry.has(id)) throw new ServiceError('model_not_found', { model: id }, { param: 'model' })
      // It ends with its last request, which may take minutes; the list of models shows it until then.
      registry.unregister(id).then(
        () => log.info({ model: id }, 'a model was unregistered'),
        (error: unknown) => log.error({ model: id, err: error }, 'a model was not taken down'),
      )
      return { status: 'unregistered', id } as const
    },
  })
}

/** Where nothing is registered, `default` is an id like any other. */
function realId(registry: ModelRegistry, id: string): string {
  return id === DEFAULT_MODEL_ID ? registry.get(id).id : id
}

function toRefusal(model: string, error: unknown): unknown {
  if (!(error instanceof StartError)) return error
  return new ServiceError('model_not_loadable', { model, message: error.message }, { cause: error })
}
