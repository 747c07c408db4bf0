/** The API's description of itself: `/openapi.json`, and Swagger UI at `/docs`. Register before the routes that are described. */
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { ServiceError } from '../../core/errors.ts'
import { pageHeaders } from '../console/page-headers.ts'
import { NO_QUERY } from '../openapi/add-route.ts'
import { makeDocsApp } from '../openapi/docs-app.ts'
import { namePlugin } from '../pipeline/name-plugin.ts'

/** Swagger UI styles its elements from script, and draws its icons from `data:` addresses. */
const PAGE_HEADERS = pageHeaders("'self' 'unsafe-inline'")

/** Of an answer of the documentation, what this server says itself. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'date',
  'transfer-encoding',
])

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>

export function registerDocsRoutes(app: FastifyInstance): void {
  const routes: RouteOptions[] = []
  app.addHook('onRoute', (route) => void routes.push(route))
  let made: Promise<FastifyInstance> | null = null
  const docsApp = () => (made ??= makeDocsApp(routes))
  const register = async (docs: FastifyInstance) => {
    docs.addHook('onRequest', async (_request, reply) => void reply.headers(PAGE_HEADERS))
    const handlers: Readonly<Record<string, Handler>> = {
      '/openapi.json': describeOnce(docsApp, '.'),
      '/docs/json': describeOnce(docsApp, '..'),
      '/docs': answerWith(docsApp),
      '/docs/*': answerWith(docsApp),
    }
    for (const [url, handler] of Object.entries(handlers)) {
      const schema = { hide: true, querystring: NO_QUERY }
      docs.route({ method: 'GET', url, config: { access: 'public' }, schema, handler })
    }
  }
  app.register(namePlugin('docs', register))
}

/** @throws ServiceError for what the documentation refuses, in its words */
function answerWith(docsApp: () => Promise<FastifyInstance>): Handler {
  return async ({ url, headers }, reply) => {
    const docs = await docsApp()
    const answer = await docs.inject({ method: 'GET', url, headers })
    if (answer.statusCode === 404) {
      reply.callNotFound()
      return reply
    }
    if (answer.statusCode >= 400) throw new ServiceError('malformed_request', { message: answer.payload })
    for (const [name, value] of Object.entries(answer.headers)) {
      if (value !== undefined && !OWN_HEADERS.has(name)) reply.header(name, value)
    }
    return reply
      .code(answer.statusCode)
      .send(url === '/docs' ? withoutRoot(answer.payload) : answer.rawPayload)
  }
}

/** The page as asked for without a slash at its end names its files from the root, where a proxy may not have the server. */
function withoutRoot(page: string): string {
  return page.replaceAll('"/docs/', '"docs/')
}

/**
 * Made once, when all routes are known: making it takes milliseconds, and callers need no key for it.
 * @param serverUrl of the API as seen from where the description is, so that it is right behind a proxy as well
 */
function describeOnce(docsApp: () => Promise<FastifyInstance>, serverUrl: string): Handler {
  let json: Buffer | null = null
  return async (_request, reply) => {
    const docs = await docsApp()
    const servers = [{ url: serverUrl, description: 'This server' }]
    json ??= Buffer.from(JSON.stringify({ ...docs.swagger(), servers }))
    return reply.type('application/json; charset=utf-8').send(json)
  }
}
