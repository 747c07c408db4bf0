/**
 * How tokens are chosen: the fields that all routes that generate share (named as in OpenAI's API or vLLM, **ext** where a
 * dialect lacks them), and what they ask of an engine. The bounds are OpenAI's and vLLM's.
 */
import { z } from 'zod'
import { describeValue } from '../../net/requests/request-fields.ts'
import type { Sampling } from '../../protocol/engine.ts'
import { isJsonObject, must, nullableWithDefault, number, repetitionPenalty, topK, topP } from './fields.ts'

const MAX_BIASES = 300
const BIAS_RULE = `an object of at most ${MAX_BIASES} token ids, each with a number`
/** As `String` writes a whole number. */
const TOKEN_ID = /^(?:0|[1-9]\d{0,9})$/

const minP = () =>
  number(0, 1).describe(
    "Leaves out tokens whose probability is less than this share of the likeliest one's, after `top_k` and `top_p`; 0 is off.",
  )

const presencePenalty = () =>
  number(-2, 2).describe('Subtracted from the logit of each token that the output has so far; 0 is off.')

const frequencyPenalty = () =>
  number(-2, 2).describe(
    'Subtracted from the logit of a token for each time the output has it so far; 0 is off.',
  )

const logitBias = () =>
  z
    .preprocess(
      checkBiases,
      z.record(z.string(), number(-100, 100), { error: must(BIAS_RULE) }).meta({
        propertyNames: { pattern: TOKEN_ID.source },
        maxProperties: MAX_BIASES,
      }),
    )
    .describe('Added to the logits of single tokens, before any penalty. Keys are token ids of the model.')

/** What is cheap to check of a large object comes first. llama-server's clients write an empty list for none. */
function checkBiases(given: unknown, context: z.RefinementCtx): unknown {
  if (Array.isArray(given) && given.length === 0) return {}
  if (!isJsonObject(given)) return given
  const ids = Object.keys(given)
  const wrong = ids.find((id) => !TOKEN_ID.test(id))
  if (ids.length > MAX_BIASES) {
    context.addIssue({ code: 'custom', message: `must be ${BIAS_RULE}, but has ${ids.length}` })
  } else if (wrong !== undefined) {
    context.addIssue({
      code: 'custom',
      message: `must have token ids as keys, but has ${describeValue(wrong)}`,
    })
  }
  return given
}

export const samplingFields = ({ maxTemperature = 5 } = {}) => ({
  temperature: nullableWithDefault(number(0, maxTemperature), 1).describe(
    '0 takes the likeliest token each time, and so does less than 0.00001.',
  ),
  top_k: nullableWithDefault(topK(), 0),
  top_p: nullableWithDefault(topP(), 1),
  repetition_penalty: nullableWithDefault(repetitionPenalty(), 1),
  min_p: nullableWithDefault(minP(), 0),
  presence_penalty: nullableWithDefault(presencePenalty(), 0),
  frequency_penalty: nullableWithDefault(frequencyPenalty(), 0),
  logit_bias: nullableWithDefault(logitBias(), {}),
})

/** As in vLLM: what is below leaves no token but the likeliest, and divides its logits beyond what floats tell apart. */
const MIN_TEMPERATURE = 1e-5

interface SamplingBody {
  readonly temperature: number
  readonly top_k: number
  readonly top_p: number
  readonly repetition_penalty: number
  readonly min_p: number
  readonly presence_penalty: number
  readonly frequency_penalty: number
  readonly logit_bias: Readonly<Record<string, number>>
  readonly seed?: number | null | undefined
}

/** What is off is left out: it needs no bytes on its way to the engine. */
export function toSampling(body: SamplingBody): Sampling {
  const logitBias = Object.entries(body.logit_bias).map(([id, bias]) => [Number(id), bias] as const)
  return {
    temperature: body.temperature < MIN_TEMPERATURE ? 0 : body.temperature,
    topK: Math.max(body.top_k, 0),
    topP: body.top_p,
    repetitionPenalty: body.repetition_penalty === 0 ? 1 : body.repetition_penalty,
    seed: toSafeSeed(body.seed ?? null),
    ...(body.min_p !== 0 && { minP: body.min_p }),
    ...(body.presence_penalty !== 0 && { presencePenalty: body.presence_penalty }),
    ...(body.frequency_penalty !== 0 && { frequencyPenalty: body.frequency_penalty }),
    ...(logitBias.length > 0 && { logitBias }),
  }
}

/** More than a prompt has choices. */
const SPARE_SEEDS = 1000

/** A seed to which the number of a choice can be added, and which any remote server takes. */
function toSafeSeed(seed: number | null): number | null {
  const largest = Number.MAX_SAFE_INTEGER - SPARE_SEEDS
  return seed === null || Math.abs(seed) <= largest ? seed : seed % largest
}
