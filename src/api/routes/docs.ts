/**
 * The API's description of itself: `/openapi.json`, made from the schemas that validate, and Swagger UI at `/docs` with
 * its assets on board. Register before the routes that it describes.
 */
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
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
      route.config = { ...route.config, access: 'public' }
      route.schema = { ...route.schema, querystring: NO_QUERY }
    })
    docs.addHook('onRequest', async (_request, reply) => void reply.headers(PAGE_HEADERS))
    docs.addHook('onSend', async ({ url }, _reply, payload) =>
      url === '/docs' ? withoutRoot(payload) : payload,
    )
    docs.register(swaggerUi, DOCS_PAGE)
    docs.route({
      method: 'GET',
      url: '/openapi.json',
      schema: { hide: true },
      handler: fromRoot,
    })
  })
}

/** The page as asked for without a slash at its end names its files from the root, where a proxy may not have the server. */
function withoutRoot(page: unknown): unknown {
  return typeof page === 'string' ? page.replaceAll('"/docs/', '"docs/') : page
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
