/** `POST /v1/generate`, `/v1/generate/stream` and the two batch routes: bodies in, results out. */
import { z } from 'zod'
import type { GenerationRequest, PromptsInput } from '../../../generation/generation-request.ts'
import { GENERATE_NUMBERS } from '../../../net/requests/request-fields.ts'
import {
  arrayOf,
  boolean,
  bounded,
  generationBody,
  integer,
  modelId,
  must,
  priority,
  repetitionPenalty,
  seed,
  stopStrings,
  text,
  topK,
  topP,
} from '../../schemas/fields.ts'
import { constraintFields, constraintOf, refuseSeveralConstraints } from '../../schemas/constraints.ts'
import { endFields, toEndRules } from '../../schemas/end-rules.ts'
import { samplingFields, toSampling } from '../../schemas/sampling.ts'

const { max_new_tokens, temperature, top_k, top_p } = GENERATE_NUMBERS

/** What all four bodies share; a batch has the bounds of a single request (spec: decisions, Generation). */
const optionFields = {
  max_new_tokens: bounded(max_new_tokens)
    .default(max_new_tokens.default)
    .describe('Tokens to generate at most.'),
  do_sample: boolean().default(true).describe('False takes the likeliest token each time.'),
  ...samplingFields(),
  // Of the interface's own fields, null is no default.
  temperature: bounded(temperature).default(temperature.default),
  top_k: topK().default(top_k.default),
  top_p: topP().default(top_p.default),
  repetition_penalty: repetitionPenalty().default(1),
  ...endFields(),
  ...constraintFields(),
  num_beams: integer(1, 8)
    .default(1)
    .describe(
      'Beams of a beam search, whose best text per token of log-probability is returned; 1 is none. With ' +
        '`do_sample` its candidates are drawn. The text comes at the end, so it must be 1 on the stream.',
    ),
  stop_strings: stopStrings().nullable().default(null),
  model: modelId().nullable().default(null).describe('Null is the default model.'),
  seed: seed().nullable().default(null),
  priority: priority().default(0),
}

const generateFields = { prompt: text().describe('The text to continue.'), ...optionFields }

const generateBody = generationBody('GenerateRequest', generateFields).superRefine(refuseSeveralConstraints)

const streamBody = generationBody('GenerateStreamRequest', {
  ...generateFields,
  stream: z
    .literal(true, { error: must('true: POST /v1/generate answers in one piece') })
    .nullish()
    .describe('Need not be said.'),
}).superRefine(refuseSeveralConstraints)

const batchBody = generationBody('BatchRequest', {
  prompts: arrayOf(text(), { min: 1, max: 64, of: 'strings' }).describe('The texts to continue.'),
  ...optionFields,
}).superRefine(refuseSeveralConstraints)

type Options = Omit<z.output<typeof generateBody>, 'prompt'>

function toGenerationRequest(body: Options, input: Omit<PromptsInput, 'kind'>): GenerationRequest {
  return {
    modelId: body.model,
    input: { kind: 'prompts', ...input },
    maxNewTokens: body.max_new_tokens,
    sampling: toSampling({ ...body, temperature: body.do_sample ? body.temperature : 0 }),
    stopStrings: body.stop_strings ?? [],
    ...toEndRules(body),
    ...constraintOf(body),
    numBeams: body.num_beams,
    priority: body.priority,
  }
}

const toSingle = (body: z.output<typeof generateBody>) =>
  toGenerationRequest(body, { prompts: [{ name: 'prompt', text: body.prompt }], batch: null })

export const generateRequest = generateBody.transform(toSingle)

export const generateStreamRequest = streamBody.transform(toSingle)

/** @param batch how its prompts queue */
export const batchRequest = (batch: NonNullable<PromptsInput['batch']>) =>
  batchBody.transform((body) => {
    const prompts = body.prompts.map((text, index) => ({ name: `prompts[${index}]`, text }))
    return toGenerationRequest(body, { prompts, batch })
  })

const tokenCounts = {
  prompt_tokens: z.int(),
  completion_tokens: z.int().describe('Number of `token_ids`.'),
  total_tokens: z.int(),
}

const resultFields = {
  token_ids: z
    .array(z.int())
    .describe('Exactly the generated tokens, those of a matched stop string included.'),
  ...tokenCounts,
  model: z.string(),
  created: z.int().describe('Unix seconds.'),
  finish_reason: z.enum(['stop', 'length', 'content_filter', 'error']),
}

export const generateResponse = z
  .object({ generated_text: z.string(), ...resultFields })
  .meta({ id: 'GenerateResponse' })

/** `queue_ms` is there on `/continuous-batch` only. */
const itemFields = { index: z.int(), queue_ms: z.number().optional() }

const batchItem = z
  .object({ ...itemFields, generated_text: z.string(), ...resultFields })
  .meta({ id: 'BatchItem' })

const failedBatchItem = z
  .object({
    ...itemFields,
    error: z.object({
      message: z.string(),
      type: z.string(),
      param: z.string().nullable(),
      code: z.string().describe('As `x-error-code` of an answer.'),
    }),
    ...resultFields,
  })
  .meta({ id: 'FailedBatchItem', description: 'A prompt that failed: `error` in place of the text.' })

export const batchResponse = z
  .object({
    results: z.array(z.union([batchItem, failedBatchItem])).describe('In the order of the prompts.'),
    ...tokenCounts,
    model: z.string(),
    created: z.int().describe('Unix seconds.'),
  })
  .meta({ id: 'BatchResponse' })

export const streamChunk = z
  .object({
    choices: z.array(
      z.object({
        index: z.int(),
        delta: z.object({ content: z.string() }),
        finish_reason: z.enum(['stop', 'length', 'content_filter']).nullable(),
      }),
    ),
    usage: z.object(tokenCounts).describe('So far.'),
  })
  .meta({ id: 'StreamChunk', description: 'Data of each event; the last one is `[DONE]`.' })
