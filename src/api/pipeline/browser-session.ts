/**
 * The session's cookie of a browser: how it is read, set and cleared, and what a request must show that has no other credential.
 * The cookie goes with every request to this host, so what changes something must also come from a page of this server: of the
 * same origin, and with a token that only such a page can read (OWASP, Cross-Site Request Forgery Prevention).
 */
import type { TLSSocket } from 'node:tls'
import type { FastifyRequest } from 'fastify'
import { SESSION_SECONDS } from '../../accounts/sessions/login-session.ts'
import type { Credential } from '../../core/credential.ts'
import { ServiceError } from '../../core/errors.ts'
import type { AppDeps } from '../deps.ts'
import type { RequestContext } from './request-context.ts'

/** They change nothing (RFC 9110, 9.2.1). */
const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

const CSRF_HEADER = 'x-csrf-token'

/** Over TLS with the prefix that a page of a neighbouring host cannot set (RFC 6265bis, 4.1.3.2). */
const cookieName = (isSecure: boolean) => (isSecure ? '__Host-sluice_session' : 'sluice_session')

type ProxyDeps = Pick<AppDeps, 'trustedProxies'>

/**
 * Whose cookie it is; null without one, or with one that is no session's.
 * @throws ServiceError `csrf_failed`
 */
export async function authenticateCookie(
  { browserSessions, trustedProxies }: ProxyDeps & Pick<AppDeps, 'browserSessions'>,
  { request }: Pick<RequestContext, 'request'>,
): Promise<Credential | null> {
  const cookie = readCookie(request, isOverTls(trustedProxies, request))
  const credential = cookie === null ? null : await browserSessions.authenticate(cookie)
  if (credential === null || SAFE_METHODS.has(request.method)) return credential
  requireOwnPage(trustedProxies, request)
  const given = request.headers[CSRF_HEADER]
  if (typeof given !== 'string' || !browserSessions.isCsrfToken(credential.keyId, given))
    throw new ServiceError('csrf_failed', { message: 'it is missing, or of another session' })
  return credential
}

/** Also before a cookie is set: another site's page must not sign its visitor in. @throws ServiceError `csrf_failed` */
export function requireOwnPage(trustedProxies: AppDeps['trustedProxies'], request: FastifyRequest): void {
  const { 'sec-fetch-site': site, origin } = request.headers
  // Where the browser says it, no proxy can have changed the names.
  const isOwn =
    typeof site === 'string' ? site === 'same-origin' : isOwnOrigin(trustedProxies, request, origin)
  if (!isOwn) throw new ServiceError('csrf_failed', { message: 'this request comes from another site' })
}

/** A client without the header is no browser's page. */
function isOwnOrigin(
  trustedProxies: AppDeps['trustedProxies'],
  { headers, raw }: FastifyRequest,
  origin: string | undefined,
): boolean {
  if (origin === undefined) return true
  if (!URL.canParse(origin)) return false
  const { host, protocol } = new URL(origin)
  const hosts = [headers.host, fromProxy(trustedProxies, raw, 'x-forwarded-host')]
  return hosts.some((name) => name !== undefined && hostOf(`${protocol}//${name}`) === host)
}

const hostOf = (url: string) => (URL.canParse(url) ? new URL(url).host : null)

/** Sets the cookie of a session that was opened for this request; a browser forgets it when the session expires. */
export function setSessionCookie(
  { trustedProxies }: ProxyDeps,
  { request, reply }: Pick<RequestContext, 'request' | 'reply'>,
  secret: string,
): void {
  const isSecure = isOverTls(trustedProxies, request)
  const seconds = secret === '' ? 0 : SESSION_SECONDS
  const attributes = ['Path=/', `Max-Age=${seconds}`, 'HttpOnly', 'SameSite=Strict']
  if (isSecure) attributes.push('Secure')
  reply.header('set-cookie', [`${cookieName(isSecure)}=${secret}`, ...attributes].join('; '))
}

export function clearSessionCookie(
  deps: ProxyDeps,
  context: Pick<RequestContext, 'request' | 'reply'>,
): void {
  setSessionCookie(deps, context, '')
}

/** By the connection itself, or as a trusted proxy says. */
function isOverTls(trustedProxies: AppDeps['trustedProxies'], { raw }: FastifyRequest): boolean {
  if ((raw.socket as Partial<TLSSocket>).encrypted === true) return true
  return fromProxy(trustedProxies, raw, 'x-forwarded-proto') === 'https'
}

/** What the nearest proxy wrote; undefined where it is not trusted. */
function fromProxy(
  trustedProxies: AppDeps['trustedProxies'],
  { headers, socket }: FastifyRequest['raw'],
  name: string,
): string | undefined {
  if (trustedProxies?.includes(socket.remoteAddress ?? '') !== true) return undefined
  return headers[name]?.toString().split(',').at(-1)?.trim().toLowerCase()
}

/** The first of the name: RFC 6265 sends the one of the longest path first. */
function readCookie({ headers: { cookie = '' } }: FastifyRequest, isSecure: boolean): string | null {
  const prefix = `${cookieName(isSecure)}=`
  const pair = cookie
    .split(';')
    .map((part) => part.trim())
    .find((part) => part.startsWith(prefix))
  const value = pair?.slice(prefix.length) ?? ''
  return value === '' ? null : value
}
