/**
 * Storage of usage: written before each answer, read for reports, pruned when old. Implemented for each database; the
 * schema is in `usage-database.ts`, the queries in `usage-queries.ts`.
 * Invariant: to every reader, for every subject, path and bucket size, and for every group, the sum of a bucket is that of the rows
 * whose time lies in it.
 */
import type { ServiceError } from '../core/errors.ts'
import type { UsageScope } from './usage-database.ts'

/** One generation request that reached an engine. */
export interface UsageEntry {
  readonly keyId: string
  readonly accountId: string
  /** Null outside of any team. */
  readonly teamId: string | null
  /** Its real id; empty where no model was found. */
  readonly model: string
  /** The route's path. */
  readonly path: string
  readonly status: number
  readonly tokensIn: number
  readonly tokensOut: number
  readonly responseMs: number
}

/** The requests that are summed up. */
export interface UsageSubject {
  readonly scope: UsageScope
  /** Empty for all. */
  readonly id: string
}

/** Those of several subjects; a statement has three parameters for each. */
export interface UsageSubjects {
  readonly scope: Exclude<UsageScope, 'all'>
  readonly ids: readonly string[]
}

export interface UsageSums {
  readonly requests: number
  readonly tokensIn: number
  readonly tokensOut: number
  /** Whole microseconds of all requests together. */
  readonly responseUs: number
}

/** Of a group, in which errors are counted too. */
export interface GroupedSums extends UsageSums {
  /** Those with a status of 400 or more. */
  readonly errors: number
}

export const USAGE_GROUPS = ['key', 'user', 'team', 'model', 'endpoint'] as const

/** A user is an account, which may be a key of its own or the operator; an endpoint is the route's path. */
export type UsageGroup = (typeof USAGE_GROUPS)[number]

/** Of UTC. */
export const USAGE_BUCKETS = ['hour', 'day'] as const

export type UsageBucket = (typeof USAGE_BUCKETS)[number]

/** A span of time as one statement reads it. */
export interface UsageSlice {
  readonly source: 'rows' | 'hours' | 'days'
  readonly fromUnixSeconds: number
  /** Exclusive. */
  readonly untilUnixSeconds: number
  /** Null makes one group of all. */
  readonly groupBy: UsageGroup | null
  /** Null takes all. */
  readonly accountId: string | null
}

interface SlicedGroup {
  /** Of the hour or the day; of rows the beginning of the slice. */
  readonly bucketStart: number
  /** Empty where the rows have none. */
  readonly group: string
}

export interface GroupSums extends GroupedSums, SlicedGroup {}

export interface GroupLatency extends SlicedGroup {
  /** As `latencyStep` numbers them. */
  readonly latency: number
  readonly requests: number
}

/** The hours in which rows lie; null where there are none. */
export interface HourSpan {
  readonly first: number | null
  readonly last: number | null
}

/** What reports are made of. */
export interface UsageReader {
  /** Sums of the rows written at `sinceUnixSeconds` or later, by path; null takes all. */
  sumByPath(subject: UsageSubject, sinceUnixSeconds: number | null): Promise<ReadonlyMap<string, UsageSums>>
  /** Tokens of all these subjects together, of the rows written at `sinceUnixSeconds` or later. */
  sumTokens(subjects: UsageSubjects, sinceUnixSeconds: number): Promise<number>
  /** Sums of a slice of time by group, in no order; a slice of hours or days begins and ends with one. */
  sumByGroup(slice: UsageSlice): Promise<readonly GroupSums[]>
  /** The same slice by group and step of latency, in no order. */
  countLatencies(slice: UsageSlice): Promise<readonly GroupLatency[]>
  hourSpan(): Promise<HourSpan>
}

export interface UsageStore extends UsageReader {
  /** Resolves when all of them are committed; when it rejects, none is. */
  insert(entries: readonly UsageEntry[]): Promise<void>
  /**
   * Removes up to `maxRows` rows written before the start of a day, oldest first, with the buckets in which they lie;
   * resolves with how many rows. Whole days only, so that no removed bucket also holds rows that stay.
   */
  deleteBefore(dayStartUnixSeconds: number, maxRows: number): Promise<number>
  /** The error of a database that was removed while it is open; null while it is in its place. */
  whyLost(): ServiceError | null
  close(): Promise<void>
}
