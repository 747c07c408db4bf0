/** Where Fastify calls the firewall: its gate, the answers it counts, and the connections of one address. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { afterAnswer, type Answer } from '../../core/shared-state.ts'
import type { Clock } from '../../core/clock.ts'
import type { Firewall } from '../../guards/firewall/firewall.ts'
import { ADDRESS_BOUNDS, limitAddressConnections } from '../../net/connections/limit-address-connections.ts'
import type { AppDeps } from '../deps.ts'

/** Before all other gates but the address rules. */
export function passFirewall({ firewall }: AppDeps, request: FastifyRequest): Answer<void> {
  if (firewall === null) return
  const { clientAddress: address, raw } = request
  const judging = firewall.judge({ address, target: raw.url ?? '', rawHeaders: raw.rawHeaders })
  return afterAnswer(judging, (refusal) => {
    if (refusal === null) return
    request.brokenRule = refusal.rule
    throw refusal.error
  })
}

/** Call before the server listens. */
export function installFirewallHooks(app: FastifyInstance, firewall: Firewall, clock: Clock): void {
  limitAddressConnections(app.server, {
    bounds: ADDRESS_BOUNDS,
    clock,
    isExempt: (address) => firewall.isExempt(address),
    onCut: (rule) => firewall.countHit(rule),
  })
  app.addHook('onSend', async ({ clientAddress }, reply) => {
    await firewall.recordAnswer(clientAddress, reply.statusCode, reply.getHeader('x-error-code')?.toString())
  })
}
