/**
 * An engine's request as an upstream reads it: OpenAI's chat completions or completions, with the fields that vLLM added and that
 * SGLang, llama-server and Sluice read too. What is off is left out, so that an upstream refuses only what was asked for.
 */
import type { Chat, ChatMessage, ContentPart, ToolDefinition } from '../../protocol/chat.ts'
import type { Constraint } from '../../protocol/constraint.ts'
import type { EngineRequest, Prompt, Sampling, SequenceOptions } from '../../protocol/engine.ts'

export type Body = Readonly<Record<string, unknown>>

/** What is sent of one conversation or one prompt. */
export interface UpstreamRequest {
  readonly path:
    | '/v1/chat/completions'
    | '/v1/completions'
    | '/v1/embeddings'
    | '/v1/rerank'
    | '/tokenize'
    | '/detokenize'
    | '/apply-template'
  readonly body: Body
  /** Of the conversation's beginning, by which it stays on an endpoint; null where nothing is gained by it. */
  readonly key: string | null
  readonly traceparent?: string
  /** Called each time it begins to leave to an endpoint. */
  readonly onSent?: () => void
}

/** Characters of a conversation or a prompt that choose its endpoint. */
const KEY_LENGTH = 1024

/** Under which of OpenAI's names, the older or the newer one, a chat's limit is sent. */
type LimitName = 'max_tokens' | 'max_completion_tokens'

export function toChatRequest(
  { model, limitName }: { readonly model: string; readonly limitName: LimitName },
  chat: Chat,
  { options, choices, upstreamFields, traceparent }: EngineRequest,
): UpstreamRequest {
  const { topLogprobs } = options
  const body = {
    ...upstreamFields,
    model,
    ...chatFields(chat),
    ...limitField(options, limitName),
    ...commonFields(options, choices),
    // llama-server gives none at all where none beside the chosen one is asked for.
    ...(topLogprobs !== undefined && { logprobs: true, top_logprobs: Math.max(1, topLogprobs) }),
  }
  return {
    path: '/v1/chat/completions',
    body,
    key: keyOf(chat.messages),
    ...(traceparent && { traceparent }),
  }
}

/** The conversation itself. */
export function chatFields(chat: Chat): Body {
  return { messages: chat.messages.map(toMessage), ...toolFields(chat), ...templateFields(chat) }
}

export function toCompletionRequest(
  model: string,
  prompt: Prompt,
  { options, choices, upstreamFields, traceparent }: EngineRequest,
): UpstreamRequest {
  const { topLogprobs } = options
  const given = 'pieces' in prompt ? prompt.pieces.join('') : [...prompt.tokenIds]
  const body = {
    ...upstreamFields,
    model,
    prompt: given,
    ...limitField(options, 'max_tokens'),
    ...commonFields(options, choices),
    ...(topLogprobs !== undefined && { logprobs: topLogprobs }),
  }
  return {
    path: '/v1/completions',
    body,
    key: String(given).slice(0, KEY_LENGTH),
    ...(traceparent && { traceparent }),
  }
}

function limitField({ maxNewTokens }: SequenceOptions, name: LimitName): Body {
  return Number.isFinite(maxNewTokens) ? { [name]: maxNewTokens } : {}
}

function commonFields(options: SequenceOptions, choices = 1): Body {
  const { sampling, stopStrings, endRules, constraint } = options
  return {
    stream: true,
    stream_options: { include_usage: true },
    ...(choices > 1 && { n: choices }),
    ...samplingFields(sampling),
    ...(stopStrings.length > 0 && { stop: stopStrings }),
    ...(endRules !== undefined && {
      ...(endRules.minTokens > 0 && { min_tokens: endRules.minTokens }),
      ...(endRules.ignoresEndTokens && { ignore_eos: true }),
      ...(endRules.stopTokenIds.length > 0 && { stop_token_ids: endRules.stopTokenIds }),
    }),
    ...(constraint !== undefined && constraintFields(constraint)),
  }
}

/** A `top_p` of 0 is greedy, which not every upstream reads. */
function samplingFields(sampling: Sampling): Body {
  const { temperature, topK, topP, repetitionPenalty, seed } = sampling
  const { minP = 0, presencePenalty = 0, frequencyPenalty = 0, logitBias = [] } = sampling
  return {
    temperature: topP === 0 ? 0 : temperature,
    ...(topP > 0 && topP < 1 && { top_p: topP }),
    ...(topK > 0 && { top_k: topK }),
    // The second name is llama-server's; the others ignore it.
    ...(repetitionPenalty !== 1 && {
      repetition_penalty: repetitionPenalty,
      repeat_penalty: repetitionPenalty,
    }),
    ...(minP > 0 && { min_p: minP }),
    ...(presencePenalty !== 0 && { presence_penalty: presencePenalty }),
    ...(frequencyPenalty !== 0 && { frequency_penalty: frequencyPenalty }),
    ...(logitBias.length > 0 && { logit_bias: Object.fromEntries(logitBias) }),
    ...(seed !== null && { seed }),
  }
}

function constraintFields(constraint: Constraint): Body {
  switch (constraint.kind) {
    case 'json-object':
      return { response_format: { type: 'json_object' } }
    case 'json-schema': {
      const schema: unknown = JSON.parse(constraint.schema)
      const { isStrict: strict } = constraint
      return { response_format: { type: 'json_schema', json_schema: { name: 'answer', schema, strict } } }
    }
    case 'regex':
      return { structured_outputs: { regex: constraint.pattern } }
    case 'choice':
      return { structured_outputs: { choice: constraint.choices } }
    case 'grammar':
      return { structured_outputs: { grammar: constraint.grammar } }
    case 'structural-tag':
      return { response_format: JSON.parse(constraint.tag) as unknown }
  }
}

function toMessage({ role, content, parts, reasoning, toolCalls, toolCallId, name }: ChatMessage): Body {
  const text = content === '' && toolCalls !== undefined ? null : content
  return {
    role,
    content: parts?.map(toContentPart) ?? text,
    ...(reasoning !== undefined && { reasoning_content: reasoning }),
    ...(toolCalls !== undefined && {
      tool_calls: toolCalls.map(({ id, name: called, arguments: json }) => ({
        ...{ id, type: 'function' },
        function: { name: called, arguments: json },
      })),
    }),
    ...(toolCallId !== undefined && { tool_call_id: toolCallId }),
    ...(name !== undefined && { name }),
  }
}

function toContentPart(given: ContentPart): Body {
  return given.kind === 'text' ? { type: 'text', text: given.text } : given.part
}

function toolFields({ tools = [], toolChoice = 'auto', allowsParallelToolCalls = true }: Chat): Body {
  if (tools.length === 0) return {}
  return {
    tools: tools.map(toTool),
    ...(toolChoice !== 'auto' && {
      tool_choice: typeof toolChoice === 'string' ? toolChoice : { type: 'function', function: toolChoice },
    }),
    ...(!allowsParallelToolCalls && { parallel_tool_calls: false }),
  }
}

function toTool({ name, description, parameters, strict }: ToolDefinition): Body {
  const more = { ...(description !== null && { description }), ...(strict && { strict }) }
  return { type: 'function', function: { name, ...more, parameters } }
}

function templateFields({
  templateArguments = {},
  continuesLastMessage = false,
  hasGenerationPrompt = true,
}: Chat): Body {
  const { reasoning_effort: effort, verbosity, ...others } = templateArguments
  return {
    ...(effort !== undefined && { reasoning_effort: effort }),
    ...(verbosity !== undefined && { verbosity }),
    ...(Object.keys(others).length > 0 && { chat_template_kwargs: others }),
    ...(continuesLastMessage && { continue_final_message: true }),
    ...((continuesLastMessage || !hasGenerationPrompt) && { add_generation_prompt: false }),
  }
}

/** Up to the end of the first message of the user: what follows grows with every turn. */
function keyOf(messages: readonly ChatMessage[]): string {
  const end = messages.findIndex(({ role }) => role === 'user') + 1
  // The end of a long system prompt and the first question tell conversations apart.
  const text = messages
    .slice(0, Math.max(1, end))
    .map(({ role, content }) => `${role}\n${content}`)
    .join('\n')
  return text.length <= 2 * KEY_LENGTH ? text : text.slice(0, KEY_LENGTH) + text.slice(-KEY_LENGTH)
}
