/**
 * What a route declares of itself, in one place: who may call it, what its errors look like, and what the documentation says
 * of it. From one declaration come Fastify's `config`, which the gates and the error handler read, and its `schema`.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyBaseLogger, FastifyInstance, RawServerDefault } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { ERRORS } from '../../core/errors.ts'
import type { ErrorShape } from '../../net/render-error.ts'
import { ACCESS_CLASSES, type AccessClass } from '../pipeline/access.ts'

/** Where routes are registered: their handlers see parsed values of their schemas' types. */
export type RouteApp = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  ZodTypeProvider
>

const errorBody = z
  .object({ detail: z.string().describe('What is wrong, in one sentence.') })
  .meta({ id: 'Error', description: 'Every error also carries `x-error-code` and `x-request-id`.' })

const openAiErrorBody = z
  .object({
    detail: z.string().describe('What is wrong, in one sentence.'),
    error: z.object({
      message: z.string(),
      type: z.string(),
      param: z.string().nullable(),
      code: z.string(),
    }),
  })
  .meta({ id: 'OpenAiError', description: 'Every error also carries `x-error-code` and `x-request-id`.' })

const ERROR_BODIES: Readonly<Record<ErrorShape, z.ZodType>> = { plain: errorBody, openai: openAiErrorBody }

const ERROR_MEANINGS = {
  400: 'Missing or invalid parameters.',
  401: 'Missing or invalid key.',
  403: 'Refused by a guard of the network, whatever was asked for.',
  404: 'Not found.',
  409: 'In conflict with what is there; trying again changes nothing.',
  429: 'Too many requests, or a full queue; `Retry-After` says when to come back.',
  500: 'Internal server error.',
  503: 'Not able to serve now; `Retry-After` says when to come back.',
} as const

/** What the guards of the network answer whatever the route is. */
const ANY_ROUTE_ERRORS = [403] as const

/** In the order in which the documentation shows them. */
export const ROUTE_TAGS = ['Generation', 'Models', 'Accounts', 'Keys', 'Usage', 'Admin', 'Service'] as const

type RouteTag = (typeof ROUTE_TAGS)[number]

type ErrorStatus = keyof typeof ERROR_MEANINGS

type Part = z.ZodType | undefined

interface RouteDescription<Body extends Part, Query extends Part, Params extends Part> {
  readonly operationId: string
  readonly summary: string
  readonly tag: RouteTag
  readonly access: AccessClass
  /** Runs a model: refused while the server shuts down, and counted as concurrent. @default false */
  readonly generates?: boolean
  /** Only says how the server is: asked by machines, and not counted per address. @default false */
  readonly isProbe?: boolean
  /** @default 'plain' */
  readonly errorShape?: ErrorShape
  readonly body?: Body
  readonly query?: Query
  readonly params?: Params
  readonly ok: z.ZodType
  /** @default application/json */
  readonly okType?: string
  /** Data of each event, where the answer is or may be a stream. */
  readonly event?: z.ZodType
  /** True where the answer is always a stream. */
  readonly isStreamOnly?: boolean
  readonly errors: readonly ErrorStatus[]
}

/** The part of a Fastify route that its description gives: validation, answers, documentation and what the gates ask for. */
export function describeRoute<
  Body extends Part = undefined,
  Query extends Part = undefined,
  Params extends Part = undefined,
>(route: RouteDescription<Body, Query, Params>) {
  const { scheme } = ACCESS_CLASSES[route.access]
  const { access, generates = false, isProbe = false, errorShape = 'plain' } = route
  const failures = [...route.errors, ...ANY_ROUTE_ERRORS].map((status) => [
    status,
    {
      description: `${ERROR_MEANINGS[status]} \`x-error-code\` is one of ${codesOf(status)}.`,
      content: { 'application/json': { schema: ERROR_BODIES[errorShape] } },
    },
  ])
  const schema = {
    operationId: route.operationId,
    summary: route.summary,
    tags: [route.tag],
    security: scheme === null ? [] : [{ [scheme.name]: [] }],
    ...(route.body && { body: route.body }),
    ...(route.query && { querystring: route.query }),
    ...(route.params && { params: route.params }),
    response: {
      200: { description: 'Success.', content: successContent(route) },
      ...Object.fromEntries(failures),
    },
  } as { body: Body; querystring: Query; params: Params; response: Record<number, z.ZodType> }
  return { config: { access, generates, isProbe, errorShape }, schema }
}

/** From the one table, so that no code is left out. */
function codesOf(status: ErrorStatus): string {
  return Object.entries(ERRORS)
    .filter(([, row]) => row.status === status)
    .map(([code]) => `\`${code}\``)
    .join(', ')
}

function successContent({ ok, okType, event, isStreamOnly }: RouteDescription<Part, Part, Part>) {
  return {
    ...(isStreamOnly !== true && { [okType ?? 'application/json']: { schema: ok } }),
    ...(event && { 'text/event-stream': { schema: event } }),
  }
}
