/**
 * The response object of `/v1/responses`, as OpenAI's clients type it and the Open Responses specification requires it. What
 * only a store or tools of the server's own could fill is there as well, with its one value.
 */
import { z } from 'zod'
import { tokenLogprob } from '../token-logprobs.ts'

const itemStatus = z.enum(['in_progress', 'completed', 'incomplete'])

export const outputText = z.object({
  type: z.literal('output_text'),
  text: z.string(),
  annotations: z.array(z.unknown()).describe('Always empty.'),
  logprobs: z.array(tokenLogprob),
})

const outputMessage = z.object({
  id: z.string(),
  type: z.literal('message'),
  status: itemStatus,
  role: z.literal('assistant'),
  content: z.array(outputText),
})

export const reasoningText = z.object({ type: z.literal('reasoning_text'), text: z.string() })
export const summaryText = z.object({ type: z.literal('summary_text'), text: z.string() })

const reasoningItem = z.object({
  id: z.string(),
  type: z.literal('reasoning'),
  status: itemStatus,
  summary: z
    .array(summaryText)
    .describe('Filled in place of `content` where `reasoning.summary` was asked for.'),
  content: z.array(reasoningText).optional(),
  encrypted_content: z.null(),
})

const functionCallItem = z.object({
  id: z.string(),
  type: z.literal('function_call'),
  status: itemStatus,
  call_id: z.string(),
  name: z.string(),
  arguments: z.string(),
})

export const outputItem = z
  .discriminatedUnion('type', [outputMessage, reasoningItem, functionCallItem])
  .meta({ id: 'ResponseOutputItem' })

const usage = z
  .object({
    input_tokens: z.int(),
    input_tokens_details: z.object({ cached_tokens: z.int(), cache_write_tokens: z.literal(0) }),
    output_tokens: z.int(),
    output_tokens_details: z.object({ reasoning_tokens: z.int() }),
    total_tokens: z.int(),
  })
  .meta({ id: 'ResponseUsage' })

const shownTool = z.object({
  type: z.literal('function'),
  name: z.string(),
  description: z.string().nullable(),
  parameters: z.record(z.string(), z.unknown()).nullable(),
  strict: z.boolean(),
})

/** Of the request: what it asked for, or the default. */
const echoedFields = {
  instructions: z.string().nullable(),
  max_output_tokens: z.int().nullable(),
  metadata: z.record(z.string(), z.string()),
  parallel_tool_calls: z.boolean(),
  temperature: z.number(),
  top_p: z.number(),
  presence_penalty: z.number(),
  frequency_penalty: z.number(),
  top_logprobs: z.int(),
  tool_choice: z.union([z.string(), z.object({ type: z.string() }).loose()]),
  tools: z.array(shownTool),
  text: z.object({ format: z.object({ type: z.string() }).loose(), verbosity: z.string() }),
  reasoning: z.object({ effort: z.string().nullable(), summary: z.string().nullable() }),
  safety_identifier: z.string().nullable(),
  prompt_cache_key: z.string().nullable(),
  user: z.string().optional(),
}

export const response = z
  .object({
    id: z.string().describe('`resp_<id>`; nothing is stored that it could ask for.'),
    object: z.literal('response'),
    created_at: z.int().describe('Unix seconds.'),
    completed_at: z.int().nullable(),
    status: z.enum(['in_progress', 'completed', 'incomplete', 'failed']),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
    incomplete_details: z.object({ reason: z.enum(['max_output_tokens', 'content_filter']) }).nullable(),
    model: z.string(),
    output: z.array(outputItem).describe('In the order in which the model gave them.'),
    usage: usage.nullable(),
    ...echoedFields,
    background: z.literal(false),
    max_tool_calls: z.null(),
    previous_response_id: z.null(),
    service_tier: z.literal('default'),
    store: z.literal(false),
    truncation: z.literal('disabled'),
  })
  .meta({ id: 'Response' })

export const inputTokens = z
  .object({ object: z.literal('response.input_tokens'), input_tokens: z.int() })
  .meta({ id: 'ResponseInputTokens' })
