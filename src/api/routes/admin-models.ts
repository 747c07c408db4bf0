/**
 * `/v1/admin/models`: checks, registers, replaces and unregisters models while the server runs, for the holder of the admin key. An id
 * may contain `/`, written plain or as `%2F`; `default` is the default model.
 */
import type { FastifyInstance } from 'fastify'
import type { z } from 'zod'
import { upstreamSecret } from '../../config/upstream-kinds.ts'
import { ValueProblem } from '../../config/value-kinds.ts'
import { ServiceError, StartError } from '../../core/errors.ts'
import { SecretText } from '../../core/text/secret-text.ts'
import { hostWeightBytes } from '../../protocol/compute-device.ts'
import { toModelPolicy } from '../../protocol/model-policy.ts'
import type { ModelSource } from '../../protocol/model-source.ts'
import { refuseBase } from '../../models/adapters.ts'
import { DEFAULT_MODEL_ID, type ModelRecord, type Models } from '../../models/registry.ts'
import type { AppDeps } from '../deps.ts'
import { addRoute } from '../openapi/add-route.ts'
import type { RequestContext } from '../pipeline/request-context.ts'
import {
  checkedModel,
  checkModelRequest,
  model,
  modelParams,
  registerModelQuery,
  registerModelRequest,
  toCheckedModel,
  toModel,
  toModelAction,
  unregisteredModel,
} from '../schemas/models.ts'

/** Four paths of the longest kind with every character escaped would be 100 kB; no file system has such names. */
const MAX_REGISTRATION_BYTES = 65_536

const ADMIN = { tag: 'Admin', access: 'admin' } as const

export function registerAdminModelRoutes(
  app: FastifyInstance,
  { registry, checkCheckpoint, log }: Pick<AppDeps, 'registry' | 'checkCheckpoint' | 'log'>,
): void {
  addRoute(app, 'POST /v1/admin/models/check', {
    operationId: 'checkModel',
    audit: 'model.check',
    summary: 'What a checkpoint is, how large, and whether it fits; loads and downloads nothing',
    ...ADMIN,
    body: checkModelRequest,
    maxBodyBytes: MAX_REGISTRATION_BYTES,
    ok: checkedModel,
    errors: ['checkpoint_not_servable'],
    handler: async ({ body, context }) => {
      const { checkpoint, model_config: modelConfig, tokenizer, quantization } = body
      context.adminTarget = checkpoint
      const servingBytes = registry
        .list()
        .filter(({ state }) => state !== 'failed')
        .reduce((sum, record) => sum + servingBytesOf(record), 0)
      try {
        const { draft_checkpoint: draftCheckpoint } = body
        const source = { checkpoint, modelConfig, tokenizer, quantization, draftCheckpoint }
        return toCheckedModel(await checkCheckpoint(source, servingBytes))
      } catch (error) {
        if (!(error instanceof StartError)) throw error
        throw new ServiceError('checkpoint_not_servable', { message: error.message }, { cause: error })
      }
    },
  })

  addRoute(app, 'POST /v1/admin/models', {
    operationId: 'registerModel',
    audit: 'model.register',
    summary: 'Load a model and serve it, in place of the one with this id where there is one',
    ...ADMIN,
    body: registerModelRequest,
    maxBodyBytes: MAX_REGISTRATION_BYTES,
    query: registerModelQuery,
    ok: model,
    errors: ['model_not_loadable', 'model_not_found', 'no_model', 'shutting_down'],
    handler: async ({ body, query, context }) => {
      context.adminTarget = body.id
      const id = realId(registry, body.id)
      const waits = query.wait === 'true'
      const source = toSource(body, context)
      const registered = registry
        .register(id, source, { keepsFailed: !waits, policy: toModelPolicy(body), ...toResidence(body) })
        .catch((error: unknown) => {
          log.warn({ model: id, err: error }, 'a model was not registered')
          throw toRefusal(id, error)
        })
      const served = registered.then(() => log.info({ model: id, ...source }, 'a model was registered'))
      if (waits) await served
      else {
        served.catch(() => {})
        await registry.whenShared()
      }
      return toModel(registry.get(id))
    },
  })

  addRoute(app, 'POST /v1/admin/models/*', {
    operationId: 'loadOrUnloadModel',
    audit: 'model.load',
    summary: 'Load a model that is unloaded, or unload one that nobody uses until it is asked for again',
    ...ADMIN,
    params: modelParams,
    ok: model,
    errors: [
      ...(['model_not_found', 'no_model', 'model_not_loadable'] as const),
      ...(['model_in_use', 'unsupported_value', 'shutting_down'] as const),
    ],
    handler: async ({ params, context }) => {
      const { id: given, action } = toModelAction(params['*'])
      const id = realId(registry, given)
      context.adminTarget = id
      try {
        if (action === 'load') await registry.load(id)
        else await registry.unload(id)
      } catch (error) {
        throw toRefusal(id, error)
      }
      log.info({ model: id }, `a model was ${action}ed`)
      return toModel(registry.get(id))
    },
  })

  addRoute(app, 'DELETE /v1/admin/models/*', {
    operationId: 'unregisterModel',
    audit: 'model.unregister',
    summary: 'Stop serving a model; its running requests finish',
    ...ADMIN,
    params: modelParams,
    ok: unregisteredModel,
    errors: ['model_not_found', 'model_has_adapters'],
    handler: async ({ params }) => {
      const id = realId(registry, params['*'])
      if (!registry.has(id)) throw new ServiceError('model_not_found', { model: id }, { param: 'model' })
      refuseBase(
        id,
        registry.list().filter(({ state }) => state !== 'draining'),
      )
      // It ends with its last request, which may take minutes; the list of models shows it until then.
      registry.unregister(id).then(
        () => log.info({ model: id }, 'a model was unregistered'),
        (error: unknown) => log.error({ model: id, err: error }, 'a model was not taken down'),
      )
      await registry.whenShared()
      return { status: 'unregistered', id } as const
    },
  })
}

function toResidence(body: z.output<typeof registerModelRequest>) {
  if (body.engine === 'openai' || body.engine === 'adapter') return {}
  return { isPinned: body.pinned, load: body.load === 'request' ? 'request' : 'now' } as const
}

function toSource(
  body: z.output<typeof registerModelRequest>,
  context: Pick<RequestContext, 'hasAdminKey'>,
): ModelSource {
  if (body.engine === 'openai') {
    const { endpoints, api_key: key, model: name = null } = body
    const apiKey = typeof key === 'string' ? new SecretText(readUpstreamKey(key, context)) : null
    return { kind: 'openai', endpoints, apiKey, model: name }
  }
  if (body.engine === 'adapter') {
    const { base, adapter, scale } = body
    return { kind: 'adapter', base, adapter, scale }
  }
  const { checkpoint, model_config: modelConfig, tokenizer, quantization } = body
  const { draft_checkpoint: draftCheckpoint, tool_format: toolFormat } = body
  return { kind: 'local', checkpoint, modelConfig, tokenizer, quantization, draftCheckpoint, toolFormat }
}

/** What the server's files and variables hold is not an account's to send to an endpoint of its choice. */
function readUpstreamKey(given: string, { hasAdminKey }: Pick<RequestContext, 'hasAdminKey'>): string {
  const refuse = (problem: string) =>
    new ServiceError('invalid_request', { message: `api_key ${problem}.` }, { param: 'api_key' })
  if (!hasAdminKey && /^(?:@|env:)/.test(given))
    throw refuse('must be the key itself: only the admin key may name a file or a variable of the server')
  try {
    return upstreamSecret.parse(given)
  } catch (error) {
    throw error instanceof ValueProblem ? refuse(error.message) : error
  }
}

/** Where nothing is registered, `default` is an id like any other. */
function realId(registry: Pick<Models, 'get'>, id: string): string {
  return id === DEFAULT_MODEL_ID ? registry.get(id).id : id
}

function toRefusal(model: string, error: unknown): unknown {
  if (!(error instanceof StartError)) return error
  return new ServiceError('model_not_loadable', { model, message: error.message }, { cause: error })
}

/** What a model's weights take of the machine's own memory. */
function servingBytesOf({ outline, info }: ModelRecord): number {
  return outline === null ? 0 : hostWeightBytes({ ...outline, ...info, sizeBytes: outline.sizeBytes })
}
