/** `POST /v1/embeddings`, shaped like OpenAI's (API reference, "Create embeddings"). `null` is absence for every optional field. */
import { z } from 'zod'
import type { EmbeddingInput } from '../../../generation/embedding.ts'
import { UNBUILT_EMBEDDING_FIELDS } from '../../../net/requests/other-fields/embeddings.ts'
import { brokenRule, isWellFormed, NOT_WELL_FORMED } from '../../../net/requests/request-fields.ts'
import {
  integer,
  integerFrom,
  modelId,
  must,
  nullableWithDefault,
  requestBody,
} from '../../schemas/fields.ts'
import { longArray } from '../../schemas/parsing/long-array.ts'

const MAX_INPUTS = 2048
const MAX_TOKEN_ID = 2 ** 31 - 1

const INPUT_RULE = `a string, an array of 1 to ${MAX_INPUTS} strings, an array of token ids, or an array of 1 to ${MAX_INPUTS} arrays of token ids`
const COUNT_RULE = `an array of 1 to ${MAX_INPUTS} inputs`

/** That it is not empty is said with the place of the text. */
const oneText = () => z.string().meta({ minLength: 1 })

const tokenIds = () => longArray(integer(0, MAX_TOKEN_ID))

type Given = string | readonly string[] | readonly number[] | readonly (readonly number[])[]
type OneInput = string | readonly number[]

const input = z
  .union([oneText(), longArray(oneText()), tokenIds(), longArray(tokenIds())], { error: must(INPUT_RULE) })
  .superRefine((given, context) => {
    const [wrong] = findProblems(given)
    if (wrong !== undefined) context.addIssue({ code: 'custom', ...wrong })
  })
  .transform(toInputs)
  .describe('The texts, or their token ids, around which no special token is put then.')

function* findProblems(given: Given): Generator<{ message: string; path: PropertyKey[] }> {
  const inputs = listOf(given)
  if (inputs === null) return yield* problemsOf(given as OneInput, [])
  if (inputs.length < 1 || inputs.length > MAX_INPUTS) {
    return yield { message: brokenRule(COUNT_RULE, inputs), path: [] }
  }
  for (const [index, one] of inputs.entries()) yield* problemsOf(one, [index])
}

function* problemsOf(
  one: OneInput,
  path: PropertyKey[],
): Generator<{ message: string; path: PropertyKey[] }> {
  if (one.length === 0) yield { message: 'must not be empty', path }
  else if (typeof one === 'string' && !isWellFormed(one)) yield { message: NOT_WELL_FORMED, path }
}

/** Null where there is one input alone, which may be an array of token ids. */
function listOf(given: Given): readonly OneInput[] | null {
  if (typeof given === 'string' || typeof given[0] === 'number') return null
  return given as readonly OneInput[]
}

function toInputs(given: Given): readonly EmbeddingInput[] {
  const inputs = listOf(given)
  if (inputs === null) return [{ name: 'input', prompt: toPrompt(given as OneInput) }]
  return inputs.map((one, index) => ({ name: `input[${index}]`, prompt: toPrompt(one) }))
}

function toPrompt(one: OneInput): EmbeddingInput['prompt'] {
  return typeof one === 'string' ? { pieces: [one], addSpecial: true } : { tokenIds: one }
}

const ENCODING_FORMATS = ['float', 'base64'] as const

const body = requestBody(
  'EmbeddingsRequest',
  {
    model: nullableWithDefault(modelId(), 'default'),
    input,
    encoding_format: nullableWithDefault(
      z.enum(ENCODING_FORMATS, { error: must("'float' or 'base64'") }),
      'float',
    ).describe('`base64` is of 32-bit floats in little-endian order.'),
    dimensions: integerFrom(1)
      .nullish()
      .describe(
        'Cuts the vectors, where the model was trained for it (Matryoshka); they have length 1 again.',
      ),
  },
  UNBUILT_EMBEDDING_FIELDS,
)

export const embeddingsRequest = body.transform((given) => ({
  modelId: given.model,
  inputs: given.input,
  encoding: given.encoding_format,
  dimensions: given.dimensions ?? null,
}))

export type EmbeddingsRequest = z.output<typeof embeddingsRequest>

export const embeddingsResponse = z
  .object({
    object: z.literal('list'),
    data: z.array(
      z.object({
        object: z.literal('embedding'),
        index: z.int(),
        embedding: z.union([z.array(z.number()), z.string()]),
      }),
    ),
    model: z.string(),
    usage: z.object({ prompt_tokens: z.int(), total_tokens: z.int() }).meta({ id: 'EmbeddingUsage' }),
  })
  .meta({ id: 'EmbeddingsResponse' })
