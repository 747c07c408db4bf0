/**
 * The access classes of routes: how a request is authenticated, and the security scheme in the documentation. Every route
 * declares one class; the app refuses to start with a route that declares none.
 */
import type { FastifyInstance, RouteOptions } from 'fastify'
import type { Credential } from '../../core/credential.ts'
import { InvariantError, ServiceError } from '../../core/errors.ts'
import { addressKey } from '../../net/client-address.ts'
import { bearerSecret, keySecret } from '../../net/requests/request-head.ts'
import type { ErrorShape } from '../../net/render-error.ts'
import type { AppDeps } from '../deps.ts'
import type { RequestContext } from './request-context.ts'

export type AccessDeps = Pick<AppDeps, 'authenticator' | 'adminCheck' | 'log'>

interface AccessRow {
  /** Null where anyone may call. Gives the credential that the request is counted under, if any. @throws ServiceError */
  readonly authenticate: ((deps: AccessDeps, context: RequestContext) => Promise<Credential | null>) | null
  /** Of OpenAPI; null where nothing is asked for. */
  readonly scheme: { readonly name: string; readonly description: string } | null
}

export const ACCESS_CLASSES = {
  public: { authenticate: null, scheme: null },
  /** An API key, or the token of a login session. */
  key: {
    authenticate: authenticateKey,
    scheme: { name: 'apiKey', description: '`Authorization: Bearer <API key>`, or `x-api-key: <API key>`' },
  },
  admin: {
    authenticate: authenticateAdmin,
    scheme: {
      name: 'adminKey',
      description: '`Authorization: Bearer <admin key>`, the secret of `--admin-key`',
    },
  },
} as const satisfies Readonly<Record<string, AccessRow>>

export type AccessClass = keyof typeof ACCESS_CLASSES

async function authenticateKey(
  { authenticator }: AccessDeps,
  { request }: RequestContext,
): Promise<Credential> {
  const credential = await authenticator.authenticate(keySecret(request.headers))
  if (credential === null) throw new ServiceError('unauthorized')
  return credential
}

const BEARER_ALONE = { others: '' } as const

async function authenticateAdmin(
  { adminCheck, log }: AccessDeps,
  { clientAddress, request, requestId }: RequestContext,
): Promise<null> {
  if (adminCheck === null) throw new ServiceError('admin_disabled')
  const secret = bearerSecret(request.headers)
  if (secret === null) throw new ServiceError('unauthorized', BEARER_ALONE)
  if (!(await adminCheck(secret, addressKey(clientAddress)))) {
    log.warn({ requestId }, 'a wrong admin key was sent')
    throw new ServiceError('unauthorized', BEARER_ALONE)
  }
  return null
}

declare module 'fastify' {
  interface FastifyContextConfig {
    readonly access?: AccessClass
    readonly generates?: boolean
    readonly isProbe?: boolean
    readonly errorShape?: ErrorShape
    /** 0 where the route takes no body. */
    readonly maxBodyBytes?: number
  }
}

/** Call before any route is registered. */
export function requireDeclaredAccess(app: FastifyInstance): void {
  // Checked when all are registered: a plugin's own hooks, run after this one, may still declare the class.
  const routes: RouteOptions[] = []
  app.addHook('onRoute', (route) => void routes.push(route))
  app.addHook('onReady', async () => {
    const undeclared = routes.filter(({ config }) => config?.access === undefined)
    if (undeclared.length === 0) return
    const names = undeclared.map(({ method, url }) => `${String(method)} ${url}`).join(', ')
    throw new InvariantError(`Routes without an access class: ${names}`)
  })
}
