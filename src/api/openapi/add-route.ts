/**
 * Registers a route from one declaration: who may call it, its handler, its errors and its documentation. From it come
 * Fastify's `config`, which the gates and the error handler read, and its `schema`. Called by all files of `routes/` but
 * `docs.ts`.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify'
import { z } from 'zod'
import { ERRORS } from '../../core/errors.ts'
import type { ErrorShape } from '../../net/render-error.ts'
import { ACCESS_CLASSES, type AccessClass } from '../pipeline/access.ts'

const errorBody = z
  .object({ detail: z.string().describe('What is wrong, in one sentence.') })
  .meta({ id: 'Error', description: 'Every error also carries `x-error-code` and `x-request-id`.' })

const openAiErrorBody = errorBody
  .extend({
    error: z.object({
      message: z.string(),
      type: z.string(),
      param: z.string().nullable(),
      code: z.string(),
    }),
  })
  .meta({ id: 'OpenAiError', description: 'Every error also carries `x-error-code` and `x-request-id`.' })

const anthropicErrorBody = errorBody
  .extend({
    type: z.literal('error'),
    error: z.object({ type: z.string(), message: z.string() }),
    request_id: z.string(),
  })
  .meta({ id: 'AnthropicError', description: 'Every error also carries `x-error-code` and `request-id`.' })

const ERROR_BODIES: Readonly<Record<ErrorShape, z.ZodType>> = {
  plain: errorBody,
  openai: openAiErrorBody,
  anthropic: anthropicErrorBody,
}

const ERROR_MEANINGS = {
  400: 'Missing or invalid parameters.',
  401: 'Missing or invalid key.',
  403: 'Refused by a guard of the network, whatever was asked for, or not for this session to do.',
  404: 'Not found.',
  409: 'In conflict with what is there; trying again changes nothing.',
  429: 'Too many requests, or a full queue; `Retry-After` says when to come back.',
  500: 'Internal server error.',
  503: 'Not able to serve now; `Retry-After` says when to come back.',
} as const

/** What any route may answer: to an unknown parameter, and from the guards of the network. */
const ANY_ROUTE_ERRORS = [400, 403] as const

/** In the order in which the documentation shows them. */
export const ROUTE_TAGS = [
  'Generation',
  'Embeddings',
  'Models',
  'Accounts',
  'Keys',
  'Usage',
  'Admin',
  'Service',
] as const

type ErrorStatus = keyof typeof ERROR_MEANINGS

type Part = z.ZodType | undefined

type ParsedPart<Schema extends Part> = Schema extends z.ZodType ? z.output<Schema> : unknown

/** Several times what the fields of an account or a key take, however they are escaped. */
const SMALL_BODY_BYTES = 4096

/** The query of a route that takes no parameter. */
export const NO_QUERY = z.strictObject({})

interface RouteDeclaration<Body extends Part, Query extends z.ZodObject | undefined, Params extends Part> {
  readonly operationId: string
  readonly summary: string
  readonly tag: (typeof ROUTE_TAGS)[number]
  readonly access: AccessClass
  /** The name of the action in the audit log: of a route of the admin that changes something. */
  readonly audit?: string
  /** Runs a model: refused while the server shuts down, and counted as concurrent. @default false */
  readonly generates?: boolean
  /** Reports only the state of the server: asked by machines, and not counted per address. @default false */
  readonly isProbe?: boolean
  /** @default 'plain' */
  readonly errorShape?: ErrorShape
  readonly body?: Body
  /** Of a body that is read. @default what an account's or a key's fields need */
  readonly maxBodyBytes?: number
  /** A query with any other parameter is refused. @default none may be given */
  readonly query?: Query
  readonly params?: Params
  readonly ok: z.ZodType
  /** Of an answer that is text and not JSON. */
  readonly okType?: string
  /** Of an answer that may also be text; the handler sends that itself. */
  readonly textType?: string
  /** Data of each event, where the answer is or may be a stream. */
  readonly event?: z.ZodType
  /** True where the answer is always a stream. */
  readonly isStreamOnly?: boolean
  readonly errors: readonly ErrorStatus[]
  readonly handler: (
    request: Pick<FastifyRequest, 'context'> & {
      readonly body: ParsedPart<Body>
      readonly query: ParsedPart<Query>
      readonly params: ParsedPart<Params>
    },
    reply: FastifyReply,
  ) => unknown
}

/** @param endpoint method and path, with one space between them */
export function addRoute<
  Body extends Part = undefined,
  Query extends z.ZodObject | undefined = undefined,
  Params extends Part = undefined,
>(app: FastifyInstance, endpoint: string, route: RouteDeclaration<Body, Query, Params>): void {
  const { scheme } = ACCESS_CLASSES[route.access]
  const { access, generates = false, isProbe = false, errorShape = 'plain' } = route
  const maxBodyBytes = route.body === undefined ? 0 : (route.maxBodyBytes ?? SMALL_BODY_BYTES)
  const [method = '', url = ''] = endpoint.split(' ')
  const failures = [...new Set([...ANY_ROUTE_ERRORS, ...route.errors])].map((status) => [
    status,
    {
      description: `${ERROR_MEANINGS[status]} \`x-error-code\` is one of ${codesOf(status)}.`,
      content: { 'application/json': { schema: ERROR_BODIES[errorShape] } },
    },
  ])
  app.route({
    method,
    url,
    config: { access, audit: route.audit, generates, isProbe, errorShape, maxBodyBytes },
    schema: {
      operationId: route.operationId,
      summary: route.summary,
      tags: [route.tag],
      security: scheme === null ? [] : [{ [scheme.name]: [] }],
      ...(route.body && { body: route.body }),
      querystring: route.query?.strict() ?? NO_QUERY,
      ...(route.params && { params: route.params }),
      response: {
        200: {
          description: 'Success.',
          content: {
            ...(route.isStreamOnly !== true && {
              [route.okType ?? 'application/json']: { schema: route.ok },
            }),
            ...(route.textType !== undefined && { [route.textType]: { schema: z.string() } }),
            ...(route.event && { 'text/event-stream': { schema: route.event } }),
          },
        },
        ...Object.fromEntries(failures),
      },
    },
    ...(route.okType !== undefined && { serializerCompiler: () => String }),
    handler: route.handler as RouteHandlerMethod,
  })
}

/** From the one table, so that no code is left out. */
function codesOf(status: ErrorStatus): string {
  return Object.entries(ERRORS)
    .filter(([, row]) => row.status === status)
    .map(([code]) => `\`${code}\``)
    .join(', ')
}
