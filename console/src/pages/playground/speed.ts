/** How fast an answer came. */
import type { Stats } from './conversation.ts'

/** Shorter, and all tokens came together: their time is that to the first one. */
const MIN_DECODE_MS = 20

/** Behind the first token where there was time to measure that; null for an answer of one. */
export function tokensPerSecond({ firstTokenMs, durationMs, completionTokens }: Stats): number | null {
  if (firstTokenMs === null || completionTokens < 2) return null
  if (durationMs >= MIN_DECODE_MS) return ((completionTokens - 1) * 1000) / durationMs
  return (completionTokens * 1000) / (firstTokenMs + durationMs)
}
