/** Where Fastify calls the firewall beside its gate: for each answer, and for the connections of one address. */
import type { FastifyInstance } from 'fastify'
import type { Clock } from '../../core/clock.ts'
import type { Firewall } from '../../guards/firewall/firewall.ts'
import { ADDRESS_BOUNDS, limitAddressConnections } from '../../net/connections/limit-address-connections.ts'

/** Call before the server listens. */
export function installFirewallHooks(app: FastifyInstance, firewall: Firewall, clock: Clock): void {
  limitAddressConnections(app.server, {
    bounds: ADDRESS_BOUNDS,
    clock,
    isExempt: (address) => firewall.isExempt(address),
    onCut: (rule) => firewall.countHit(rule),
  })
  app.addHook('onSend', async ({ context }, reply) => {
    const code = reply.getHeader('x-error-code')?.toString()
    await firewall.recordAnswer(context.clientAddress, reply.statusCode, code)
  })
}
