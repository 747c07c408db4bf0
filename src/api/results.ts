/** Folded sequences as the generate routes answer them. */
import type { ServiceError } from '../core/errors.ts'
import type { FoldedSequence } from './fold.ts'
import { toSequenceError, type Generation } from './generation.ts'
import { toOpenAiError } from '../net/render-error.ts'

/** What became of one prompt of a batch: a sequence, or the refusal of its request. */
export type PromptOutcome = FoldedSequence | ServiceError

export function toGenerateResponse(generation: Generation, sequence: FoldedSequence) {
  return { generated_text: sequence.text, ...resultFields(generation, sequence) }
}

/** A failed prompt has `error` in place of the text and loses no other. */
export function toBatchResponse(
  generation: Generation,
  outcomes: readonly PromptOutcome[],
  { hasQueueMs }: { hasQueueMs: boolean },
) {
  const results = outcomes.map((outcome, index) => {
    const sequence = outcome instanceof Error ? REFUSED_SEQUENCE : outcome
    return {
      index,
      ...textOrError(generation, outcome),
      ...resultFields(generation, sequence),
      ...(hasQueueMs && { queue_ms: sequence.queueMs }),
    }
  })
  const promptTokens = sum(results.map((result) => result.prompt_tokens))
  const completionTokens = sum(results.map((result) => result.completion_tokens))
  return {
    results,
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    model: generation.lease.modelId,
    created: generation.createdUnixSeconds,
  }
}

const REFUSED_SEQUENCE: FoldedSequence = {
  text: '',
  tokenIds: [],
  promptTokens: 0,
  queueMs: 0,
  finishReason: 'error',
  error: null,
}

function textOrError(generation: Generation, outcome: PromptOutcome) {
  if (outcome instanceof Error) return { error: toOpenAiError(outcome) }
  if (outcome.error === null) return { generated_text: outcome.text }
  return { error: toOpenAiError(toSequenceError(outcome.error, generation.requestId)) }
}

function resultFields({ lease, createdUnixSeconds }: Generation, sequence: FoldedSequence) {
  const { tokenIds, promptTokens, finishReason } = sequence
  return {
    token_ids: tokenIds,
    prompt_tokens: promptTokens,
    completion_tokens: tokenIds.length,
    total_tokens: promptTokens + tokenIds.length,
    model: lease.modelId,
    created: createdUnixSeconds,
    finish_reason: finishReason,
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
