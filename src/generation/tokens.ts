/**
 * Tokens without a generation: those of a text or of a chat as the model's template writes it, and the text of tokens. Nothing is
 * generated, so no guard looks at them and nothing is billed; a permit is held, and texts are tokenized in the line in which the
 * prompts of generations wait.
 */
import { ServiceError } from '../core/errors.ts'
import type { ModelLease } from '../models/registry.ts'
import type { Chat } from '../protocol/chat.ts'
import type { TokenizedText, TokenizeRequest } from '../protocol/engine.ts'
import { checkMedia } from './check-request.ts'
import type { Requester } from './engine-request.ts'
import { leaseModel, type LeasingRegistry } from '../models/lease-model.ts'
import { checkPromptTokens } from './prompt-inputs.ts'

export interface TokensDeps {
  readonly registry: LeasingRegistry
}

export interface TokensContext {
  readonly caller: Requester
  /** Aborts when the client leaves. */
  readonly signal: AbortSignal
}

export interface TokenizeWork {
  /** Null is the default model. */
  readonly modelId: string | null
  readonly input:
    | { readonly kind: 'text'; readonly text: string; readonly addSpecial: boolean }
    | { readonly kind: 'chat'; readonly chat: Chat }
  readonly wantsTexts: boolean
}

export interface Tokens extends TokenizedText {
  /** Null where the model has no limit. */
  readonly maxSeqLen: number | null
}

/** @throws ServiceError for what no context of the model can hold, and for a model that generates no text; the signal's reason */
export async function tokenize(
  deps: TokensDeps,
  context: TokensContext,
  { modelId, input, wantsTexts }: TokenizeWork,
): Promise<Tokens> {
  using lease = await acquire(deps, context, modelId)
  const { signal, caller } = context
  const text = await toTokenized(lease, input, context)
  const request = { ...text, accountId: caller.accountId, wantsTexts }
  const tokens = await lease.engine.tokenize(request, signal).catch(noneOfEmpty)
  return { ...tokens, maxSeqLen: lease.info.maxSeqLen }
}

/** @throws ServiceError as `tokenize`, and for a number that is no token of the model */
export async function detokenize(
  deps: TokensDeps,
  context: TokensContext,
  { modelId, tokenIds }: { readonly modelId: string | null; readonly tokenIds: readonly number[] },
): Promise<string> {
  using lease = await acquire(deps, context, modelId)
  throwIfAny(lease.promptBound.refuseTokens(tokenIds.length))
  checkPromptTokens([{ name: 'tokens', tokenIds }], lease)
  return await lease.engine.detokenize(tokenIds, context.signal)
}

async function acquire(
  { registry }: TokensDeps,
  { caller, signal }: TokensContext,
  modelId: string | null,
): Promise<ModelLease> {
  const lease = await leaseModel(registry, { modelId, caller, signal })
  if (lease.info.embedding === undefined) return lease
  lease[Symbol.dispose]()
  const message = `model must generate text, but '${lease.modelId}' does not.`
  throw new ServiceError('unsupported_value', { message }, { param: 'model' })
}

async function toTokenized(
  lease: ModelLease,
  input: TokenizeWork['input'],
  { caller, signal }: TokensContext,
): Promise<Pick<TokenizeRequest, 'prompt' | 'chat'>> {
  if (input.kind === 'chat') {
    const { chat } = input
    checkMedia(chat, lease)
    const contents = chat.messages.map(({ content }) => content)
    throwIfAny(await lease.promptBound.refuseChat(contents, signal))
    if (lease.info.takesChats === true) return { prompt: { pieces: [], addSpecial: false }, chat }
    return { prompt: await lease.renderChat(chat, caller.accountId, signal) }
  }
  for (const refusal of await lease.promptBound.refuseEach([input.text], signal)) throwIfAny(refusal)
  return { prompt: { pieces: [input.text], addSpecial: input.addSpecial } }
}

function throwIfAny(refusal: ServiceError | null): void {
  if (refusal !== null) throw refusal
}

/** A generation needs a token to begin with; here there may be none. */
function noneOfEmpty(error: unknown): TokenizedText {
  if (error instanceof ServiceError && error.code === 'prompt_empty')
    return { tokenIds: new Int32Array(), texts: [] }
  throw error
}
