/**
 * `--enable-firewall`: refuses requests of known bad shapes, and whoever sent too much that was refused. Addresses come
 * in as they are; those that are exempt may do no wrong, because many stand behind them.
 */
import { ServiceError } from '../../core/errors.ts'
import { afterAnswer, type Answer, type Ban, type Bans } from '../../core/shared-state.ts'
import { readHead } from './request-head.ts'
import { BODY_SIZE_RULE, FIREWALL_RULES, type FirewallRule, MAX_BODY_BYTES } from './rules.ts'

export interface FirewallOptions {
  readonly bans: Bans
  /** One name for all addresses that one client owns. */
  readonly toKey: (address: string) => string
  /** Never banned, and not limited in their connections: proxies, and the machine itself. */
  readonly isExempt: (address: string) => boolean
}

export interface Refusal {
  readonly rule: string
  readonly error: ServiceError
}

export class Firewall {
  /** Whether nothing is held against this address, whatever comes from it. */
  readonly isExempt: (address: string) => boolean
  /** What a larger body is refused with; the rule looks at the declared length only. */
  readonly bodyLimit = { maxBytes: MAX_BODY_BYTES, refuse: () => toRefusal(BODY_SIZE_RULE) }
  readonly #toKey: (address: string) => string
  readonly #bans: Bans

  constructor({ bans, toKey, isExempt }: FirewallOptions) {
    this.isExempt = isExempt
    this.#toKey = toKey
    this.#bans = bans
  }

  /** `address_banned`, or null for an address that may come in. */
  refuseBanned(address: string): Answer<ServiceError | null> {
    return afterAnswer(this.#bans.find(this.#toKey(address)), (ban) => {
      if (ban === null) return null
      const { secondsLeft: seconds } = ban
      return new ServiceError('address_banned', { seconds }, { retryAfterSeconds: seconds })
    })
  }

  /** What the first rule that the head breaks refuses it with. */
  inspect(request: { readonly target: string; readonly rawHeaders: readonly string[] }): Refusal | null {
    const head = readHead(request)
    const rule = FIREWALL_RULES.find(({ matches }) => matches(head))
    return rule === undefined ? null : toRefusal(rule)
  }

  /** Call for each answer that says the client did wrong. Gives the ban that begins with it. */
  recordOffence(address: string): Answer<Ban | null> {
    return this.isExempt(address) ? null : this.#bans.recordOffence(this.#toKey(address))
  }

  /** Those in force, the latest first. */
  listBans(): Answer<readonly Ban[]> {
    return this.#bans.list()
  }

  /** Takes any address of the client, or what `listBans` calls it. @throws ServiceError `ban_not_found`. */
  async liftBan(address: string): Promise<void> {
    const key = this.#toKey(address.replace(/\/64$/, ''))
    if (!(await this.#bans.lift(key))) throw new ServiceError('ban_not_found', { address })
  }
}

function toRefusal({ id, reason, isMalformed }: FirewallRule): Refusal {
  const error =
    isMalformed === true
      ? new ServiceError('malformed_request', { message: `it ${reason} (firewall rule '${id}').` })
      : new ServiceError('firewall_rejected', { rule: id, reason })
  return { rule: id, error }
}
