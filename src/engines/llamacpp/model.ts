/**
 * The weights: opens a GGUF file with llama.cpp and describes the model. A context computes with them. Opening
 * blocks until the file is read.
 */
import { StartError } from '../../core/errors.ts'
import type { LoadProgress, MetadataOverride, RunnerOptions } from '../../protocol/runner-options.ts'
import type { CasedPreTokenizer } from '../../checkpoints/tokenizers/tokenizer-keys.ts'
import { SECOND_SEGMENT_KEY } from '../../checkpoints/gguf/embedding-model.ts'
import { type LoadPlan, NativeLoadError } from './devices/load-plan.ts'
import { type Bindings, withDevices, withProgressCallback } from './ffi/bindings.ts'
import { LLAMA_VERSION } from './ffi/libraries.ts'
import { withMetadataOverrides } from './metadata-overrides.ts'
import type { Pointer } from './ffi/structs.ts'
import { type RopeContexts, shortFactorOverrides } from './rope-factors.ts'
import {
  ADD_SPACE_KEY,
  casedOverrides,
  chooseTokenizer,
  normalizesText,
  WPM_VOCABULARY,
} from './tokenizing/tokenizer-choice.ts'

const MAX_METADATA_BYTES = 1024
const BOS_KEY = 'tokenizer.ggml.bos_token_id'
/** llama.cpp would put one behind every special token too. */
const NO_SPACE_IN_FRONT: MetadataOverride = { key: ADD_SPACE_KEY, type: 'bool', value: false }
/** `LLAMA_VOCAB_TYPE_SPM`, which always has one. */
const SPM_VOCABULARY = 1
/** `Q4_K - Medium`, `all F32`, `(guessed) F16` at the end of llama.cpp's description of a model. */
const FILE_TYPE = /\b((?:BF|F|Q|IQ|TQ|MXFP|NVFP)\d\w*)(?: - (Small|Medium|Large))?/

export type Model = ReturnType<typeof describe>

export interface ModelOptions extends Pick<
  RunnerOptions,
  'modelPath' | 'metadataOverrides' | 'kvCacheTokens'
> {
  /** @default unknown: llama.cpp chooses between two sets of rotary factors */
  readonly maxSeqLen?: number | null
  /** @default all of it is in the machine's memory */
  readonly plan?: LoadPlan | null
  readonly architecture: string
  /** Elements of KV cache per token of a sequence, all layers. */
  readonly kvElementsPerToken: number
  /** Of an encoder with a Unigram tokenizer, whose text our own tokenizer reads; without it llama.cpp does. */
  readonly characterMap?: Uint8Array | null
  /** Whether our engine puts the space in front of a text. @default llama.cpp does what the file says */
  readonly putsSpaceAtStart?: boolean
  /** The pre-tokenizer whose words our engine cuts. @default llama.cpp cuts them */
  readonly casedWords?: CasedPreTokenizer | null
  /** Whether the file says that a text begins with a token of its own, or not. @default true */
  readonly saysBos?: boolean
  /** Of two sets of rotary factors. @default llama.cpp chooses between them */
  readonly ropeContexts?: RopeContexts | null
}

/** @throws StartError when llama.cpp does not take the file, and has printed why on stderr, or a GPU has no room for it. */
export function openModel(api: Bindings, options: ModelOptions, onProgress: LoadProgress): Model {
  const { modelPath, architecture } = options
  const handle = loadFile(api, options, onProgress)
  if (handle === null) {
    throw new NativeLoadError(
      `'${modelPath}' cannot be loaded: llama.cpp ${LLAMA_VERSION} does not know its architecture ` +
        `'${architecture}', or tensors or metadata are missing or wrong.`,
      1,
    )
  }
  const model = describe(api, handle, options)
  if (!api.modelHasDecoder(handle) || api.modelHasEncoder(handle) || api.modelIsDiffusion(handle)) {
    model.close()
    throw new StartError(
      `'${modelPath}' cannot be served: '${architecture}' does not generate text token by token.`,
      1,
    )
  }
  return model
}

function loadFile(api: Bindings, options: ModelOptions, onProgress: LoadProgress): Pointer | null {
  const failures: unknown[] = []
  const report = (fraction: number): boolean => {
    try {
      onProgress(fraction)
    } catch (error) {
      failures.push(error)
    }
    return failures.length === 0
  }
  const { layers = 0, shares = [] } = options.plan?.plan ?? {}
  const devices = options.plan?.devices ?? []
  const handle = withDevices({ devices, shares, length: api.maxDevices() }, (lists) =>
    withProgressCallback(report, (progress_callback) =>
      withMetadataOverrides(overridesOf(options), (kv_overrides) =>
        api.modelLoadFromFile(options.modelPath, {
          ...api.modelDefaultParams(),
          ...lists,
          n_gpu_layers: layers,
          progress_callback,
          kv_overrides,
        }),
      ),
    ),
  )
  if (failures.length > 0) throw failures[0]
  return handle
}

function overridesOf(options: ModelOptions): MetadataOverride[] {
  const { metadataOverrides = [], putsSpaceAtStart = false, casedWords = null, saysBos = true } = options
  const { ropeContexts = null, maxSeqLen } = options
  return [
    // llama.cpp takes the first of a key.
    ...(ropeContexts === null || maxSeqLen === undefined
      ? []
      : shortFactorOverrides(ropeContexts, { ...options, maxSeqLen })),
    ...metadataOverrides,
    ...(putsSpaceAtStart ? [NO_SPACE_IN_FRONT] : []),
    ...(casedWords === null ? [] : casedOverrides(saysBos, casedWords)),
  ]
}

function describe(api: Bindings, handle: Pointer, options: ModelOptions) {
  const { modelPath, architecture, kvElementsPerToken } = options
  const vocab = api.modelVocab(handle)
  const vocabType = api.vocabType(vocab)
  const [keySize, valueSize] = readHeadSizes(api, handle, architecture)
  return {
    path: modelPath,
    handle,
    vocab,
    /** Whether a text can begin with a token of its own. */
    // Without the key llama.cpp falls back to token 11 of any byte-level vocabulary, which is an ordinary word there.
    hasBos:
      vocabType === WPM_VOCABULARY || vocabType === SPM_VOCABULARY || readText(api, handle, BOS_KEY) !== null,
    /** Which tokenizer makes tokens of a text. */
    tokenizer: chooseTokenizer({ ...options, vocabType, read: (key) => readText(api, handle, key) }),
    /** What is added to the ids of the second of two texts; 0 where the model does not tell them apart. */
    secondSegment: readNumber(api, handle, SECOND_SEGMENT_KEY) ?? 0,
    /** Whether a text that begins with neither a space nor an added token gets a space in front. */
    putsSpaceAtStart: options.putsSpaceAtStart ?? false,
    /** Whether text is brought into Unicode's NFC before it is tokenized. */
    normalizesText: normalizesText((key) => readText(api, handle, key)),
    architecture,
    parameters: Number(api.modelParameters(handle)),
    sizeBytes: Number(api.modelBytes(handle)),
    quantization: toQuantization(readDescription(api, handle)),
    vocabSize: api.vocabTokens(vocab),
    trainContextTokens: api.modelTrainContext(handle),
    chatTemplate: api.modelChatTemplate(handle, null),
    /** That for chats with tools; null where it has none of its own for them. */
    toolTemplate: api.modelChatTemplate(handle, 'tool_use'),
    /** Whether a sequence's state is more than a KV cache, and so cannot be cut back to a prefix. */
    isRecurrent: api.modelIsRecurrent(handle) || api.modelIsHybrid(handle),
    kvElementsPerToken,
    /** Elements of them in one attention head's key, and in its value. */
    kvHeadSizes: [keySize, valueSize],
    close: () => api.modelFree(handle),
  }
}

function readDescription(api: Bindings, handle: Pointer): string {
  const buffer = Buffer.alloc(MAX_METADATA_BYTES)
  const length = api.modelDescription(handle, buffer, buffer.length)
  return buffer.toString('utf8', 0, length)
}

/** The weights' type in the usual short form (`Q4_K_M`, `F16`), from llama.cpp's description of a model. */
export function toQuantization(description: string): string {
  const match = FILE_TYPE.exec(description)
  if (match === null) return 'unknown'
  const [, type, size] = match
  return size === undefined ? String(type) : `${type}_${size.charAt(0)}`
}

/** Of a key, and of a value. */
function readHeadSizes(api: Bindings, handle: Pointer, architecture: string): [number, number] {
  const headSize = api.modelEmbedding(handle) / Math.max(api.modelHeads(handle), 1)
  const sizeOf = (name: string) => readNumber(api, handle, `${architecture}.attention.${name}`) ?? headSize
  return [sizeOf('key_length'), sizeOf('value_length')]
}

function readNumber(api: Bindings, handle: Pointer, key: string): number | null {
  const text = readText(api, handle, key)
  return text === null ? null : Number(text)
}

function readText(api: Bindings, handle: Pointer, key: string): string | null {
  const buffer = Buffer.alloc(MAX_METADATA_BYTES)
  const length = api.modelMetadata(handle, key, buffer, buffer.length)
  return length < 0 ? null : buffer.toString('utf8', 0, length)
}
