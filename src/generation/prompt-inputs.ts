/**
 * Prompts as a request brings them, text or token ids: checks token ids against the model's vocabulary and context, and turns
 * them into the text that is scanned and echoed. Called by `prepare-prompts.ts` and `generation.ts`.
 */
import { ServiceError } from '../core/errors.ts'
import { findUnknownToken } from '../models/queue/known-tokens.ts'
import type { ModelLease } from '../models/registry.ts'
import type { Prompt } from '../protocol/engine.ts'

export interface InputText {
  /** The body's name for it, for messages. */
  readonly name: string
  readonly text: string
}

interface InputTokens {
  readonly name: string
  /** Numbers of any kind: what is no token of the model is refused once there is a model. At least one. */
  readonly tokenIds: readonly number[]
}

export type InputPrompt = InputText | InputTokens

/** The same error, with the body's name for the prompt that it is about. */
export function withPromptName({ code, params }: ServiceError, name: string): ServiceError {
  return new ServiceError(code, { ...params, what: name }, { param: name })
}

/** For each prompt that is proved too long before it is worked on, why; null for the others. @throws the signal's reason */
export async function refuseLongPrompts(
  { promptBound }: ModelLease,
  prompts: readonly InputPrompt[],
  signal: AbortSignal,
): Promise<readonly (ServiceError | null)[]> {
  const texts = prompts.flatMap((prompt) => ('text' in prompt ? [prompt.text] : []))
  const ofTexts = (await promptBound.refuseEach(texts, signal)).values()
  return prompts.map((prompt) =>
    'text' in prompt ? (ofTexts.next().value ?? null) : promptBound.refuseTokens(prompt.tokenIds.length),
  )
}

/** @throws ServiceError `invalid_request` for the first token id that the model does not have. */
export function checkPromptTokens(prompts: readonly InputPrompt[], { modelId, info }: ModelLease): void {
  const { vocabSize } = info
  for (const prompt of prompts) {
    if ('text' in prompt) continue
    const { name, tokenIds } = prompt
    const index = findUnknownToken(tokenIds, vocabSize)
    if (index < 0) continue
    const rule = `must be a token id between 0 and ${vocabSize - 1}, one of model '${modelId}'`
    const message = `${name}[${index}] ${rule}, but was ${tokenIds[index]}.`
    throw new ServiceError('invalid_request', { message }, { param: name })
  }
}

/** What the prompts say, for those who read text. */
export function textsOf(
  prompts: readonly InputPrompt[],
  { engine }: ModelLease,
  signal: AbortSignal,
): Promise<readonly string[]> {
  return Promise.all(
    prompts.map(async (prompt) =>
      'text' in prompt ? prompt.text : await engine.detokenize(prompt.tokenIds, signal),
    ),
  )
}

/** As the caller wrote it: a text may hold special tokens, and the tokenizer adds its own to it. */
export function toPrompt(prompt: InputPrompt): Prompt {
  return 'text' in prompt ? { pieces: [prompt.text], addSpecial: true } : { tokenIds: prompt.tokenIds }
}
