/** `GET /v1/models` and `GET /v1/models/{model_id}`. */
import { z } from 'zod'
import { QUANTIZATIONS } from '../../config/server-config.ts'
import type { ModelRecord } from '../../models/registry.ts'
import { must, nullableWithDefault, text } from './fields.ts'
import { queryChoice } from './query.ts'

export const model = z
  .object({
    id: z.string(),
    object: z.literal('model'),
    created: z.int().describe('Unix seconds.'),
    owned_by: z.string(),
    meta: z.object({
      architecture: z.string().nullable(),
      parameters: z.number().nullable(),
      size_mb: z.number().nullable().describe('Size of the weights in MB (10^6 bytes).'),
      quantization: z.string().nullable(),
      max_seq_len: z.number().nullable().describe('Tokens a sequence may reach; null is no limit.'),
      vocab_size: z.number().nullable(),
      engine: z.string().nullable(),
      state: z.enum(['loading', 'ready', 'draining', 'failed']),
      load_progress: z.number().describe('0 to 1.'),
      failure: z.string().nullable().describe('Why it failed, or why the last try to replace it did.'),
    }),
  })
  .meta({ id: 'Model', description: 'What is not known before the headers have been read is null.' })

export const modelList = z
  .object({ object: z.literal('list'), data: z.array(model) })
  .meta({ id: 'ModelList' })

export const modelParams = z.object({ '*': z.string() })

const path = () =>
  text('a path').refine((value) => value !== '' && !value.includes('\0'), { error: must('a path') })

const besideCheckpoint = () =>
  path()
    .nullable()
    .optional()
    .transform((given) => given ?? null)
    .describe('By default beside the checkpoint.')

const MODEL_ID_RULE = 'a string of 1 to 200 characters without spaces'

export const registerModelRequest = z
  .object(
    {
      id: text(MODEL_ID_RULE)
        .refine((value) => /^[^\s\p{C}]{1,200}$/u.test(value), { error: must(MODEL_ID_RULE) })
        .describe('One that is served already is replaced without losing a request.'),
      checkpoint: path().describe(
        'On the server: a .gguf file, a .safetensors file, or a folder in the Hugging Face layout.',
      ),
      model_config: besideCheckpoint(),
      tokenizer: besideCheckpoint(),
      quantization: nullableWithDefault(quantization(), 'none'),
    },
    { error: 'must be a JSON object' },
  )
  .meta({ id: 'RegisterModelRequest' })

export const registerModelQuery = z.object({
  wait: queryChoice(['true', 'false'])
    .default('true')
    .describe('`false` answers at once; `state` then tells how the load goes.'),
})

export const unregisteredModel = z
  .object({ status: z.literal('unregistered'), id: z.string() })
  .meta({ id: 'UnregisteredModel' })

function quantization() {
  const rule = `one of ${QUANTIZATIONS.join(', ')}`
  return z.enum(QUANTIZATIONS, { error: must(rule) }).refine((value) => value === 'none', {
    error: 'is not available yet: only none may be given',
    params: { code: 'unsupported_value' },
  })
}

const BYTES_PER_MB = 1_000_000

export function toModel({
  id,
  createdUnixSeconds,
  state,
  loadFraction,
  failure,
  outline,
}: ModelRecord): z.output<typeof model> {
  return {
    id,
    object: 'model',
    created: Math.floor(createdUnixSeconds),
    owned_by: 'sluice',
    meta: {
      architecture: outline?.architecture ?? null,
      parameters: outline?.parameters ?? null,
      size_mb: outline === null ? null : outline.sizeBytes / BYTES_PER_MB,
      quantization: outline?.quantization ?? null,
      max_seq_len: outline?.maxSeqLen ?? null,
      vocab_size: outline?.vocabSize ?? null,
      engine: outline?.engine ?? null,
      state,
      load_progress: loadFraction,
      failure,
    },
  }
}
