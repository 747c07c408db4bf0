/** `GET /v1/health` answers from this process alone, in every state; `GET /v1/ready` says whether work is welcome. */
import { ServiceError } from '../../core/errors.ts'
import type { AppDeps } from '../deps.ts'
import { describeRoute, type RouteApp } from '../openapi/describe-route.ts'
import { INTERFACE_VERSION } from '../../core/interface-version.ts'
import { health, ready } from '../schemas/health.ts'

const access = 'public'

export function registerHealthRoutes(
  app: RouteApp,
  deps: Pick<AppDeps, 'clock' | 'registry' | 'isReady' | 'isDraining'>,
): void {
  const startedMs = deps.clock.nowMs()

  app.route({
    method: 'GET',
    url: '/v1/health',
    ...describeRoute({
      operationId: 'getHealth',
      summary: 'Is the server up?',
      tag: 'Service',
      access,
      isProbe: true,
      ok: health,
      errors: [],
    }),
    handler: () => ({
      status: 'ok',
      version: INTERFACE_VERSION,
      models_loaded: deps.registry.list().filter(({ state }) => state === 'ready').length,
      uptime_seconds: (deps.clock.nowMs() - startedMs) / 1000,
    }),
  })

  app.route({
    method: 'GET',
    url: '/v1/ready',
    ...describeRoute({
      operationId: 'getReady',
      summary: 'Can the default model take work?',
      tag: 'Service',
      access,
      isProbe: true,
      ok: ready,
      errors: [503],
    }),
    handler: () => {
      if (deps.isDraining()) throw new ServiceError('shutting_down')
      if (!deps.isReady()) throw new ServiceError('not_ready')
      return { status: 'ready' }
    },
  })
}
