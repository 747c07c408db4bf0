/**
 * Who may call a route. Every route declares one class; the app refuses to start with a route that does not, so a
 * forgotten declaration can never become an open door.
 */
import type { FastifyInstance, RouteOptions } from 'fastify'
import { InvariantError } from '../../core/errors.ts'
import type { ErrorShape } from '../../net/render-error.ts'

/** `public`: anyone; `key`: any valid API key; `admin`: the admin key. */
export type AccessClass = 'public' | 'key' | 'admin'

declare module 'fastify' {
  interface FastifyContextConfig {
    readonly access?: AccessClass
    readonly generates?: boolean
    readonly isProbe?: boolean
    readonly errorShape?: ErrorShape
  }
}

/** Call before any route is registered. */
export function requireDeclaredAccess(app: FastifyInstance): void {
  const undeclared: string[] = []
  // Looked at when all are in: a plugin's own hooks, run after this one, may still declare the class.
  const routes: RouteOptions[] = []
  app.addHook('onRoute', (route) => void routes.push(route))
  app.addHook('onReady', async () => {
    for (const route of routes) {
      if (route.config?.access === undefined) undeclared.push(`${String(route.method)} ${route.url}`)
    }
    if (undeclared.length > 0)
      throw new InvariantError(`Routes without an access class: ${undeclared.join(', ')}`)
  })
}
