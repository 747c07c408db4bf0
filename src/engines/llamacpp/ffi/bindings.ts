/**
 * The functions of llama.cpp and ggml that the engine calls, typed: names are those of the C headers without their
 * prefix, pointers are addresses. Nothing here checks anything; a wrong argument ends the process.
 * No callback of ours is ever given away that a compute thread could call: JavaScript could not answer while it is inside
 * `llama_decode`, and both would wait forever. Functions of C stand in for them.
 */
import { promisify } from 'node:util'
import type { LibraryHandle } from 'koffi'
import { koffi } from '../../koffi.ts'
import { loadLibraries, type Libraries } from './libraries.ts'
import {
  STRUCTS,
  type ContextParams,
  type ModelParams,
  type NativeBatch,
  type Pointer,
  type QuantizeParams,
} from './structs.ts'

const REPORT_PROGRESS = koffi.pointer(koffi.proto('bool', ['float', 'void *']))
const NEW_THREADPOOL = koffi.proto('void *', [koffi.pointer(STRUCTS.ggml_threadpool_params)])
const FREE_THREADPOOL = koffi.proto('void', ['void *'])

export type Bindings = ReturnType<typeof bind>

/** Threads spin for 131,072 pauses, 2 to 3 ms, after a step and then sleep. */
const SHORTEST_POLL = 1

/** koffi's types, each under the name of the TypeScript type that stands for it in `Values`. */
const TYPES = {
  void: 'void',
  bool: 'bool',
  int32: 'int32',
  int64: 'int64',
  uint32: 'uint32',
  uint64: 'uint64',
  size: 'size_t',
  float32: 'float',
  text: 'str',
  optionalText: 'str',
  pointer: 'void *',
  optionalPointer: 'void *',
  buffer: 'void *',
  modelParams: STRUCTS.llama_model_params,
  contextParams: STRUCTS.llama_context_params,
  quantizeParams: STRUCTS.llama_model_quantize_params,
  quantizeParamsPointer: koffi.pointer(STRUCTS.llama_model_quantize_params),
  ggufParams: STRUCTS.gguf_init_params,
  batch: STRUCTS.llama_batch,
} as const

interface Values extends Record<'int32' | 'int64' | 'uint32' | 'size' | 'float32', number> {
  void: void
  bool: boolean
  uint64: number | bigint
  text: string
  optionalText: string | null
  pointer: Pointer
  optionalPointer: Pointer | null
  buffer: Uint8Array | Int32Array | Float32Array | BigUint64Array
  modelParams: ModelParams
  contextParams: ContextParams
  quantizeParams: QuantizeParams
  quantizeParamsPointer: QuantizeParams
  ggufParams: { no_alloc: boolean; ctx: null }
  batch: NativeBatch
}

type TypeName = keyof typeof TYPES

type Arguments<Args extends readonly TypeName[]> = { -readonly [Index in keyof Args]: Values[Args[Index]] }

/** Declares functions of one library: name, result, arguments. */
function functionsOf(library: LibraryHandle) {
  return <Result extends TypeName, const Args extends readonly TypeName[]>(
    name: string,
    result: Result,
    ...args: Args
  ) =>
    library.func(
      name,
      TYPES[result],
      args.map((arg) => TYPES[arg]),
    ) as (...values: Arguments<Args>) => Values[Result]
}

/** The same functions, called in a thread of libuv's pool. */
function asyncFunctionsOf(library: LibraryHandle) {
  return <Result extends TypeName, const Args extends readonly TypeName[]>(
    name: string,
    result: Result,
    ...args: Args
  ) => {
    const declared = library.func(
      name,
      TYPES[result],
      args.map((arg) => TYPES[arg]),
    )
    return promisify(declared.async) as (...values: Arguments<Args>) => Promise<Values[Result]>
  }
}

/**
 * The native functions of libraries that are loaded already; `loadLlama` does both.
 * @public for the measurements in `bench/`
 */
export function bind(libraries: Libraries) {
  const ggmlBase = functionsOf(libraries.ggmlBase)
  const ggml = functionsOf(libraries.ggml)
  const llama = functionsOf(libraries.llama)
  const asyncLlama = asyncFunctionsOf(libraries.llama)
  const setLog = llama('llama_log_set', 'void', 'optionalPointer', 'optionalPointer')
  const setAbortCallback = llama('llama_set_abort_callback', 'void', 'pointer', 'pointer', 'buffer')
  /** Takes two pointers, reads neither, and returns true: it can stand for a log that throws lines away. */
  const doNothing = koffi.address(libraries.llama.symbol('llama_opt_param_filter_all'))
  return {
    loadBackends: ggml('ggml_backend_load_all_from_path', 'void', 'text'),
    backendInit: llama('llama_backend_init', 'void'),

    /**
     * Runs `body` without a line of llama.cpp's log. No callback of ours is given away for that: compute threads log too.
     */
    silently: <Result>(body: () => Result): Result => {
      setLog(doNothing, null)
      try {
        return body()
      } finally {
        setLog(null, null)
      }
    },
    setLog: ggmlBase('ggml_log_set', 'void', 'pointer', 'optionalPointer'),
    deviceCount: ggml('ggml_backend_dev_count', 'size'),
    device: ggml('ggml_backend_dev_get', 'pointer', 'size'),
    deviceName: ggmlBase('ggml_backend_dev_name', 'text', 'pointer'),
    deviceDescription: ggmlBase('ggml_backend_dev_description', 'text', 'pointer'),
    deviceType: ggmlBase('ggml_backend_dev_type', 'int32', 'pointer'),
    deviceMemory: ggmlBase('ggml_backend_dev_memory', 'void', 'pointer', 'buffer', 'buffer'),

    ggufInitFromFile: ggmlBase('gguf_init_from_file', 'optionalPointer', 'text', 'ggufParams'),
    ggufFree: ggmlBase('gguf_free', 'void', 'pointer'),
    ggufFindKey: ggmlBase('gguf_find_key', 'int64', 'pointer', 'text'),
    ggufKeyType: ggmlBase('gguf_get_kv_type', 'int32', 'pointer', 'int64'),
    ggufString: ggmlBase('gguf_get_val_str', 'text', 'pointer', 'int64'),
    ggufUint32: ggmlBase('gguf_get_val_u32', 'uint32', 'pointer', 'int64'),
    ggufBool: ggmlBase('gguf_get_val_bool', 'bool', 'pointer', 'int64'),
    ggufArrayType: ggmlBase('gguf_get_arr_type', 'int32', 'pointer', 'int64'),
    ggufArrayLength: ggmlBase('gguf_get_arr_n', 'size', 'pointer', 'int64'),
    ggufArray: ggmlBase('gguf_get_arr_data', 'pointer', 'pointer', 'int64'),
    ggufDataOffset: ggmlBase('gguf_get_data_offset', 'size', 'pointer'),
    ggufTensors: ggmlBase('gguf_get_n_tensors', 'int64', 'pointer'),
    ggufFindTensor: ggmlBase('gguf_find_tensor', 'int64', 'pointer', 'text'),
    ggufTensorOffset: ggmlBase('gguf_get_tensor_offset', 'size', 'pointer', 'int64'),
    ggufTensorBytes: ggmlBase('gguf_get_tensor_size', 'size', 'pointer', 'int64'),

    modelDefaultParams: llama('llama_model_default_params', 'modelParams'),
    modelLoadFromFile: llama('llama_model_load_from_file', 'optionalPointer', 'text', 'modelParams'),
    /** Numbers of a `tensor_split`. */
    maxDevices: llama('llama_max_devices', 'size'),
    modelFree: llama('llama_model_free', 'void', 'pointer'),
    modelVocab: llama('llama_model_get_vocab', 'pointer', 'pointer'),
    modelTrainContext: llama('llama_model_n_ctx_train', 'int32', 'pointer'),
    modelEmbedding: llama('llama_model_n_embd', 'int32', 'pointer'),
    modelEmbeddingOut: llama('llama_model_n_embd_out', 'int32', 'pointer'),
    modelClassifierOutputs: llama('llama_model_n_cls_out', 'uint32', 'pointer'),
    modelClassifierLabel: llama('llama_model_cls_label', 'optionalText', 'pointer', 'uint32'),
    modelHeads: llama('llama_model_n_head', 'int32', 'pointer'),
    modelBytes: llama('llama_model_size', 'uint64', 'pointer'),
    modelParameters: llama('llama_model_n_params', 'uint64', 'pointer'),
    modelDescription: llama('llama_model_desc', 'int32', 'pointer', 'buffer', 'size'),
    modelMetadata: llama('llama_model_meta_val_str', 'int32', 'pointer', 'text', 'buffer', 'size'),
    modelChatTemplate: llama('llama_model_chat_template', 'optionalText', 'pointer', 'optionalText'),
    modelHasEncoder: llama('llama_model_has_encoder', 'bool', 'pointer'),
    modelHasDecoder: llama('llama_model_has_decoder', 'bool', 'pointer'),
    modelIsDiffusion: llama('llama_model_is_diffusion', 'bool', 'pointer'),
    modelIsRecurrent: llama('llama_model_is_recurrent', 'bool', 'pointer'),
    modelIsHybrid: llama('llama_model_is_hybrid', 'bool', 'pointer'),

    quantizeDefaultParams: llama('llama_model_quantize_default_params', 'quantizeParams'),
    /** 0 when it is done; what went wrong is printed on standard error. */
    quantize: llama('llama_model_quantize', 'uint32', 'text', 'text', 'quantizeParamsPointer'),

    contextDefaultParams: llama('llama_context_default_params', 'contextParams'),
    contextInit: llama('llama_init_from_model', 'optionalPointer', 'pointer', 'contextParams'),
    /** May run while another context of the model computes: `tests/test-thread-safety.cpp` of llama.cpp does the same. */
    contextInitAsync: asyncLlama('llama_init_from_model', 'optionalPointer', 'pointer', 'contextParams'),
    contextFree: llama('llama_free', 'void', 'pointer'),

    /** Null where the file is none, or not one of the model's; why is printed on standard error. */
    adapterInit: llama('llama_adapter_lora_init', 'optionalPointer', 'pointer', 'text'),
    adapterFree: llama('llama_adapter_lora_free', 'void', 'pointer'),
    /** Addresses and scales, as many of each as is said; holds for every decode from now on. */
    setAdapters: llama('llama_set_adapters_lora', 'int32', 'pointer', 'buffer', 'size', 'buffer'),
    contextMemory: llama('llama_get_memory', 'optionalPointer', 'pointer'),
    setThreads: llama('llama_set_n_threads', 'void', 'pointer', 'int32', 'int32'),
    attachThreadpool: llama('llama_attach_threadpool', 'void', 'pointer', 'pointer', 'pointer'),
    memoryClear: llama('llama_memory_clear', 'void', 'pointer', 'bool'),
    memorySeqRm: llama('llama_memory_seq_rm', 'bool', 'pointer', 'int32', 'int32', 'int32'),
    memorySeqCp: llama('llama_memory_seq_cp', 'void', 'pointer', 'int32', 'int32', 'int32', 'int32'),
    stateSeqSize: llama('llama_state_seq_get_size_ext', 'size', 'pointer', 'int32', 'uint32'),
    stateSeqGet: llama(
      'llama_state_seq_get_data_ext',
      'size',
      'pointer',
      'pointer',
      'size',
      'int32',
      'uint32',
    ),
    /** 0 where the data does not fit the context. */
    stateSeqSet: llama(
      'llama_state_seq_set_data_ext',
      'size',
      'pointer',
      'pointer',
      'size',
      'int32',
      'uint32',
    ),
    modelWindow: llama('llama_model_n_swa', 'int32', 'pointer'),
    batchInit: llama('llama_batch_init', 'batch', 'int32', 'int32', 'int32'),
    batchFree: llama('llama_batch_free', 'void', 'batch'),
    /** 0 when it is computed, 2 when the flag of `setFlagToEnd` was set. */
    decode: llama('llama_decode', 'int32', 'pointer', 'batch'),
    /**
     * Decodes end once the flag, a C string that lives as long as the context, is not empty; the KV cache is then as before. Asked for
     * by a compute thread after every operation, by `strlen`: it takes a pointer and returns what C reads as true or false.
     */
    setFlagToEnd: (context: Pointer, flag: Uint8Array): void => {
      const ofC = koffi.load(process.platform === 'win32' ? 'ucrtbase.dll' : null)
      setAbortCallback(context, koffi.address(ofC.symbol('strlen')), flag)
    },
    encode: llama('llama_encode', 'int32', 'pointer', 'batch'),
    logits: llama('llama_get_logits', 'optionalPointer', 'pointer'),
    /** The pooled vector of a sequence. */
    pooledVector: llama('llama_get_embeddings_seq', 'optionalPointer', 'pointer', 'int32'),

    vocabTokens: llama('llama_vocab_n_tokens', 'int32', 'pointer'),
    vocabType: llama('llama_vocab_type', 'int32', 'pointer'),
    vocabText: llama('llama_vocab_get_text', 'text', 'pointer', 'int32'),
    vocabScore: llama('llama_vocab_get_score', 'float32', 'pointer', 'int32'),
    vocabAttributes: llama('llama_vocab_get_attr', 'int32', 'pointer', 'int32'),
    vocabIsEog: llama('llama_vocab_is_eog', 'bool', 'pointer', 'int32'),
    vocabBos: llama('llama_vocab_bos', 'int32', 'pointer'),
    vocabEos: llama('llama_vocab_eos', 'int32', 'pointer'),
    vocabAddsBos: llama('llama_vocab_get_add_bos', 'bool', 'pointer'),
    vocabAddsEos: llama('llama_vocab_get_add_eos', 'bool', 'pointer'),
    vocabSep: llama('llama_vocab_sep', 'int32', 'pointer'),
    vocabAddsSep: llama('llama_vocab_get_add_sep', 'bool', 'pointer'),
    tokenize: llama(
      'llama_tokenize',
      'int32',
      'pointer',
      'buffer',
      'int32',
      'buffer',
      'int32',
      'bool',
      'bool',
    ),
    tokenToPiece: llama(
      'llama_token_to_piece',
      'int32',
      'pointer',
      'int32',
      'buffer',
      'int32',
      'int32',
      'bool',
    ),

    /** Threads that live as long as the context; without them llama.cpp starts new ones for every decode. */
    createThreadpool: (threads: number): Pointer => {
      const params: { poll?: number } = {}
      const setDefaults = libraries.ggmlBase.func('ggml_threadpool_params_init', 'void', [
        koffi.out(koffi.pointer(STRUCTS.ggml_threadpool_params)),
        'int',
      ])
      setDefaults(params, threads)
      // Longer than the time between two steps and no more: threads that wait take the cores that HTTP needs.
      params.poll = SHORTEST_POLL
      return koffi.call(cpuFunction('ggml_threadpool_new'), NEW_THREADPOOL, params) as Pointer
    },
    freeThreadpool: (pool: Pointer): void => {
      koffi.call(cpuFunction('ggml_threadpool_free'), FREE_THREADPOOL, pool)
    },
  }

  /** The CPU backend is loaded at run time, so its functions are asked for by name. */
  function cpuFunction(name: string): Pointer {
    const registry = ggml('ggml_backend_reg_by_name', 'pointer', 'text')('CPU')
    return ggmlBase('ggml_backend_reg_get_proc_address', 'pointer', 'pointer', 'text')(registry, name)
  }
}

/** Runs `body` with the address of a native callback for load progress; it is called on this thread only. */
export function withProgressCallback<T>(
  onProgress: (fraction: number) => boolean,
  body: (callback: Pointer) => T,
): T {
  const callback = koffi.register(onProgress, REPORT_PROGRESS)
  try {
    return body(callback)
  } finally {
    koffi.unregister(callback)
  }
}

/** Memory that is there until it is freed: the collector of garbage would free large copies late. */
export function allocateBytes(bytes: number): Pointer {
  return koffi.alloc('uint8_t', bytes) as Pointer
}

export function freeBytes(pointer: Pointer): void {
  koffi.free(pointer)
}

/** Native memory as a typed array, without a copy; valid as long as the memory is. */
export function viewInt32(pointer: Pointer, length: number): Int32Array {
  return new Int32Array(koffi.view(pointer, length * Int32Array.BYTES_PER_ELEMENT))
}

export function viewBytes(pointer: Pointer, length: number): Uint8Array {
  return new Uint8Array(koffi.view(pointer, length))
}

export function viewInt8(pointer: Pointer, length: number): Int8Array {
  return new Int8Array(koffi.view(pointer, length))
}

export function viewFloat32(pointer: Pointer, length: number): Float32Array {
  return new Float32Array(koffi.view(pointer, length * Float32Array.BYTES_PER_ELEMENT))
}

export function viewPointers(pointer: Pointer, length: number): BigUint64Array {
  return new BigUint64Array(koffi.view(pointer, length * BigUint64Array.BYTES_PER_ELEMENT))
}

interface DeviceLists {
  readonly devices: Pointer
  readonly tensor_split: Pointer
}

/** Runs `body` with native lists of devices and of their shares of the layers; with no device everything stays on the CPU. */
export function withDevices<T>(
  { devices, shares, length }: { devices: readonly Pointer[]; shares: readonly number[]; length: number },
  body: (lists: DeviceLists) => T,
): T {
  const list = koffi.alloc('void *', devices.length + 1) as Pointer
  const split = koffi.alloc('float', length) as Pointer
  try {
    viewPointers(list, devices.length + 1).set([...devices, 0n])
    viewFloat32(split, length).fill(0).set(shares)
    return body({ devices: list, tensor_split: split })
  } finally {
    koffi.free(list)
    koffi.free(split)
  }
}

let loaded: Bindings | null = null

/** Loads the libraries and their compute backends once: a process can hold one llama.cpp only. */
export function loadLlama(gpu: 'auto' | 'off'): Bindings {
  if (loaded === null) {
    const libraries = loadLibraries(gpu)
    loaded = bind(libraries)
    loaded.loadBackends(libraries.folder)
    loaded.backendInit()
  }
  return loaded
}

/** For a further thread of a process that has loaded llama.cpp: the same libraries, which are not initialized again. */
export function attachLlama(gpu: 'auto' | 'off'): Bindings {
  return bind(loadLibraries(gpu))
}
