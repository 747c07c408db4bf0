/** What was used, by account, by key and in all. */
import { z } from 'zod'
import { USAGE_BUCKETS, USAGE_GROUPS } from '../../storage/usage-store.ts'
import type { DetailedUsage, UsageSummary } from '../../usage/usage-reports.ts'
import { spentBudget } from './spending.ts'
import { nextCursor, pageQuery, queryChoice, since, until, userFilter } from './query.ts'

const summaryFields = {
  requests: z.int(),
  tokens_in: z.int(),
  tokens_out: z.int(),
  avg_response_ms: z.number(),
}

export const usageQuery = z.object({ since: since() })

/** What shapes a report, whoever asks. */
const reportShape = {
  until: until(),
  bucket: queryChoice(USAGE_BUCKETS).optional().describe('One row for each hour or day of UTC.'),
  format: queryChoice(['json', 'csv'])
    .optional()
    .describe('`csv` also with `Accept: text/csv`; when left out JSON.'),
  ...pageQuery.shape,
}

export const ownUsageQuery = usageQuery.extend({
  group_by: queryChoice(['key', 'model', 'endpoint']).optional().describe('One row for each.'),
  ...reportShape,
})

export const adminUsageQuery = usageQuery.extend({
  user: userFilter().describe(
    'Id or e-mail address of a user, `operator`, or the id of an account without a user that has or had a key: only what is theirs.',
  ),
  group_by: queryChoice(USAGE_GROUPS)
    .optional()
    .describe(
      'One row for each; `user` is the account: a user, a key that is one of its own, or `operator`.',
    ),
  ...reportShape,
})

export const usageSummary = z
  .object({
    ...summaryFields,
    budgets: z
      .array(spentBudget)
      .optional()
      .describe('Of the credential, of its user and of its team; absent where none of them has one.'),
  })
  .meta({ id: 'UsageSummary' })

export const detailedUsage = z
  .object({
    ...summaryFields,
    by_endpoint: z
      .record(z.string(), z.object({ count: z.int(), avg_ms: z.number() }))
      .describe('By the path of the endpoint.'),
  })
  .meta({ id: 'DetailedUsage' })

const groupId = () => z.string().nullable().optional()

const percentile = (what: string) =>
  z.number().nullable().describe(`${what}; null where a version of Sluice wrote that did not count it.`)

const usageRow = z
  .object({
    bucket_start: z.number().optional().describe('Unix seconds, with `bucket`.'),
    key: groupId().describe('Its id. This or one of the next four, with `group_by`.'),
    user: groupId().describe('Id of the account.'),
    team: groupId().describe('Its id; null for what no team used.'),
    model: groupId().describe('Its id; null in records of before models were recorded.'),
    endpoint: groupId().describe('The path of the route.'),
    name: z
      .string()
      .nullable()
      .optional()
      .describe('Of the key or team, or the e-mail address; null for a deleted one.'),
    ...summaryFields,
    p50_response_ms: percentile('Half of the requests were answered within it, to 10 %'),
    p95_response_ms: percentile('95 of 100 requests were answered within it, to 10 %'),
    errors: z.int().describe('Those with a status of 400 or more, clients that left among them (499).'),
  })
  .meta({ id: 'UsageRow' })

export const usageTable = z
  .object({
    group_by: z.enum(USAGE_GROUPS).nullable(),
    bucket: z.enum(USAGE_BUCKETS).nullable(),
    data: z.array(usageRow).describe('By bucket, then by group; none for what was not used.'),
    next_cursor: nextCursor(),
  })
  .meta({ id: 'UsageTable' })

export function toUsageBody({ requests, tokensIn, tokensOut, avgResponseMs }: UsageSummary) {
  return { requests, tokens_in: tokensIn, tokens_out: tokensOut, avg_response_ms: avgResponseMs }
}

export function toDetailedUsageBody(usage: DetailedUsage) {
  const byEndpoint = Object.entries(usage.byEndpoint).map(([path, { count, avgMs }]) => [
    path,
    { count, avg_ms: avgMs },
  ])
  return { ...toUsageBody(usage), by_endpoint: Object.fromEntries(byEndpoint) }
}
