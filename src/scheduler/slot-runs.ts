/** What the running batch computes in one step: a token of each sequence that decodes, and chunks of prompts. Pure. */
import { InvariantError } from '../core/errors.ts'
import type { SlotRun } from '../protocol/model-runner.ts'
import type { Sequence } from './sequence.ts'

/** Where a prompt is cut whose text must be repeatable. */
export const FIXED_CHUNK_TOKENS = 128
const DEFAULT_STEP_TOKEN_BUDGET = 512

/** Tokens a step must have room for, so that a full batch of decodes never starves a prefill. */
export function minStepTokenBudget(maxBatchSize: number): number {
  return Math.max(DEFAULT_STEP_TOKEN_BUDGET, maxBatchSize + FIXED_CHUNK_TOKENS)
}

export interface StepBudget {
  /** Tokens of a step, which it never exceeds. */
  readonly stepTokens: number
  /** Of these prompt tokens, in a step that also decodes: bounds the gap between two tokens of the running streams. */
  readonly promptTokensBesideDecodes: number
}

export interface PlannedRun {
  readonly sequence: Sequence
  readonly run: SlotRun
}

/** In order of their slots: neighbours are computed together. @param running the longest-running first */
export function planSlotRuns(running: readonly Sequence[], budget: StepBudget): PlannedRun[] {
  const decodes = running.filter((sequence) => !sequence.isPrefilling)
  const prompts = running.filter((sequence) => sequence.isPrefilling)
  const room = budget.stepTokens - decodes.length
  const share = decodes.length === 0 ? room : Math.min(room, budget.promptTokensBesideDecodes)
  return [
    ...decodes.map((sequence) => ({ sequence, run: decodeRun(sequence) })),
    ...planPrompts(prompts, { room, share }),
  ].sort((a, b) => a.run.slotId - b.run.slotId)
}

/** @param prompts the longest-running first @param limits tokens a step has, and those of them that prompts may have */
function planPrompts(prompts: readonly Sequence[], limits: { room: number; share: number }): PlannedRun[] {
  const [oldest] = prompts
  if (oldest === undefined) return []
  const { room, share } = limits
  const half = Math.floor(share / 2)
  const leastOfOldest = oldest.needsFixedChunks ? wantedTokens(oldest) : share - half
  const short = shortPrompts(prompts.slice(1), Math.min(half, room - leastOfOldest))
  const planned = [...short].map((sequence) => prefill(sequence, wantedTokens(sequence)))
  let left = share - countTokens(planned)
  for (const sequence of prompts) {
    if (short.has(sequence)) continue
    const wanted = wantedTokens(sequence)
    // A fixed chunk is never cut. The oldest prompt may exceed the share with one, or it might never find room; those
    // behind it wait. An empty prompt needs no room.
    const isFixed = sequence.needsFixedChunks
    if (isFixed ? wanted > left && sequence !== oldest : wanted > 0 && left <= 0) break
    const tokens = isFixed ? wanted : Math.min(wanted, left)
    planned.push(prefill(sequence, tokens))
    left -= tokens
  }
  return planned
}

/** Those that can be computed whole in so many tokens, the shortest first: they need not wait until a long one is read. */
function shortPrompts(prompts: readonly Sequence[], tokens: number): Set<Sequence> {
  const short = new Set<Sequence>()
  let left = tokens
  for (const sequence of prompts.toSorted((a, b) => missingTokens(a) - missingTokens(b))) {
    const missing = missingTokens(sequence)
    if (missing > left || missing > wantedTokens(sequence)) break
    short.add(sequence)
    left -= missing
  }
  return short
}

function missingTokens({ promptTokens, computedTokens }: Sequence): number {
  return promptTokens - computedTokens
}

/** What a prompt would compute in this step, had it the room. */
function wantedTokens(sequence: Sequence): number {
  const missing = missingTokens(sequence)
  return sequence.needsFixedChunks ? Math.min(missing, FIXED_CHUNK_TOKENS) : missing
}

function countTokens(planned: readonly PlannedRun[]): number {
  return planned.reduce((sum, { run }) => sum + run.tokenIds.length, 0)
}

function decodeRun(sequence: Sequence): SlotRun {
  const { slotId, lastTokenId, computedTokens } = sequence
  if (slotId === null || lastTokenId === null) throw new InvariantError('a decode needs a slot and a token')
  return { slotId, position: computedTokens, tokenIds: [lastTokenId], wantsToken: true }
}

function prefill(sequence: Sequence, tokens: number): PlannedRun {
  const { slotId, promptTokenIds, computedTokens } = sequence
  if (slotId === null) throw new InvariantError('a prefill needs a slot')
  const tokenIds = promptTokenIds.subarray(computedTokens, computedTokens + tokens)
  const wantsToken = computedTokens + tokens === promptTokenIds.length
  return { sequence, run: { slotId, position: computedTokens, tokenIds, wantsToken } }
}
