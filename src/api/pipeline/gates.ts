/**
 * The gates in front of every route, in the one order there is. A request passes them before its body is read, so
 * that an unauthorized caller costs little:
 *
 *   received → address rules → firewall: not banned, no rule broken → proper HTTP → own host
 *   → browser's origin → proper query → address limit → credential → not shutting down → databases in their place
 *   → budgets, rate and concurrency → body parsed → handler
 */
import type { FastifyInstance, RouteHandlerMethod } from 'fastify'
import { ServiceError } from '../../core/errors.ts'
import { afterAnswer, type Answer } from '../../core/shared-state.ts'
import { toRateHeaders } from '../../limits/rate-headers.ts'
import { CREDENTIAL_FRESH_MS, findHeadProblem } from '../../net/requests/request-head.ts'
import { addressKey } from '../../net/client-address.ts'
import { CLIENT_GONE_STATUS, onExchangeEnd } from '../../net/connections/client-presence.ts'
import { withoutPort } from '../../net/own-hosts.ts'
import { decodePart } from '../../net/requests/request-target.ts'
import { toLogText, withoutRedaction } from '../../telemetry/log.ts'
import type { AppDeps } from '../deps.ts'
import { ACCESS_CLASSES, type AccessDeps } from './access.ts'
import { answerOrigin, isAllowedOrigin } from './cors.ts'
import { isRoutine, RequestContext } from './request-context.ts'

type PipelineDeps = AccessDeps &
  Pick<
    AppDeps,
    | 'addressLimiter'
    | 'addressRules'
    | 'clock'
    | 'corsOrigins'
    | 'firewall'
    | 'isDraining'
    | 'limiter'
    | 'log'
    | 'metrics'
    | 'ownHosts'
    | 'recentErrors'
    | 'storageWatch'
    | 'tracing'
    | 'trustedProxies'
  >

/** Throws the error that the request is refused with; `answered` means that the gate has replied, and no gate follows. */
type Gate = (deps: PipelineDeps, context: RequestContext) => Answer<GateResult>

type GateResult = 'answered' | void

/** They change nothing (RFC 9110, 9.2.1). */
const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

const GATES: readonly Gate[] = [
  setCommonHeaders,
  admitByAddressRules,
  passFirewall,
  requireProperHead,
  setContentTypeAside,
  admitOwnHost,
  admitOrigin,
  requireProperQuery,
  admitAddress,
  authenticate,
  refuseWhileDraining,
  refuseWithoutStorage,
  admit,
]

export function registerPipeline(app: FastifyInstance, deps: PipelineDeps): void {
  app.decorateRequest('context')
  app.addHook('onRoute', (route) => {
    if (route.config?.generates === true) route.handler = recordWork(route.handler)
  })
  const requestLog = withoutRedaction(deps.log)
  app.addHook('onRequest', async (request, reply) => {
    const context = new RequestContext(deps, request, reply)
    request.context = context
    reply.raw.once('close', () => {
      context.timeline.end()
      // As in `client-presence.ts`: was the answer written before the connection closed?
      const hasLeft = !reply.raw.writableEnded
      const status = hasLeft ? CLIENT_GONE_STATUS : reply.raw.statusCode
      const record = (): void => recordEnd(context, status, { ...deps, log: requestLog })
      // What is billed of a generation whose client has left is known when its work has ended.
      if (hasLeft && context.isHandled) void Promise.allSettled([context.work]).then(record)
      else record()
    })
    for (const gate of GATES) {
      const result = gate(deps, context)
      // Most gates are synchronous; awaiting them would cost a turn of the event loop.
      if ((result instanceof Promise ? await result : result) === 'answered') return reply
    }
  })
  // Almost always synchronous.
  app.addHook('preHandler', ({ context }, _reply, done) =>
    isFresh(context) ? done() : authenticate(deps, context),
  )
}

/** One line in the log, never with text: no prompts, outputs, keys or addresses. */
function recordEnd(
  context: RequestContext,
  status: number,
  { clock, log, metrics, recentErrors }: Pick<AppDeps, 'clock' | 'log' | 'metrics' | 'recentErrors'>,
): void {
  const { request, routePath: route, optionalCredential, brokenRule, adminTarget, timeline } = context
  const { method } = request
  const { route: routeOptions } = context
  const code = errorCodeOf(context)
  // Asked for every few seconds, by machines.
  const isQuiet = isRoutine(routeOptions) && status !== 401 && status !== 429
  log[isQuiet ? 'debug' : 'info'](
    {
      requestId: context.requestId,
      method,
      // The pattern: a path is logged only where nothing else tells what was asked for.
      route,
      ...(status === 404 && context.path !== null && { path: toLogText(context.path) }),
      status,
      ...(code !== null && { code }),
      ...(adminTarget !== null && { target: toLogText(adminTarget) }),
      ...(optionalCredential && { key: optionalCredential.keyId }),
      ...(brokenRule !== null && { rule: brokenRule }),
      ms: Math.round(timeline.elapsedMs() * 10) / 10,
      ...timeline.summary(),
    },
    'request',
  )
  const ended = { method, route, status, code, timeline }
  metrics.observeRequest(ended)
  context.trace?.end({ ...ended, requestId: context.requestId })
  // A path scan would push out what says something.
  if (code === null || route === null) return
  const { requestId } = context
  recentErrors.record({ atUnixSeconds: clock.unixSeconds(), requestId, method, route, status, code })
}

function errorCodeOf({ reply, streamErrorCode }: RequestContext): string | null {
  const code = streamErrorCode ?? reply.getHeader('x-error-code')
  return code === undefined ? null : String(code)
}

function setCommonHeaders(_deps: PipelineDeps, { requestId, reply }: RequestContext): void {
  reply.headers({
    'x-request-id': requestId,
    // Answers belong to one caller, and some hold a secret. The documentation's files override this.
    'cache-control': 'no-store',
    // Text that a model was made to write must not become a page.
    'x-content-type-options': 'nosniff',
  })
}

/** The first that may refuse, for every route and for none. */
function admitByAddressRules(
  { addressRules, metrics }: PipelineDeps,
  { clientAddress }: RequestContext,
): void {
  const rule = addressRules?.refusedBy(clientAddress) ?? null
  if (rule === null) return
  metrics.countGuardHit({ guard: 'address', rule })
  throw new ServiceError('address_refused')
}

function passFirewall({ firewall }: PipelineDeps, context: RequestContext): Answer<void> {
  if (firewall === null) return
  const { url: target = '', rawHeaders } = context.request.raw
  const judging = firewall.judge({ address: context.clientAddress, target, rawHeaders })
  return afterAnswer(judging, (refusal) => {
    if (refusal === null) return
    context.brokenRule = refusal.rule
    throw refusal.error
  })
}

function requireProperHead(_deps: PipelineDeps, { request }: RequestContext): void {
  const message = findHeadProblem(request.raw)
  if (message !== null) throw new ServiceError('malformed_request', { message })
}

/**
 * Fastify would refuse a type that is none before anything reads the body. It counts only for a body that is not empty, where one is
 * taken (spec: decisions, Errors): `body-parser.ts` judges it then.
 */
function setContentTypeAside(_deps: PipelineDeps, context: RequestContext): void {
  const { headers } = context.request.raw
  context.contentType = headers['content-type']
  delete headers['content-type']
}

/** As much of a header as a sentence may repeat: a name has at most 253 characters. */
const shown = (value: string): string => value.slice(0, 270)

/**
 * Where every caller is let in, a page of another site must not be one: neither under a name that it points at this machine,
 * nor by sending what changes something. Reading needs no check: the browser keeps the answer from such a page.
 */
function admitOwnHost({ corsOrigins, ownHosts }: PipelineDeps, { request }: RequestContext): void {
  if (ownHosts === null) return
  const { method } = request
  const { host, origin } = request.raw.headers
  if (!ownHosts.includes(host))
    throw new ServiceError('host_refused', { host: shown(withoutPort(host ?? '')) })
  if (origin === undefined || SAFE_METHODS.has(method) || ownHosts.includesOrigin(origin)) return
  if (!isAllowedOrigin(corsOrigins, origin))
    throw new ServiceError('origin_refused', { method, origin: shown(origin) })
}

function admitOrigin({ corsOrigins }: PipelineDeps, { request, reply }: RequestContext): GateResult {
  return answerOrigin(corsOrigins, request, reply) ? 'answered' : undefined
}

/** The router checks the path; a query it would take as it is, encoding or not. */
function requireProperQuery(_deps: PipelineDeps, { request: { url } }: RequestContext): void {
  const start = url.indexOf('?')
  if (start >= 0) decodePart(url.slice(start), 'query')
}

/** Not for probes: they are asked for often, and from one address. */
function admitAddress({ addressLimiter }: PipelineDeps, context: RequestContext): Answer<void> {
  if (addressLimiter === null || context.route.isProbe === true) return
  return afterAnswer(addressLimiter.refuse(addressKey(context.clientAddress)), (error) => {
    if (error !== null) throw error
  })
}

async function authenticate(deps: PipelineDeps, context: RequestContext): Promise<void> {
  const { access } = context.route
  // An unknown route has no class: it answers 404 with or without a key.
  if (access === undefined) return
  context.optionalCredential = null
  const { authenticate: check } = ACCESS_CLASSES[access]
  if (check !== null) context.optionalCredential = await check(deps, context)
}

/** The body may take long to arrive; by then the key may be revoked, or of another tier. */
function isFresh({ optionalCredential, timeline }: RequestContext): boolean {
  return optionalCredential === null || timeline.elapsedMs() < CREDENTIAL_FRESH_MS
}

function refuseWhileDraining({ isDraining }: PipelineDeps, { route }: RequestContext): void {
  if (route.generates === true && isDraining()) throw new ServiceError('shutting_down')
}

/** Its usage could not be recorded, so it would be refused when all work for it is done. */
function refuseWithoutStorage({ storageWatch }: PipelineDeps, { route }: RequestContext): void {
  if (route.generates === true && storageWatch.lost !== null) throw storageWatch.lost
}

/** The permit of a request is held while its handler runs, and given back before its answer is sent. */
function recordWork(handler: RouteHandlerMethod): RouteHandlerMethod {
  return function (request, reply) {
    const { context } = request
    const answering: unknown = handler.call(this, request, reply)
    context.work = answering
    context.isHandled = true
    // In front of what Fastify attaches, which sends the answer.
    if (answering instanceof Promise) answering.then(context.releasePermit, context.releasePermit)
    return answering
  }
}

/**
 * Decides budgets, rate and concurrency in one. The permit is held until the last bytes are about to leave, or the client has left, and in
 * both cases until the engine has ended what it does for the request: a client that aborts gains no more than one that waits.
 */
function admit({ limiter }: PipelineDeps, context: RequestContext): Answer<void> {
  const { optionalCredential, request, reply, route } = context
  if (optionalCredential === null) return
  const countsAsConcurrent = route.generates === true
  return afterAnswer(limiter.admit(optionalCredential, { countsAsConcurrent }), (admission) => {
    if (admission.rate !== null) reply.headers(toRateHeaders(admission.rate))
    if (admission.outcome === 'refused') throw admission.error
    if (admission.budgetWarning !== null) reply.header('x-budget-warning', admission.budgetWarning)
    if (!countsAsConcurrent) return
    context.permit = admission
    // Of one that is refused behind this gate, or whose client leaves.
    onExchangeEnd(request.raw, reply.raw, () => {
      void Promise.allSettled([context.work]).then(() => context.releasePermit())
    })
  })
}
