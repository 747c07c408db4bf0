/**
 * Tools of a request to `/v1/chat/completions` and how its template is told to think, as OpenAI and vLLM name them: functions of the
 * caller's own, the choice among them, `reasoning_effort`, `chat_template_kwargs`, and the message that is continued.
 */
import { z } from 'zod'
import { UNBUILT_TOOL_FIELDS } from '../../../net/requests/other-fields/dialects.ts'
import type { Chat } from '../../../protocol/chat.ts'
import { arrayOf, boolean, must, nullableWithDefault, oneOf, withoutUnbuilt } from '../../schemas/fields.ts'
import {
  findNamesProblem,
  functionFields,
  functionName,
  ignoreUnasked,
  MAX_TOOLS,
  refuseOtherTypes,
  toDefinition,
} from '../../schemas/tool-fields.ts'
import {
  templateArgumentsField,
  toTemplateArguments,
  verbosityField,
} from '../../schemas/template-arguments.ts'
import { thinkingFields, toThinkingVariables } from '../../schemas/thinking-fields.ts'
import type { message } from './message.ts'

const functionTool = z
  .object({
    type: z.literal('function'),
    function: withoutUnbuilt(z.object(functionFields(), { error: must('a function') }), UNBUILT_TOOL_FIELDS),
  })
  .meta({ id: 'ChatFunctionTool' })

const namedFunction = z
  .object({ type: z.literal('function'), function: z.object({ name: functionName() }) })
  .transform(({ function: { name } }) => ({ name }))

const allowedTools = z
  .object({
    type: z.literal('allowed_tools'),
    allowed_tools: z.object({
      mode: oneOf(['auto', 'required']),
      tools: arrayOf(z.preprocess(refuseOtherTypes(['function'], 'function'), namedFunction), {
        min: 1,
        max: MAX_TOOLS,
        of: 'functions',
      }),
    }),
  })
  .transform(({ allowed_tools: { mode, tools } }) => ({ mode, names: tools.map(({ name }) => name) }))

const toolChoice = z.preprocess(
  refuseOtherTypes(['function', 'allowed_tools'], 'function'),
  z.union([z.enum(['none', 'auto', 'required']), namedFunction, allowedTools], {
    error: must("'none', 'auto', 'required', a function or 'allowed_tools'"),
  }),
)

const tools = arrayOf(
  z.preprocess(refuseOtherTypes(['function'], 'function'), withoutUnbuilt(functionTool, UNBUILT_TOOL_FIELDS)),
  { min: 0, max: MAX_TOOLS, of: 'functions' },
)

export const ignoreUnaskedTools = ignoreUnasked(tools)

export const toolFields = () => ({
  tools: tools.nullish().describe('Functions that the answer may call. Their calls come in `tool_calls`.'),
  tool_choice: toolChoice
    .nullish()
    .describe(
      'Whether the answer may, must or must not call a tool, or which it must call. `auto` when left out.',
    ),
  parallel_tool_calls: nullableWithDefault(
    boolean().describe('Whether an answer may have more than one call.'),
    true,
  ),
  ...thinkingFields(),
  verbosity: verbosityField(),
  chat_template_kwargs: templateArgumentsField(),
  continue_final_message: nullableWithDefault(
    boolean().describe("Whether the answer goes on with the last message, an assistant's."),
    false,
  ),
  add_generation_prompt: boolean()
    .nullish()
    .describe('`false` is the same as `continue_final_message: true`; `true` when left out.'),
})

type ToolBody = z.output<z.ZodObject<ReturnType<typeof toolFields>>> & {
  readonly messages: readonly z.output<typeof message>[]
}

/** For `superRefine`. */
export function checkTools(body: ToolBody, context: z.RefinementCtx): void {
  const tools = (body.tools ?? []).map(({ function: one }) => one)
  const choice = body.tool_choice ?? 'auto'
  const named = typeof choice === 'string' ? choice : 'name' in choice ? [choice.name] : choice.names
  const problem = findNamesProblem(tools, named)
  if (problem !== null) context.addIssue({ code: 'custom', path: ['tool_choice'], message: problem })
  checkContinuation(body, context)
}

function checkContinuation(body: ToolBody, context: z.RefinementCtx): void {
  if (!continuesLastMessage(body)) return
  const last = body.messages.at(-1)
  const isAnswer = last?.role === 'assistant' && (last.toolCalls?.length ?? 0) === 0
  if (body.continue_final_message && body.add_generation_prompt === true) {
    const message = 'must be false where continue_final_message is true, but was true'
    context.addIssue({ code: 'custom', path: ['add_generation_prompt'], message })
  } else if (!isAnswer) {
    const field = body.continue_final_message ? 'continue_final_message' : 'add_generation_prompt'
    const neutral = !body.continue_final_message
    const message = `must be ${neutral} unless the last message is the assistant's and calls no tool, but was ${!neutral}`
    context.addIssue({ code: 'custom', path: [field], message })
  }
}

function continuesLastMessage(body: ToolBody): boolean {
  return body.continue_final_message || body.add_generation_prompt === false
}

/** How the conversation is to be answered. */
export function toChat(body: ToolBody): Chat {
  const { tool_choice: given, verbosity } = body
  const choice = given ?? 'auto'
  const all = (body.tools ?? []).map(({ function: one }, index) =>
    toDefinition(one, `tools[${index}].function.parameters`),
  )
  return {
    messages: body.messages,
    ...(all.length > 0 && {
      // What a model does not know of it cannot call.
      tools:
        typeof choice === 'object' && 'names' in choice
          ? all.filter(({ name }) => choice.names.includes(name))
          : all,
      toolChoice: typeof choice === 'object' && 'names' in choice ? choice.mode : choice,
      allowsParallelToolCalls: body.parallel_tool_calls,
    }),
    ...toTemplateArguments({ ...toThinkingVariables(body), verbosity }, body.chat_template_kwargs),
    ...(continuesLastMessage(body) && { continuesLastMessage: true }),
  }
}
