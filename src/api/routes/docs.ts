/**
 * The API's description of itself: `/openapi.json`, made from the schemas that validate, and Swagger UI at `/docs` with
 * its assets on board. Register before the routes that it describes.
 */
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { pageHeaders } from '../console/page-headers.ts'
import { NO_QUERY } from '../openapi/add-route.ts'
import { openApiOptions } from '../openapi/openapi.ts'

/** Swagger UI styles its elements from script, and draws its icons from `data:` addresses. */
const PAGE_HEADERS = pageHeaders("'self' 'unsafe-inline'")

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
