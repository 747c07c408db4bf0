/** A report of usage as rows with the names of their groups, and as CSV. Called by the report's route and the command line. */
import { type CsvCell, renderCsv } from '../core/text/csv.ts'
import type { UsageBucket, UsageGroup } from '../storage/usage-store.ts'
import type { GroupUsage } from './grouped-usage.ts'
import { averageMs } from './usage-reports.ts'

interface UsageTableRow {
  /** Unix seconds; null without buckets. */
  readonly bucketStart: number | null
  /** Null in all rows without groups, and in the row of what belongs to none. */
  readonly group: string | null
  /** Null where there is none. */
  readonly name: string | null
  readonly requests: number
  readonly tokensIn: number
  readonly tokensOut: number
  readonly avgResponseMs: number
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
  const rows = groups.map(({ bucketStart, group, requests, tokensIn, tokensOut, responseUs }) => ({
    bucketStart: bucket === null ? null : bucketStart,
    group: group === '' ? null : group,
    name: names?.get(group) ?? null,
    requests,
    tokensIn,
    tokensOut,
    avgResponseMs: averageMs({ requests, responseUs }),
  }))
  return { groupBy, bucket, hasNames: names !== null, rows }
}

/** Times as ISO 8601 in UTC. */
export function toUsageCsv({ groupBy, bucket, hasNames, rows }: UsageTable): string {
  const columns = [
    ...(bucket === null ? [] : ['bucket_start']),
    ...(groupBy === null ? [] : [groupBy]),
    ...(hasNames ? ['name'] : []),
    ...['requests', 'tokens_in', 'tokens_out', 'avg_response_ms'],
  ]
  const cells = rows.map((row): readonly CsvCell[] => [
    ...(row.bucketStart === null ? [] : [toIsoSecond(row.bucketStart)]),
    ...(groupBy === null ? [] : [row.group]),
    ...(hasNames ? [row.name] : []),
    ...[row.requests, row.tokensIn, row.tokensOut, Math.round(row.avgResponseMs * 1000) / 1000],
  ])
  return renderCsv(columns, cells)
}

/** `2026-11-23T04:00:00Z` */
export function toIsoSecond(unixSeconds: number): string {
  return new Date(unixSeconds * 1000).toISOString().replace('.000Z', 'Z')
}
