/** A body of `/v1/responses` as a generation, and what its answer says of it. */
import type { z } from 'zod'
import type { ChatInput, GenerationRequest } from '../../../generation/generation-request.ts'
import { constraintOf } from '../../schemas/constraints.ts'
import { toEndRules } from '../../schemas/end-rules.ts'
import { toSampling } from '../../schemas/sampling.ts'
import { toTemplateArguments } from '../../schemas/template-arguments.ts'
import { Conversation } from './conversation.ts'
import { LOGPROBS, responsesBody, type ResponsesBody } from './schema.ts'
import { toChatTools, toShownTool } from './tools.ts'

/** @param defaultMaxTokens of a request that names no number; `context` is as many as are allowed */
export const createResponsesRequest = (defaultMaxTokens: number | 'context') =>
  responsesBody.transform((body, context) => ({
    isStream: body.stream,
    echo: toEcho(body),
    generation: {
      modelId: body.model,
      input: toChatInput(body, context),
      maxNewTokens: body.max_output_tokens ?? (defaultMaxTokens === 'context' ? Infinity : defaultMaxTokens),
      sampling: toSampling(body),
      stopStrings: body.stop,
      ...toEndRules(body),
      numBeams: 1,
      priority: body.priority,
      ...toConstraint(body),
      ...toTopLogprobs(body),
    } satisfies GenerationRequest,
  }))

function toChatInput(body: ResponsesBody, context: z.RefinementCtx): ChatInput {
  const conversation = new Conversation(body.instructions ?? null)
  const lost = body.input.findIndex((item, index) => !conversation.add(item, index))
  if (lost !== -1) {
    const message = 'must be the call_id of a function_call item that comes before it'
    context.addIssue({ code: 'custom', path: ['input', lost, 'call_id'], message })
  }
  const { tools, toolChoice } = toChatTools(body.tools, body.tool_choice)
  const { reasoning, text } = body
  return {
    kind: 'chat',
    ...conversation.finish(),
    choices: 1,
    ...(tools.length > 0 && { tools, toolChoice, allowsParallelToolCalls: body.parallel_tool_calls }),
    ...toTemplateArguments(
      { reasoning_effort: reasoning?.effort, verbosity: text?.verbosity },
      body.chat_template_kwargs,
    ),
  }
}

function toConstraint(body: ResponsesBody): ReturnType<typeof constraintOf> {
  const constraint = body.text?.format?.constraint ?? null
  return constraint === null ? constraintOf(body) : { constraint, constraintField: 'text.format' }
}

function toTopLogprobs({ include, top_logprobs: count }: ResponsesBody): { readonly topLogprobs?: number } {
  const isAsked = include?.includes(LOGPROBS) === true || (count ?? 0) > 0
  return isAsked ? { topLogprobs: count ?? 0 } : {}
}

const TEXT_FORMAT = { type: 'text' } as const

function toEcho(body: ResponsesBody) {
  const { reasoning, text, user } = body
  return {
    instructions: body.instructions ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    metadata: body.metadata ?? {},
    parallel_tool_calls: body.parallel_tool_calls,
    temperature: body.temperature,
    top_p: body.top_p,
    presence_penalty: body.presence_penalty,
    frequency_penalty: body.frequency_penalty,
    top_logprobs: body.top_logprobs ?? 0,
    tool_choice: body.tool_choice,
    tools: body.tools.map(toShownTool),
    text: { format: text?.format?.shown ?? TEXT_FORMAT, verbosity: text?.verbosity ?? 'medium' },
    reasoning: {
      effort: reasoning?.effort ?? null,
      summary: reasoning?.summary ?? reasoning?.generate_summary ?? null,
    },
    safety_identifier: body.safety_identifier ?? null,
    prompt_cache_key: body.prompt_cache_key ?? null,
    ...(typeof user === 'string' && { user }),
  }
}

/** What an answer says of its request. */
export type RequestEcho = ReturnType<typeof toEcho>
