/**
 * `POST /v1/completions`, shaped like OpenAI's legacy completions, whose `logprobs` is a number. Its clients send `null` for
 * what they leave out, so `null` is absence for every optional field.
 */
import { z } from 'zod'
import type { GenerationRequest } from '../../../generation/generation-request.ts'
import {
  addUnsupported,
  anyTokenId,
  boolean,
  integer,
  maxTokens,
  modelId,
  must,
  nullableWithDefault,
  priority,
  seed,
  text,
} from '../../schemas/fields.ts'
import { constraintFields, constraintOf, refuseSeveralConstraints } from '../../schemas/constraints.ts'
import { endFields, toEndRules } from '../../schemas/end-rules.ts'
import { longArray } from '../../schemas/parsing/long-array.ts'
import {
  finishReason,
  stopField,
  streamOptionsField,
  usage,
  usageOption,
} from '../../schemas/openai-fields.ts'
import { samplingFields, toSampling } from '../../schemas/sampling.ts'
import { passedOnBody, toUpstreamFields } from '../../schemas/upstream-fields.ts'

/** As a batch has prompts and a chat has answers. */
const MAX_PROMPTS = 64
const MAX_CHOICES = 64
const DEFAULT_MAX_TOKENS = 16

const PROMPT_RULE = `a string, an array of token ids, or an array of 1 to ${MAX_PROMPTS} of either`

const error = must(PROMPT_RULE)

const tokenIds = () => longArray(anyTokenId()).min(1, { error })

const severalOf = <Item extends z.ZodType>(item: Item) =>
  longArray(item).min(1, { error }).max(MAX_PROMPTS, { error })

const prompt = z
  .union([text(), tokenIds(), severalOf(text()), severalOf(tokenIds())], { error })
  .describe('What is continued. Token ids are taken as they are: no token is added to them.')

const choices = () =>
  integer(1, MAX_CHOICES).describe(
    `Answers to each prompt; of all prompts together at most ${MAX_CHOICES}. Their \`index\` counts those of the first prompt first.`,
  )

const logprobs = () =>
  integer(0, 5).describe(
    'Log probabilities of the generated tokens, and so many of the likeliest tokens in the place of each.',
  )

const completionBody = passedOnBody('CompletionRequest', {
  model: nullableWithDefault(modelId(), 'default'),
  prompt,
  max_tokens: nullableWithDefault(maxTokens(), DEFAULT_MAX_TOKENS),
  ...samplingFields(),
  ...endFields(),
  ...constraintFields(),
  n: nullableWithDefault(choices(), 1),
  best_of: integer(1, MAX_CHOICES)
    .nullish()
    .describe('At most `n`: more answers than are given back are not made.'),
  echo: nullableWithDefault(boolean(), false).describe(
    'Whether each answer begins with the text of its prompt.',
  ),
  logprobs: logprobs().nullish(),
  stream: nullableWithDefault(boolean(), false),
  stream_options: streamOptionsField(usageOption),
  stop: stopField(),
  seed: seed().nullish(),
  priority: nullableWithDefault(priority(), 0),
}).superRefine((body, context) => {
  refuseSeveralConstraints(body, context)
  const prompts = toPrompts(body.prompt).length
  if (prompts * body.n > MAX_CHOICES) {
    const most = Math.floor(MAX_CHOICES / prompts)
    const message = `must be at most ${most} for ${prompts} prompts (${MAX_CHOICES} answers in all), but was ${body.n}`
    context.addIssue({ code: 'custom', path: ['n'], message })
  }
  const { best_of: candidates, n, echo, logprobs: wanted } = body
  if (typeof candidates === 'number' && candidates > n) {
    const why = 'this route cannot choose the best of several answers'
    addUnsupported(context, ['best_of'], `must be at most n (${n}), but was ${candidates}: ${why}`)
  }
  if (echo && typeof wanted === 'number') {
    const why = 'this route cannot give log probabilities of the prompt'
    addUnsupported(context, ['logprobs'], `must be null where echo is true, but was ${wanted}: ${why}`)
  }
})

type PromptField = z.output<typeof prompt>

function toPrompts(given: PromptField): readonly (string | readonly number[])[] {
  if (typeof given === 'string') return [given]
  return isTokenIds(given) ? [given] : given
}

function isTokenIds(given: Exclude<PromptField, string>): given is number[] {
  return typeof given[0] === 'number'
}

function toInput(given: PromptField) {
  const isOne = typeof given === 'string' || isTokenIds(given)
  return toPrompts(given).map((one, index) => {
    const name = isOne ? 'prompt' : `prompt[${index}]`
    return typeof one === 'string' ? { name, text: one } : { name, tokenIds: one }
  })
}

function toGenerationRequest(body: z.output<typeof completionBody>): GenerationRequest {
  return {
    modelId: body.model,
    input: {
      kind: 'prompts',
      prompts: toInput(body.prompt),
      choices: body.n,
      batch: null,
      reportsContextCap: true,
    },
    maxNewTokens: body.max_tokens,
    sampling: toSampling(body),
    stopStrings: body.stop ?? [],
    ...toEndRules(body),
    ...constraintOf(body),
    ...(typeof body.logprobs === 'number' && { topLogprobs: body.logprobs }),
    ...toUpstreamFields(body),
    numBeams: 1,
    priority: body.priority,
  }
}

export const completionRequest = completionBody.transform((body) => ({
  isStream: body.stream,
  includeUsage: body.stream_options?.include_usage ?? false,
  isUsageContinuous: body.stream_options?.continuous_usage_stats ?? false,
  choices: body.n,
  hasEcho: body.echo,
  generation: toGenerationRequest(body),
}))

export const completionLogprobs = z.object({
  tokens: z.array(z.string()).describe('A token that is no whole character is written `bytes:\\xe2\\x80`.'),
  token_logprobs: z.array(z.number()),
  top_logprobs: z
    .array(z.record(z.string(), z.number()))
    .nullable()
    .describe('For each token the likeliest in its place, and itself; null where `logprobs` is 0.'),
  text_offset: z.array(z.int()).describe('Where each token begins in the text, in characters.'),
})

const completionFields = {
  id: z.string().describe('`cmpl-<id>`, the same in every chunk of a stream.'),
  object: z.literal('text_completion'),
  created: z.int().describe('Unix seconds.'),
  model: z.string(),
}

const choiceFields = {
  index: z.int().describe('That of the prompt times `n`, and the number of the answer.'),
  text: z.string(),
  logprobs: completionLogprobs.nullable(),
}

export const completion = z
  .object({
    ...completionFields,
    choices: z.array(z.object({ ...choiceFields, finish_reason: finishReason })),
    usage,
  })
  .meta({ id: 'Completion' })

export const completionChunk = z
  .object({
    ...completionFields,
    choices: z.array(z.object({ ...choiceFields, finish_reason: finishReason.nullable() })),
    usage: usage.nullable().optional().describe('With `stream_options.include_usage` only.'),
  })
  .meta({ id: 'CompletionChunk', description: 'Data of each event; the last one is `[DONE]`.' })
