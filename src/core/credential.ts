/**
 * An authenticated identity, passed from the authenticator to the limiter and the handlers. Data only: it was true when
 * the request's secret was looked up, and is looked up again for the next request.
 */
import type { Tier } from './tiers.ts'

export interface Credential {
  /** The key, or the login session. */
  readonly keyId: string
  /** The account that requests and tokens are billed to; keys of one user share it. */
  readonly accountId: string
  /** The registered user behind it; null for the operator's keys and for keys that are accounts of their own. */
  readonly userId: string | null
  readonly kind: CredentialKind
  readonly tier: Tier
  /** Set by the admin in place of the tier's number; null takes the tier's. */
  readonly customRateLimitRpm: number | null
  /** The identity that limits count by: sessions of one account share it, each key has its own. */
  readonly limitId: string
  /** The key's own team, else its user's; null outside of any. */
  readonly teamId: string | null
  /** All that its tokens count under. */
  readonly budgets: readonly TokenBudget[]
  /** Of a login session, and of a guest. */
  readonly session?: SessionFacts
}

/** An admin may use the admin API with a login session; keys of an admin's account may not. */
export const ROLES = ['user', 'admin'] as const
export type Role = (typeof ROLES)[number]

interface SessionFacts {
  /** Null of a guest. */
  readonly email: string | null
  readonly role: Role
  readonly expiresAtUnixSeconds: number
}

/** Tokens, in and out, that may be spent in each day or calendar month of UTC. */
export interface TokenBudget {
  readonly scope: 'key' | 'account' | 'team'
  readonly id: string
  readonly period: 'day' | 'month'
  readonly maxTokens: number
}

/**
 * `key` is issued and stored, `session` comes from a login, `guest` from the link of a start, `static` is configuration, `open`
 * is every caller of a server without authentication, which no limit per key applies to.
 */
type CredentialKind = 'key' | 'session' | 'guest' | 'static' | 'open'

/** The built-in account of keys from the configuration. */
export const OPERATOR_ACCOUNT_ID = 'operator'
