/** `GET /v1/models` and `GET /v1/models/{model_id}`. */
import { z } from 'zod'
import { hasDotSegment, keyIdKind, modelIdKind } from '../../config/model-kinds.ts'
import { LOAD_TIMES } from '../../core/choices/load-time.ts'
import { ServiceError } from '../../core/errors.ts'
import { QUANTIZATIONS } from '../../core/choices/quant-mode.ts'
import { TIERS } from '../../core/tiers.ts'
import { TOOL_FORMATS } from '../../core/choices/tool-format.ts'
import {
  BYTES_PER_MB,
  CAPABILITIES,
  MODEL_STATES,
  toGpuObject,
  toModelObject,
} from '../../models/model-record.ts'
import type { ModelRecord } from '../../models/model-record.ts'
import type { QuantizeResult } from '../../models/quantize-jobs.ts'
import type { CheckpointReport } from '../../protocol/checkpoint-report.ts'
import { ValueProblem, type ValueKind } from '../../config/value-kinds.ts'
import { endpointUrl, modelName } from '../../config/upstream-kinds.ts'
import { arrayOf, isJsonObject, must, nullableWithDefault, number, text } from './fields.ts'
import { queryChoice } from './query.ts'

/** Of Anthropic's Models API. */
const anthropicFields = {
  type: z.literal('model'),
  display_name: z.string(),
  created_at: z.string().describe('RFC 3339.'),
  lifecycle: z.literal('active'),
  deprecated_at: z.null(),
  retires_at: z.null(),
  line: z.null(),
  capabilities: z.null(),
  max_input_tokens: z.number().nullable().describe('As `max_seq_len`.'),
  max_tokens: z.number().nullable().describe('As `max_seq_len`.'),
}

const mb = (what: string) => z.number().describe(`${what}, in MB (10^6 bytes).`)

export const gpu = z
  .object({
    layers: z.int().describe('Layers on GPUs, of one replica.'),
    layers_total: z.int().describe('Layers that could be: those of the model, and its output.'),
    devices: z.array(
      z
        .object({
          name: z.string().describe('As llama.cpp calls it: `CUDA0`, `Vulkan0`.'),
          description: z.string().describe('As its driver calls it.'),
          layers: z.int(),
          weights_mb: mb('Weights on it'),
          kv_cache_mb: mb('KV cache on it'),
          free_mb: mb('What it had free when the model was loaded; of a check, what it has free'),
          total_mb: mb('All of its memory'),
        })
        .meta({ id: 'GpuDevice' }),
    ),
  })
  .meta({ id: 'GpuLayers', description: 'Which part of a model is on GPUs; of a check, which would be.' })

export const model = z
  .object({
    ...z.object(anthropicFields).partial().shape,
    id: z.string(),
    object: z.literal('model'),
    created: z.int().describe('Unix seconds.'),
    owned_by: z.string(),
    root: z.string().optional().describe('As `parent`.'),
    parent: z.string().optional().describe('Of a LoRA adapter: the id of its base model.'),
    meta: z.object({
      architecture: z.string().nullable(),
      parameters: z.number().nullable(),
      size_mb: z.number().nullable().describe('Size of the weights in MB (10^6 bytes).'),
      quantization: z.string().nullable(),
      max_seq_len: z.number().nullable().describe('Tokens a sequence may reach; null is no limit.'),
      kv_cache_tokens: z
        .int()
        .optional()
        .describe('Tokens that all running sequences may hold together; absent where that is not known.'),
      vocab_size: z.number().nullable(),
      engine: z.string().nullable(),
      capabilities: z.array(z.enum(CAPABILITIES)).nullable().describe('What it can be asked for.'),
      draft: z
        .object({ name: z.string(), parameters: z.number() })
        .optional()
        .describe('The draft model that guesses its tokens; absent where it has none.'),
      dimensions: z.int().optional().describe('Numbers of a vector, of an embedding model.'),
      state: z.enum(MODEL_STATES).describe('`unloaded`: the next request loads it.'),
      load_progress: z.number().describe('0 to 1; of the replacement while one loads beside the model.'),
      pinned: z
        .boolean()
        .describe('Whether it stays loaded when others need its room, and while nobody uses it.'),
      last_used: z
        .int()
        .nullable()
        .describe('Unix seconds: when a request for it last began or ended; null before the first.'),
      failure: z.string().nullable().describe('Why it failed, or why the last try to replace it did.'),
      note: z.string().optional().describe('Of the passthrough model, that it repeats the prompt.'),
      gpu: gpu.optional().describe('Absent where no GPU may be used or is there.'),
      replicas: z.int().optional().describe('Engine processes; absent where the model has none of its own.'),
      replicas_ready: z.int().optional().describe('Those of them that serve now.'),
    }),
  })
  .meta({
    id: 'Model',
    description:
      "What is not known before the headers have been read is null. `type` and others of Anthropic's fields are there where the " +
      'request has `anthropic-version`.',
  })

export const modelList = z
  .object({
    object: z.literal('list'),
    data: z.array(model),
    has_more: z.boolean().optional().describe('Of a page: whether there are more models in its direction.'),
    first_id: z.string().nullable().optional().describe('Of a page.'),
    last_id: z.string().nullable().optional().describe('Of a page.'),
  })
  .meta({ id: 'ModelList' })

export const modelParams = z.object({ '*': z.string() })

export const MODEL_ACTIONS = ['load', 'unload'] as const

/** Of a path that ends with what is done to a model, whose id may contain `/`. @throws ServiceError for any other end */
export function toModelAction(path: string): { id: string; action: (typeof MODEL_ACTIONS)[number] } {
  const end = path.lastIndexOf('/')
  const action = MODEL_ACTIONS.find((one) => one === path.slice(end + 1))
  if (action !== undefined && end > 0) return { id: path.slice(0, end), action }
  const message = 'The path must be /v1/admin/models/{id}/load or /v1/admin/models/{id}/unload.'
  throw new ServiceError('invalid_request', { message })
}

/** The file system refuses longer ones too; refused here, the message stays short. */
const MAX_PATH_LENGTH = 4096

const PATH_RULE = `a path of 1 to ${MAX_PATH_LENGTH} characters`

const path = () =>
  text(PATH_RULE).refine(
    (value) => value !== '' && value.length <= MAX_PATH_LENGTH && !value.includes('\0'),
    { error: must(PATH_RULE) },
  )

const besideCheckpoint = () =>
  path()
    .nullable()
    .optional()
    .transform((given) => given ?? null)
    .describe('By default beside the checkpoint.')

const MODEL_ID_RULE = 'a string of 1 to 200 characters without spaces'

const modelId = () =>
  text(MODEL_ID_RULE)
    .refine((value) => /^[^\s\p{C}]{1,200}$/u.test(value), { error: must(MODEL_ID_RULE) })
    .describe('One that is served already is replaced without losing a request.')

/** Read by the rules of the configuration file. */
const readBy = <Value>(kind: ValueKind<Value>) =>
  text().transform((given, context): Value => {
    try {
      return kind.parse(given)
    } catch (error) {
      if (!(error instanceof ValueProblem)) throw error
      context.addIssue({ code: 'custom', message: error.message })
      return z.NEVER
    }
  })

/** Clients take a segment of dots out of a path before they send it. */
const registeredId = () =>
  modelId().refine((id) => !hasDotSegment(id), {
    error: must("an id without '.' or '..' between slashes"),
  })

const MAX_ENDPOINTS = 256
const MAX_KEYS = 1000

/** Who may use it, and what answers in its place. */
const policyFields = {
  fallback: readBy(modelIdKind)
    .nullish()
    .describe('The id of the model that answers generations while this one cannot be reached.'),
  tiers: arrayOf(z.enum(TIERS, { error: must(`one of ${TIERS.join(', ')}`) }), {
    ...{ min: 0, max: TIERS.length, of: 'tiers' },
  })
    .nullish()
    .describe('The tiers that may use it, beside `keys`; all where neither is given.'),
  keys: arrayOf(readBy(keyIdKind), { min: 0, max: MAX_KEYS, of: 'ids of keys' })
    .nullish()
    .describe('The ids of keys that may use it, beside `tiers`.'),
}

function checkpointFields() {
  return {
    checkpoint: path().describe(
      'On the server: a .gguf file, a .safetensors file, or a folder in the Hugging Face layout; or hf:org/repo[:file.gguf].',
    ),
    model_config: besideCheckpoint(),
    tokenizer: besideCheckpoint(),
    quantization: nullableWithDefault(quantization(), 'none'),
    draft_checkpoint: path()
      .nullish()
      .transform((given) => given ?? null)
      .describe(
        'A smaller checkpoint of the same vocabulary that guesses the next tokens, on the server or hf:org/repo[:file.gguf].',
      ),
  }
}

export const checkModelRequest = z
  .object(checkpointFields(), { error: 'must be a JSON object' })
  .meta({ id: 'CheckModelRequest' })

export const checkedModel = z
  .object({
    architecture: z.string(),
    parameters: z.number(),
    quantization: z.string().describe('Of the checkpoint as it is.'),
    size_bytes: z
      .number()
      .describe('Of the weights as they would be served; an estimate where they are to be quantized.'),
    download_bytes: z.number().describe('What is not on this server yet.'),
    max_seq_len: z.number().describe('Tokens that a sequence may reach.'),
    kv_cache_bytes: z.number().describe('Of one replica.'),
    kv_cache_tokens: z
      .int()
      .nullable()
      .describe('Tokens that it holds, of all running sequences together; null for an embedding model.'),
    needed_bytes: z
      .number()
      .describe(
        'Of the own memory of the server, for all replicas while they are loaded; GPUs have the rest.',
      ),
    available_bytes: z.number().describe('Memory beside the models that serve.'),
    gpu: gpu
      .nullable()
      .describe('What a replica would put on GPUs; null where none may be used or is there.'),
    fits: z.boolean(),
    problem: z.string().nullable().describe('Why it does not fit.'),
  })
  .meta({ id: 'CheckedModel' })

export function toCheckedModel(report: CheckpointReport): z.output<typeof checkedModel> {
  return {
    architecture: report.architecture,
    parameters: report.parameters,
    quantization: report.quantization,
    size_bytes: report.sizeBytes,
    download_bytes: report.downloadBytes,
    max_seq_len: report.maxSeqLen,
    kv_cache_bytes: report.kvCacheBytes,
    kv_cache_tokens: report.kvCacheTokens,
    needed_bytes: report.neededBytes,
    available_bytes: report.availableBytes,
    gpu: report.placement === null ? null : toGpuObject(report.placement),
    fits: report.problem === null,
    problem: report.problem,
  }
}

const remoteModelRequest = z
  .object({
    id: registeredId(),
    engine: z.literal('openai'),
    endpoints: arrayOf(readBy(endpointUrl), { min: 1, max: MAX_ENDPOINTS, of: 'URLs' }).describe(
      'As `http://host:8000/v1`; `dns+http://name:8000/v1` is every address of the name.',
    ),
    api_key: text()
      .nullish()
      .describe(
        'Sent to the endpoints: text or, with the admin key, `env:NAME` or `@FILE` of the server. Never shown.',
      ),
    model: readBy(modelName).nullish().describe('Its id there; by default the first that they list.'),
    ...policyFields,
  })
  .meta({ id: 'RegisterRemoteModelRequest' })

const adapterModelRequest = z
  .object({
    id: registeredId(),
    engine: z.literal('adapter').describe('May be left out where `adapter` is given.'),
    base: readBy(modelIdKind).describe(
      'The id of the registered model that it is for, whose engine it shares.',
    ),
    adapter: path().describe(
      'On the server: a .gguf file, or a folder with adapter_config.json and adapter_model.safetensors, as PEFT saves it; or hf:org/repo[:file.gguf].',
    ),
    scale: nullableWithDefault(number(-100, 100), 1).describe('Multiplies what it adds to the weights.'),
    ...policyFields,
  })
  .meta({ id: 'RegisterAdapterRequest' })

const localModelRequest = z
  .object(
    {
      id: registeredId(),
      engine: z.literal('llama.cpp').optional(),
      ...checkpointFields(),
      load: nullableWithDefault(loadTime(), 'start').describe(
        'When it is loaded: at once, or by the first request for it. Other models are unloaded where it needs their room.',
      ),
      pinned: nullableWithDefault(z.boolean({ error: must('true or false') }), false).describe(
        'Whether it stays loaded when others need its room, and while nobody uses it.',
      ),
      tool_format: nullableWithDefault(toolFormat(), 'auto').describe('How the model writes tool calls.'),
      ...policyFields,
    },
    { error: 'must be a JSON object' },
  )
  .meta({ id: 'RegisterModelRequest' })

export const registerModelRequest = z.preprocess(
  (given, context) => {
    if (!isJsonObject(given) || (given['adapter'] ?? null) === null) return given
    if ((given['checkpoint'] ?? null) !== null)
      context.addIssue({
        code: 'custom',
        path: ['adapter'],
        message: "must not be given beside checkpoint: an adapter's weights are those of its base",
      })
    return given['engine'] === undefined ? { ...given, engine: 'adapter' } : given
  },
  z.discriminatedUnion('engine', [localModelRequest, remoteModelRequest, adapterModelRequest], {
    error: ({ input }) =>
      isJsonObject(input)
        ? must("'llama.cpp', 'openai' or 'adapter'")({ input: input['engine'] })
        : 'must be a JSON object',
  }),
)

export const registerModelQuery = z.object({
  wait: queryChoice(['true', 'false'])
    .default('true')
    .describe('`false` answers at once; `state` then tells how the load goes.'),
})

export const unregisteredModel = z
  .object({ status: z.literal('unregistered'), id: z.string() })
  .meta({ id: 'UnregisteredModel' })

function quantization() {
  return z.enum(QUANTIZATIONS, { error: must(`one of ${QUANTIZATIONS.join(', ')}`) })
}

function loadTime() {
  return z.enum(LOAD_TIMES, { error: must(`one of ${LOAD_TIMES.join(', ')}`) })
}

function toolFormat() {
  return z.enum(TOOL_FORMATS, { error: must(`one of ${TOOL_FORMATS.join(', ')}`) })
}

export const toModel: (record: ModelRecord) => z.output<typeof model> = toModelObject

export const quantizeQuery = z.object({
  model_id: z
    .string({ error: must('the id of a model') })
    .min(1, { error: must('the id of a model') })
    .describe('A served model; `default` is the default one.'),
  quant_mode: queryChoice(QUANTIZATIONS).default('int4').describe('`none` serves the source as it is again.'),
})

export const quantizeResult = z
  .object({
    status: z.literal('ok'),
    model_id: z.string(),
    quant_mode: z.enum(QUANTIZATIONS),
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
