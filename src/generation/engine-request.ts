/**
 * From a valid request to what its engine is asked for: options within the bounds of the caller's tier and of the model;
 * prompts scanned by the prompt guard, which looks for the model's special tokens too, and a chat rendered with the model's
 * template. Called by `generation.ts` once it has the model.
 */
import { ServiceError } from '../core/errors.ts'
import type { TierLimits } from '../core/tiers.ts'
import type { PromptGuard } from '../guards/prompt/prompt-guard.ts'
import type { ChatMessage } from '../models/chat/chat-template.ts'
import type { ModelLease } from '../models/registry.ts'
import type { EngineRequest, Prompt, Sampling } from '../protocol/engine.ts'
import type { Metrics } from '../telemetry/metrics.ts'

/** A generation as the schemas give it: every field checked, every default applied, nothing of the wire format left. */
export interface GenerationRequest {
  /** Null is the default model. */
  readonly modelId: string | null
  readonly input: PromptsInput | ChatInput
  /** As asked for; the caller's tier may allow fewer. */
  readonly maxNewTokens: number
  readonly sampling: Sampling
  readonly stopStrings: readonly string[]
  readonly numBeams: number
  readonly priority: number
}

export interface PromptsInput {
  readonly kind: 'prompts'
  readonly prompts: readonly InputText[]
  /**
   * How a batch queues: as one block, accepted or refused whole, or each prompt separately, so that one may be refused
   * and the others run. Null where there is no batch: then a failed sequence fails the request.
   */
  readonly batch: 'block' | 'separate' | null
}

interface ChatInput {
  readonly kind: 'chat'
  readonly messages: readonly ChatMessage[]
}

interface InputText {
  /** The body's name for it, for messages. */
  readonly name: string
  readonly text: string
}

export interface Requester {
  readonly accountId: string
  readonly limits: Pick<TierLimits, 'maxTokensPerRequest' | 'priorityClass'>
}

export function toEngineOptions(
  request: GenerationRequest,
  { accountId, limits }: Requester,
): Pick<EngineRequest, 'options' | 'place'> {
  return {
    options: {
      maxNewTokens: Math.min(request.maxNewTokens, limits.maxTokensPerRequest),
      sampling: request.sampling,
      stopStrings: request.stopStrings,
      ...(request.numBeams > 1 && { numBeams: request.numBeams }),
    },
    place: { priorityClass: limits.priorityClass, priority: request.priority, accountId },
  }
}

/** @throws ServiceError `unsupported_value` for more beams than the model searches with. */
export function checkBeams({ numBeams }: GenerationRequest, { modelId, info }: ModelLease): void {
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

/**
 * One prompt for each sequence; in a batch, a refused prompt is replaced by its refusal.
 * @throws ServiceError `prompt_rejected` when nothing of the input is left, or a message of a chat was refused.
 */
export async function preparePrompts(
  deps: PromptDeps,
  source: PromptSource,
): Promise<readonly (Prompt | ServiceError)[]> {
  const { input, lease } = source
  const refusals = await scan(deps, source)
  if (input.kind === 'chat') {
    for (const refusal of refusals) if (refusal !== null) throw refusal
    return [lease.renderChat(input.messages)]
  }
  throwIfAllFailed(refusals)
  return input.prompts.map(({ text }, index) => refusals[index] ?? toPrompt(text))
}

/** @throws the first of the outcomes when every one is an error */
export function throwIfAllFailed(outcomes: readonly unknown[]): void {
  const [first] = outcomes
  if (first instanceof ServiceError && outcomes.every((outcome) => outcome instanceof ServiceError))
    throw first
}

/** For each text that is scanned its refusal; null lets it pass. */
async function scan(
  { promptGuard, metrics }: PromptDeps,
  { input, lease, signal }: PromptSource,
): Promise<readonly (ServiceError | null)[]> {
  if (promptGuard === null) return []
  const scanned = scannedTexts(input)
  const texts = scanned.map(({ text }) => text)
  const { specialTexts } = lease.info
  const verdicts = await promptGuard.check({ texts, isChat: input.kind === 'chat', specialTexts }, signal)
  return scanned.map(({ name }, index) => {
    const rule = verdicts[index] ?? null
    if (rule === null) return null
    metrics.countGuardHit({ guard: 'prompt', rule: rule.id })
    const params = { field: name, rule: rule.id, reason: rule.reason }
    return new ServiceError('prompt_rejected', params, { param: name })
  })
}

function scannedTexts(input: GenerationRequest['input']): readonly InputText[] {
  if (input.kind === 'prompts') return input.prompts
  const { messages } = input
  const start = currentTurnStart(messages)
  return messages.flatMap(({ role, content }, index) =>
    role === 'system' || index < start ? [] : [{ name: `messages[${index}].content`, text: content }],
  )
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

/** As the caller wrote it: it may hold special tokens, and the tokenizer adds its own. */
function toPrompt(text: string): Prompt {
  return { pieces: [text], addSpecial: true }
}
