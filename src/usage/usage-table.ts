/** A report of usage as rows with the names of their groups, as JSON and as CSV. Called by the report's route and the command line. */
import { type CsvCell, renderCsv } from '../core/text/csv.ts'
import type { UsageBucket, UsageGroup } from '../storage/usage-store.ts'
import type { GroupUsage } from './grouped-usage.ts'
import { percentileMs } from './latency-percentile.ts'
import { averageMs } from './usage-reports.ts'

export interface UsageFigures {
  readonly requests: number
  readonly tokensIn: number
  readonly tokensOut: number
  readonly avgResponseMs: number
  /** Half of the requests, and 95 of 100, were answered within it; null where that was not recorded. */
  readonly p50ResponseMs: number | null
  readonly p95ResponseMs: number | null
  /** Those with a status of 400 or more. */
  readonly errors: number
}

interface UsageTableRow extends UsageFigures {
  /** Unix seconds; null without buckets. */
  readonly bucketStart: number | null
  /** Null in all rows without groups, and in the row of what belongs to none. */
  readonly group: string | null
  /** Null where there is none. */
  readonly name: string | null
}

export interface UsageTable {
  readonly groupBy: UsageGroup | null
  readonly bucket: UsageBucket | null
  /** Whether groups have names beside their ids. */
  readonly hasNames: boolean
  readonly rows: readonly UsageTableRow[]
}

interface UsageTableSource extends Pick<UsageTable, 'groupBy' | 'bucket'> {
  readonly groups: readonly GroupUsage[]
  /** Null where ids are names already. */
  readonly names: ReadonlyMap<string, string> | null
}

export function createUsageTable({ groupBy, bucket, groups, names }: UsageTableSource): UsageTable {
  const rows = groups.map((usage) => ({
    ...toFigures(usage),
    bucketStart: bucket === null ? null : usage.bucketStart,
    group: usage.group === '' ? null : usage.group,
    name: names?.get(usage.group) ?? null,
  }))
  return { groupBy, bucket, hasNames: names !== null, rows }
}

export function toFigures({
  requests,
  tokensIn,
  tokensOut,
  responseUs,
  errors,
  latencies,
}: GroupUsage): UsageFigures {
  return {
    ...{ requests, tokensIn, tokensOut, errors },
    avgResponseMs: averageMs({ requests, responseUs }),
    p50ResponseMs: percentileMs(latencies, 0.5),
    p95ResponseMs: percentileMs(latencies, 0.95),
  }
}

/** The answer of the API. */
export function toUsageTableBody({ groupBy, bucket, hasNames, rows }: UsageTable) {
  const data = rows.map((row) => ({
    ...(row.bucketStart !== null && { bucket_start: row.bucketStart }),
    ...(groupBy !== null && { [groupBy]: row.group }),
    ...(hasNames && { name: row.name }),
    ...{ requests: row.requests, tokens_in: row.tokensIn, tokens_out: row.tokensOut },
    avg_response_ms: row.avgResponseMs,
    ...{ p50_response_ms: row.p50ResponseMs, p95_response_ms: row.p95ResponseMs, errors: row.errors },
  }))
  return { group_by: groupBy, bucket, data }
}

/** Times as ISO 8601 in UTC. */
export function toUsageCsv({ groupBy, bucket, hasNames, rows }: UsageTable): string {
  const columns = [
    ...(bucket === null ? [] : ['bucket_start']),
    ...(groupBy === null ? [] : [groupBy]),
    ...(hasNames ? ['name'] : []),
    ...['requests', 'tokens_in', 'tokens_out', 'avg_response_ms'],
    ...['p50_response_ms', 'p95_response_ms', 'errors'],
  ]
  const cells = rows.map((row): readonly CsvCell[] => [
    ...(row.bucketStart === null ? [] : [toIsoSecond(row.bucketStart)]),
    ...(groupBy === null ? [] : [row.group]),
    ...(hasNames ? [row.name] : []),
    ...[row.requests, row.tokensIn, row.tokensOut],
    ...[row.avgResponseMs, row.p50ResponseMs, row.p95ResponseMs].map(roundMs),
    row.errors,
  ])
  return renderCsv(columns, cells)
}

/** To the microsecond. */
function roundMs(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms * 1000) / 1000
}

/** `2026-11-23T04:00:00Z` */
export function toIsoSecond(unixSeconds: number): string {
  return new Date(unixSeconds * 1000).toISOString().replace('.000Z', 'Z')
}
