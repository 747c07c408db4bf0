/**
 * Serves the console: its page at `/` to who asks for HTML, and its other files below. Every URL of the page is relative, so that
 * it works under a path behind a proxy. Without a built console, or with `--disable-console`, there are no such routes.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { acceptsNamed } from '../accepts.ts'
import type { AppDeps } from '../deps.ts'
import { NO_QUERY } from '../openapi/add-route.ts'
import { type ConsoleFile, INDEX_FILE } from './console-files.ts'
import { pageHeaders } from './page-headers.ts'

const PAGE_HEADERS = pageHeaders("'self'")

export function registerConsoleRoutes(
  app: FastifyInstance,
  { console: files }: Pick<AppDeps, 'console'>,
): void {
  for (const [name, file] of files ?? []) {
    if (name === INDEX_FILE) continue
    app.route({
      method: 'GET',
      url: `/${name}`,
      config: { access: 'public', maxBodyBytes: 0 },
      schema: { hide: true, querystring: NO_QUERY },
      handler: (request, reply) => sendConsoleFile(file, request, reply),
    })
  }
}

/** The page, where the console is served and the caller asks for a page; null for all others. */
export function findConsolePage(
  { console: files }: Pick<AppDeps, 'console'>,
  { headers }: FastifyRequest,
): ConsoleFile | null {
  return acceptsNamed(headers.accept, 'text/html') ? (files?.get(INDEX_FILE) ?? null) : null
}

export function sendConsoleFile(
  file: ConsoleFile,
  { headers }: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const zipped = acceptsNamed(headers['accept-encoding'], 'gzip') ? file.gzip() : null
  const { body, etag } = zipped ?? file.plain
  reply.headers({ ...PAGE_HEADERS, etag, 'cache-control': file.cacheControl }).type(file.type)
  // The path of the page has another answer, too.
  reply.header('vary', file.type.startsWith('text/html') ? 'Accept, Accept-Encoding' : 'Accept-Encoding')
  if (isKnown(headers['if-none-match'], etag)) return reply.code(304).send()
  if (zipped !== null) reply.header('content-encoding', 'gzip')
  return reply.send(body)
}

function isKnown(tags: string | undefined, etag: string): boolean {
  return tags?.split(',').some((tag) => ['*', etag].includes(tag.trim().replace(/^W\//, ''))) === true
}
