/**
 * `--enable-firewall`: refuses requests of known bad shapes, and bans addresses after too many refused requests. Decides
 * which requests, answers and broken connections are offences; called by `api/app.ts` and `api/pipeline/gates.ts`. Exempt
 * addresses commit no offences, because many clients share them.
 *
 *   head ──▶ banned? ──▶ breaks a rule? ──▶ handled ──▶ answer an offence? ──▶ one too many: ban
 */
import { type ErrorCode, ServiceError } from '../../core/errors.ts'
import { afterAnswer, type Answer, type Ban, type Bans } from '../../core/shared-state.ts'
import {
  BODY_SIZE_RULE,
  FIREWALL_MAX_BODY_BYTES,
  FIREWALL_RULES,
  type FirewallRule,
  readHead,
} from './rules.ts'

export interface FirewallOptions {
  readonly bans: Bans
  /** One name for all addresses that one client owns. */
  readonly toKey: (address: string) => string
  /** Never banned, and not limited in their connections: proxies, and the machine itself. */
  readonly isExempt: (address: string) => boolean
  /** Called for each request or connection that a rule refuses, and with `ban` for each ban that begins. */
  readonly onHit: (rule: string) => void
  readonly onBan: (ban: Ban) => void
}

interface ClientRequest {
  readonly address: string
  /** The path and query as they were sent. */
  readonly target: string
  readonly rawHeaders: readonly string[]
}

interface FirewallRefusal {
  readonly rule: string
  readonly error: ServiceError
}

/** Statuses of a client that probes, and the errors with status 400 that are not about a value out of bounds. */
const OFFENCE_STATUSES: ReadonlySet<number> = new Set([401, 403, 404])
const OFFENCE_CODES: ReadonlySet<string> = new Set<ErrorCode>(['malformed_request', 'malformed_json'])

export class Firewall {
  readonly #options: FirewallOptions
  /** For bodies whose length is not declared; the rule looks at declared lengths. */
  readonly bodyLimit = {
    maxBytes: FIREWALL_MAX_BODY_BYTES,
    tooLarge: (): ServiceError => this.#refuse(BODY_SIZE_RULE).error,
  }

  constructor(options: FirewallOptions) {
    this.#options = options
  }

  isExempt(address: string): boolean {
    return this.#options.isExempt(address)
  }

  /** Null admits the request. The head of a request from a banned address is not looked at. */
  judge(request: ClientRequest): Answer<FirewallRefusal | null> {
    return afterAnswer(this.#findBan(request.address), (banned) => banned ?? this.#inspect(request))
  }

  /** The same for a request whose path cannot be routed, which is an offence by itself. */
  async judgeUnroutable(request: ClientRequest): Promise<FirewallRefusal | null> {
    const banned = await this.#findBan(request.address)
    if (banned !== null) return banned
    await this.#recordOffence(request.address)
    return this.#inspect(request)
  }

  /** True for a banned address, which gets no answer. Bytes that never became a request are an offence, none are not. */
  judgeClientError(address: string, bytesRead: number): Answer<boolean> {
    return afterAnswer(this.#findBan(address), (banned) => {
      if (banned !== null) return true
      return bytesRead === 0 ? false : afterAnswer(this.#recordOffence(address), () => false)
    })
  }

  /** Call with every answer, before it is sent. @param code of its error, if it is one. */
  recordAnswer(address: string, status: number, code: string | undefined): Answer<void> {
    if (code === 'address_banned') return
    if (OFFENCE_STATUSES.has(status) || (code !== undefined && OFFENCE_CODES.has(code))) {
      return this.#recordOffence(address)
    }
  }

  /** For rules that are enforced on connections. */
  countHit(rule: string): void {
    this.#options.onHit(rule)
  }

  /** Those in force, the latest first. */
  listBans(): Answer<readonly Ban[]> {
    return this.#options.bans.list()
  }

  /** Takes any address of the client, or what `listBans` calls it. @throws ServiceError `ban_not_found`. */
  async liftBan(address: string): Promise<void> {
    const key = this.#options.toKey(address.replace(/\/64$/, ''))
    if (!(await this.#options.bans.lift(key))) throw new ServiceError('ban_not_found', { address })
  }

  #findBan(address: string): Answer<FirewallRefusal | null> {
    const { bans, toKey, onHit } = this.#options
    return afterAnswer(bans.find(toKey(address)), (ban) => {
      if (ban === null) return null
      onHit('banned')
      const { secondsLeft: seconds } = ban
      return {
        rule: 'banned',
        error: new ServiceError('address_banned', { seconds }, { retryAfterSeconds: seconds }),
      }
    })
  }

  #inspect(request: ClientRequest): FirewallRefusal | null {
    const head = readHead(request)
    const rule = FIREWALL_RULES.find(({ matches }) => matches(head))
    return rule === undefined ? null : this.#refuse(rule)
  }

  #refuse({ id, reason, isMalformed }: FirewallRule): FirewallRefusal {
    this.#options.onHit(id)
    const error =
      isMalformed === true
        ? new ServiceError('malformed_request', { message: `it ${reason} (firewall rule '${id}').` })
        : new ServiceError('firewall_rejected', { rule: id, reason })
    return { rule: id, error }
  }

  #recordOffence(address: string): Answer<void> {
    const { bans, toKey, isExempt, onHit, onBan } = this.#options
    if (isExempt(address)) return
    return afterAnswer(bans.recordOffence(toKey(address)), (ban) => {
      if (ban === null) return
      onHit('ban')
      onBan(ban)
    })
  }
}
