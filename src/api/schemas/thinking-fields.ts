/** The names under which clients of other servers say, on a chat, whether and how much a model thinks: all are the same variables of its template. */
import { z } from 'zod'
import { toTable } from '../../net/requests/other-fields/field-table.ts'
import { boolean, integerFrom, must, mustBeOfType, oneOf, withoutUnbuilt } from './fields.ts'

export const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const

const UNBUILT_OPENROUTER_FIELDS = toTable([
  { does: 'leave out what a model thinks', fields: { exclude: [false] } },
  { does: 'bound how much a model thinks', fields: { max_tokens: [] } },
])

const thinking = z.discriminatedUnion(
  'type',
  [
    z.object({
      type: z.literal('enabled'),
      budget_tokens: integerFrom(1).nullish().describe('Given to the template; nothing enforces it.'),
    }),
    z.object({ type: z.literal('adaptive') }),
    z.object({ type: z.literal('disabled') }),
  ],
  { error: mustBeOfType(['enabled', 'adaptive', 'disabled']) },
)

const reasoning = z.object(
  { effort: oneOf(EFFORTS).nullish(), enabled: boolean().nullish() },
  { error: must('an object') },
)

export const thinkingFields = () => ({
  reasoning_effort: oneOf(EFFORTS)
    .nullish()
    .describe(
      "Given to the model's template as `reasoning_effort`; `none` as `enable_thinking: false` too, any other as `true`.",
    ),
  enable_thinking: boolean()
    .nullish()
    .describe("Given to the model's template as `enable_thinking` and `thinking`; Qwen's name."),
  think: boolean().nullish().describe("The same; Ollama's name."),
  thinking: thinking.nullish().describe("The same, and its budget as `thinking_budget`; DeepSeek's name."),
  reasoning: withoutUnbuilt(reasoning, UNBUILT_OPENROUTER_FIELDS)
    .nullish()
    .describe("The effort, or whether a model thinks at all; OpenRouter's name."),
})

type ThinkingBody = z.output<z.ZodObject<ReturnType<typeof thinkingFields>>>

/** For `toTemplateArguments`. Of several names the first here stands. */
export function toThinkingVariables(body: ThinkingBody): Readonly<Record<string, unknown>> {
  const { reasoning_effort, enable_thinking, think, thinking: asked, reasoning: options } = body
  const thinks =
    enable_thinking ?? think ?? (asked ? asked.type !== 'disabled' : null) ?? options?.enabled ?? null
  return {
    ...(thinks !== null && { enable_thinking: thinks, thinking: thinks }),
    ...(asked?.type === 'enabled' && { thinking_budget: asked.budget_tokens }),
    reasoning_effort: reasoning_effort ?? options?.effort,
  }
}
