/**
 * The answer of `POST /v1/generate`, which the full server and the light one give alike (spec: interface, rule 3). Imports
 * types only, as the light server needs it.
 */
import type { FoldedSequence } from './events/sequence-fold.ts'

interface GenerateHead {
  readonly modelId: string
  readonly createdUnixSeconds: number
}

export function toGenerateAnswer(
  { modelId, createdUnixSeconds }: GenerateHead,
  { text, tokenIds, promptTokens, finishReason }: Continuation,
) {
  return {
    generated_text: text,
    token_ids: knownTokenIds(tokenIds),
    prompt_tokens: promptTokens,
    completion_tokens: tokenIds.length,
    total_tokens: promptTokens + tokenIds.length,
    model: modelId,
    created: createdUnixSeconds,
    finish_reason: finishReason,
  }
}

/** None where an upstream told their number only. */
function knownTokenIds(tokenIds: readonly number[]): readonly number[] {
  return tokenIds[0] === -1 ? [] : tokenIds
}

/** The result of a prompt. */
export type Continuation = Pick<FoldedSequence, 'text' | 'tokenIds' | 'promptTokens' | 'finishReason'>
