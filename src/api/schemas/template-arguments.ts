/**
 * Variables that a request gives the model's template (**ext**, vLLM's name), for every dialect of chats. A template that does
 * not know a variable ignores it.
 */
import { z } from 'zod'
import { describeValue } from '../../net/requests/request-fields.ts'
import { must, oneOf } from './fields.ts'

/** What the server itself gives a template, and what is no variable where an upstream hands all to `apply_chat_template`. */
const OWN_VARIABLES: readonly string[] = [
  ...['messages', 'tools', 'add_generation_prompt', 'continue_final_message', 'bos_token', 'eos_token'],
  ...['raise_exception', 'strftime_now', 'range'],
  ...['chat_template', 'conversation', 'tokenize', 'tokenizer_kwargs', 'padding', 'truncation', 'max_length'],
  ...['return_tensors', 'return_dict', 'return_assistant_tokens_mask'],
]

type TemplateArguments = Readonly<Record<string, unknown>>

export const templateArgumentsField = () =>
  z
    .record(z.string(), z.unknown(), { error: must('an object') })
    .superRefine((given, context) => {
      const variable = Object.keys(given).find((name) => OWN_VARIABLES.includes(name))
      if (variable === undefined) return
      const message = `must not have ${describeValue(variable)}, which this server sets itself`
      context.addIssue({ code: 'custom', message })
    })
    .nullish()
    .describe("Further variables of the model's template, such as `enable_thinking`.")

export const verbosityField = () =>
  oneOf(['low', 'medium', 'high']).nullish().describe("Given to the model's template as `verbosity`.")

/** For a chat; the caller's own variables stand above what other fields ask for. */
export function toTemplateArguments(
  asked: TemplateArguments,
  given: TemplateArguments | null | undefined,
): { readonly templateArguments?: TemplateArguments } {
  const named = Object.entries(asked).filter(([, value]) => value !== null && value !== undefined)
  const templateArguments = { ...Object.fromEntries(named), ...given }
  return Object.keys(templateArguments).length > 0 ? { templateArguments } : {}
}
