/**
 * The link that a start prints while there is no admin, and the guest that it opens: the operator, until there is an admin or a
 * day has passed. The token of the link is used up as it opens. Kept in the accounts database, so that every process and
 * every instance of a service knows it.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import type { Clock } from '../../core/clock.ts'
import { type Credential, OPERATOR_ACCOUNT_ID } from '../../core/credential.ts'
import { ServiceError } from '../../core/errors.ts'
import type { AttemptThrottle } from '../../limits/attempt-throttle.ts'
import type { ApiDatabase } from '../../storage/api-database.ts'
import {
  deleteExpiredGuests,
  deleteGuest,
  findGuest,
  insertStartLink,
  openStartLink,
} from '../../storage/guests-repository.ts'
import { hasActiveAdmin } from '../../storage/users-repository.ts'
import { hashSecret } from '../keys/key-secret.ts'
import { SESSION_SECONDS } from './login-session.ts'

export interface GuestServiceDeps {
  readonly database: ApiDatabase
  readonly throttle: Pick<AttemptThrottle, 'token'>
  readonly clock: Clock
}

export interface OpenedGuest {
  readonly credential: Credential
  /** Shown only here. */
  readonly secret: string
}

const LINK_SECONDS = 60 * 60

/** Tells it from the secrets of keys and sessions. */
const GUEST_SECRET = /^guest-[\w-]{43}$/

const newToken = () => randomBytes(32).toString('base64url')

export class GuestService {
  readonly #deps: GuestServiceDeps

  constructor(deps: GuestServiceDeps) {
    this.#deps = deps
  }

  /** The token of a new link; null where there is an admin, who signs in. */
  async createLink(): Promise<string | null> {
    const { database, clock } = this.#deps
    const unixSeconds = clock.unixSeconds()
    if (await hasActiveAdmin(database)) return null
    await deleteExpiredGuests(database, unixSeconds)
    const token = newToken()
    const link = { id: randomUUID(), unixSeconds, expiresAtUnixSeconds: unixSeconds + LINK_SECONDS }
    await insertStartLink(database, link, hashSecret(token))
    return token
  }

  /** @throws ServiceError `invalid_link`, `too_many_logins` */
  async open(token: string, addressKey: string): Promise<OpenedGuest> {
    const secret = `guest-${newToken()}`
    let credential: Credential | null = null
    await this.#deps.throttle.token(addressKey, async () => {
      credential = await this.#open(hashSecret(token), hashSecret(secret))
      return credential !== null
    })
    if (credential === null) throw new ServiceError('invalid_link')
    return { credential, secret }
  }

  /** Null for what is no guest's secret, and where there is an admin. */
  async authenticate(secret: string): Promise<Credential | null> {
    if (!GUEST_SECRET.test(secret)) return null
    const { database, clock } = this.#deps
    const guest = await findGuest(database, hashSecret(secret), clock.unixSeconds())
    return guest === null ? null : toCredential(guest)
  }

  async end({ keyId }: Credential): Promise<void> {
    await deleteGuest(this.#deps.database, keyId)
  }

  async #open(linkHash: string, guestHash: string): Promise<Credential | null> {
    const { database, clock } = this.#deps
    const unixSeconds = clock.unixSeconds()
    if (await hasActiveAdmin(database)) return null
    const expiresAtUnixSeconds = unixSeconds + SESSION_SECONDS
    const opened = await openStartLink(database, { linkHash, guestHash, unixSeconds, expiresAtUnixSeconds })
    return opened === null ? null : toCredential(opened)
  }
}

function toCredential({
  id,
  expiresAtUnixSeconds,
}: {
  id: string
  expiresAtUnixSeconds: number
}): Credential {
  return {
    keyId: id,
    accountId: OPERATOR_ACCOUNT_ID,
    userId: null,
    kind: 'guest',
    tier: 'enterprise',
    customRateLimitRpm: null,
    limitId: `guest:${id}`,
    teamId: null,
    budgets: [],
    session: { email: null, role: 'user', expiresAtUnixSeconds },
  }
}
