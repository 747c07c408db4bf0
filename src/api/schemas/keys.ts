/** API keys as their owners and the admin see them. A secret is in the answer that makes it and in no other. */
import { z } from 'zod'
import {
  MAX_EXPIRY_DAYS,
  MAX_KEY_NAME_LENGTH,
  MAX_OWN_EXPIRY_DAYS,
  MAX_RATE_LIMIT_RPM,
} from '../../accounts/keys/key-bounds.ts'
import type { KeyRecord } from '../../accounts/keys/key-record.ts'
import type { SpentBudget } from '../../limits/token-budgets.ts'
import type { LimitUse } from '../../core/shared-state.ts'
import { TIER_LIMITS, TIERS } from '../../core/tiers.ts'
import { integer, must, nullableWithDefault, storedText } from './fields.ts'
import { nextCursor, pageQuery, queryChoice, queryInteger, userFilter } from './query.ts'
import {
  budgetChanges,
  budgetFields,
  spendingQuery,
  spentBudget,
  teamChange,
  teamField,
  toBudgetBody,
  toSpentBudgetBody,
} from './spending.ts'

const name = () => storedText(0, MAX_KEY_NAME_LENGTH)

const keyFields = {
  id: z.string(),
  key_prefix: z.string().describe('The beginning of the secret, by which a person knows it.'),
  name: z.string(),
  tier: z.enum(TIERS),
  is_active: z.boolean().describe('Neither revoked nor expired.'),
  created_at: z.number().describe('Unix seconds.'),
  expires_at: z.number().nullable().describe('Unix seconds; null is never.'),
  rate_limit_rpm: z.int().describe("Requests per minute: the custom number, else the tier's."),
}

const { key_prefix: _, rate_limit_rpm: __, ...createdFields } = keyFields

const lastUsed = { last_used: z.number().nullable().describe('Unix seconds; null is never.') }

export const ownKey = z
  .object({
    ...keyFields,
    ...lastUsed,
    max_concurrent_requests: z.int().nullable().describe('Generation requests at once; null is any number.'),
    requests_this_minute: z.int().describe('Requests of the last 60 seconds; 0 for an inactive key.'),
    open_requests: z.int().describe('Generation requests that run now; 0 for an inactive key.'),
    budgets: z.array(spentBudget).describe("The key's own, while it is active."),
  })
  .meta({ id: 'ApiKey' })

export const renameKeyRequest = z
  .object({ name: name() }, { error: must('a JSON object') })
  .meta({ id: 'RenameKeyRequest' })

export const keyList = z
  .object({
    keys: z.array(ownKey),
    next_cursor: nextCursor(),
  })
  .meta({ id: 'ApiKeyList' })

export const createKeyRequest = z
  .object(
    {
      name: nullableWithDefault(name(), ''),
      expires_in_days: integer(1, MAX_OWN_EXPIRY_DAYS).nullish().describe('Null is never.'),
      ...budgetChanges(),
    },
    { error: must('a JSON object') },
  )
  .meta({ id: 'CreateKeyRequest' })

const secret = z.string().describe('The whole secret, shown here and never again.')

export const createdKey = z.object({ key: secret, ...createdFields }).meta({ id: 'CreatedKey' })

export const keyParams = z.object({ key_id: z.string() })

export const revokedKey = z
  .object({ status: z.literal('revoked'), key_id: z.string() })
  .meta({ id: 'RevokedKey' })

const ownerField = { user_id: z.string().nullable().describe('Null for a key that no user owns.') }

export const adminKey = z
  .object({ ...keyFields, ...lastUsed, ...ownerField, ...teamField, ...budgetFields })
  .meta({ id: 'AdminApiKey' })

export type AdminKeyBody = z.output<typeof adminKey>

export const adminKeyList = z
  .object({
    keys: z.array(adminKey),
    count: z.int().describe('Of all keys, whatever the page.'),
    next_cursor: nextCursor(),
  })
  .meta({ id: 'AdminApiKeyList' })

const DAYS_FROM_NOW = 'Days from now.'
const RATE_LIMIT_STAYS = "In place of the tier's number; stays when the tier changes."

const adminExpiry = () => queryInteger({ min: 1, max: MAX_EXPIRY_DAYS }).optional().describe(DAYS_FROM_NOW)

const rateLimitRpm = () =>
  queryInteger({ min: 1, max: MAX_RATE_LIMIT_RPM }).optional().describe(RATE_LIMIT_STAYS)

export const adminCreateKeyQuery = z.object({
  name: name().default(''),
  tier: queryChoice(TIERS).default('free'),
  expires_in_days: adminExpiry(),
  user_id: storedText(1, 200).optional().describe('The owner; without one the key is an account of its own.'),
  rate_limit_rpm: rateLimitRpm(),
  ...spendingQuery(),
})

export const adminCreatedKey = z
  .object({ key: secret, ...createdFields, ...ownerField, rate_limit_rpm: keyFields.rate_limit_rpm })
  .meta({ id: 'AdminCreatedKey' })

export const adminChangeKeyQuery = z.object({
  name: name().optional(),
  tier: queryChoice(TIERS).optional(),
  rate_limit_rpm: rateLimitRpm(),
  expires_in_days: adminExpiry(),
  ...spendingQuery(),
})

/** The same fields in a body, as for users. */
export const adminChangeKeyRequest = z
  .object(
    {
      name: name().nullish(),
      tier: z.enum(TIERS, { error: must(`one of ${TIERS.join(', ')}`) }).nullish(),
      rate_limit_rpm: integer(1, MAX_RATE_LIMIT_RPM).nullish().describe(RATE_LIMIT_STAYS),
      expires_in_days: integer(1, MAX_EXPIRY_DAYS).nullish().describe(DAYS_FROM_NOW),
      ...teamChange(),
      ...budgetChanges(),
    },
    { error: must('a JSON object') },
  )
  .meta({ id: 'ChangeKeyRequest' })

export const adminKeyListQuery = pageQuery.extend({ user: userFilter() })

export interface KeyUse extends LimitUse {
  readonly budgets: readonly SpentBudget[]
}

export function toOwnKeyBody(
  record: KeyRecord,
  { requests, running, budgets }: KeyUse,
): z.output<typeof ownKey> {
  const { maxConcurrentRequests: max } = TIER_LIMITS[record.tier]
  return {
    ...toKeyBody(record),
    max_concurrent_requests: Number.isFinite(max) ? max : null,
    requests_this_minute: requests,
    open_requests: running,
    budgets: budgets.map(toSpentBudgetBody),
  }
}

function toKeyBody(record: KeyRecord) {
  return {
    id: record.id,
    key_prefix: record.keyPrefix,
    name: record.name,
    tier: record.tier,
    is_active: record.isActive,
    created_at: record.createdAtUnixSeconds,
    expires_at: record.expiresAtUnixSeconds,
    rate_limit_rpm: record.rateLimitRpm,
    last_used: record.lastUsedAtUnixSeconds,
  }
}

export function toAdminKeyBody(record: KeyRecord): AdminKeyBody {
  return { ...toKeyBody(record), user_id: record.userId, team_id: record.teamId, ...toBudgetBody(record) }
}

export function toCreatedKeyBody(keySecret: string, record: KeyRecord): z.output<typeof createdKey> {
  const { key_prefix: _prefix, rate_limit_rpm: _rpm, last_used: _used, ...fields } = toKeyBody(record)
  return { key: keySecret, ...fields }
}
