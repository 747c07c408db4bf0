/** `GET /v1/models` and `GET /v1/models/{model_id}`. */
import { z } from 'zod'
import { QUANT_MODES } from '../../core/quant-mode.ts'
import type { QuantizeResult } from '../../models/quantize-jobs.ts'
import type { ModelRecord } from '../../models/registry.ts'
import { must } from './fields.ts'
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
      load_progress: z.number().describe('0 to 1; of the replacement while one loads beside the model.'),
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
  quantization,
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
      // llama.cpp has no fp8 and sees the blocks it is stored in.
      quantization: quantization === 'fp8' ? quantization : (info?.quantization ?? null),
      max_seq_len: info?.maxSeqLen ?? null,
      vocab_size: info?.vocabSize ?? null,
      engine: info?.engine ?? null,
      state,
      load_progress: loadFraction,
      failure,
    },
  }
}

export const quantizeQuery = z.object({
  model_id: z
    .string({ error: must('the id of a model') })
    .min(1, { error: must('the id of a model') })
    .describe('A served model; `default` is the default one.'),
  quant_mode: queryChoice(QUANT_MODES).default('int4'),
})

export const quantizeResult = z
  .object({
    status: z.literal('ok'),
    model_id: z.string(),
    quant_mode: z.enum(QUANT_MODES),
    layers_quantized: z.int().describe('Weight matrices whose type changed.'),
    size_mb: z.number().describe('Size of the weights that serve now, in MB (10^6 bytes).'),
  })
  .meta({ id: 'QuantizeResult' })

export function toQuantizeBody(result: QuantizeResult): z.output<typeof quantizeResult> {
  return {
    status: 'ok',
    model_id: result.modelId,
    quant_mode: result.mode,
    layers_quantized: result.layersQuantized,
    size_mb: result.sizeBytes / BYTES_PER_MB,
  }
}
