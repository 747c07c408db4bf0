/**
 * The context of one HTTP request: created before the first gate, passed to gates, routes, log and metrics. The only
 * decoration of Fastify's request. Only the gates write to it, routes of the admin API the id of what they made, and a
 * stream the error that ended it; a generation reads it as its `GenerationContext`.
 */
import type { FastifyContextConfig, FastifyReply, FastifyRequest } from 'fastify'
import type { Credential } from '../../core/credential.ts'
import { type ErrorCode, InvariantError } from '../../core/errors.ts'
import { TIER_LIMITS } from '../../core/tiers.ts'
import type { Caller, GenerationContext } from '../../generation/generation.ts'
import { watchClient } from '../../net/connections/client-presence.ts'
import { RequestTimeline } from '../../telemetry/request-timeline.ts'
import type { RequestTrace, TracedHead } from '../../telemetry/tracing.ts'
import type { AppDeps } from '../deps.ts'

declare module 'fastify' {
  interface FastifyRequest {
    context: RequestContext
  }
}

export class RequestContext implements GenerationContext {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly timeline: RequestTimeline
  /** Behind trusted proxies the address that they report; empty when the connection is closed already. */
  readonly clientAddress: string
  /** What the route declares; empty for an unknown route. */
  readonly route: FastifyContextConfig
  /** Null where there are no traces, and of probes and scrapes. */
  readonly trace: RequestTrace | null
  /** The route's pattern; null for an unknown route. */
  readonly routePath: string | null
  /** As it was sent, which the headers do not hold any more. */
  contentType: string | undefined = undefined
  /** Who is in the audit log: `admin` is who has the admin key, else the e-mail address of an admin. */
  adminActor = 'admin'
  /** Whether it came with the admin key, which a session does not. */
  hasAdminKey = false
  /** The id that a request of the admin API is about: of its path, or of what it made. Null for a listing. */
  adminTarget: string | null = null
  /** Of an error inside a stream, whose head had left with status 200. */
  streamErrorCode: ErrorCode | null = null
  /** The model that a generation asks in the place of others, which cannot be reached; null for the one that was asked for. */
  fallbackId: string | null = null
  /** The firewall's rule that refused the request. */
  brokenRule: string | null = null
  /** Set by the gate on routes that require a key; null before it, and on other routes. */
  optionalCredential: Credential | null = null
  /** What reads the body, and then what the handler of a generation gave: a promise of its end. Null before. */
  work: unknown = null
  /** Whether the handler of a generation has begun, which gives its permit back. */
  isHandled = false
  /** Set by the gate of limits; null where the request holds no permit. */
  permit: { readonly release: () => void } | null = null
  #signal: AbortSignal | null = null

  constructor(
    { clock, tracing, trustedProxies }: Pick<AppDeps, 'clock' | 'tracing' | 'trustedProxies'>,
    request: FastifyRequest,
    reply: FastifyReply,
  ) {
    this.request = request
    this.reply = reply
    this.timeline = new RequestTimeline(clock)
    this.clientAddress = clientAddressOf(trustedProxies, request)
    // Fastify makes these anew for each reader.
    const { config, url } = request.routeOptions
    this.route = config
    if (config.access === 'admin') this.adminTarget = idOf(request.params)
    this.routePath = url ?? null
    this.trace = tracing === null || isRoutine(config) ? null : tracing.begin(headOf(request))
  }

  /** For the server that the request is passed on to: of its own trace, else that of the caller. */
  get traceparent(): string | undefined {
    if (this.trace !== null) return this.trace.traceparent
    const { traceparent } = headOf(this.request)
    return traceparent !== undefined && TRACEPARENT.test(traceparent) ? traceparent : undefined
  }

  /** Whoever has read the last bytes may ask again at once, at another process too: called before they are written. */
  readonly releasePermit = (): void => {
    this.permit?.release()
    this.permit = null
  }

  /** Without its query; null where it holds a client's address, which no line of the log does. */
  get path(): string | null {
    const { params, url } = this.request
    return addressIn(params) !== null ? null : (url.split('?', 1)[0] ?? '')
  }

  /** What an action of the admin is about, for the audit log alone: `adminTarget`, or a client's address. */
  get auditTarget(): string | null {
    return this.adminTarget ?? addressIn(this.request.params)
  }

  get requestId(): string {
    return this.request.id
  }

  /** @throws InvariantError on a route that requires no key */
  get credential(): Credential {
    if (this.optionalCredential === null) throw new InvariantError('This route asks for no key.')
    return this.optionalCredential
  }

  get caller(): Caller {
    const { keyId, accountId, teamId, budgets, tier } = this.credential
    return { keyId, accountId, tier, teamId, budgets, path: this.routePath ?? '', limits: TIER_LIMITS[tier] }
  }

  /** Aborts when the client leaves; it is watched from the first call on. */
  get signal(): AbortSignal {
    return (this.#signal ??= watchClient(this.request.raw, this.reply.raw))
  }

  onFallback(modelId: string): void {
    this.fallbackId = modelId
  }

  onTokensCapped(maxNewTokens: number): void {
    this.reply.header('x-max-tokens-applied', String(maxNewTokens))
  }
}

/** https://www.w3.org/TR/trace-context/#traceparent-header */
const TRACEPARENT = /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/

/** Probes and scrapes, which machines ask for every few seconds. */
export function isRoutine({ isProbe, access }: FastifyContextConfig): boolean {
  return isProbe === true || access === 'metrics'
}

function headOf({ method, headers }: FastifyRequest): TracedHead {
  const { traceparent, tracestate } = headers
  return { method, traceparent: traceparent?.toString(), tracestate: tracestate?.toString() }
}

/** A path of the admin API captures one id, a client's address, or nothing. */
function idOf(params: unknown): string | null {
  if (addressIn(params) !== null) return null
  const [id] = typeof params === 'object' && params !== null ? Object.values(params) : []
  // A null character, which no database keeps as text, is in no id.
  return typeof id === 'string' ? id.replaceAll('\0', '\ufffd') : null
}

function addressIn(params: unknown): string | null {
  const isRecord = typeof params === 'object' && params !== null
  return isRecord && 'address' in params && typeof params.address === 'string' ? params.address : null
}

export function clientAddressOf(
  trustedProxies: AppDeps['trustedProxies'],
  { raw }: Pick<FastifyRequest, 'raw'>,
): string {
  const peerAddress = raw.socket.remoteAddress ?? ''
  // Node has joined all lines of the header, in their order.
  const forwardedFor = raw.headers['x-forwarded-for']?.toString()
  return trustedProxies?.clientAddress(peerAddress, forwardedFor) ?? peerAddress
}
