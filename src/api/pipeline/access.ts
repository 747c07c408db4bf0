/**
 * The access classes of routes: how a request is authenticated, and the security scheme in the documentation. Every route
 * declares one class; the app refuses to start with a route that declares none.
 */
import type { FastifyInstance, RouteOptions } from 'fastify'
import { isKeySecret } from '../../accounts/keys/key-secret.ts'
import type { Credential } from '../../core/credential.ts'
import { type ErrorCode, InvariantError, ServiceError } from '../../core/errors.ts'
import { addressKey } from '../../net/client-address.ts'
import { bearerSecret, keySecret } from '../../net/requests/request-head.ts'
import type { ErrorShape } from '../../net/render-error.ts'
import type { AppDeps } from '../deps.ts'
import { authenticateCookie } from './browser-session.ts'
import type { RequestContext } from './request-context.ts'

export type AccessDeps = Pick<
  AppDeps,
  'authenticator' | 'adminCheck' | 'metricsCheck' | 'browserSessions' | 'log' | 'trustedProxies'
>

interface AccessRow {
  /** Null where anyone may call. Gives the credential that the request is counted under, if any. @throws ServiceError */
  readonly authenticate: ((deps: AccessDeps, context: RequestContext) => Promise<Credential | null>) | null
  /** Of OpenAPI; null where nothing is asked for. */
  readonly scheme: { readonly name: string; readonly description: string } | null
}

const API_KEY = {
  name: 'apiKey',
  description: '`Authorization: Bearer <API key>`, or `x-api-key: <API key>`',
} as const

export const ACCESS_CLASSES = {
  public: { authenticate: null, scheme: null },
  /** An API key, or a session: its token, or where there is none its cookie. */
  key: { authenticate: authenticateKey, scheme: API_KEY },
  /** The same, or nobody where none is given: the route says what a visitor may know. */
  visitor: { authenticate: authenticateVisitor, scheme: API_KEY },
  admin: {
    authenticate: authenticateAdmin,
    scheme: {
      name: 'adminKey',
      description:
        '`Authorization: Bearer <admin key>`, the secret of `--admin-key`, or the token of a session of an admin',
    },
  },
  /** The admin's, and keys that open nothing else. */
  metrics: {
    authenticate: ({ metricsCheck, ...deps }, context) =>
      authenticateAdmin({ ...deps, adminCheck: metricsCheck }, context),
    scheme: {
      name: 'metricsKey',
      description:
        '`Authorization: Bearer <metrics key>`, the secret of `--metrics-key`, or what opens the admin API',
    },
  },
} as const satisfies Readonly<Record<string, AccessRow>>

export type AccessClass = keyof typeof ACCESS_CLASSES

async function authenticateKey(deps: AccessDeps, context: RequestContext): Promise<Credential> {
  const secret = keySecret(context.request.headers)
  const credential =
    (secret === null ? await authenticateCookie(deps, context) : null) ??
    (await deps.authenticator.authenticate(secret))
  if (credential === null) throw new ServiceError('unauthorized')
  return credential
}

async function authenticateVisitor(deps: AccessDeps, context: RequestContext): Promise<Credential | null> {
  const { headers } = context.request
  if (keySecret(headers) !== null) return await authenticateKey(deps, context)
  return (await authenticateCookie(deps, context)) ?? (await deps.authenticator.authenticate(null))
}

const BEARER_ALONE = { others: '' } as const

/** The admin key, or the session of an admin: its token or its cookie. Neither counts against a rate. */
async function authenticateAdmin(
  deps: Omit<AccessDeps, 'metricsCheck'>,
  context: RequestContext,
): Promise<null> {
  const { adminCheck, log } = deps
  const { clientAddress, request, requestId } = context
  const secret = bearerSecret(request.headers)
  if (secret === null && keySecret(request.headers) === null) {
    const credential = await authenticateCookie(deps, context)
    if (credential !== null) return admitAdmin(context, credential)
  }
  if (secret !== null && (await adminCheck?.(secret, addressKey(clientAddress))) === true) {
    context.hasAdminKey = true
    return null
  }
  const session =
    secret !== null && isKeySecret(secret) ? await deps.authenticator.authenticate(secret) : null
  if (session?.session?.role === 'admin') return admitAdmin(context, session)
  if (adminCheck === null) throw new ServiceError('admin_disabled')
  if (secret !== null) log.warn({ requestId }, 'a wrong admin key was sent')
  throw new ServiceError('unauthorized', BEARER_ALONE)
}

function admitAdmin(context: RequestContext, { session }: Credential): null {
  if (session?.role !== 'admin') throw new ServiceError('admin_required')
  context.adminActor = session.email ?? context.adminActor
  return null
}

declare module 'fastify' {
  interface FastifyContextConfig {
    readonly access?: AccessClass
    readonly generates?: boolean
    readonly isProbe?: boolean
    readonly errorShape?: ErrorShape
    readonly errorCodes?: readonly ErrorCode[]
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
