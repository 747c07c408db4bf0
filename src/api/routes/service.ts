/**
 * What the server is and how it is: `GET /` says what answers here, to a browser with the console; `GET /v1/health` answers from this process alone, in every
 * state; `GET /v1/ready` reports whether the default model can take work; `GET /metrics` gives the numbers in Prometheus's
 * text format.
 */
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { INTERFACE_VERSION } from '../../core/interface-version.ts'
import type { AppDeps } from '../deps.ts'
import { findConsolePage, sendConsoleFile } from '../console/console-routes.ts'
import { addRoute } from '../openapi/add-route.ts'

const health = z
  .object({
    status: z.literal('ok'),
    version: z.string().describe('Version of the interface.'),
    models_loaded: z.int().describe('Models that can take work.'),
    uptime_seconds: z.number(),
  })
  .meta({ id: 'Health' })

const ready = z.object({ status: z.literal('ready') }).meta({ id: 'Ready' })

const server = z
  .object({
    name: z.literal('sluice'),
    version: z.string().describe('Version of the interface.'),
    docs: z.string().describe('A page that shows every route.'),
    openapi: z.string(),
    health: z.string(),
  })
  .meta({ id: 'Server' })

const SERVER = {
  name: 'sluice',
  version: INTERFACE_VERSION,
  docs: '/docs',
  openapi: '/openapi.json',
  health: '/v1/health',
} as const

const PROBE = { tag: 'Service', access: 'public', isProbe: true } as const

export function registerServiceRoutes(
  app: FastifyInstance,
  deps: Pick<AppDeps, 'clock' | 'console' | 'startedMs' | 'registry' | 'whyNotReady' | 'metrics'>,
): void {
  addRoute(app, 'GET /', {
    operationId: 'getServer',
    summary: 'What is this server?',
    tag: 'Service',
    access: 'public',
    ok: server,
    textType: 'text/html',
    handler: ({ context }, reply) => {
      const page = findConsolePage(deps, context.request)
      return page === null ? SERVER : sendConsoleFile(page, context.request, reply)
    },
  })

  // vLLM, SGLang and llama-server have it at the root, where their probes and load generators look.
  for (const { prefix, suffix } of [
    { prefix: '/v1', suffix: '' },
    { prefix: '', suffix: 'AtRoot' },
  ] as const) {
    addRoute(app, `GET ${prefix}/health`, {
      operationId: `getHealth${suffix}`,
      summary: 'Is the server up?',
      ...PROBE,
      ok: health,
      handler: () => ({
        status: 'ok',
        version: INTERFACE_VERSION,
        models_loaded: deps.registry.list().filter(({ state }) => state === 'ready').length,
        uptime_seconds: (deps.clock.nowMs() - deps.startedMs) / 1000,
      }),
    })
  }

  addRoute(app, 'GET /v1/ready', {
    operationId: 'getReady',
    summary: 'Can the default model take work?',
    ...PROBE,
    ok: ready,
    errors: [
      'not_ready',
      'no_model',
      'model_loading_failed',
      'engine_unavailable',
      'shutting_down',
      'storage_lost',
    ],
    handler: () => {
      const reason = deps.whyNotReady()
      if (reason !== null) throw reason
      return { status: 'ready' }
    },
  })

  addRoute(app, 'GET /metrics', {
    operationId: 'getMetrics',
    summary: 'Numbers of the running server, for Prometheus',
    tag: 'Service',
    access: 'metrics',
    ok: z.string(),
    okType: 'text/plain',
    handler: async (_request, reply) => {
      reply.type(deps.metrics.contentType)
      return deps.metrics.render()
    },
  })
}
