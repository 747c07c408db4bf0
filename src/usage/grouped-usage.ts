/**
 * Usage of a span of time by hour or day and by group, in pages. Reads the sums of hours and days, and rows where the span begins
 * or ends within an hour, in slices that each have a turn of the event loop, which no other report shares, so that requests are
 * answered meanwhile. All times are Unix seconds; hours and days are those of UTC. Called by `usage-reports.ts`.
 */
import { ownTurn } from '../core/concurrency/turns.ts'
import { SECONDS_PER_DAY, SECONDS_PER_HOUR } from '../storage/usage-database.ts'
import type {
  GroupedSums,
  GroupLatency,
  GroupSums,
  UsageBucket,
  UsageGroup,
  UsageReader,
  UsageSlice,
} from '../storage/usage-store.ts'
import type { LatencyCounts } from './latency-percentile.ts'

const BUCKET_SECONDS: Readonly<Record<UsageBucket, number>> = { hour: SECONDS_PER_HOUR, day: SECONDS_PER_DAY }

/** Where a page ends. */
export interface GroupPosition {
  readonly bucketStart: number
  readonly group: string
}

export interface UsageGroupsRequest {
  /** Null sums over all groups. */
  readonly groupBy: UsageGroup | null
  /** Null sums over the whole span. */
  readonly bucket: UsageBucket | null
  /** Inclusive, and exact to the row; null begins with the first. */
  readonly sinceUnixSeconds: number | null
  /** Exclusive, and exact to the row; null ends with the last. */
  readonly untilUnixSeconds: number | null
  /** Null takes all. */
  readonly accountId: string | null
  readonly limit: number
  /** The last group of the page before; null for the first page. */
  readonly after: GroupPosition | null
}

export interface GroupUsage extends GroupedSums, GroupPosition {
  readonly latencies: LatencyCounts
}

/** In the order of buckets and then of groups; `next` is null on the last page. */
export interface UsageGroupsPage {
  readonly groups: readonly GroupUsage[]
  readonly next: GroupPosition | null
}

/** Read in slices that take a few milliseconds each. */
const ROW_SLICE_SECONDS = 600
const HOUR_SLICE_SECONDS = 6 * SECONDS_PER_HOUR
const DAY_SLICE_SECONDS = 8 * SECONDS_PER_DAY

export async function readUsageGroups(
  reader: Pick<UsageReader, 'sumByGroup' | 'countLatencies' | 'hourSpan'>,
  request: UsageGroupsRequest,
): Promise<UsageGroupsPage> {
  const { groupBy, bucket, accountId, limit, after } = request
  const spanned = await reader.hourSpan()
  if (spanned.first === null || spanned.last === null) return { groups: [], next: null }
  const since = Math.max(
    request.sinceUnixSeconds ?? 0,
    spanned.first,
    bucket === null ? 0 : (after?.bucketStart ?? 0),
  )
  const until = Math.min(request.untilUnixSeconds ?? Infinity, spanned.last + SECONDS_PER_HOUR)
  const bucketStartOf = (unixSeconds: number) =>
    bucket === null ? 0 : floorTo(unixSeconds, BUCKET_SECONDS[bucket])
  const done: GroupUsage[] = []
  let current = new Map<string, GroupUsage>()
  let currentStart = 0
  const finish = () => {
    done.push(...inOrder(current.values()).filter((usage) => isAfter(usage, after)))
    current = new Map()
  }
  for (const span of slicesOf(since, until, bucket)) {
    await ownTurn()
    const slice = { ...span, groupBy, accountId }
    const latencies = byGroup(await reader.countLatencies(slice))
    for (const sums of inTime(await reader.sumByGroup(slice))) {
      const bucketStart = bucketStartOf(sums.bucketStart)
      if (bucketStart !== currentStart) finish()
      currentStart = bucketStart
      const counted = latencies.get(groupName(sums)) ?? new Map<number, number>()
      current.set(sums.group, addUsage({ ...sums, bucketStart, latencies: counted }, current.get(sums.group)))
    }
    if (done.length > limit) break
  }
  finish()
  const groups = done.slice(0, limit)
  return { groups, next: done.length > limit ? (groups.at(-1) ?? null) : null }
}

type Span = Pick<UsageSlice, 'source' | 'fromUnixSeconds' | 'untilUnixSeconds'>

/** Covers the span without a gap or an overlap, in the order of time. */
function slicesOf(since: number, until: number, bucket: UsageBucket | null): readonly Span[] {
  const [hoursFrom, hoursUntil] = [ceilTo(since, SECONDS_PER_HOUR), floorTo(until, SECONDS_PER_HOUR)]
  if (hoursFrom > hoursUntil) return cut('rows', since, until)
  const [daysFrom, daysUntil] = [ceilTo(hoursFrom, SECONDS_PER_DAY), floorTo(hoursUntil, SECONDS_PER_DAY)]
  const buckets =
    bucket === 'hour' || daysFrom > daysUntil
      ? cut('hours', hoursFrom, hoursUntil)
      : [
          ...cut('hours', hoursFrom, daysFrom),
          ...cut('days', daysFrom, daysUntil),
          ...cut('hours', daysUntil, hoursUntil),
        ]
  return [...cut('rows', since, hoursFrom), ...buckets, ...cut('rows', hoursUntil, until)]
}

const SLICE_SECONDS = { rows: ROW_SLICE_SECONDS, hours: HOUR_SLICE_SECONDS, days: DAY_SLICE_SECONDS }

/** Slices end at multiples of their length, so that none holds parts of two buckets that are larger. */
function cut(source: Span['source'], from: number, until: number): readonly Span[] {
  const spans: Span[] = []
  const length = SLICE_SECONDS[source]
  for (let start = from; start < until;) {
    const end = Math.min(floorTo(start, length) + length, until)
    spans.push({ source, fromUnixSeconds: start, untilUnixSeconds: end })
    start = end
  }
  return spans
}

/** Under the group of `to`. */
export function addUsage(sums: GroupUsage, to: GroupUsage | undefined): GroupUsage {
  if (to === undefined) return sums
  return {
    ...to,
    requests: to.requests + sums.requests,
    tokensIn: to.tokensIn + sums.tokensIn,
    tokensOut: to.tokensOut + sums.tokensOut,
    responseUs: to.responseUs + sums.responseUs,
    errors: to.errors + sums.errors,
    latencies: addCounts(sums.latencies, to.latencies),
  }
}

function addCounts(counts: LatencyCounts, to: LatencyCounts): LatencyCounts {
  const sums = new Map(to)
  for (const [step, count] of counts) sums.set(step, (sums.get(step) ?? 0) + count)
  return sums
}

function byGroup(counted: readonly GroupLatency[]): ReadonlyMap<string, LatencyCounts> {
  const groups = new Map<string, Map<number, number>>()
  for (const row of counted) {
    const name = groupName(row)
    const counts = groups.get(name) ?? new Map<number, number>()
    groups.set(name, counts.set(row.latency, row.requests))
  }
  return groups
}

/** Of a slice; a group may hold any character. */
function groupName({ bucketStart, group }: GroupPosition): string {
  return `${bucketStart} ${group}`
}

function inTime(sums: readonly GroupSums[]): readonly GroupSums[] {
  return [...sums].sort((one, other) => one.bucketStart - other.bucketStart)
}

function inOrder(groups: Iterable<GroupUsage>): readonly GroupUsage[] {
  return [...groups].sort((one, other) => (one.group < other.group ? -1 : 1))
}

function isAfter({ bucketStart, group }: GroupPosition, after: GroupPosition | null): boolean {
  if (after === null || bucketStart > after.bucketStart) return true
  return bucketStart === after.bucketStart && group > after.group
}

function floorTo(unixSeconds: number, seconds: number): number {
  return Math.floor(Math.floor(unixSeconds) / seconds) * seconds
}

function ceilTo(unixSeconds: number, seconds: number): number {
  return Math.ceil(Math.ceil(unixSeconds) / seconds) * seconds
}
