/** `/v1/admin/bans`: addresses that the firewall bans, for the holder of the admin key. */
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { ServiceError } from '../../core/errors.ts'
import type { Ban } from '../../core/shared-state.ts'
import type { Firewall } from '../../guards/firewall/firewall.ts'
import type { AppDeps } from '../deps.ts'
import { addRoute } from '../openapi/add-route.ts'

const ban = z
  .object({
    address: z.string().describe('An IPv4 address, or the /64 network of IPv6 addresses.'),
    count: z.int().describe('1 for the first ban of this address; each is longer than the one before.'),
    since: z.number().describe('Unix seconds.'),
    until: z.number().describe('Unix seconds.'),
  })
  .meta({ id: 'Ban' })

const banList = z.object({ bans: z.array(ban), count: z.int() }).meta({ id: 'BanList' })

const banParams = z.object({
  address: z.string().describe('As the list names it, or any address that the ban is for.'),
})

const liftedBan = z.object({ status: z.literal('lifted'), address: z.string() }).meta({ id: 'LiftedBan' })

const ADMIN = { tag: 'Admin', access: 'admin' } as const

export function registerAdminBanRoutes(app: FastifyInstance, deps: Pick<AppDeps, 'firewall'>): void {
  addRoute(app, 'GET /v1/admin/bans', {
    operationId: 'listBans',
    summary: 'Addresses that the firewall keeps out now, the latest first',
    ...ADMIN,
    ok: banList,
    errors: ['firewall_disabled'],
    handler: async () => {
      const bans = (await firewallOf(deps).listBans()).map(toBanBody)
      return { bans, count: bans.length }
    },
  })

  addRoute(app, 'DELETE /v1/admin/bans/:address', {
    operationId: 'liftBan',
    audit: 'ban.lift',
    summary: 'Let an address in again and forget its bans',
    ...ADMIN,
    params: banParams,
    ok: liftedBan,
    errors: ['firewall_disabled', 'ban_not_found'],
    handler: async ({ params }) => {
      await firewallOf(deps).liftBan(params.address)
      return { status: 'lifted', address: params.address }
    },
  })
}

function firewallOf({ firewall }: Pick<AppDeps, 'firewall'>): Firewall {
  if (firewall === null) throw new ServiceError('firewall_disabled')
  return firewall
}

function toBanBody({ addressKey: address, count, sinceUnixSeconds, untilUnixSeconds }: Ban) {
  return { address, count, since: sinceUnixSeconds, until: untilUnixSeconds }
}
