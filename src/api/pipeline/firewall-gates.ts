/**
 * Where the firewall stands in the way of a request, and how it learns what came of one. Without it none of this runs.
 */
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ServiceError } from '../../core/errors.ts'
import { afterAnswer, type Answer } from '../../core/shared-state.ts'
import type { Firewall, Refusal } from '../../guards/firewall/firewall.ts'
import type { BodyLimit } from '../../net/json-body.ts'
import { ADDRESS_BOUNDS, limitAddressConnections } from '../../net/limit-address-connections.ts'
import type { AppDeps } from '../deps.ts'

const guard = 'firewall'

/** Before all other gates: what a banned address asks for is not looked at. */
export function refuseBanned(deps: AppDeps, request: FastifyRequest): Answer<void> {
  return afterAnswer(findBan(deps, request.clientAddress), (error) => {
    if (error === null) return
    request.brokenRule = 'banned'
    throw error
  })
}

function findBan({ firewall, metrics }: AppDeps, address: string): Answer<ServiceError | null> {
  if (firewall === null) return null
  return afterAnswer(firewall.refuseBanned(address), (error) => {
    if (error !== null) metrics.countGuardHit({ guard, rule: 'banned' })
    return error
  })
}

export function inspectHead(deps: AppDeps, request: FastifyRequest): void {
  const refusal = findRefusal(deps, request.raw)
  if (refusal === null) return
  request.brokenRule = refusal.rule
  throw refusal.error
}

function findRefusal(
  { firewall, metrics }: AppDeps,
  { url = '', rawHeaders }: IncomingMessage,
): Refusal | null {
  const refusal = firewall?.inspect({ target: url, rawHeaders }) ?? null
  if (refusal !== null) metrics.countGuardHit({ guard, rule: refusal.rule })
  return refusal
}

/** For a path that is no path: no gate sees its request, and no hook its answer. Gives what it is refused with instead. */
export async function refuseUnroutable(
  deps: AppDeps,
  request: IncomingMessage,
  address: string,
): Promise<ServiceError | null> {
  const ban = await findBan(deps, address)
  if (ban !== null) return ban
  await recordOffence(deps, address)
  return findRefusal(deps, request)?.error ?? null
}

/** Undefined without the firewall. */
export function firewallBodyLimit({ firewall, metrics }: AppDeps): BodyLimit | undefined {
  if (firewall === null) return undefined
  const { maxBytes, refuse } = firewall.bodyLimit
  return {
    maxBytes,
    tooLarge: () => {
      const { rule, error } = refuse()
      metrics.countGuardHit({ guard, rule })
      return error
    },
  }
}

/** Statuses by which a client that tries doors is known, and what is 400 without being a value out of bounds. */
const OFFENCE_STATUSES: ReadonlySet<number> = new Set([401, 403, 404])
const OFFENCE_CODES: ReadonlySet<unknown> = new Set(['malformed_request', 'malformed_json'])

/** Call before the server listens. */
export function raiseFirewall(app: FastifyInstance, deps: AppDeps, firewall: Firewall): void {
  limitAddressConnections(app.server, {
    bounds: ADDRESS_BOUNDS,
    clock: deps.clock,
    isExempt: firewall.isExempt,
    onCut: (rule) => deps.metrics.countGuardHit({ guard, rule }),
  })
  app.addHook('onSend', async (request, reply) => recordAnswer(deps, request, reply))
}

function recordAnswer(deps: AppDeps, { clientAddress }: FastifyRequest, reply: FastifyReply): Answer<void> {
  const code = reply.getHeader('x-error-code')
  if (code === 'address_banned') return
  if (OFFENCE_STATUSES.has(reply.statusCode) || OFFENCE_CODES.has(code)) {
    return recordOffence(deps, clientAddress)
  }
}

/**
 * For bytes that never became a request; true when their sender is banned and gets no answer. A connection that was
 * opened and never used is no offence.
 */
export function refuseClientError(deps: AppDeps, { remoteAddress = '', bytesRead }: Socket): Answer<boolean> {
  return afterAnswer(findBan(deps, remoteAddress), (ban) => {
    if (ban !== null) return true
    return bytesRead === 0 ? false : afterAnswer(recordOffence(deps, remoteAddress), () => false)
  })
}

function recordOffence({ firewall, log, metrics }: AppDeps, address: string): Answer<void> {
  if (firewall === null) return
  return afterAnswer(firewall.recordOffence(address), (ban) => {
    if (ban === null) return
    metrics.countGuardHit({ guard, rule: 'ban' })
    // Addresses are not in the log; the admin API shows them.
    log.warn({ count: ban.count, seconds: ban.secondsLeft }, 'an address was banned')
  })
}
