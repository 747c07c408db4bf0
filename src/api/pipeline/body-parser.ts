/** How request bodies are read. A route without a body schema ignores whatever body it gets. */
import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type BodyLimit, parseJsonBody, readBody } from '../../net/requests/json-body.ts'

export function registerBodyParsers(app: FastifyInstance, limit?: BodyLimit): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', async (request: FastifyRequest, payload: Readable) => {
    const body = await readBody(payload, request.headers, limit)
    if (request.routeOptions.schema?.body === undefined || body.length === 0) return undefined
    return parseJsonBody(body, request.headers)
  })
}
