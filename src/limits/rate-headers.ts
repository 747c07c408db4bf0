/** The state of a credential's rate limit as the response headers that OpenAI's clients read. */
import type { RateState } from '../core/shared-state.ts'

/** The reset is null where the window says nothing about when to come back. */
export type ShownRate = Omit<RateState, 'resetMs'> & { readonly resetMs: number | null }

export function toRateHeaders({ limit, remaining, resetMs }: ShownRate) {
  return {
    'x-ratelimit-limit-requests': String(limit),
    'x-ratelimit-remaining-requests': String(remaining),
    ...(resetMs !== null && { 'x-ratelimit-reset-requests': toGoDuration(resetMs) }),
  }
}

/** The difference of two large floating-point numbers may be slightly too large. */
const ROUNDING_MS = 1e-6

/** A duration as Go's `time.ParseDuration` reads it: `0s`, `12ms`, `59.5s`, `1m0s`. Rounded up to a millisecond. */
export function toGoDuration(durationMs: number): string {
  const wholeMs = Math.ceil(durationMs - ROUNDING_MS)
  if (wholeMs > 0 && wholeMs < 1000) return `${wholeMs}ms`
  const minutes = Math.floor(wholeMs / 60_000)
  const seconds = (wholeMs % 60_000) / 1000
  return minutes === 0 ? `${seconds}s` : `${minutes}m${seconds}s`
}
