/** The rows of the table of options that say which models are served, and how their engines compute. */
import { QUANTIZATIONS } from '../core/choices/quant-mode.ts'
import { SCHEDULE_POLICIES } from '../core/choices/schedule-policy.ts'
import { PREFIX_CACHE_SCOPES } from '../core/choices/prefix-cache-scope.ts'
import { SPECULATIONS } from '../core/choices/speculation.ts'
import { TOOL_FORMATS } from '../core/choices/tool-format.ts'
import { configuredModels, modelAlias, modelIdKind } from './model-kinds.ts'
import { inGroup } from './option-row.ts'
import { endpointUrl, modelName, upstreamSecret } from './upstream-kinds.ts'
import { choice, list, offOr, path, wholeNumber, wordOr } from './value-kinds.ts'

export const MODEL_OPTIONS = {
  ...inGroup('Model', {
    checkpoint: {
      kind: path('path'),
      default: null,
      defaultText: 'the passthrough model',
      help: '.gguf file, .safetensors file, folder in the Hugging Face layout, hf:org/repo[:file.gguf], or demo for the bundled model',
    },
    modelConfig: {
      kind: path(),
      default: null,
      defaultText: 'beside the checkpoint',
      help: 'config.json of the checkpoint; overrides metadata of a .gguf',
    },
    tokenizer: {
      kind: path(),
      default: null,
      defaultText: 'beside the checkpoint',
      help: 'tokenizer.json or tekken.json of a safetensors checkpoint',
    },
    modelId: {
      kind: modelIdKind,
      default: null,
      defaultText: "the checkpoint's stem",
      help: 'id under which the checkpoint is served',
    },
    quantization: {
      kind: choice(QUANTIZATIONS),
      default: 'none',
      help: 'applied when the checkpoint is loaded',
    },
    draftCheckpoint: {
      kind: path('path'),
      default: null,
      help: 'smaller checkpoint of the same vocabulary that guesses the next tokens; a path, hf:org/repo[:file.gguf], or demo; used where that is measured to be faster',
    },
    toolFormat: {
      kind: choice(TOOL_FORMATS, 'format'),
      default: 'auto',
      help: `how the checkpoint writes tool calls: ${TOOL_FORMATS.join(', ')}; auto finds it from its chat template`,
    },
    upstream: {
      kind: list(endpointUrl),
      default: Object.freeze([]),
      help: 'servers with an OpenAI API that serve the model, as http://host:8000/v1; dns+http://name:8000/v1 is every address of the name',
    },
    upstreamKey: {
      kind: upstreamSecret,
      default: null,
      help: 'key sent to the upstream: text, env:NAME or @FILE',
    },
    upstreamModel: {
      kind: modelName,
      default: null,
      defaultText: 'the first that the upstream lists',
      help: 'id of the model at the upstream',
    },
    aliases: {
      kind: list(modelAlias),
      default: Object.freeze([]),
      help: 'further names of models, such as gpt-4o=llama; an id that is registered comes before them',
    },
    models: {
      kind: configuredModels,
      default: Object.freeze([]),
      isFileOnly: true,
      help: 'more models to serve: a list of objects with id, checkpoint and, where needed, modelConfig, tokenizer, quantization, draftCheckpoint, toolFormat, load, pinned; or with id, engine openai, endpoints and, where needed, apiKey, model; or, for a LoRA adapter, with id, base, adapter and, where needed, scale; each may have fallback, tiers, keys too',
    },
  }),
  ...inGroup('Engine', {
    maxBatchSize: {
      kind: wholeNumber({ min: 1, max: 256 }),
      default: 8,
      help: 'sequences in one running batch',
    },
    maxSeqLen: {
      kind: wholeNumber({ min: 1, max: 16_777_216 }),
      default: null,
      defaultText: "the model's own, at most kv-cache-tokens, or 4096 without them",
      help: 'tokens a sequence may reach',
    },
    kvCacheTokens: {
      kind: wholeNumber({ min: 256, max: 268_435_456 }),
      default: null,
      defaultText:
        '4096 for each of max-batch-size, one whole sequence at least, fewer where memory is short',
      help: 'tokens of the KV cache, of all running sequences together; rounded up to a multiple of 256',
    },
    defaultMaxTokens: {
      kind: wordOr('context', wholeNumber({ min: 1, max: 8192 })),
      default: 256,
      help: 'tokens a chat may generate that names no number; context: as many as its tier and the context allow',
    },
    kvCacheType: {
      kind: choice(['f16', 'q8_0']),
      default: 'f16',
      help: 'precision of the KV cache; q8_0 takes 53 % of the memory',
    },
    prefixCacheMb: {
      kind: wordOr('auto', wholeNumber({ min: 0, max: 16_777_216 })),
      default: 'auto',
      help: 'memory in MB for conversations that lost their slot, of each model; auto: a quarter of what its load leaves free, at most 2000; 0 keeps none',
    },
    prefixCacheScope: {
      kind: choice(PREFIX_CACHE_SCOPES),
      default: 'shared',
      help: 'whose prompts may use what others left in the cache: shared, or account for those of the same account',
    },
    prefixCacheDir: {
      kind: path('folder'),
      default: null,
      defaultText: 'none',
      help: 'folder in which such conversations outlive the engine, as many as in memory; they lie there unencrypted, readable by this user only',
    },
    schedulePolicy: {
      kind: choice(SCHEDULE_POLICIES),
      default: 'priority',
      help: 'order of the waiting queue',
    },
    speculation: {
      kind: choice(SPECULATIONS),
      default: 'ngram',
      help: 'ngram guesses ahead where one text repeats itself, and checks the guesses with the next token',
    },
    maxQueue: {
      kind: wholeNumber({ min: 1, max: 1_000_000 }),
      default: 512,
      help: 'waiting sequences, all models together',
    },
    maxLoadedModels: {
      kind: wholeNumber({ min: 1, max: 10_000 }),
      default: null,
      defaultText: 'as many as there is memory for',
      help: 'models of this server that are loaded at once; for another, the least recently used one is unloaded',
    },
    idleUnload: {
      kind: offOr(wholeNumber({ min: 1, max: 31_536_000 }, 'seconds')),
      default: null,
      defaultText: 'off',
      help: 'seconds without a request after which a model is unloaded, until the next one',
    },
    replicas: {
      kind: wholeNumber({ min: 1, max: 64 }),
      default: 1,
      help: 'engine processes per model',
    },
    gpu: {
      kind: choice(['auto', 'off']),
      default: 'auto',
      help: 'auto uses a GPU where one is found',
    },
    gpuLayers: {
      kind: wholeNumber({ min: 0, max: 10_000 }),
      default: null,
      defaultText: 'as many as fit',
      help: 'layers of the model to put on the GPU, as far as they fit',
    },
    threads: {
      kind: wholeNumber({ min: 1, max: 1024 }),
      default: null,
      defaultText: 'by model size, at most all cores',
      help: 'most compute threads of an engine; fewer where others need the cores',
    },
  }),
}
