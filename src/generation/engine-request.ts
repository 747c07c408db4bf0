/**
 * From a valid request to what its engine is asked for: options within the bounds of the caller's tier and of the model;
 * prompts scanned by the prompt guard, which looks for the model's special tokens too, and a chat rendered with the model's
 * template. Called by `generation.ts` once it has the model.
 */
import { ServiceError } from '../core/errors.ts'
import type { TierLimits } from '../core/tiers.ts'
import type { PromptGuard } from '../guards/prompt/prompt-guard.ts'
import type { AnswerPlan } from '../models/chat/answer-plan.ts'
import type { Chat, ChatMessage } from '../protocol/chat.ts'
import type { Constraint } from '../protocol/constraint.ts'
import type { ModelLease } from '../models/registry.ts'
import type { EndRules, EngineRequest, Prompt, Sampling } from '../protocol/engine.ts'
import { isConstraintRefusal } from './relaxed-constraint.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import {
  checkPromptTokens,
  type InputPrompt,
  type InputText,
  refuseLongPrompts,
  textsOf,
  toPrompt,
} from './prompt-inputs.ts'

const CHAT_FIELD = 'messages'

/** A generation as the schemas give it: every field checked, every default applied, nothing of the wire format left. */
export interface GenerationRequest {
  /** Null is the default model. */
  readonly modelId: string | null
  readonly input: PromptsInput | ChatInput
  /** As asked for; the caller's tier and the model's context may allow fewer. Infinity is as many as they allow. */
  readonly maxNewTokens: number
  readonly sampling: Sampling
  readonly stopStrings: readonly string[]
  /** @default the model's end tokens end an answer, from the first token on */
  readonly endRules?: EndRules
  readonly numBeams: number
  readonly priority: number
  /** Of the whole answer; a chat's tools bring one of their own. @default none */
  readonly constraint?: Constraint
  /** The body's field that asks for it, for messages. */
  readonly constraintField?: string
  /** 0 to 20, of the likeliest tokens beside each chosen one. @default no log probabilities */
  readonly topLogprobs?: number
}

export interface PromptsInput {
  readonly kind: 'prompts'
  readonly prompts: readonly InputPrompt[]
  /** How many answers to each prompt are wanted; those of the first come first. Only without a batch. @default 1 */
  readonly choices?: number
  /**
   * How a batch queues: as one block, accepted or refused whole, or each prompt separately, so that one may be refused
   * and the others run. Null where there is no batch: then what fails a prompt or a sequence fails the request.
   */
  readonly batch: 'block' | 'separate' | null
  /** Whether the caller learns, as of a chat, that the context leaves fewer tokens than were asked for. @default false */
  readonly reportsContextCap?: boolean
}

export interface ChatInput extends Chat {
  readonly kind: 'chat'
  /** @default `messages`, and `messages[3].content` for the fourth of them */
  readonly fieldNames?: ChatFieldNames
  /** How many answers are wanted. */
  readonly choices: number
}

/** The body's names for a chat, for errors. */
export interface ChatFieldNames {
  readonly chat: string
  /** Of the text of a message, by its index. */
  readonly textOf: (index: number) => string
}

export interface Requester {
  readonly accountId: string
  readonly limits: Pick<TierLimits, 'maxTokensPerRequest' | 'priorityClass'>
}

/** Sequences of each prompt. */
export function choicesOf(input: GenerationRequest['input']): number {
  return input.choices ?? 1
}

export function toEngineOptions(
  request: GenerationRequest,
  { accountId, limits }: Requester,
): Pick<EngineRequest, 'options' | 'place' | 'choices'> {
  const choices = choicesOf(request.input)
  return {
    ...(choices > 1 && { choices }),
    options: {
      maxNewTokens: Math.min(request.maxNewTokens, limits.maxTokensPerRequest),
      sampling: request.sampling,
      stopStrings: request.stopStrings,
      ...(request.endRules && { endRules: request.endRules }),
      ...(request.constraint && { constraint: request.constraint }),
      ...(request.numBeams > 1 && { numBeams: request.numBeams }),
      ...(request.topLogprobs !== undefined && { topLogprobs: request.topLogprobs }),
    },
    place: { priorityClass: limits.priorityClass, priority: request.priority, accountId },
  }
}

/** With what the answer to a chat needs beside: its constraint, and the control tokens that its format is written with. */
export function withAnswerPlan(
  options: EngineRequest['options'],
  plan: AnswerPlan,
): EngineRequest['options'] {
  const { constraint, shownSpecialTexts } = plan
  return {
    ...options,
    ...(constraint !== null && { constraint }),
    ...(shownSpecialTexts.length > 0 && { shownSpecialTexts }),
  }
}

/** @throws ServiceError `unsupported_value` for a model that makes vectors. */
export function checkGenerates({ modelId, info }: ModelLease): void {
  if (info.embedding === undefined) return
  const [what, where] =
    info.embedding.pooling === 'rank'
      ? ['a reranking model', 'POST /v1/rerank']
      : ['an embedding model', 'POST /v1/embeddings']
  const message = `model must be one that generates text, but '${modelId}' is ${what}: use ${where}.`
  throw new ServiceError('unsupported_value', { message }, { param: 'model' })
}

/** @throws ServiceError `unsupported_value` for more beams than the model searches with, and for log probabilities beside beams. */
export function checkBeams(
  { numBeams, topLogprobs }: GenerationRequest,
  { modelId, info }: ModelLease,
): void {
  if (numBeams > 1 && topLogprobs !== undefined) {
    const message = `logprobs must not be asked for where num_beams is above 1, but num_beams was ${numBeams}.`
    throw new ServiceError('unsupported_value', { message }, { param: 'logprobs' })
  }
  // Beams do not change the output of the passthrough model (spec: decisions, Models).
  if (info.engine === 'passthrough') return
  const { maxBeams = 1 } = info
  if (numBeams <= maxBeams) return
  const why = maxBeams === 1 ? 'has no beam search' : 'searches with no more'
  const most = maxBeams === 1 ? '1' : `at most ${maxBeams}`
  throw new ServiceError(
    'unsupported_value',
    { message: `num_beams must be ${most}, but was ${numBeams}: model '${modelId}' ${why}.` },
    { param: 'num_beams' },
  )
}

/** @throws ServiceError `unsupported_value` for a constraint that the model cannot keep to, and for one of a beam search */
export function checkConstraint(
  { constraint, constraintField = 'tools', numBeams }: GenerationRequest,
  { modelId, info }: ModelLease,
): void {
  if (constraint === undefined) return
  const options = { param: constraintField }
  if (info.canConstrain !== true) {
    const message = `${constraintField} must be null: model '${modelId}' cannot constrain its answers.`
    throw new ServiceError('unsupported_value', { message }, options)
  }
  if (numBeams === 1) return
  const message = `${constraintField} must be null with num_beams ${numBeams}: a beam search cannot be constrained.`
  throw new ServiceError('unsupported_value', { message }, options)
}

/** Names the field in the engine's refusal of its constraint: the engine knows no field names. */
export async function* withConstraintField<Event>(
  events: AsyncIterable<Event>,
  field: string,
): AsyncGenerator<Event> {
  try {
    yield* events
  } catch (error) {
    if (!isConstraintRefusal(error)) throw error
    throw new ServiceError(error.code, { ...error.params, field }, { param: field })
  }
}

/** @throws ServiceError `invalid_request` for a token id that the model does not have. */
export function checkTokenIds(
  { sampling, endRules }: GenerationRequest,
  { modelId, info }: ModelLease,
): void {
  const { vocabSize } = info
  const fields = {
    logit_bias: sampling.logitBias?.map(([tokenId]) => tokenId),
    stop_token_ids: endRules?.stopTokenIds,
  }
  for (const [field, tokenIds = []] of Object.entries(fields)) {
    const unknown = tokenIds.find((tokenId) => tokenId >= vocabSize)
    if (unknown === undefined) continue
    const rule = `must hold token ids between 0 and ${vocabSize - 1}, those of model '${modelId}'`
    const message = `${field} ${rule}, but has ${unknown}.`
    throw new ServiceError('invalid_request', { message }, { param: field })
  }
}

/** @throws ServiceError `invalid_request` where an answer could not have as many tokens as it must. */
export function checkMinTokens({ endRules, maxNewTokens }: GenerationRequest): void {
  const minTokens = endRules?.minTokens ?? 0
  if (minTokens <= maxNewTokens) return
  const message = `min_tokens must be at most ${maxNewTokens}, the tokens of the whole answer, but was ${minTokens}.`
  throw new ServiceError('invalid_request', { message }, { param: 'min_tokens' })
}

export interface PromptDeps {
  /** Null where prompts are not scanned. */
  readonly promptGuard: PromptGuard | null
  readonly metrics: Pick<Metrics, 'countGuardHit'>
}

interface PromptSource {
  readonly input: GenerationRequest['input']
  readonly lease: ModelLease
  readonly signal: AbortSignal
}

/** A prompt of a batch that is not sent to the engine because it cannot fit into the model's context. */
export interface OversizedPrompt {
  readonly tooLong: ServiceError
}

export type PreparedPrompt = Prompt | ServiceError | OversizedPrompt

/**
 * One prompt for each sequence; in a batch, one that the guard refused is replaced by its refusal. Lengths come first: what
 * cannot fit is neither scanned nor rendered.
 * @throws ServiceError `context_length_exceeded`, except in a batch; `prompt_rejected` when nothing of the input is left, or a
 *   message of a chat was refused.
 */
export async function preparePrompts(
  deps: PromptDeps,
  source: PromptSource,
): Promise<readonly PreparedPrompt[]> {
  const { input, lease, signal } = source
  if (input.kind === 'chat') {
    const contents = input.messages.map(({ content }) => content)
    throwFirst([await lease.promptBound.refuseChat(contents, signal)])
    throwFirst((await scan(deps, source, scannedMessages(input))).values())
    return [await lease.renderChat(input, signal)]
  }
  const { prompts, batch } = input
  const tooLong = await refuseLongPrompts(lease, prompts, signal)
  if (batch === null) throwFirst(tooLong.map((error, index) => withParam(error, prompts[index]?.name)))
  const fitting = prompts.filter((_, index) => !tooLong[index])
  checkPromptTokens(fitting, lease)
  const refusals = await scan(deps, source, fitting)
  if (batch === null) throwFirst(refusals.values())
  const prepared = prompts.map((prompt, index) => {
    const error = tooLong[index]
    return error ? { tooLong: error } : (refusals.get(prompt) ?? toPrompt(prompt))
  })
  throwIfAllFailed(prepared)
  return prepared
}

function withParam(error: ServiceError | null, param: string | undefined): ServiceError | null {
  return error === null || param === undefined ? error : new ServiceError(error.code, error.params, { param })
}

function throwFirst(refusals: Iterable<ServiceError | null>): void {
  for (const refusal of refusals) if (refusal !== null) throw refusal
}

/** @throws the first of the outcomes when every one is an error */
export function throwIfAllFailed(outcomes: readonly unknown[]): void {
  const [first] = outcomes
  if (first instanceof ServiceError && outcomes.every((outcome) => outcome instanceof ServiceError))
    throw first
}

/** The refusals of prompts that the guard does not let pass. */
async function scan(
  { promptGuard, metrics }: PromptDeps,
  { input, lease, signal }: PromptSource,
  scanned: readonly InputPrompt[],
): Promise<ReadonlyMap<InputPrompt, ServiceError>> {
  const refusals = new Map<InputPrompt, ServiceError>()
  if (promptGuard === null) return refusals
  // Tokens too: what they say is what the model reads.
  const texts = await textsOf(scanned, lease, signal)
  const { specialTexts } = lease.info
  const verdicts = await promptGuard.check({ texts, isChat: input.kind === 'chat', specialTexts }, signal)
  for (const [index, prompt] of scanned.entries()) {
    const rule = verdicts[index] ?? null
    if (rule === null) continue
    metrics.countGuardHit({ guard: 'prompt', rule: rule.id })
    const params = { field: prompt.name, rule: rule.id, reason: rule.reason }
    refusals.set(prompt, new ServiceError('prompt_rejected', params, { param: prompt.name }))
  }
  return refusals
}

function scannedMessages({ messages, fieldNames }: ChatInput): readonly InputText[] {
  const start = currentTurnStart(messages)
  return messages.flatMap(({ role, content }, index) => {
    if (role === 'system' || index < start) return []
    return [{ name: fieldNames?.textOf(index) ?? `messages[${index}].content`, text: content }]
  })
}

/** What the body calls the conversation; undefined where the input is none. */
export function chatFieldName(input: GenerationRequest['input']): string | undefined {
  return input.kind === 'chat' ? (input.fieldNames?.chat ?? CHAT_FIELD) : undefined
}

/** The layers below name the field as most dialects do. */
export function withChatFieldName(thrown: unknown, input: GenerationRequest['input']): unknown {
  const param = chatFieldName(input)
  if (!(thrown instanceof ServiceError) || thrown.param !== CHAT_FIELD || param === undefined) return thrown
  return param === CHAT_FIELD
    ? thrown
    : new ServiceError(thrown.code, thrown.params, { param, cause: thrown.cause })
}

/**
 * The index after the last assistant message that was answered. What stands before it was judged when it was sent, and a
 * client that keeps a refused message in its history must be able to go on. Assistant messages at the end are the beginning
 * of the answer that is asked for: they belong to the current turn, and hide nothing.
 */
function currentTurnStart(messages: readonly ChatMessage[]): number {
  const lastAsked = messages.findLastIndex(({ role }) => role !== 'assistant')
  return messages.slice(0, lastAsked + 1).findLastIndex(({ role }) => role === 'assistant') + 1
}
