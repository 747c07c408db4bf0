/** What the running batch computes in one step: a token of each sequence that decodes, and chunks of prompts. Pure. */
import { InvariantError } from '../core/errors.ts'
import type { SlotRun } from '../protocol/model-runner.ts'
import type { Sequence } from './sequence.ts'

/**
 * llama.cpp's attention takes so many of a prompt's tokens at once, or else each by itself: behind a long context 50 tokens
 * then take longer than 64.
 */
export const TILE_TOKENS = 64
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
  const share = Math.min(room, budget.promptTokensBesideDecodes)
  return [
    ...decodes.map((sequence) => ({ sequence, run: decodeRun(sequence) })),
    ...planPrompts(prompts, { room, share, isStreaming: decodes.length > 0 }),
  ].sort((a, b) => a.run.slotId - b.run.slotId)
}

interface PromptLimits {
  /** Tokens that the step has for prompts. */
  readonly room: number
  /** Those of them that it may take while a stream or a short prompt waits for it. */
  readonly share: number
  readonly isStreaming: boolean
}

/** @param prompts the longest-running first */
function planPrompts(prompts: readonly Sequence[], { room, share, isStreaming }: PromptLimits): PlannedRun[] {
  const [oldest] = prompts
  if (oldest === undefined) return []
  const half = Math.floor(share / 2)
  const leastOfOldest = oldest.needsFixedChunks ? wantedTokens(oldest) : Math.max(TILE_TOKENS, share - half)
  const short = shortPrompts(prompts.slice(1), Math.min(half, room - leastOfOldest))
  const planned = [...short].map((sequence) => prefill(sequence, wantedTokens(sequence)))
  // A short prompt that overtakes a long one waits for its first token as a stream does for its next.
  const isAwaited = isStreaming || (short.size > 0 && wantedTokens(oldest) > share)
  const shortTokens = countTokens(planned)
  let left = isAwaited ? Math.max(TILE_TOKENS, share - shortTokens) : room - shortTokens
  for (const sequence of prompts) {
    if (short.has(sequence)) continue
    const tokens = sequence.needsFixedChunks
      ? fixedChunk(sequence, { left, isOldest: sequence === oldest })
      : flexibleChunk(sequence, { left, isAwaited })
    // Those behind a prompt that finds no room wait too. An empty prompt needs none.
    if (tokens === 0 && wantedTokens(sequence) > 0) break
    planned.push(prefill(sequence, tokens))
    left = Math.max(0, left - tokens)
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

/** Never cut: all of it or nothing. The oldest prompt may exceed what is left with one, or it might never find room. */
function fixedChunk(sequence: Sequence, { left, isOldest }: { left: number; isOldest: boolean }): number {
  const wanted = wantedTokens(sequence)
  return wanted <= left || isOldest ? wanted : 0
}

/** As much as is left; whole tiles stay for later steps where a stream waits for the end of this one. */
function flexibleChunk(
  sequence: Sequence,
  { left, isAwaited }: { left: number; isAwaited: boolean },
): number {
  const wanted = wantedTokens(sequence)
  return isAwaited ? chunkBeforeTiles(wanted, left) : Math.min(wanted, left)
}

/** The most tokens, of those left of a prompt, after which whole tiles are left of it. */
function chunkBeforeTiles(missing: number, most: number): number {
  const tiles = Math.ceil(Math.max(0, missing - most) / TILE_TOKENS)
  return Math.max(0, missing - tiles * TILE_TOKENS)
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
