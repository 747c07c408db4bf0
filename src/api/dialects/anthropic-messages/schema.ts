/**
 * `POST /v1/messages` and `/v1/messages/count_tokens`, shaped like Anthropic's Messages API (version 2023-06-01). Fields that
 * its API lacks (`seed`, `min_p`, …) are those of the other routes. What asks a model to think becomes variables of its
 * template. What would change the answer and is not built is refused (`net/requests/other-fields/`).
 */
import { z } from 'zod'
import type { GenerationRequest } from '../../../generation/generation-request.ts'
import {
  UNBUILT_ANTHROPIC_FIELDS,
  UNBUILT_OUTPUT_FIELDS,
} from '../../../net/requests/other-fields/dialects.ts'
import {
  arrayOf,
  boolean,
  generationBody,
  integerFrom,
  maxTokens,
  modelId,
  must,
  mustBeOfType,
  nullableWithDefault,
  oneOf,
  priority,
  seed,
  stopStrings,
  withoutUnbuilt,
} from '../../schemas/fields.ts'
import { endFields, toEndRules } from '../../schemas/end-rules.ts'
import { samplingFields, toSampling } from '../../schemas/sampling.ts'
import { templateArgumentsField, toTemplateArguments } from '../../schemas/template-arguments.ts'
import { messageParam, textContent } from './content.ts'
import { type MessagesChat, toConversation } from './conversation.ts'
import { findToolChoiceProblem, toToolOptions, toolChoiceParam, tools } from './tools.ts'

/** Anthropic's own least. */
const MIN_BUDGET_TOKENS = 1024

const DISPLAYS = ['summarized', 'omitted', 'updates'] as const
const display = {
  display: oneOf(DISPLAYS)
    .nullish()
    .describe(
      '`omitted` leaves blocks of thinking out of the answer; `summarized` and `updates` give them whole.',
    ),
}

const thinking = z
  .discriminatedUnion(
    'type',
    [
      z.object({
        type: z.literal('enabled'),
        budget_tokens: integerFrom(MIN_BUDGET_TOKENS).describe('Given to the template; nothing enforces it.'),
        ...display,
      }),
      z.object({ type: z.literal('adaptive'), ...display }),
      z.object({ type: z.literal('disabled') }),
    ],
    { error: mustBeOfType(['enabled', 'adaptive', 'disabled']) },
  )
  .describe(
    "Variables of the model's template: `enable_thinking` and `thinking`, and the budget as `thinking_budget`. " +
      'Without it the template decides.',
  )

const jsonFormat = z.object(
  {
    type: z.literal('json_schema', { error: must("'json_schema'") }),
    schema: z.record(z.string(), z.unknown(), { error: must('a JSON schema') }),
  },
  { error: must("an object of type 'json_schema'") },
)

const EFFORTS = ['low', 'medium', 'high', 'xhigh', 'max'] as const

const outputConfig = z.object(
  {
    format: jsonFormat.nullish(),
    effort: oneOf(EFFORTS).nullish().describe("Given to the model's template as `reasoning_effort`."),
  },
  { error: must('an object') },
)

const chatFields = () => ({
  model: nullableWithDefault(modelId(), 'default'),
  messages: arrayOf(messageParam, { min: 1, max: Infinity, of: 'message' }),
  system: textContent.nullish().describe('A system message before the others.'),
  tools: tools.nullish(),
  tool_choice: toolChoiceParam.nullish(),
  thinking: thinking.nullish(),
  output_config: withoutUnbuilt(outputConfig, UNBUILT_OUTPUT_FIELDS).nullish(),
  chat_template_kwargs: templateArgumentsField(),
  output_format: jsonFormat.nullish().describe('The older name of `output_config.format`.'),
})

const generationFields = () => ({
  ...samplingFields({ maxTemperature: 1 }),
  ...endFields(),
  stop_sequences: nullableWithDefault(stopStrings(), []),
  stream: nullableWithDefault(boolean(), false),
  seed: seed().nullish(),
  priority: nullableWithDefault(priority(), 0),
})

const messagesBody = generationBody(
  'AnthropicMessageRequest',
  { ...chatFields(), ...generationFields(), max_tokens: maxTokens() },
  UNBUILT_ANTHROPIC_FIELDS,
)

/** Clients count what they are about to send, so the whole body of a message passes. */
const countBody = generationBody(
  'AnthropicTokenCountRequest',
  { ...chatFields(), ...generationFields(), max_tokens: integerFrom(1).nullish() },
  UNBUILT_ANTHROPIC_FIELDS,
)

type ChatBody = z.output<typeof countBody>
type MessagesBody = z.output<typeof messagesBody>
type ChatInput = Extract<GenerationRequest['input'], { kind: 'chat' }>

const NO_CHOICE = { type: 'auto' } as const

/** Adds an issue where the body is no conversation that a model could go on with. */
function toChatInput(body: ChatBody, context: z.RefinementCtx): ChatInput {
  const given = body.tools ?? []
  const choice = body.tool_choice ?? NO_CHOICE
  const choiceProblem = findToolChoiceProblem(given, choice)
  if (choiceProblem !== null)
    context.addIssue({ code: 'custom', path: ['tool_choice'], message: choiceProblem })
  const conversation = toConversation(body.system ?? [], body.messages)
  if ('problem' in conversation)
    context.addIssue({ code: 'custom', path: [...conversation.path], message: conversation.problem })
  return {
    kind: 'chat',
    ...('problem' in conversation ? NO_CONVERSATION : conversation),
    choices: 1,
    ...(given.length > 0 && toToolOptions(given, choice)),
    ...toTemplateArguments(variablesOf(body), body.chat_template_kwargs),
  }
}

/** Of a body that is refused. */
const NO_CONVERSATION: MessagesChat = {
  messages: [],
  fieldNames: { chat: 'messages', textOf: () => 'messages' },
  continuesLastMessage: false,
}

/** Qwen's templates ask for `enable_thinking`, DeepSeek's and Granite's for `thinking`, Seed's for `thinking_budget`. */
function variablesOf(body: ChatBody): Readonly<Record<string, unknown>> {
  const { thinking: asked, output_config: output } = body
  const thinks = asked?.type !== 'disabled'
  return {
    ...(asked && { enable_thinking: thinks, thinking: thinks }),
    ...(asked?.type === 'enabled' && { thinking_budget: asked.budget_tokens }),
    reasoning_effort: output?.effort,
  }
}

function toConstraint({
  output_config: output,
  output_format: older,
}: ChatBody): Pick<GenerationRequest, 'constraint' | 'constraintField'> {
  const format = output?.format ?? older
  if (!format) return {}
  return {
    constraint: { kind: 'json-schema', schema: JSON.stringify(format.schema), isStrict: true },
    constraintField: output?.format ? 'output_config.format' : 'output_format',
  }
}

function toGenerationRequest(body: MessagesBody, context: z.RefinementCtx): GenerationRequest {
  const input = toChatInput(body, context)
  const { constraint, constraintField } = toConstraint(body)
  // As at Anthropic: a schema says nothing of how a text goes on whose beginning is given.
  if (constraint !== undefined && input.continuesLastMessage === true) {
    const message =
      "cannot be given where the last message is the assistant's, whose text the answer goes on with"
    context.addIssue({ code: 'custom', path: (constraintField ?? '').split('.'), message })
  }
  return {
    modelId: body.model,
    input,
    maxNewTokens: body.max_tokens,
    sampling: toSampling(body),
    stopStrings: body.stop_sequences,
    ...toEndRules(body),
    ...toConstraint(body),
    numBeams: 1,
    priority: body.priority,
  }
}

function showsThinking({ thinking: asked }: ChatBody): boolean {
  return !asked || asked.type === 'disabled' || asked.display !== 'omitted'
}

export const messagesRequest = messagesBody.transform((body, context) => ({
  isStream: body.stream,
  showsThinking: showsThinking(body),
  generation: toGenerationRequest(body, context),
}))

/** What a message with this body would be asked with. */
export const countRequest = countBody.transform((body, context) => ({
  modelId: body.model,
  input: toChatInput(body, context),
}))

/** The SDKs add `beta=true` where a beta of the API is asked for. */
export const messagesQuery = z.object({ beta: z.string().optional().describe('Ignored.') })

const usage = z
  .object({
    input_tokens: z.int().describe('Of the whole prompt.'),
    output_tokens: z.int(),
    cache_creation_input_tokens: z.int(),
    cache_read_input_tokens: z.int().describe('Always 0: a cache that callers share would tell of prompts.'),
  })
  .meta({ id: 'AnthropicUsage' })

const contentBlock = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('text'), text: z.string() }),
    z.object({
      type: z.literal('thinking'),
      thinking: z.string(),
      signature: z.string().describe('The same for all: nothing is signed here.'),
    }),
    z.object({
      type: z.literal('tool_use'),
      id: z.string(),
      name: z.string(),
      input: z.record(z.string(), z.unknown()),
    }),
  ])
  .meta({ id: 'AnthropicContentBlock' })

const stopReason = z.enum(['end_turn', 'max_tokens', 'stop_sequence', 'tool_use', 'refusal'])
const stop = {
  stop_reason: stopReason.nullable(),
  stop_sequence: z.string().nullable().describe('The one of `stop_sequences` that ended the answer.'),
}

export const anthropicMessage = z
  .object({
    id: z.string().describe('`msg_<id>`.'),
    type: z.literal('message'),
    role: z.literal('assistant'),
    model: z.string(),
    content: z.array(contentBlock),
    ...stop,
    usage,
  })
  .meta({ id: 'AnthropicMessage' })

const blockDelta = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text_delta'), text: z.string() }),
  z.object({ type: z.literal('thinking_delta'), thinking: z.string() }),
  z.object({ type: z.literal('signature_delta'), signature: z.string() }),
  z.object({ type: z.literal('input_json_delta'), partial_json: z.string() }),
])

export const anthropicEvent = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('message_start'), message: anthropicMessage }),
    z.object({ type: z.literal('content_block_start'), index: z.int(), content_block: contentBlock }),
    z.object({ type: z.literal('content_block_delta'), index: z.int(), delta: blockDelta }),
    z.object({ type: z.literal('content_block_stop'), index: z.int() }),
    z.object({ type: z.literal('message_delta'), delta: z.object(stop), usage }),
    z.object({ type: z.literal('message_stop') }),
    z.object({ type: z.literal('ping') }),
  ])
  .meta({ id: 'AnthropicEvent', description: 'Data of each event, whose name is its `type`.' })

export const tokenCount = z.object({ input_tokens: z.int() }).meta({ id: 'AnthropicTokenCount' })
