/**
 * How many tokens a KV cache holds and how they are laid out: room for a whole context in each slot where that is no more than
 * the budget, otherwise one cache of the budget that all slots share. A slot with room of its own computes faster (decision
 * 0034), and is what a server with the default options has. Arithmetic only.
 */
import type { RunnerOptions } from '../../protocol/runner-options.ts'

/** Tokens of a sequence where neither the operator nor a shorter context sets another bound. */
export const MAX_DEFAULT_SEQ_LEN = 4096
/** llama.cpp allocates a multiple of this many tokens for each sequence. */
export const CELLS_UNIT = 256

export interface KvRoom {
  /** Of all slots together. */
  readonly tokens: number
  /** The same where all slots share them; null where each has room for a sequence of its own. */
  readonly sharedTokens: number | null
}

/** Tokens that a sequence may reach: as configured, or what the model was trained for, within the KV cache. */
export function servedSeqLen(
  { maxSeqLen, kvCacheTokens }: Pick<RunnerOptions, 'maxSeqLen' | 'kvCacheTokens'>,
  trainedContext: number | null,
): number {
  const most = kvCacheTokens ?? MAX_DEFAULT_SEQ_LEN
  return maxSeqLen ?? Math.min(trainedContext ?? MAX_DEFAULT_SEQ_LEN, most)
}

/** Tokens of KV cache that llama.cpp allocates for a sequence. */
export function slotTokens(maxSeqLen: number): number {
  return Math.ceil(maxSeqLen / CELLS_UNIT) * CELLS_UNIT
}

/**
 * Tokens of a text for which a draft model has room. Its KV cache is never shared by the slots: it has their equal parts of
 * as many tokens as the model's, so that it takes no more for long texts than the model does.
 */
export function draftSeqLen(
  { maxBatchSize }: Pick<RunnerOptions, 'maxBatchSize'>,
  { tokens, maxSeqLen }: { readonly tokens: number; readonly maxSeqLen: number },
): number {
  const part = Math.floor(tokens / maxBatchSize / CELLS_UNIT) * CELLS_UNIT
  return Math.min(maxSeqLen, Math.max(CELLS_UNIT, part))
}

/** @param options `maxSeqLen` as served */
export function kvRoomOf(
  options: Pick<RunnerOptions, 'maxBatchSize' | 'kvCacheTokens'> & { readonly maxSeqLen: number },
): KvRoom {
  const { maxBatchSize, maxSeqLen } = options
  const least = slotTokens(maxSeqLen)
  const whole = least * maxBatchSize
  const budget = slotTokens(options.kvCacheTokens ?? MAX_DEFAULT_SEQ_LEN * maxBatchSize)
  const tokens = Math.min(whole, Math.max(least, budget))
  return { tokens, sharedTokens: tokens < whole ? tokens : null }
}
