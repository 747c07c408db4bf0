/**
 * The API's description of itself: `/openapi.json`, made from the schemas that validate, and Swagger UI at `/docs/` with
 * its assets on board. Register before the routes that it describes.
 */
import swagger from '@fastify/swagger'
import swaggerUi, { type FastifySwaggerUiOptions } from '@fastify/swagger-ui'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify'
import { MARK_SVG } from '../console/mark.ts'
import { pageHeaders } from '../console/page-headers.ts'
import { NO_QUERY } from '../openapi/add-route.ts'
import { openApiOptions } from '../openapi/openapi.ts'

/** Swagger UI styles its elements from script, and draws its icons from `data:` addresses. */
const PAGE_HEADERS = pageHeaders("'self' 'unsafe-inline'")

/** The mark beside the title, which stands where Swagger's own bar would be. */
const STYLE = `.swagger-ui .info .title::before {
  content: ''; display: inline-block; width: 36px; height: 36px; margin-right: 12px; vertical-align: -6px;
  background: url(mark.svg);
}`

const PAGE: FastifySwaggerUiOptions = {
  routePrefix: '/docs',
  theme: {
    title: 'Sluice: API',
    favicon: [{ filename: 'mark.svg', rel: 'icon', type: 'image/svg+xml', sizes: 'any', content: MARK_SVG }],
    css: [{ filename: 'sluice.css', content: STYLE }],
  },
  // Without Swagger's bar. A key that is typed in is gone with the page: it is nothing to leave in a browser.
  uiConfig: { layout: 'BaseLayout', persistAuthorization: false, displayRequestDuration: true },
}

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
    docs.register(swaggerUi, PAGE)
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
