/**
 * From a request's input to the prompts of its engine: what cannot fit is refused, the prompt guard scans the rest, which looks
 * for the model's special tokens too, and a chat is rendered with the model's template. Called by `generation.ts` once it has
 * the model.
 */
import { ServiceError } from '../core/errors.ts'
import type { PromptGuard } from '../guards/prompt/prompt-guard.ts'
import type { ModelLease } from '../models/registry.ts'
import type { ChatMessage } from '../protocol/chat.ts'
import type { Prompt } from '../protocol/engine.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { type ChatInput, type GenerationRequest, textFieldOf } from './generation-request.ts'
import {
  checkPromptTokens,
  type InputPrompt,
  type InputText,
  refuseLongPrompts,
  textsOf,
  toPrompt,
} from './prompt-inputs.ts'

export interface PromptDeps {
  /** Null where prompts are not scanned. */
  readonly promptGuard: PromptGuard | null
  readonly metrics: Pick<Metrics, 'countGuardHit'>
}

interface PromptSource {
  readonly input: GenerationRequest['input']
  readonly lease: ModelLease
  readonly accountId: string
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
  const { input, lease, accountId, signal } = source
  if (input.kind === 'chat') {
    const contents = input.messages.map(({ content }) => content)
    throwFirst([await lease.promptBound.refuseChat(contents, signal)])
    throwFirst((await scan(deps, source, scannedMessages(input))).values())
    return lease.info.takesChats === true ? [] : [await lease.renderChat(input, accountId, signal)]
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
  { input, lease, accountId, signal }: PromptSource,
  scanned: readonly InputPrompt[],
): Promise<ReadonlyMap<InputPrompt, ServiceError>> {
  const refusals = new Map<InputPrompt, ServiceError>()
  if (promptGuard === null) return refusals
  // Tokens too: what they say is what the model reads.
  const texts = await textsOf(scanned, lease, signal)
  const { specialTexts } = lease.info
  const check = { texts, isChat: input.kind === 'chat', specialTexts, accountId }
  const verdicts = await promptGuard.check(check, signal)
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
    return [{ name: textFieldOf(fieldNames, index), text: content }]
  })
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
