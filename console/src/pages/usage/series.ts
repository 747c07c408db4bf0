/** Usage over time as plots need it: a row for each step, those in which nothing was used too. */
import type { UsageRow } from '../../api/types.ts'

export type Group = 'key' | 'model' | 'endpoint' | 'user' | 'team'

const HOUR = 3600
const DAY = 24 * HOUR

export const RANGES = {
  '1h': { label: '1 h', seconds: HOUR, bucket: 'hour', step: HOUR },
  '24h': { label: '24 h', seconds: DAY, bucket: 'hour', step: HOUR },
  '7d': { label: '7 d', seconds: 7 * DAY, bucket: 'hour', step: HOUR },
  '30d': { label: '30 d', seconds: 30 * DAY, bucket: 'day', step: DAY },
} as const

export type RangeName = keyof typeof RANGES

interface Span {
  /** At the beginning of a step. */
  readonly since: number
  readonly step: number
  readonly now: number
}

export function fillSpan(rows: readonly UsageRow[], { since, step, now }: Span): readonly UsageRow[] {
  const byStart = new Map(rows.map((row) => [row.bucket_start, row]))
  const starts = Array.from(
    { length: Math.floor((now - since) / step) + 1 },
    (_, index) => since + index * step,
  )
  return starts.map(
    (start) =>
      byStart.get(start) ?? {
        bucket_start: start,
        requests: 0,
        tokens_in: 0,
        tokens_out: 0,
        avg_response_ms: 0,
        p50_response_ms: null,
        p95_response_ms: null,
        errors: 0,
      },
  )
}

interface Total {
  readonly requests: number
  readonly tokensIn: number
  readonly tokensOut: number
  readonly avgMs: number
  readonly errors: number
}

export function sumOf(rows: readonly UsageRow[]): Total {
  const sum = (of: (row: UsageRow) => number) => rows.reduce((total, row) => total + of(row), 0)
  const requests = sum((row) => row.requests)
  return {
    requests,
    tokensIn: sum((row) => row.tokens_in),
    tokensOut: sum((row) => row.tokens_out),
    avgMs: requests === 0 ? 0 : sum((row) => row.requests * row.avg_response_ms) / requests,
    errors: sum((row) => row.errors),
  }
}
