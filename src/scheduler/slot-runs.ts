/** What the running batch computes in one step: a token of each sequence that decodes, and chunks of prompts. Pure. */
import { InvariantError } from '../core/errors.ts'
import type { SlotRun } from '../protocol/model-runner.ts'
import type { Sequence } from './sequence.ts'

/** Prefill tokens in a step that also decodes: bounds the gap between two tokens of the running streams. */
export const PREFILL_CHUNK_TOKENS = 128
const DEFAULT_STEP_TOKEN_BUDGET = 512

/** Tokens a step must have room for, so that a full batch of decodes never starves a prefill. */
export function minStepTokenBudget(maxBatchSize: number): number {
  return Math.max(DEFAULT_STEP_TOKEN_BUDGET, maxBatchSize + PREFILL_CHUNK_TOKENS)
}

export interface PlannedRun {
  readonly sequence: Sequence
  readonly run: SlotRun
}

/** @param running the longest-running first */
export function planSlotRuns(running: readonly Sequence[], stepTokenBudget: number): PlannedRun[] {
  const decodes = running.filter((sequence) => !sequence.isPrefilling)
  const planned = decodes.map((sequence) => ({ sequence, run: decodeRun(sequence) }))
  let budget = stepTokenBudget - planned.length
  if (planned.length > 0) budget = Math.min(budget, PREFILL_CHUNK_TOKENS)
  for (const sequence of running) {
    if (!sequence.isPrefilling) continue
    const left = sequence.promptTokens - sequence.computedTokens
    const wanted = sequence.needsFixedChunks ? Math.min(left, PREFILL_CHUNK_TOKENS) : left
    // A fixed chunk is never cut; those behind it wait, or it might never find room. An empty prompt needs none.
    if (wanted > 0 && (budget === 0 || (sequence.needsFixedChunks && wanted > budget))) break
    const tokens = Math.min(wanted, budget)
    planned.push({ sequence, run: prefillRun(sequence, tokens) })
    budget -= tokens
  }
  return planned
}

function decodeRun(sequence: Sequence): SlotRun {
  const { slotId, lastTokenId, computedTokens } = sequence
  if (slotId === null || lastTokenId === null) throw new InvariantError('a decode needs a slot and a token')
  return { slotId, position: computedTokens, tokenIds: [lastTokenId], wantsToken: true }
}

function prefillRun(sequence: Sequence, tokens: number): SlotRun {
  const { slotId, promptTokenIds, computedTokens } = sequence
  if (slotId === null) throw new InvariantError('a prefill needs a slot')
  const tokenIds = promptTokenIds.subarray(computedTokens, computedTokens + tokens)
  const wantsToken = computedTokens + tokens === promptTokenIds.length
  return { slotId, position: computedTokens, tokenIds, wantsToken }
}
