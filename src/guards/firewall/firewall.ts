/**
 * `--enable-firewall`: refuses requests of known bad shapes, and whoever sent too much that was refused. Addresses come
 * in as they are; those that are exempt may do no wrong, because many stand behind them.
 */
import type { Clock } from '../../core/clock.ts'
import { ServiceError } from '../../core/errors.ts'
import { type Ban, BanList, secondsLeft } from './ban-list.ts'
import { readHead } from './request-head.ts'
import { BODY_SIZE_RULE, FIREWALL_RULES, type FirewallRule, MAX_BODY_BYTES } from './rules.ts'

export interface FirewallOptions {
  readonly clock: Clock
  /** One name for all addresses that one client owns. */
  readonly toKey: (address: string) => string
  /** Never banned, and not limited in their connections: proxies, and the machine itself. */
  readonly isExempt: (address: string) => boolean
}

export interface Refusal {
  readonly rule: string
  readonly error: ServiceError
}

export interface ListedBan {
  readonly address: string
  readonly count: number
  readonly sinceUnixSeconds: number
  readonly untilUnixSeconds: number
}

export class Firewall {
  /** Whether nothing is held against this address, whatever comes from it. */
  readonly isExempt: (address: string) => boolean
  /** What a larger body is refused with; the rule looks at the declared length only. */
  readonly bodyLimit = { maxBytes: MAX_BODY_BYTES, refuse: () => toRefusal(BODY_SIZE_RULE) }
  readonly #clock: Clock
  readonly #toKey: (address: string) => string
  readonly #bans: BanList

  constructor({ clock, toKey, isExempt }: FirewallOptions) {
    this.isExempt = isExempt
    this.#clock = clock
    this.#toKey = toKey
    this.#bans = new BanList(clock)
  }

  /** `address_banned`, or null for an address that may come in. */
  refuseBanned(address: string): ServiceError | null {
    const ban = this.#bans.find(this.#toKey(address))
    if (ban === null) return null
    const seconds = secondsLeft(ban, this.#clock.nowMs())
    return new ServiceError('address_banned', { seconds }, { retryAfterSeconds: seconds })
  }

  /** What the first rule that the head breaks refuses it with. */
  inspect(request: { readonly target: string; readonly rawHeaders: readonly string[] }): Refusal | null {
    const head = readHead(request)
    const rule = FIREWALL_RULES.find(({ matches }) => matches(head))
    return rule === undefined ? null : toRefusal(rule)
  }

  /** Call for each answer that says the client did wrong. Gives the ban that begins with it. */
  recordOffence(address: string): Ban | null {
    return this.isExempt(address) ? null : this.#bans.recordOffence(this.#toKey(address))
  }

  listBans(): readonly ListedBan[] {
    const bootUnixSeconds = this.#clock.unixSeconds() - this.#clock.nowMs() / 1000
    return this.#bans.list().map(({ addressKey, count, sinceMs, untilMs }) => ({
      address: addressKey,
      count,
      sinceUnixSeconds: bootUnixSeconds + sinceMs / 1000,
      untilUnixSeconds: bootUnixSeconds + untilMs / 1000,
    }))
  }

  /** Takes any address of the client, or what `listBans` calls it. @throws ServiceError `ban_not_found`. */
  liftBan(address: string): void {
    const key = this.#toKey(address.replace(/\/64$/, ''))
    if (!this.#bans.lift(key)) throw new ServiceError('ban_not_found', { address })
  }
}

function toRefusal({ id, reason, isMalformed }: FirewallRule): Refusal {
  const error =
    isMalformed === true
      ? new ServiceError('malformed_request', { message: `it ${reason} (firewall rule '${id}').` })
      : new ServiceError('firewall_rejected', { rule: id, reason })
  return { rule: id, error }
}
