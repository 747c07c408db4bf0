/**
 * Registered users: registration, login and sessions, change of password, and the admin's changes.
 * Passwords are hashed, and the login throttle is awaited, outside of transactions; the user is read again inside, so one who
 * is disabled, deleted or given another password meanwhile gets no session. Sessions end by deletion, and the authenticator
 * looks each one up, so the end holds from the next request on.
 */
import { randomUUID } from 'node:crypto'
import type { Clock } from '../core/clock.ts'
import type { Credential } from '../core/credential.ts'
import { ServiceError } from '../core/errors.ts'
import type { Tier } from '../core/tiers.ts'
import type { AttemptThrottle } from '../limits/attempt-throttle.ts'
import type { ApiDatabase } from '../storage/api-database.ts'
import { isUniqueViolation } from '../storage/database-errors.ts'
import { insertKey, updateTierOfKeys } from '../storage/keys-repository.ts'
import type { Page, PageRequest } from '../storage/pages.ts'
import {
  deleteExpiredSessions,
  deleteOldestSessions,
  deleteSession,
  deleteSessionsOf,
  insertSession,
} from '../storage/sessions-repository.ts'
import {
  deleteUser,
  findUser,
  findUserByEmailKey,
  hasAnyAccount,
  insertUser,
  listUsers,
  type StoredUser,
  updateUser,
} from '../storage/users-repository.ts'
import { readUserAccount } from './account-tier.ts'
import { emailKey } from './email.ts'
import { issueKey } from './keys/key-record.ts'
import { hashSecret, newKeySecret } from './keys/key-secret.ts'
import type { PasswordHasher } from './password-hasher.ts'
import { requireTeam } from './team-service.ts'

export interface AccountServiceDeps {
  readonly database: ApiDatabase
  readonly passwords: PasswordHasher
  readonly throttle: AttemptThrottle
  readonly clock: Clock
  readonly isRegistrationOpen: boolean
}

export interface EmailAndPassword {
  readonly email: string
  readonly password: string
}

export interface NewAccount {
  readonly userId: string
  /** As given, trimmed. */
  readonly email: string
  readonly tier: Tier
  /** Of the account's first key; shown only here. */
  readonly keySecret: string
}

export interface Login {
  readonly userId: string
  readonly email: string
  /** The account's: the highest of its own and its active keys'. */
  readonly tier: Tier
  /** Of the session; shown only here. */
  readonly keySecret: string
  readonly expiresAtUnixSeconds: number
}

export interface PasswordChange {
  readonly currentPassword: string
  readonly newPassword: string
}

export interface User {
  readonly userId: string
  readonly email: string
  /** The account's own; a key's may be higher. */
  readonly tier: Tier
  readonly isDisabled: boolean
  readonly createdAtUnixSeconds: number
  readonly teamId: string | null
  readonly dailyTokenBudget: number | null
  readonly monthlyTokenBudget: number | null
}

export interface UserChangeRequest {
  readonly tier?: Tier | undefined
  /** True ends all sessions, and the keys are invalid until it is false again. */
  readonly disabled?: boolean | undefined
  /** Ends all sessions. */
  readonly password?: string | undefined
  /** Null takes the user out of the team. */
  readonly teamId?: string | null | undefined
  /** Null takes the bound away. */
  readonly dailyTokenBudget?: number | null | undefined
  readonly monthlyTokenBudget?: number | null | undefined
  /** Whether the tier becomes that of the user's keys too. @default false */
  readonly changesKeys?: boolean
}

/** A session is valid for a day wherever a key is. */
const SESSION_SECONDS = 24 * 60 * 60

/** Of one account; a login beyond it ends the oldest. */
const MAX_SESSIONS = 20

/** Where the admin's passwords wait to be hashed; no address is called so. */
const ADMIN_LINE = 'admin'

export class AccountService {
  readonly #deps: AccountServiceDeps

  constructor(deps: AccountServiceDeps) {
    this.#deps = deps
  }

  /** @throws ServiceError `registration_closed`, `email_taken`, `too_many_registrations`, `password_queue_full` */
  async register({ email, password }: EmailAndPassword, addressKey: string): Promise<NewAccount> {
    if (!this.#deps.isRegistrationOpen) throw new ServiceError('registration_closed')
    await this.#deps.throttle.registration(addressKey)
    return await this.createUser({ email, password, tier: 'free' }, addressKey)
  }

  /** @throws ServiceError `invalid_login`, for a wrong e-mail as for a wrong password; `too_many_logins`, `password_queue_full` */
  async login({ email, password }: EmailAndPassword, addressKey: string): Promise<Login> {
    const key = emailKey(email)
    const found = await findUserByEmailKey(this.#deps.database, key)
    const user = found?.disabledAtUnixSeconds === null ? found : null
    const isRight = await this.#deps.throttle.login({ emailKey: key, addressKey }, () =>
      this.#deps.passwords.verify(password, user?.passwordHash ?? null, addressKey),
    )
    const login =
      isRight && user !== null
        ? await openSession(this.#deps.database, user, this.#deps.clock.unixSeconds())
        : null
    if (login === null) throw new ServiceError('invalid_login')
    return login
  }

  /** @throws ServiceError `not_a_session` */
  async logout({ kind, keyId }: Credential): Promise<void> {
    if (kind !== 'session') throw new ServiceError('not_a_session')
    await deleteSession(this.#deps.database, keyId)
  }

  /**
   * Ends all sessions of the user but the caller's own.
   * @throws ServiceError `user_required`, `wrong_password`, `too_many_logins`
   */
  async changePassword(credential: Credential, change: PasswordChange, addressKey: string): Promise<void> {
    const { userId, kind, keyId } = credential
    if (userId === null) throw new ServiceError('user_required')
    const user = await findUser(this.#deps.database, userId)
    if (user === null) throw new ServiceError('unauthorized')
    const isRight = await this.#deps.throttle.login({ emailKey: user.emailKey, addressKey }, () =>
      this.#deps.passwords.verify(change.currentPassword, user.passwordHash, addressKey),
    )
    if (!isRight) throw wrongPassword()
    const passwordHash = await this.#deps.passwords.hash(change.newPassword, addressKey)
    await this.#deps.database.transaction().execute(async (transaction) => {
      const now = await findUser(transaction, userId)
      if (now === null || now.disabledAtUnixSeconds !== null) throw new ServiceError('unauthorized')
      if (now.passwordHash !== user.passwordHash) throw wrongPassword()
      await updateUser(transaction, userId, { passwordHash })
      await deleteSessionsOf(transaction, userId, { keptId: kind === 'session' ? keyId : null })
    })
  }

  async listUsers(page: PageRequest): Promise<Page<User>> {
    const { items, ...rest } = await listUsers(this.#deps.database, page)
    return { ...rest, items: items.map(toUser) }
  }

  /** By id or e-mail address. @throws ServiceError `user_not_found` */
  async findUser(idOrEmail: string): Promise<User> {
    const { database } = this.#deps
    const user =
      (await findUser(database, idOrEmail)) ?? (await findUserByEmailKey(database, emailKey(idOrEmail)))
    if (user === null) throw new ServiceError('user_not_found', { userId: idOrEmail })
    return toUser(user)
  }

  /**
   * Creates a user with its first key, both of this tier.
   * @throws ServiceError `email_taken`
   */
  async createUser(
    request: EmailAndPassword & { readonly tier: Tier },
    hashingLine: string = ADMIN_LINE,
  ): Promise<NewAccount> {
    const { tier, password } = request
    const email = request.email.trim()
    const key = emailKey(email)
    // Spares the hashing; a registration between this and the insertion violates the unique constraint.
    if ((await findUserByEmailKey(this.#deps.database, key)) !== null)
      throw new ServiceError('email_taken', { email })
    const user: StoredUser = {
      id: randomUUID(),
      email,
      emailKey: key,
      passwordHash: await this.#deps.passwords.hash(password, hashingLine),
      tier,
      createdAtUnixSeconds: this.#deps.clock.unixSeconds(),
      disabledAtUnixSeconds: null,
      teamId: null,
      dailyTokenBudget: null,
      monthlyTokenBudget: null,
    }
    try {
      return { userId: user.id, email, tier, keySecret: await this.#insertWithKey(user) }
    } catch (error) {
      throw isUniqueViolation(error) ? new ServiceError('email_taken', { email }) : error
    }
  }

  /**
   * Returns the user after the change.
   * @throws ServiceError `user_not_found`, `team_not_found`
   */
  async changeUser(userId: string, change: UserChangeRequest): Promise<User> {
    const { disabled, password, changesKeys = false, ...changes } = change
    const { tier } = changes
    await requireUser(this.#deps.database, userId)
    const passwordHash =
      password === undefined ? undefined : await this.#deps.passwords.hash(password, ADMIN_LINE)
    return await this.#deps.database.transaction().execute(async (transaction) => {
      const { disabledAtUnixSeconds } = await requireUser(transaction, userId)
      await requireTeam(transaction, changes.teamId ?? null)
      await updateUser(transaction, userId, {
        ...changes,
        passwordHash,
        disabledAtUnixSeconds: this.#disabledAt(disabled, disabledAtUnixSeconds),
      })
      if (changesKeys && tier !== undefined) await updateTierOfKeys(transaction, userId, tier)
      if (disabled === true || passwordHash !== undefined) await deleteSessionsOf(transaction, userId)
      return toUser(await requireUser(transaction, userId))
    })
  }

  /**
   * Deletes the user's keys and sessions as well; its usage stays.
   * @throws ServiceError `user_not_found`
   */
  async deleteUser(userId: string): Promise<void> {
    if (!(await deleteUser(this.#deps.database, userId))) throw new ServiceError('user_not_found', { userId })
  }

  /** A user, or a key that is an account of its own. */
  async hasAnyAccount(): Promise<boolean> {
    return await hasAnyAccount(this.#deps.database, this.#deps.clock.unixSeconds())
  }

  /** Returns the key's secret. */
  async #insertWithKey(user: StoredUser): Promise<string> {
    const { key, keySecret, secretHash } = issueKey({
      name: '',
      tier: user.tier,
      customRateLimitRpm: null,
      expiresInDays: null,
      owner: { accountId: user.id, userId: user.id },
      unixSeconds: user.createdAtUnixSeconds,
    })
    await this.#deps.database.transaction().execute(async (transaction) => {
      await insertUser(transaction, user)
      await insertKey(transaction, key, secretHash)
    })
    return keySecret
  }

  /** Disabling again keeps the first date. */
  #disabledAt(disabled: boolean | undefined, before: number | null): number | null | undefined {
    if (disabled === undefined) return undefined
    return disabled ? (before ?? this.#deps.clock.unixSeconds()) : null
  }
}

/**
 * Opens a session for the user whose password was checked; null when the user has been disabled or deleted or has another
 * password since. Deletes the expired sessions of all users, and the oldest of this one.
 */
async function openSession(
  database: ApiDatabase,
  checked: StoredUser,
  unixSeconds: number,
): Promise<Login | null> {
  const keySecret = newKeySecret()
  const expiresAtUnixSeconds = unixSeconds + SESSION_SECONDS
  return await database.transaction().execute(async (transaction) => {
    await deleteExpiredSessions(transaction, unixSeconds)
    const user = await findUser(transaction, checked.id)
    if (user === null || user.disabledAtUnixSeconds !== null) return null
    if (user.passwordHash !== checked.passwordHash) return null
    const { tier } = await readUserAccount(transaction, user, unixSeconds)
    const session = {
      id: randomUUID(),
      userId: user.id,
      createdAtUnixSeconds: unixSeconds,
      expiresAtUnixSeconds,
    }
    await deleteOldestSessions(transaction, user.id, { kept: MAX_SESSIONS - 1 })
    await insertSession(transaction, session, hashSecret(keySecret))
    return { userId: user.id, email: user.email, tier, keySecret, expiresAtUnixSeconds }
  })
}

async function requireUser(db: ApiDatabase, userId: string): Promise<StoredUser> {
  const user = await findUser(db, userId)
  if (user === null) throw new ServiceError('user_not_found', { userId })
  return user
}

function toUser(stored: StoredUser): User {
  const { id, email, tier, disabledAtUnixSeconds, createdAtUnixSeconds } = stored
  const { teamId, dailyTokenBudget, monthlyTokenBudget } = stored
  const spending = { teamId, dailyTokenBudget, monthlyTokenBudget }
  return {
    userId: id,
    email,
    tier,
    isDisabled: disabledAtUnixSeconds !== null,
    createdAtUnixSeconds,
    ...spending,
  }
}

function wrongPassword(): ServiceError {
  return new ServiceError('wrong_password', {}, { param: 'current_password' })
}
