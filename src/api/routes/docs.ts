/**
 * The API's description of itself: `/openapi.json`, made from the schemas that validate, and Swagger UI at `/docs/` with
 * its assets on board. Register before the routes that it describes.
 */
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify'
import { pageHeaders } from '../console/page-headers.ts'
import { NO_QUERY } from '../openapi/add-route.ts'
import { DOCS_PAGE } from '../openapi/docs-page.ts'
import { openApiOptions } from '../openapi/openapi.ts'

/** Swagger UI styles its elements from script, and draws its icons from `data:` addresses. */
const PAGE_HEADERS = pageHeaders("'self' 'unsafe-inline'")

export function registerDocsRoutes(app: FastifyInstance): void {
  app.register(swagger, openApiOptions)
  const fromRoot = describeOnce(app, '.')
  const fromDocs = describeOnce(app, '..')
  app.register(async (docs) => {
    docs.addHook('onRoute', (route) => {
      if (route.url === '/docs/json') route.handler = fromDocs
      if (route.url === '/docs' || route.url === '/docs/') route.handler = atItsFolder(route.handler)
      route.config = { ...route.config, access: 'public' }
      route.schema = { ...route.schema, querystring: NO_QUERY }
    })
    docs.addHook('onRequest', async (_request, reply) => void reply.headers(PAGE_HEADERS))
    docs.register(swaggerUi, DOCS_PAGE)
    docs.route({
      method: 'GET',
      url: '/openapi.json',
      schema: { hide: true },
      handler: fromRoot,
    })
  })
}

/** The page's addresses are relative only there, as a server under a path behind a proxy needs them. */
function atItsFolder(show: RouteHandlerMethod): RouteHandlerMethod {
  return function (request, reply) {
    return request.url.endsWith('/') ? show.call(this, request, reply) : reply.redirect('docs/')
  }
}

/**
 * Made once, when all routes are known: making it takes milliseconds, and callers need no key for it.
 * @param serverUrl of the API as seen from where the description is, so that it is right behind a proxy as well
 */
function describeOnce(app: FastifyInstance, serverUrl: string) {
  let json: Buffer | null = null
  return (_request: FastifyRequest, reply: FastifyReply) => {
    const servers = [{ url: serverUrl, description: 'This server' }]
    json ??= Buffer.from(JSON.stringify({ ...app.swagger(), servers }))
    return reply.type('application/json; charset=utf-8').send(json)
  }
}
