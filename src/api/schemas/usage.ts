/** What was used, by account, by key and in all. */
import { z } from 'zod'
import type { DetailedUsage, UsageSummary } from '../../usage/usage-reports.ts'
import { since, userFilter } from './query.ts'

const summaryFields = {
  requests: z.int(),
  tokens_in: z.int(),
  tokens_out: z.int(),
  avg_response_ms: z.number(),
}

export const usageQuery = z.object({ since: since() })

export const adminUsageQuery = usageQuery.extend({ user: userFilter() })

export const usageSummary = z.object(summaryFields).meta({ id: 'UsageSummary' })

export const detailedUsage = z
  .object({
    ...summaryFields,
    by_endpoint: z
      .record(z.string(), z.object({ count: z.int(), avg_ms: z.number() }))
      .describe('By the path of the endpoint.'),
  })
  .meta({ id: 'DetailedUsage' })

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
