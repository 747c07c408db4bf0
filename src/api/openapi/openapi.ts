/** How the routes' schemas become one OpenAPI 3.1 document. */
import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger'
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod'
import { INTERFACE_VERSION } from '../../core/interface-version.ts'
import { MODEL_ACTIONS } from '../schemas/models.ts'
import { ACCESS_CLASSES } from '../pipeline/access.ts'
import { TAG_DESCRIPTIONS } from './add-route.ts'
import { namedExamples } from './examples.ts'

type TransformObject = NonNullable<FastifyDynamicSwaggerOptions['transformObject']>

interface Operation {
  readonly operationId: string
  readonly requestBody?: { readonly content: Record<string, { examples?: unknown }> }
}

/** The document as data; the library's own type allows for Swagger 2 as well. */
interface Document {
  readonly paths?: unknown
  readonly components?: { readonly schemas?: Record<string, unknown> }
}

/** Fastify matches a model id with a wildcard, because it may contain `/`; the document calls it by its name. */
const MODEL_WILDCARDS: Readonly<Record<string, { documentedUrl: string; params: Record<string, object> }>> = {
  'GET /v1/models/*': { documentedUrl: '/v1/models/{model_id}', params: { model_id: { type: 'string' } } },
  'DELETE /v1/admin/models/*': { documentedUrl: '/v1/admin/models/{id}', params: { id: { type: 'string' } } },
  'POST /v1/admin/models/*': {
    documentedUrl: '/v1/admin/models/{id}/{action}',
    params: { id: { type: 'string' }, action: { type: 'string', enum: MODEL_ACTIONS } },
  },
}

/** What holds for every answer. */
const DESCRIPTION = `Text generation over HTTP, with continuous batching.

Every answer carries \`x-request-id\`. Every error is \`{"detail": "..."}\` with \`x-error-code\`; 401 carries
\`www-authenticate\`, 409 and a 401 in Anthropic's shape \`x-should-retry: false\`, 429 and 503 \`retry-after\` in whole
seconds. A query parameter that a route does not take is 400. A path that there is not is 404 with OpenAI's or Anthropic's error
object beside \`detail\`, or a text as Ollama's clients want it, and the sentence names the path that was probably meant.

Every answer to an API key or a session carries \`x-ratelimit-limit-requests\`, \`x-ratelimit-remaining-requests\` and
\`x-ratelimit-reset-requests\`, which a concurrency refusal lacks. A generation that was lowered to its tier's
maximum, and a chat or a completion that was lowered to what its prompt leaves of the model's context, carries \`x-max-tokens-applied\`.

Where the server limits requests per client address, every route but health and ready may answer 429
\`address_rate_limit_exceeded\`. Where its firewall is on every route may answer 403 \`firewall_rejected\`, or 403
\`address_banned\` with \`retry-after\`.`

export const openApiOptions: FastifyDynamicSwaggerOptions = {
  openapi: {
    openapi: '3.1.0',
    info: {
      title: 'Sluice',
      description: DESCRIPTION,
      version: INTERFACE_VERSION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    tags: Object.entries(TAG_DESCRIPTIONS).map(([name, description]) => ({ name, description })),
    components: {
      securitySchemes: Object.fromEntries(
        Object.values(ACCESS_CLASSES).flatMap(({ scheme }) =>
          scheme === null
            ? []
            : [[scheme.name, { type: 'http', scheme: 'bearer', description: scheme.description }]],
        ),
      ),
    },
  },
  transform: (route) => {
    const transformed = jsonSchemaTransform(route)
    const wildcard = MODEL_WILDCARDS[`${String(route.route.method)} ${transformed.url}`]
    if (wildcard === undefined) return transformed
    const params = {
      type: 'object',
      properties: wildcard.params,
      required: Object.keys(wildcard.params),
    }
    return { schema: { ...transformed.schema, params }, url: wildcard.documentedUrl }
  },
  transformObject: (document) =>
    addExamples(tidySchemas(jsonSchemaTransformObject(document))) as ReturnType<TransformObject>,
}

/** The library writes each named schema twice, `X` and `XInput`: only what is referred to stays, and is called `X`. */
function tidySchemas(document: Document): Document {
  const { paths, components } = document
  const used = new Map<string, unknown>()
  collectSchemas(paths, { all: components?.schemas ?? {}, used })
  const tidy = { ...document, components: { ...components, schemas: Object.fromEntries(used) } }
  const names = [...used.keys()].filter((name) => name.endsWith('Input') && !used.has(withoutInput(name)))
  const json = renameSchemas(JSON.stringify(tidy), new Set(names))
  return JSON.parse(json, (_, value: unknown) => withoutSingleChoice(value)) as Document
}

/** A choice of one is that one: the library writes it so for a union that has one member so far. */
function withoutSingleChoice(value: unknown): unknown {
  const choices = value !== null && typeof value === 'object' && 'oneOf' in value ? value.oneOf : null
  return Array.isArray(choices) && choices.length === 1 ? choices[0] : value
}

/** Adds every schema that `value` refers to, and those that they refer to. */
function collectSchemas(
  value: unknown,
  schemas: { all: Record<string, unknown>; used: Map<string, unknown> },
): void {
  for (const [, name = ''] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
    const schema = schemas.all[name]
    if (schema === undefined || schemas.used.has(name)) continue
    schemas.used.set(name, schema)
    collectSchemas(schema, schemas)
  }
}

/** In a document as JSON, where a schema is referred to and where it is named. */
function renameSchemas(json: string, names: ReadonlySet<string>): string {
  return json.replaceAll(/"(#\/components\/schemas\/|(?=\w+":))(\w+)"/g, (text, path: string, name: string) =>
    names.has(name) ? `"${path}${withoutInput(name)}"` : text,
  )
}

function withoutInput(name: string): string {
  return name.slice(0, -'Input'.length)
}

function addExamples(document: Document): Document {
  const paths = Object.values((document.paths ?? {}) as Record<string, Record<string, Operation>>)
  for (const { operationId, requestBody } of paths.flatMap((path) => Object.values(path))) {
    const json = requestBody?.content['application/json']
    const examples = namedExamples(operationId)
    if (json !== undefined && examples !== undefined) json.examples = examples
  }
  return document
}
