/**
 * Storage of usage: written before each answer, read for reports, pruned when old. Implemented for each database; the
 * schema is in `usage-database.ts`, the queries in `usage-queries.ts`.
 * Invariant: for every subject, path and bucket size, and for every group, the sum of a bucket is that of the rows whose time
 * lies in it.
 */
import type { ServiceError } from '../core/errors.ts'
import type { UsageScope } from './usage-database.ts'
import type { GroupSums, HourSpan, UsageSlice } from './usage-groups.ts'

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

export interface UsageSums {
  readonly requests: number
  readonly tokensIn: number
  readonly tokensOut: number
  /** Whole microseconds of all requests together. */
  readonly responseUs: number
}

export interface UsageReader {
  /** Sums of the rows written at `sinceUnixSeconds` or later, by path; null takes all. */
  sumByPath(subject: UsageSubject, sinceUnixSeconds: number | null): Promise<ReadonlyMap<string, UsageSums>>
  /** Sums of a slice of time by group, in no order; a slice of hours or days begins and ends with one. */
  sumByGroup(slice: UsageSlice): Promise<readonly GroupSums[]>
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
