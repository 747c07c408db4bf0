/**
 * Who may use a model, and which model answers while it cannot be reached. Data, and the one rule over it; the registry stores it,
 * `models/lease-model.ts` and the list of models apply it.
 */
import { type Credential, OPERATOR_ACCOUNT_ID } from '../core/credential.ts'
import type { Tier } from '../core/tiers.ts'

export interface ModelPolicy {
  /** The id or alias of the model that answers while this one cannot be reached; null for none. */
  readonly fallback: string | null
  /** Null where every caller may use it. */
  readonly access: ModelAccess | null
}

/** A caller of one of the tiers or with one of the keys. */
interface ModelAccess {
  readonly tiers: readonly Tier[]
  /** Ids of keys. */
  readonly keys: readonly string[]
}

export const OPEN_POLICY: ModelPolicy = { fallback: null, access: null }

export type ModelCaller = Pick<Credential, 'accountId' | 'keyId' | 'tier'>

/** The operator's own keys may use every model. */
export function mayUse({ access }: ModelPolicy, { accountId, keyId, tier }: ModelCaller): boolean {
  if (access === null || accountId === OPERATOR_ACCOUNT_ID) return true
  return access.tiers.includes(tier) || access.keys.includes(keyId)
}

/** As an operator gives it: without tiers and keys, every caller may use the model. */
export function toModelPolicy(given: {
  readonly fallback?: string | null | undefined
  readonly tiers?: readonly Tier[] | null | undefined
  readonly keys?: readonly string[] | null | undefined
}): ModelPolicy {
  const { fallback = null, tiers, keys } = given
  const isOpen = (tiers ?? null) === null && (keys ?? null) === null
  return { fallback, access: isOpen ? null : { tiers: tiers ?? [], keys: keys ?? [] } }
}
