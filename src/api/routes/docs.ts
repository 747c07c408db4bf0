/**
 * The API's description of itself: `/openapi.json`, made from the schemas that validate, and Swagger UI at `/docs` with
 * its assets on board. Register before the routes that it describes.
 */
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { NO_QUERY } from '../openapi/add-route.ts'
import { openApiOptions } from '../openapi/openapi.ts'

/** Swagger UI styles its elements from script, and draws its icons from `data:` addresses. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/**
 * They load nothing from elsewhere, cannot be framed, and send no referrer. No `strict-transport-security`: it would bind
 * every other service on the host.
 */
const PAGE_HEADERS = {
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
} as const

export function registerDocsRoutes(app: FastifyInstance): void {
  app.register(swagger, openApiOptions)
  /** Made once, when all routes are known: making it takes milliseconds, and callers need no key for it. */
  let json: Buffer | null = null
  const sendDescription = (_request: FastifyRequest, reply: FastifyReply) => {
    json ??= Buffer.from(JSON.stringify(app.swagger()))
    return reply.type('application/json; charset=utf-8').send(json)
  }
  app.register(async (docs) => {
    docs.addHook('onRoute', (route) => {
      if (route.url === '/docs/json') route.handler = sendDescription
      route.config = { ...route.config, access: 'public' }
      route.schema = { ...route.schema, querystring: NO_QUERY }
    })
    docs.addHook('onRequest', async (_request, reply) => void reply.headers(PAGE_HEADERS))
    docs.register(swaggerUi, { routePrefix: '/docs', uiConfig: { persistAuthorization: true } })
    docs.route({
      method: 'GET',
      url: '/openapi.json',
      schema: { hide: true },
      handler: sendDescription,
    })
  })
}
