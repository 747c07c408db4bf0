/** Plans what the running batch computes in one step: one token of each decoding sequence, and chunks of prompts. Pure. */
import { InvariantError } from '../../core/errors.ts'
import type { SlotRun } from '../../protocol/model-runner.ts'
import type { Sequence } from '../sequence.ts'

/**
 * llama.cpp's attention on a CPU computes a prompt's tokens in tiles of this size and the remainder one by one: behind a
 * long context 50 tokens take longer than 64.
 */
export const TILE_TOKENS = 64
/** Chunk size of prompts whose text must be repeatable. */
export const FIXED_CHUNK_TOKENS = 128
const DEFAULT_STEP_TOKEN_BUDGET = 512

/** The smallest step token budget with which a full batch of decodes never starves a prefill. */
export function minStepTokenBudget(maxBatchSize: number): number {
  return Math.max(DEFAULT_STEP_TOKEN_BUDGET, maxBatchSize + FIXED_CHUNK_TOKENS)
}

export interface StepBudget {
  /** The most tokens of a step. */
  readonly stepTokens: number
  /** The most prompt tokens of a step that also decodes: bounds the gap between two tokens of the running streams. */
  readonly promptTokensBesideDecodes: number
  /** The same where a stream is of a higher tier than all prompts. */
  readonly promptTokensBesideHigherTier: number
  /** Whether prompts of a higher tier come first; otherwise the longest-running prompt does. */
  readonly prefersHigherTiers: boolean
}

export interface PlannedRun {
  readonly sequence: Sequence
  readonly run: SlotRun
  /** Whether its guesses are the draft model's. @default false */
  readonly isByModel?: boolean
}

/** In the order of the slots: neighbours are computed together. @param running the longest-running first */
export function planSlotRuns(running: readonly Sequence[], budget: StepBudget): PlannedRun[] {
  const decodes = running.filter((sequence) => !sequence.isPrefilling)
  const prefilling = running.filter((sequence) => sequence.isPrefilling)
  const prompts = budget.prefersHigherTiers ? prefilling.sort(byTier) : prefilling
  const room = budget.stepTokens - decodes.length
  const isBesideHigherTier = budget.prefersHigherTiers && highestClass(decodes) > highestClass(prompts)
  const share = Math.min(
    room,
    isBesideHigherTier ? budget.promptTokensBesideHigherTier : budget.promptTokensBesideDecodes,
  )
  return [
    ...decodes.map((sequence) => ({ sequence, run: decodeRun(sequence) })),
    ...planPrompts(prompts, { room, share, isStreaming: decodes.length > 0 }),
  ].sort((a, b) => a.run.slotId - b.run.slotId)
}

interface PromptLimits {
  /** The most prompt tokens of the step. */
  readonly room: number
  /** The most while a stream or a short prompt waits for the end of the step. */
  readonly share: number
  readonly isStreaming: boolean
}

/** The higher tier first; sorting keeps the longest-running first within a tier. */
function byTier(a: Sequence, b: Sequence): number {
  return b.place.priorityClass - a.place.priorityClass
}

function highestClass(sequences: readonly Sequence[]): number {
  return sequences.reduce((highest, { place }) => Math.max(highest, place.priorityClass), -Infinity)
}

/** @param prompts in the order in which they get their part of the step */
function planPrompts(prompts: readonly Sequence[], { room, share, isStreaming }: PromptLimits): PlannedRun[] {
  const [first] = prompts
  if (first === undefined) return []
  const half = Math.floor(share / 2)
  const leastOfFirst = first.needsFixedChunks ? wantedTokens(first) : Math.max(TILE_TOKENS, share - half)
  const short = shortPrompts(prompts.slice(1), Math.min(half, room - leastOfFirst))
  const planned = [...short].map((sequence) => prefill(sequence, wantedTokens(sequence)))
  // A short prompt that overtakes a long one waits for its first token as a stream does for its next.
  const isAwaited = isStreaming || (short.size > 0 && wantedTokens(first) > share)
  const shortTokens = countTokens(planned)
  let left = isAwaited ? Math.max(TILE_TOKENS, share - shortTokens) : room - shortTokens
  for (const sequence of prompts) {
    if (short.has(sequence)) continue
    const tokens = sequence.needsFixedChunks
      ? fixedChunk(sequence, { left, isFirst: sequence === first })
      : flexibleChunk(sequence, { left, isAwaited })
    // Prompts behind one that finds no room wait too. An empty prompt needs no room.
    if (tokens === 0 && wantedTokens(sequence) > 0) break
    planned.push(prefill(sequence, tokens))
    left = Math.max(0, left - tokens)
  }
  return planned
}

/** The shortest prompts that fit whole into `tokens` together: they overtake a long prompt. */
function shortPrompts(prompts: readonly Sequence[], tokens: number): Set<Sequence> {
  const short = new Set<Sequence>()
  let left = tokens
  for (const sequence of prompts.toSorted((a, b) => a.missingTokens - b.missingTokens)) {
    const missing = sequence.missingTokens
    if (missing > left || missing > wantedTokens(sequence)) break
    short.add(sequence)
    left -= missing
  }
  return short
}

/** A fixed chunk is computed whole or not at all. The first prompt's may exceed what is left, or it might never find room. */
function fixedChunk(sequence: Sequence, { left, isFirst }: { left: number; isFirst: boolean }): number {
  const wanted = wantedTokens(sequence)
  return wanted <= left || isFirst ? wanted : 0
}

/** As much as is left; where a stream waits for the end of the step, what remains of the prompt is whole tiles. */
function flexibleChunk(
  sequence: Sequence,
  { left, isAwaited }: { left: number; isAwaited: boolean },
): number {
  const wanted = wantedTokens(sequence)
  return isAwaited ? chunkBeforeTiles(wanted, left) : Math.min(wanted, left)
}

/** The largest chunk of at most `most` tokens after which whole tiles remain of the prompt. */
function chunkBeforeTiles(missing: number, most: number): number {
  const tiles = Math.ceil(Math.max(0, missing - most) / TILE_TOKENS)
  return Math.max(0, missing - tiles * TILE_TOKENS)
}

/** What a prompt would compute in this step if there were room. */
function wantedTokens(sequence: Sequence): number {
  const missing = sequence.missingTokens
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
  const { slotId, prefillTokenIds, computedTokens } = sequence
  if (slotId === null) throw new InvariantError('a prefill needs a slot')
  const tokenIds = prefillTokenIds.subarray(computedTokens, computedTokens + tokens)
  const wantsToken = computedTokens + tokens === prefillTokenIds.length
  return { sequence, run: { slotId, position: computedTokens, tokenIds, wantsToken } }
}
