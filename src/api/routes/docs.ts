/**
 * The API's description of itself: `/openapi.json`, made from the schemas that validate, and Swagger UI at `/docs` with
 * its assets on board. Register before the routes that it describes.
 */
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import { openApiOptions } from '../openapi/openapi.ts'
import { PAGE_HEADERS } from '../openapi/page-headers.ts'

export function registerDocsRoutes(app: FastifyInstance): void {
  app.register(swagger, openApiOptions)
  app.register(async (docs) => {
    docs.addHook('onRoute', (route) => {
      route.config = { ...route.config, access: 'public' }
    })
    docs.addHook('onRequest', async (_request, reply) => void reply.headers(PAGE_HEADERS))
    docs.register(swaggerUi, { routePrefix: '/docs', uiConfig: { persistAuthorization: true } })
    docs.route({
      method: 'GET',
      url: '/openapi.json',
      schema: { hide: true },
      handler: () => app.swagger(),
    })
  })
}
