/** How answers show where a credential stands: the headers that OpenAI's clients read. */
import type { RateState } from '../core/shared-state.ts'

type RateHeaderName =
  | 'x-ratelimit-limit-requests'
  | 'x-ratelimit-remaining-requests'
  | 'x-ratelimit-reset-requests'

export type RateHeaders = Readonly<Record<RateHeaderName, string>>

export function toRateHeaders({ limit, remaining, resetMs }: RateState): RateHeaders {
  return {
    'x-ratelimit-limit-requests': String(limit),
    'x-ratelimit-remaining-requests': String(remaining),
    'x-ratelimit-reset-requests': toGoDuration(resetMs),
  }
}

/** A difference of two long numbers may be a hair too much. */
const ROUNDING_MS = 1e-6

/** A duration as Go's `time.ParseDuration` reads it: `0s`, `12ms`, `59.5s`, `1m0s`. Rounded up to a millisecond. */
export function toGoDuration(durationMs: number): string {
  const wholeMs = Math.ceil(durationMs - ROUNDING_MS)
  if (wholeMs > 0 && wholeMs < 1000) return `${wholeMs}ms`
  const minutes = Math.floor(wholeMs / 60_000)
  const seconds = (wholeMs % 60_000) / 1000
  return minutes === 0 ? `${seconds}s` : `${minutes}m${seconds}s`
}
