/** Folded sequences as the generate routes answer them. */
import { InvariantError } from '../../../core/errors.ts'
import type { GeneratedSequence, Generation } from '../../../generation/generation.ts'
import { toOpenAiError } from '../../../net/render-error.ts'

/** What every answer says of its generation. */
type Head = Pick<Generation, 'modelId' | 'createdUnixSeconds'>

export function toGenerateResponse(head: Head, [sequence]: readonly GeneratedSequence[]) {
  if (sequence === undefined) throw new InvariantError('One prompt gave no sequence.')
  return { generated_text: sequence.text, ...resultFields(head, sequence) }
}

/** A failed prompt has `error` in place of the text and loses no other. */
export function toBatchResponse(
  head: Head,
  sequences: readonly GeneratedSequence[],
  { hasQueueMs }: { hasQueueMs: boolean },
) {
  const results = sequences.map((sequence, index) => ({
    index,
    ...(sequence.error === null
      ? { generated_text: sequence.text }
      : { error: toOpenAiError(sequence.error) }),
    ...resultFields(head, sequence),
    ...(hasQueueMs && { queue_ms: sequence.queueMs }),
  }))
  const promptTokens = sum(results.map((result) => result.prompt_tokens))
  const completionTokens = sum(results.map((result) => result.completion_tokens))
  return {
    results,
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    model: head.modelId,
    created: head.createdUnixSeconds,
  }
}

function resultFields({ modelId, createdUnixSeconds }: Head, sequence: GeneratedSequence) {
  const { tokenIds, promptTokens, finishReason } = sequence
  return {
    token_ids: tokenIds,
    prompt_tokens: promptTokens,
    completion_tokens: tokenIds.length,
    total_tokens: promptTokens + tokenIds.length,
    model: modelId,
    created: createdUnixSeconds,
    finish_reason: finishReason,
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
