/**
 * The functions of llama.cpp and ggml that the engine calls, typed: names are those of the C headers without their
 * prefix, pointers are addresses. Nothing here checks anything; a wrong argument ends the process.
 * No callback is ever given away that a compute thread could call: JavaScript could not answer while it is inside
 * `llama_decode`, and both would wait forever.
 */
import type { Libraries } from './libraries.ts'
import { koffi } from '../../koffi.ts'
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

type Fn<Args extends unknown[], Result> = (...args: Args) => Result

/** Threads spin for 131,072 pauses, 2 to 3 ms, after a step and then sleep. */
const SHORTEST_POLL = 1

export function bind({ ggmlBase, ggml, llama }: Libraries) {
  const { llama_model_params, llama_context_params, llama_batch, ggml_threadpool_params, gguf_init_params } =
    STRUCTS

  return {
    loadBackends: ggml.func('ggml_backend_load_all_from_path', 'void', ['str']) as Fn<[string], void>,
    backendInit: llama.func('llama_backend_init', 'void', []) as Fn<[], void>,
    supportsGpuOffload: llama.func('llama_supports_gpu_offload', 'bool', []) as Fn<[], boolean>,

    ggufInitFromFile: ggmlBase.func('gguf_init_from_file', 'void *', ['str', gguf_init_params]) as Fn<
      [string, { no_alloc: boolean; ctx: null }],
      Pointer | null
    >,
    ggufFree: ggmlBase.func('gguf_free', 'void', ['void *']) as Fn<[Pointer], void>,
    ggufFindKey: ggmlBase.func('gguf_find_key', 'int64', ['void *', 'str']) as Fn<[Pointer, string], number>,
    ggufKeyType: ggmlBase.func('gguf_get_kv_type', 'int', ['void *', 'int64']) as Fn<
      [Pointer, number],
      number
    >,
    ggufString: ggmlBase.func('gguf_get_val_str', 'str', ['void *', 'int64']) as Fn<
      [Pointer, number],
      string
    >,
    ggufDataOffset: ggmlBase.func('gguf_get_data_offset', 'size_t', ['void *']) as Fn<[Pointer], number>,
    ggufTensors: ggmlBase.func('gguf_get_n_tensors', 'int64', ['void *']) as Fn<[Pointer], number>,
    ggufTensorOffset: ggmlBase.func('gguf_get_tensor_offset', 'size_t', ['void *', 'int64']) as Fn<
      [Pointer, number],
      number
    >,
    ggufTensorBytes: ggmlBase.func('gguf_get_tensor_size', 'size_t', ['void *', 'int64']) as Fn<
      [Pointer, number],
      number
    >,

    modelDefaultParams: llama.func('llama_model_default_params', llama_model_params, []) as Fn<
      [],
      ModelParams
    >,
    modelLoadFromFile: llama.func('llama_model_load_from_file', 'void *', ['str', llama_model_params]) as Fn<
      [string, ModelParams],
      Pointer | null
    >,
    modelFree: llama.func('llama_model_free', 'void', ['void *']) as Fn<[Pointer], void>,
    modelVocab: llama.func('llama_model_get_vocab', 'void *', ['void *']) as Fn<[Pointer], Pointer>,
    modelTrainContext: llama.func('llama_model_n_ctx_train', 'int32', ['void *']) as Fn<[Pointer], number>,
    modelEmbedding: llama.func('llama_model_n_embd', 'int32', ['void *']) as Fn<[Pointer], number>,
    modelLayers: llama.func('llama_model_n_layer', 'int32', ['void *']) as Fn<[Pointer], number>,
    modelHeads: llama.func('llama_model_n_head', 'int32', ['void *']) as Fn<[Pointer], number>,
    modelKvHeads: llama.func('llama_model_n_head_kv', 'int32', ['void *']) as Fn<[Pointer], number>,
    modelBytes: llama.func('llama_model_size', 'uint64', ['void *']) as Fn<[Pointer], number | bigint>,
    modelParameters: llama.func('llama_model_n_params', 'uint64', ['void *']) as Fn<
      [Pointer],
      number | bigint
    >,
    modelDescription: llama.func('llama_model_desc', 'int32', ['void *', 'void *', 'size_t']) as Fn<
      [Pointer, Uint8Array, number],
      number
    >,
    modelMetadata: llama.func('llama_model_meta_val_str', 'int32', [
      'void *',
      'str',
      'void *',
      'size_t',
    ]) as Fn<[Pointer, string, Uint8Array, number], number>,
    modelChatTemplate: llama.func('llama_model_chat_template', 'str', ['void *', 'str']) as Fn<
      [Pointer, string | null],
      string | null
    >,
    modelHasEncoder: llama.func('llama_model_has_encoder', 'bool', ['void *']) as Fn<[Pointer], boolean>,
    modelHasDecoder: llama.func('llama_model_has_decoder', 'bool', ['void *']) as Fn<[Pointer], boolean>,
    modelIsDiffusion: llama.func('llama_model_is_diffusion', 'bool', ['void *']) as Fn<[Pointer], boolean>,
    modelIsRecurrent: llama.func('llama_model_is_recurrent', 'bool', ['void *']) as Fn<[Pointer], boolean>,
    modelIsHybrid: llama.func('llama_model_is_hybrid', 'bool', ['void *']) as Fn<[Pointer], boolean>,

    quantizeDefaultParams: llama.func(
      'llama_model_quantize_default_params',
      STRUCTS.llama_model_quantize_params,
      [],
    ) as Fn<[], QuantizeParams>,
    /** 0 when it is done; what went wrong is printed on standard error. */
    quantize: llama.func('llama_model_quantize', 'uint32', [
      'str',
      'str',
      koffi.pointer(STRUCTS.llama_model_quantize_params),
    ]) as Fn<[string, string, QuantizeParams], number>,

    contextDefaultParams: llama.func('llama_context_default_params', llama_context_params, []) as Fn<
      [],
      ContextParams
    >,
    contextInit: llama.func('llama_init_from_model', 'void *', ['void *', llama_context_params]) as Fn<
      [Pointer, ContextParams],
      Pointer | null
    >,
    contextFree: llama.func('llama_free', 'void', ['void *']) as Fn<[Pointer], void>,
    contextMemory: llama.func('llama_get_memory', 'void *', ['void *']) as Fn<[Pointer], Pointer | null>,
    contextSeqTokens: llama.func('llama_n_ctx_seq', 'uint32', ['void *']) as Fn<[Pointer], number>,
    attachThreadpool: llama.func('llama_attach_threadpool', 'void', ['void *', 'void *', 'void *']) as Fn<
      [Pointer, Pointer, Pointer],
      void
    >,
    memoryClear: llama.func('llama_memory_clear', 'void', ['void *', 'bool']) as Fn<[Pointer, boolean], void>,
    memorySeqRm: llama.func('llama_memory_seq_rm', 'bool', ['void *', 'int32', 'int32', 'int32']) as Fn<
      [Pointer, number, number, number],
      boolean
    >,
    memorySeqCp: llama.func('llama_memory_seq_cp', 'void', [
      'void *',
      'int32',
      'int32',
      'int32',
      'int32',
    ]) as Fn<[Pointer, number, number, number, number], void>,
    batchInit: llama.func('llama_batch_init', llama_batch, ['int32', 'int32', 'int32']) as Fn<
      [number, number, number],
      NativeBatch
    >,
    batchFree: llama.func('llama_batch_free', 'void', [llama_batch]) as Fn<[NativeBatch], void>,
    decode: llama.func('llama_decode', 'int32', ['void *', llama_batch]) as Fn<
      [Pointer, NativeBatch],
      number
    >,
    logits: llama.func('llama_get_logits', 'void *', ['void *']) as Fn<[Pointer], Pointer | null>,

    vocabTokens: llama.func('llama_vocab_n_tokens', 'int32', ['void *']) as Fn<[Pointer], number>,
    vocabType: llama.func('llama_vocab_type', 'int', ['void *']) as Fn<[Pointer], number>,
    vocabText: llama.func('llama_vocab_get_text', 'str', ['void *', 'int32']) as Fn<
      [Pointer, number],
      string
    >,
    vocabAttributes: llama.func('llama_vocab_get_attr', 'int', ['void *', 'int32']) as Fn<
      [Pointer, number],
      number
    >,
    vocabIsEog: llama.func('llama_vocab_is_eog', 'bool', ['void *', 'int32']) as Fn<
      [Pointer, number],
      boolean
    >,
    vocabBos: llama.func('llama_vocab_bos', 'int32', ['void *']) as Fn<[Pointer], number>,
    vocabEos: llama.func('llama_vocab_eos', 'int32', ['void *']) as Fn<[Pointer], number>,
    vocabAddsBos: llama.func('llama_vocab_get_add_bos', 'bool', ['void *']) as Fn<[Pointer], boolean>,
    vocabAddsEos: llama.func('llama_vocab_get_add_eos', 'bool', ['void *']) as Fn<[Pointer], boolean>,
    tokenize: llama.func('llama_tokenize', 'int32', [
      'void *',
      'void *',
      'int32',
      'void *',
      'int32',
      'bool',
      'bool',
    ]) as Fn<[Pointer, Uint8Array, number, Int32Array, number, boolean, boolean], number>,
    tokenToPiece: llama.func('llama_token_to_piece', 'int32', [
      'void *',
      'int32',
      'void *',
      'int32',
      'int32',
      'bool',
    ]) as Fn<[Pointer, number, Uint8Array, number, number, boolean], number>,

    /** Threads that live as long as the context; without them llama.cpp starts new ones for every decode. */
    createThreadpool: (threads: number): Pointer => {
      const params: { poll?: number } = {}
      const setDefaults = ggmlBase.func('ggml_threadpool_params_init', 'void', [
        koffi.out(koffi.pointer(ggml_threadpool_params)),
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
    const registry: unknown = ggml.func('ggml_backend_reg_by_name', 'void *', ['str'])('CPU')
    return ggmlBase.func('ggml_backend_reg_get_proc_address', 'void *', ['void *', 'str'])(
      registry,
      name,
    ) as Pointer
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

/** Native memory as a typed array, without a copy; valid as long as the memory is. */
export function viewInt32(pointer: Pointer, length: number): Int32Array {
  return new Int32Array(koffi.view(pointer, length * Int32Array.BYTES_PER_ELEMENT))
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

/** Runs `body` with the address of a device list that names none: everything then stays on the CPU. */
export function withNoDevices<T>(body: (devices: Pointer) => T): T {
  const list = koffi.alloc('void *', 1) as Pointer
  try {
    koffi.encode(list, 'void *', null)
    return body(list)
  } finally {
    koffi.free(list)
  }
}
