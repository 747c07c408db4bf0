/**
 * Creation, change and revocation of API keys by their owners and the admin. Owns the rules of what a change may do; the
 * maximum is checked in `account-tier.ts`, and storage owns the rows. Keys are counted and added in one transaction, so two
 * requests never pass the maximum together.
 */
import type { Clock } from '../../core/clock.ts'
import type { Credential } from '../../core/credential.ts'
import { ServiceError } from '../../core/errors.ts'
import type { RequestLimits } from '../../core/shared-state.ts'
import type { Tier } from '../../core/tiers.ts'
import type { ApiDatabase } from '../../storage/api-database.ts'
import { familyOf, gatherFamily } from '../../storage/budgets/key-families.ts'
import {
  findKey,
  insertKey,
  listKeys,
  revokeKey,
  type StoredKey,
  updateKey,
} from '../../storage/keys-repository.ts'
import type { Page, PageRequest } from '../../storage/pages.ts'
import { findUser } from '../../storage/users-repository.ts'
import { requireTeam } from '../team-service.ts'
import { highestTier, readLiveAccount, readUserAccount, requireBelowKeyLimit } from '../account-tier.ts'
import type { KeyUses } from './key-uses.ts'
import {
  expiryAfter,
  type KeyRecord,
  type KeySpending,
  keyState,
  issueKey,
  toKeyRecord,
} from './key-record.ts'

export interface KeyServiceDeps {
  readonly database: ApiDatabase
  readonly requests: Pick<RequestLimits, 'openWindow' | 'revokeWindow'>
  readonly clock: Clock
  /** @default none: a process that answers no requests */
  readonly uses?: Pick<KeyUses, 'latest'>
}

export interface CreatedKey {
  readonly record: KeyRecord
  /** Shown only here. */
  readonly keySecret: string
}

interface KeyRequest {
  readonly name: string
  /** Null never expires. */
  readonly expiresInDays: number | null
}

/** Null is no bound, which is the default. */
export interface OwnKeyRequest extends KeyRequest {
  readonly dailyTokenBudget?: number | null
  readonly monthlyTokenBudget?: number | null
}

export interface AdminKeyRequest extends KeyRequest {
  readonly tier: Tier
  /** Null makes a key that is an account of its own. */
  readonly userId: string | null
  /** @default the tier's */
  readonly customRateLimitRpm?: number | null
  /** @default no team, no bound */
  readonly spending?: Partial<KeySpending>
}

export interface KeyChangeRequest {
  readonly name?: string | undefined
  readonly tier?: Tier | undefined
  /** Stays when the tier changes. */
  readonly rateLimitRpm?: number | undefined
  /** From now on. */
  readonly expiresInDays?: number | undefined
  /** Null takes the key out of its own team, and back into its user's. */
  readonly teamId?: string | null | undefined
  /** Null takes the bound away. */
  readonly dailyTokenBudget?: number | null | undefined
  readonly monthlyTokenBudget?: number | null | undefined
}

export class KeyService {
  readonly #deps: KeyServiceDeps

  constructor(deps: KeyServiceDeps) {
    this.#deps = deps
  }

  /**
   * A key of the caller's account, with the tier, the custom limit, the rate window and the team of the caller's credential. What
   * it spends counts under the budgets of the key that makes it, and of those above that one.
   * @throws ServiceError `key_limit_reached`, `key_budget_by_key`
   */
  async create(
    credential: Credential,
    { name, expiresInDays, dailyTokenBudget = null, monthlyTokenBudget = null }: OwnKeyRequest,
  ): Promise<CreatedKey> {
    refuseOpen(credential)
    // A request asks all budgets above its key: one that gave each key that it makes another would make each request ask more.
    if (credential.kind === 'key' && (dailyTokenBudget ?? monthlyTokenBudget) !== null)
      throw new ServiceError('key_budget_by_key')
    const { tier, customRateLimitRpm, accountId, userId, limitId } = credential
    const unixSeconds = this.#deps.clock.unixSeconds()
    const owner = { accountId, userId }
    const made = await this.#deps.database.transaction().execute(async (transaction) => {
      requireBelowKeyLimit(await readLiveAccount(transaction, credential, unixSeconds))
      const inherited = await inheritedSpending(transaction, credential)
      const spending = { ...inherited, dailyTokenBudget, monthlyTokenBudget }
      const issued = issueKey({ name, tier, customRateLimitRpm, expiresInDays, owner, unixSeconds, spending })
      await insertKey(transaction, issued.key, issued.secretHash)
      return issued
    })
    await this.#openWindow(made.key, limitId)
    return toCreatedKey(made)
  }

  /** The keys of the caller's account, revoked ones too. */
  async list(credential: Credential, page: PageRequest): Promise<Page<KeyRecord>> {
    return this.#toRecords(await listKeys(this.#deps.database, credential.accountId, page))
  }

  /** Returns the key after it. @throws ServiceError `key_not_found` for one that is not the caller's account's */
  async rename(credential: Credential, keyId: string, name: string): Promise<KeyRecord> {
    refuseOpen(credential)
    const { accountId } = await requireKey(this.#deps.database, keyId)
    if (accountId !== credential.accountId) throw new ServiceError('key_not_found', { keyId })
    return await this.change(keyId, { name })
  }

  /** @throws ServiceError `key_not_found` for one that is not the caller's account's or is revoked already. */
  async revoke(credential: Credential, keyId: string): Promise<void> {
    refuseOpen(credential)
    await this.#revoke(keyId, credential.accountId)
  }

  /** The keys of all accounts, or of one user. */
  async listAll(page: PageRequest, userId: string | null = null): Promise<Page<KeyRecord>> {
    return this.#toRecords(await listKeys(this.#deps.database, userId, page))
  }

  /**
   * A key for a user, whose maximum binds the admin as well, or for an account of its own.
   * @throws ServiceError `user_not_found`, `team_not_found`, `key_limit_reached`
   */
  async createFor({ userId, ...request }: AdminKeyRequest): Promise<CreatedKey> {
    const unixSeconds = this.#deps.clock.unixSeconds()
    const owner = userId === null ? 'own' : { accountId: userId, userId }
    const made = issueKey({ customRateLimitRpm: null, ...request, owner, unixSeconds })
    await this.#deps.database.transaction().execute(async (transaction) => {
      if (userId !== null) {
        const user = await findUser(transaction, userId)
        if (user === null) throw new ServiceError('user_not_found', { userId })
        const account = await readUserAccount(transaction, user, unixSeconds)
        requireBelowKeyLimit({ ...account, tier: highestTier([account.tier, request.tier]) })
      }
      await requireTeam(transaction, made.key.teamId)
      await insertKey(transaction, made.key, made.secretHash)
    })
    return toCreatedKey(made)
  }

  /** @throws ServiceError `key_not_found` */
  async get(keyId: string): Promise<KeyRecord> {
    return this.#toRecord(await requireKey(this.#deps.database, keyId), this.#deps.clock.unixSeconds())
  }

  /** @throws ServiceError `key_not_found` for one that is revoked already, too. */
  async revokeAny(keyId: string): Promise<void> {
    await this.#revoke(keyId, null)
  }

  /**
   * Returns the key after the change.
   * @throws ServiceError `key_not_found`, `team_not_found`; `key_not_active` for a new expiry that would revive it.
   */
  async change(keyId: string, request: KeyChangeRequest): Promise<KeyRecord> {
    const { rateLimitRpm, expiresInDays, ...changes } = request
    const unixSeconds = this.#deps.clock.unixSeconds()
    const budget = changes.dailyTokenBudget ?? changes.monthlyTokenBudget ?? null
    if (budget !== null) await gatherFamily(this.#deps.database, keyId, unixSeconds)
    return await this.#deps.database.transaction().execute(async (transaction) => {
      const state = keyState(await requireKey(transaction, keyId), unixSeconds)
      if (expiresInDays !== undefined && state !== 'active') {
        throw new ServiceError('key_not_active', { keyId, state }, { param: 'expires_in_days' })
      }
      await requireTeam(transaction, changes.teamId ?? null)
      await updateKey(transaction, keyId, {
        ...changes,
        customRateLimitRpm: rateLimitRpm,
        expiresAtUnixSeconds: expiryAfter(expiresInDays ?? null, unixSeconds) ?? undefined,
      })
      return this.#toRecord(await requireKey(transaction, keyId), unixSeconds)
    })
  }

  /**
   * After the commit, so that no lock waits for the shared state; before the secret is shown, so that no request comes before
   * the window. A key that gets no window is revoked.
   */
  async #openWindow({ id, accountId, createdAtUnixSeconds }: StoredKey, makerLimitId: string): Promise<void> {
    try {
      await this.#deps.requests.openWindow(id, { makerLimitId, accountId })
    } catch (error) {
      await revokeKey(this.#deps.database, { id, accountId, unixSeconds: createdAtUnixSeconds })
      throw error
    }
  }

  async #revoke(id: string, accountId: string | null): Promise<void> {
    const unixSeconds = this.#deps.clock.unixSeconds()
    const ownerId = await revokeKey(this.#deps.database, { id, accountId, unixSeconds })
    if (ownerId === null) throw new ServiceError('key_not_found', { keyId: id })
    await this.#deps.requests.revokeWindow(id, ownerId)
  }

  #toRecords({ items, ...page }: Page<StoredKey>): Page<KeyRecord> {
    const unixSeconds = this.#deps.clock.unixSeconds()
    return { ...page, items: items.map((key) => this.#toRecord(key, unixSeconds)) }
  }

  #toRecord(key: StoredKey, unixSeconds: number): KeyRecord {
    const { uses } = this.#deps
    const stored = key.lastUsedAtUnixSeconds
    const lastUsedAtUnixSeconds = uses === undefined ? stored : uses.latest(key.id, stored)
    return toKeyRecord({ ...key, lastUsedAtUnixSeconds }, unixSeconds)
  }
}

/** Without authentication every caller, a web page in a browser included, could create keys that outlive this run. */
function refuseOpen({ kind }: Credential): void {
  if (kind === 'open') throw new ServiceError('keys_need_authentication')
}

/** Otherwise a key could get around its budget, and out of its team, by making others. */
async function inheritedSpending(
  db: ApiDatabase,
  { kind, keyId }: Credential,
): Promise<Partial<KeySpending>> {
  const maker = kind === 'key' ? await findKey(db, keyId) : null
  if (maker === null) return {}
  return { teamId: maker.teamId, makerKeyId: maker.id, budgetKeyId: familyOf(maker) }
}

async function requireKey(db: ApiDatabase, keyId: string): Promise<StoredKey> {
  const key = await findKey(db, keyId)
  if (key === null) throw new ServiceError('key_not_found', { keyId })
  return key
}

function toCreatedKey({ key, keySecret }: ReturnType<typeof issueKey>): CreatedKey {
  return { record: toKeyRecord(key, key.createdAtUnixSeconds), keySecret }
}
