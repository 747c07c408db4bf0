/** Bans of the firewall, as the admin sees them. */
import { z } from 'zod'
import type { Ban } from '../../core/shared-state.ts'

const ban = z
  .object({
    address: z.string().describe('An IPv4 address, or the /64 network of IPv6 addresses.'),
    count: z.int().describe('1 for the first ban of this address; each is longer than the one before.'),
    since: z.number().describe('Unix seconds.'),
    until: z.number().describe('Unix seconds.'),
  })
  .meta({ id: 'Ban' })

export const banList = z.object({ bans: z.array(ban), count: z.int() }).meta({ id: 'BanList' })

export const banParams = z.object({
  address: z.string().describe('As the list names it, or any address that the ban is for.'),
})

export const liftedBan = z
  .object({ status: z.literal('lifted'), address: z.string() })
  .meta({ id: 'LiftedBan' })

export function toBanBody({ addressKey: address, count, sinceUnixSeconds, untilUnixSeconds }: Ban) {
  return { address, count, since: sinceUnixSeconds, until: untilUnixSeconds }
}
