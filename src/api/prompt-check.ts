/**
 * The prompt guard's place in a request: after the body is parsed and the model is known, before anything goes to an
 * engine. System messages are the operator's and are not scanned; assistant messages come from the client as user
 * messages do, and could be made up.
 */
import { ServiceError } from '../core/errors.ts'
import type { ChatMessage } from '../models/chat/chat-template.ts'
import type { AppDeps } from './deps.ts'
import type { Generation } from './generation.ts'

/** Prompts with the names that the body has for them. */
export interface PromptFields {
  readonly isChat: boolean
  readonly fields: readonly { readonly name: string; readonly text: string }[]
}

export function promptFields(prompt: string): PromptFields {
  return { isChat: false, fields: [{ name: 'prompt', text: prompt }] }
}

export function batchFields(prompts: readonly string[]): PromptFields {
  return { isChat: false, fields: prompts.map((text, index) => ({ name: `prompts[${index}]`, text })) }
}

export function chatFields(messages: readonly ChatMessage[]): PromptFields {
  const fields = messages.map(({ role, content }, index) => ({
    role,
    name: `messages[${index}].content`,
    text: content,
  }))
  return { isChat: true, fields: fields.filter(({ role }) => role !== 'system') }
}

/** @throws ServiceError `prompt_rejected` for the first prompt that is an attack. */
export async function refuseAttacks(
  deps: AppDeps,
  generation: Generation,
  prompts: PromptFields,
): Promise<void> {
  for (const refusal of await checkPrompts(deps, generation, prompts)) if (refusal !== null) throw refusal
}

/** For each prompt its refusal; null lets it pass. */
export async function checkPrompts(
  { promptGuard, metrics }: AppDeps,
  { lease, signal }: Generation,
  { isChat, fields }: PromptFields,
): Promise<readonly (ServiceError | null)[]> {
  if (promptGuard === null) return fields.map(() => null)
  const texts = fields.map(({ text }) => text)
  const verdicts = await promptGuard.check({ texts, isChat, specialTexts: lease.info.specialTexts }, signal)
  return fields.map(({ name }, index) => {
    const rule = verdicts[index] ?? null
    if (rule === null) return null
    metrics.countGuardHit({ guard: 'prompt', rule: rule.id })
    return new ServiceError(
      'prompt_rejected',
      { field: name, rule: rule.id, reason: rule.reason },
      { param: name },
    )
  })
}
