/**
 * The application behind `/docs` and `/openapi.json`: Swagger UI with its assets on board, and the description that is made from the
 * schemas that validate. It listens nowhere. To load its libraries is a tenth of what the start of a server costs, and few servers
 * are asked for them, so it is made when it is.
 */
import Fastify, { type FastifyInstance, type RouteOptions } from 'fastify'
import { DOCS_PAGE } from './docs-page.ts'
import { openApiOptions } from './openapi.ts'

/** @param routes that are described, where they do not hide */
export async function makeDocsApp(routes: readonly RouteOptions[]): Promise<FastifyInstance> {
  const [swagger, swaggerUi] = await Promise.all([import('@fastify/swagger'), import('@fastify/swagger-ui')])
  const docs = Fastify()
  docs.setValidatorCompiler(() => () => true)
  docs.setSerializerCompiler(() => JSON.stringify)
  docs.setErrorHandler<Error & { statusCode?: number }>((thrown, _request, reply) =>
    reply.code(thrown.statusCode ?? 500).send(thrown.message),
  )
  await docs.register(swagger.default, openApiOptions)
  for (const { method, url, schema = {}, config } of routes) {
    if (method !== 'HEAD' && schema.hide !== true)
      docs.route({ method, url, schema, config: { ...config }, handler: () => null })
  }
  await docs.register(swaggerUi.default, DOCS_PAGE)
  await docs.ready()
  return docs
}
