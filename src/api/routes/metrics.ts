/** `GET /metrics`: the server's numbers in Prometheus's text format, for the holder of the admin key. */
import { z } from 'zod'
import type { AppDeps } from '../deps.ts'
import { describeRoute, type RouteApp } from '../openapi/describe-route.ts'

const access = 'admin'

export function registerMetricsRoutes(app: RouteApp, { metrics }: Pick<AppDeps, 'metrics'>): void {
  app.route({
    method: 'GET',
    url: '/metrics',
    ...describeRoute({
      operationId: 'getMetrics',
      summary: 'Numbers of the running server, for Prometheus',
      tag: 'Service',
      access,
      ok: z.string(),
      okType: 'text/plain',
      errors: [401],
    }),
    // The text is the answer as it is, not a string of JSON.
    serializerCompiler: () => String,
    handler: async (_request, reply) => {
      reply.type(metrics.contentType)
      return metrics.render()
    },
  })
}
