/**
 * Registered users: registration, login and sessions, change of password, and the admin's changes.
 * Passwords are hashed, and the login throttle is awaited, outside of transactions; the user is read again inside, so one who
 * is disabled, deleted or given another password meanwhile gets no session. Sessions end by deletion, and the authenticator
 * looks each one up, so the end holds from the next request on.
 */
import { randomUUID } from 'node:crypto'
import type { Clock } from '../core/clock.ts'
import { type Credential, OPERATOR_ACCOUNT_ID, type Role } from '../core/credential.ts'
import { InvariantError, ServiceError } from '../core/errors.ts'
import type { Tier } from '../core/tiers.ts'
import type { AttemptThrottle } from '../limits/attempt-throttle.ts'
import type { ApiDatabase } from '../storage/api-database.ts'
import { isUniqueViolation } from '../storage/database-errors.ts'
import { hasKeysOf, insertKey, updateTierOfKeys } from '../storage/keys-repository.ts'
import type { Page, PageRequest } from '../storage/pages.ts'
import { deleteAllGuests } from '../storage/guests-repository.ts'
import { deleteSession, deleteSessionsOf } from '../storage/sessions-repository.ts'
import {
  deleteUser,
  findUser,
  findUserByEmailKey,
  hasActiveAdmin,
  hasAnyAccount,
  insertUser,
  listUsers,
  type StoredUser,
  updateUser,
} from '../storage/users-repository.ts'
import { revokeInvitationsOfAdmins } from '../storage/invitations-repository.ts'
import { emailKey } from './email.ts'
import { issueKey } from './keys/key-record.ts'
import type { PasswordHasher } from './password-hasher.ts'
import { type Login, openSession } from './sessions/login-session.ts'
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

interface NewUser extends EmailAndPassword {
  readonly tier: Tier
  /** @default user */
  readonly role?: Role
  /** @default none */
  readonly teamId?: string | null | undefined
  /** @default no bound */
  readonly dailyTokenBudget?: number | null | undefined
  readonly monthlyTokenBudget?: number | null | undefined
}

export interface NewAccount {
  readonly userId: string
  /** As given, trimmed. */
  readonly email: string
  readonly tier: Tier
  /** Of the account's first key; shown only here. */
  readonly keySecret: string
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
  readonly role: Role
  readonly isDisabled: boolean
  readonly createdAtUnixSeconds: number
  readonly teamId: string | null
  readonly dailyTokenBudget: number | null
  readonly monthlyTokenBudget: number | null
}

export interface UserChangeRequest {
  readonly tier?: Tier | undefined
  readonly role?: Role | undefined
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
        ? await this.#deps.database
            .transaction()
            .execute((transaction) => openSession(transaction, user, this.#deps.clock.unixSeconds()))
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
   * The account that a report names: a user's by its id or e-mail address, the operator's, or that of a key that no user has.
   * @throws ServiceError `user_not_found`
   */
  async findAccountId(named: string): Promise<string> {
    if (named === OPERATOR_ACCOUNT_ID || (await hasKeysOf(this.#deps.database, named))) return named
    return (await this.findUser(named)).userId
  }

  /**
   * Creates a user with its first key, both of this tier.
   * @throws ServiceError `email_taken`, `team_not_found`
   */
  async createUser(request: NewUser, hashingLine: string = ADMIN_LINE): Promise<NewAccount> {
    const user = await this.#newUser(request, hashingLine)
    const { id: userId, email, tier } = user
    const keySecret = await refuseTaken(email, () => this.#insertWithKey(user))
    return { userId, email, tier, keySecret }
  }

  /**
   * Creates the first admin, of the highest tier and without a key, and its session. Ends all guests.
   * @throws ServiceError `admin_exists`, `email_taken`
   */
  async createFirstAdmin(request: EmailAndPassword, addressKey: string): Promise<Login> {
    if (await hasActiveAdmin(this.#deps.database)) throw new ServiceError('admin_exists')
    const admin = { ...request, tier: 'enterprise', role: 'admin' } as const
    return await this.createWithSession(admin, addressKey, async (transaction) => {
      if (await hasActiveAdmin(transaction)) throw new ServiceError('admin_exists')
      await deleteAllGuests(transaction)
    })
  }

  /**
   * Creates a user without a key, and its session.
   * @param claim what gives the right to; in the same transaction, so that it is used up with success alone
   * @throws ServiceError `email_taken`, and what `claim` throws
   */
  async createWithSession(
    request: NewUser,
    addressKey: string,
    claim: (transaction: ApiDatabase) => Promise<void>,
  ): Promise<Login> {
    const user = await this.#newUser(request, addressKey)
    const login = await this.#deps.database.transaction().execute(async (transaction) => {
      await claim(transaction)
      await refuseTaken(user.email, () => insertUser(transaction, user))
      return await openSession(transaction, user, this.#deps.clock.unixSeconds())
    })
    if (login === null) throw new InvariantError('A new user may log in.')
    return login
  }

  async #newUser(request: NewUser, hashingLine: string): Promise<StoredUser> {
    const { tier, role = 'user', password } = request
    const { teamId = null, dailyTokenBudget = null, monthlyTokenBudget = null } = request
    const email = request.email.trim()
    const key = emailKey(email)
    // Spares the hashing; a registration between this and the insertion violates the unique constraint.
    if ((await findUserByEmailKey(this.#deps.database, key)) !== null)
      throw new ServiceError('email_taken', { email })
    return {
      id: randomUUID(),
      email,
      emailKey: key,
      passwordHash: await this.#deps.passwords.hash(password, hashingLine),
      tier,
      createdAtUnixSeconds: this.#deps.clock.unixSeconds(),
      disabledAtUnixSeconds: null,
      ...{ teamId, dailyTokenBudget, monthlyTokenBudget },
      role,
    }
  }

  /**
   * Returns the user after the change.
   * @throws ServiceError `user_not_found`, `team_not_found`, `last_admin`
   */
  async changeUser(userId: string, change: UserChangeRequest): Promise<User> {
    const { disabled, password, changesKeys = false, ...changes } = change
    const { tier } = changes
    await requireUser(this.#deps.database, userId)
    const passwordHash =
      password === undefined ? undefined : await this.#deps.passwords.hash(password, ADMIN_LINE)
    return await this.#deps.database.transaction().execute(async (transaction) => {
      const user = await requireUser(transaction, userId)
      const { disabledAtUnixSeconds } = user
      if (disabled === true || changes.role === 'user') await this.#removeAdmin(transaction, user)
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
   * @throws ServiceError `user_not_found`, `last_admin`
   */
  async deleteUser(userId: string): Promise<void> {
    await this.#deps.database.transaction().execute(async (transaction) => {
      await this.#removeAdmin(transaction, await requireUser(transaction, userId))
      await deleteUser(transaction, userId)
    })
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
      await requireTeam(transaction, user.teamId)
      await insertUser(transaction, user)
      await insertKey(transaction, key, secretHash)
    })
    return keySecret
  }

  /** Who was an admin may have made invitations of admins, for later: none of them stays open. @throws ServiceError `last_admin` */
  async #removeAdmin(db: ApiDatabase, user: StoredUser): Promise<void> {
    if (user.role !== 'admin') return
    await refuseLastAdmin(db, user)
    await revokeInvitationsOfAdmins(db, this.#deps.clock.unixSeconds())
  }

  /** Disabling again keeps the first date. */
  #disabledAt(disabled: boolean | undefined, before: number | null): number | null | undefined {
    if (disabled === undefined) return undefined
    return disabled ? (before ?? this.#deps.clock.unixSeconds()) : null
  }
}

/** The admin key may be off, and then nobody could make another. @throws ServiceError `last_admin` */
async function refuseLastAdmin(db: ApiDatabase, user: StoredUser): Promise<void> {
  const isActiveAdmin = user.role === 'admin' && user.disabledAtUnixSeconds === null
  if (isActiveAdmin && !(await hasActiveAdmin(db, user.id))) throw new ServiceError('last_admin')
}

async function refuseTaken<Result>(email: string, insert: () => Promise<Result>): Promise<Result> {
  try {
    return await insert()
  } catch (error) {
    throw isUniqueViolation(error) ? new ServiceError('email_taken', { email }) : error
  }
}

async function requireUser(db: ApiDatabase, userId: string): Promise<StoredUser> {
  const user = await findUser(db, userId)
  if (user === null) throw new ServiceError('user_not_found', { userId })
  return user
}

function toUser(stored: StoredUser): User {
  const { id, email, tier, role, disabledAtUnixSeconds, createdAtUnixSeconds } = stored
  const { teamId, dailyTokenBudget, monthlyTokenBudget } = stored
  const spending = { teamId, dailyTokenBudget, monthlyTokenBudget }
  return {
    userId: id,
    email,
    tier,
    role,
    isDisabled: disabledAtUnixSeconds !== null,
    createdAtUnixSeconds,
    ...spending,
  }
}

function wrongPassword(): ServiceError {
  return new ServiceError('wrong_password', {}, { param: 'current_password' })
}
