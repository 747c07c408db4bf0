/**
 * Registers a route from one declaration: who may call it, its handler, its errors and its documentation. From it come
 * Fastify's `config`, which the gates and the error handler read, and its `schema`. Called by all files of `routes/` but
 * `docs.ts`.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify'
import { z } from 'zod'
import { type ErrorCode, ERRORS } from '../../core/errors.ts'
import type { ErrorShape } from '../../net/render-error.ts'
import { ACCESS_CLASSES, type AccessClass } from '../pipeline/access.ts'
import { listErrorCodes, type RouteFacts } from './route-errors.ts'

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
    error: z.object({
      type: z.string(),
      message: z.string(),
      details: z.object({ error_code: z.string(), unsupported: z.array(z.string()) }).optional(),
    }),
    request_id: z.string(),
  })
  .meta({ id: 'AnthropicError', description: 'Every error also carries `x-error-code` and `request-id`.' })

const ERROR_BODIES: Readonly<Record<ErrorShape, z.ZodType>> = {
  plain: errorBody,
  openai: openAiErrorBody,
  anthropic: anthropicErrorBody,
}

const ERROR_MEANINGS: Readonly<Record<number, string>> = {
  400: 'Missing or invalid parameters.',
  401: 'Missing or invalid key.',
  403: 'Refused by a guard of the network, whatever was asked for, or not for this session to do.',
  404: 'Not found.',
  409: 'In conflict with what is there; trying again changes nothing.',
  429: 'Too many requests, or a full queue; `Retry-After` says when to come back.',
  500: 'Internal server error.',
  503: 'Not able to serve now; `Retry-After` says when to come back.',
}

/** In the order in which the documentation shows them. */
export const TAG_DESCRIPTIONS = {
  Generation: 'Texts, chats and tokens, in the shapes of several services.',
  Embeddings: 'Vectors of texts, and the relevance of documents.',
  Models: 'What is served.',
  Accounts: 'Registering, and sessions of people.',
  Keys: 'API keys of the caller.',
  Usage: 'What was asked and used, over time.',
  Admin: 'Users, teams, keys, models and the state of the server, for its operator.',
  Service: 'What the server is, and how it is.',
} as const

type Part = z.ZodType | undefined

type ParsedPart<Schema extends Part> = Schema extends z.ZodType ? z.output<Schema> : unknown

/** Several times what the fields of an account or a key take, however they are escaped. */
const SMALL_BODY_BYTES = 4096

/** The query of a route that takes no parameter. */
export const NO_QUERY = z.strictObject({})

interface RouteDeclaration<Body extends Part, Query extends z.ZodObject | undefined, Params extends Part> {
  readonly operationId: string
  readonly summary: string
  readonly tag: keyof typeof TAG_DESCRIPTIONS
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
  /** Beside those that its gates answer. @default none */
  readonly errors?: readonly ErrorCode[]
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
  const [method = '', url = ''] = endpoint.split(' ')
  const { scheme } = ACCESS_CLASSES[route.access]
  const { access, generates = false, isProbe = false, errorShape = 'plain' } = route
  const maxBodyBytes = route.body === undefined ? 0 : (route.maxBodyBytes ?? SMALL_BODY_BYTES)
  const hasBody = route.body !== undefined
  const facts = { method, access, hasBody, generates, isProbe, errors: route.errors ?? [] }
  const { errorCodes, errorResponses } = errorsOf(facts, errorShape)
  app.route({
    method,
    url,
    config: { access, audit: route.audit, generates, isProbe, errorShape, errorCodes, maxBodyBytes },
    schema: {
      operationId: route.operationId,
      summary: route.summary,
      tags: [route.tag],
      security: scheme === null ? [] : [{ [scheme.name]: [] }],
      ...(route.body && { body: route.body }),
      querystring: route.query === undefined ? NO_QUERY : strictOf(route.query),
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
        ...errorResponses,
      },
    },
    ...(route.okType !== undefined && { serializerCompiler: () => String }),
    handler: route.handler as RouteHandlerMethod,
  })
}

/** By the query as declared. */
const strictQueries = new WeakMap<z.ZodObject, z.ZodObject>()

function strictOf(query: z.ZodObject): z.ZodObject {
  const strict = strictQueries.get(query) ?? query.strict()
  strictQueries.set(query, strict)
  return strict
}

interface RouteErrors {
  readonly errorCodes: readonly ErrorCode[]
  readonly errorResponses: ReturnType<typeof describeErrors>
}

/** By facts and shape: many routes have the same, and a process that makes many servers has all of them again. */
const knownErrors = new Map<string, RouteErrors>()

function errorsOf(facts: RouteFacts, shape: ErrorShape): RouteErrors {
  const key = JSON.stringify([facts, shape])
  let errors = knownErrors.get(key)
  if (errors === undefined) {
    const errorCodes = listErrorCodes(facts)
    errors = { errorCodes, errorResponses: describeErrors(errorCodes, shape) }
    knownErrors.set(key, errors)
  }
  return errors
}

/** By status, as OpenAPI lists them. */
function describeErrors(codes: readonly ErrorCode[], shape: ErrorShape) {
  const statuses = [...new Set(codes.map((code) => ERRORS[code].status))]
  return Object.fromEntries(
    statuses.map((status) => {
      const ofStatus = codes.filter((code) => ERRORS[code].status === status)
      const names = ofStatus.map((code) => `\`${code}\``).join(', ')
      const description = `${ERROR_MEANINGS[status]} \`x-error-code\` is ${ofStatus.length > 1 ? 'one of ' : ''}${names}.`
      return [status, { description, content: { 'application/json': { schema: ERROR_BODIES[shape] } } }]
    }),
  )
}
