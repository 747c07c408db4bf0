/** `/v1/admin/bans`: addresses that the firewall keeps out, for the holder of the admin key. */
import { ServiceError } from '../../core/errors.ts'
import type { Firewall } from '../../guards/firewall/firewall.ts'
import type { AppDeps } from '../deps.ts'
import { describeRoute, type RouteApp } from '../openapi/describe-route.ts'
import { banList, banParams, liftedBan, toBanBody } from '../schemas/bans.ts'

const access = 'admin'
const tag = 'Admin'

export function registerAdminBanRoutes(app: RouteApp, deps: Pick<AppDeps, 'firewall'>): void {
  app.route({
    method: 'GET',
    url: '/v1/admin/bans',
    ...describeRoute({
      operationId: 'listBans',
      summary: 'Addresses that the firewall keeps out now, the latest first',
      tag,
      access,
      ok: banList,
      errors: [401, 404, 500],
    }),
    handler: async () => {
      const bans = (await firewallOf(deps).listBans()).map(toBanBody)
      return { bans, count: bans.length }
    },
  })

  app.route({
    method: 'DELETE',
    url: '/v1/admin/bans/:address',
    ...describeRoute({
      operationId: 'liftBan',
      summary: 'Let an address in again and forget its bans',
      tag,
      access,
      params: banParams,
      ok: liftedBan,
      errors: [401, 404, 500],
    }),
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
