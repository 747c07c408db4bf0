/** `GET /v1/models` and `GET /v1/models/{model_id}`. */
import { z } from 'zod'
import type { ModelRecord } from '../../models/registry.ts'

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
      failure: z.string().nullable().describe('Why it failed to load.'),
    }),
  })
  .meta({ id: 'Model', description: 'What is not known before the first load has finished is null.' })

export const modelList = z
  .object({ object: z.literal('list'), data: z.array(model) })
  .meta({ id: 'ModelList' })

export const modelParams = z.object({ '*': z.string() })

const BYTES_PER_MB = 1_000_000

export function toModel({
  id,
  createdUnixSeconds,
  state,
  loadFraction,
  failure,
  info,
}: ModelRecord): z.output<typeof model> {
  return {
    id,
    object: 'model',
    created: Math.floor(createdUnixSeconds),
    owned_by: 'sluice',
    meta: {
      architecture: info?.architecture ?? null,
      parameters: info?.parameters ?? null,
      size_mb: info === null ? null : info.sizeBytes / BYTES_PER_MB,
      quantization: info?.quantization ?? null,
      max_seq_len: info?.maxSeqLen ?? null,
      vocab_size: info?.vocabSize ?? null,
      engine: info?.engine ?? null,
      state,
      load_progress: loadFraction,
      failure,
    },
  }
}
