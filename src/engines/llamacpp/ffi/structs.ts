/**
 * The llama.cpp structs that are passed by value, declared for koffi with the member order and types of the pinned
 * version's headers. The unit test compares them with `layouts.json`, which is generated from those headers. The
 * interfaces list only the members that are set here; the others keep llama.cpp's defaults.
 */
import { koffi } from '../../koffi.ts'

/** An address in native memory. */
export type Pointer = bigint

export interface ModelParams {
  kv_overrides: Pointer | null
  devices: Pointer | null
  n_gpu_layers: number
  tensor_split: Pointer | null
  progress_callback: Pointer | null
}

export interface ContextParams {
  pooling_type: number
  flash_attn_type: number
  n_ctx: number
  n_batch: number
  n_ubatch: number
  n_seq_max: number
  n_outputs_max: number
  n_threads: number
  n_threads_batch: number
  type_k: number
  type_v: number
  embeddings: boolean
  offload_kqv: boolean
  no_perf: boolean
  op_offload: boolean
  swa_full: boolean
  kv_unified: boolean
}

export interface QuantizeParams {
  nthread: number
  ftype: number
}

export interface NativeBatch {
  n_tokens: number
  readonly token: Pointer
  readonly embd: Pointer | null
  readonly pos: Pointer
  readonly n_seq_id: Pointer
  readonly seq_id: Pointer
  readonly logits: Pointer
}

export const STRUCTS = {
  llama_model_params: koffi.struct({
    devices: 'void *',
    tensor_buft_overrides: 'void *',
    n_gpu_layers: 'int32',
    split_mode: 'int32',
    load_mode: 'int32',
    lazy_mode: 'int32',
    main_gpu: 'int32',
    tensor_split: 'void *',
    progress_callback: 'void *',
    progress_callback_user_data: 'void *',
    kv_overrides: 'void *',
    vocab_only: 'bool',
    check_tensors: 'bool',
    use_extra_bufts: 'bool',
    no_host: 'bool',
    no_alloc: 'bool',
    load_mtp: 'bool',
  }),
  llama_model_kv_override: koffi.struct({
    tag: 'int32',
    key: koffi.array('char', 128),
    // A union of 128 bytes, whose type the tag gives.
    val_i64: koffi.array('int64', 16),
  }),
  llama_context_params: koffi.struct({
    n_ctx: 'uint32',
    n_batch: 'uint32',
    n_ubatch: 'uint32',
    n_seq_max: 'uint32',
    n_rs_seq: 'uint32',
    n_outputs_max: 'uint32',
    n_outputs_max_per_seq: 'uint32',
    n_threads: 'int32',
    n_threads_batch: 'int32',
    ctx_type: 'int32',
    rope_scaling_type: 'int32',
    pooling_type: 'int32',
    attention_type: 'int32',
    flash_attn_type: 'int32',
    rope_freq_base: 'float',
    rope_freq_scale: 'float',
    yarn_ext_factor: 'float',
    yarn_attn_factor: 'float',
    yarn_beta_fast: 'float',
    yarn_beta_slow: 'float',
    yarn_orig_ctx: 'uint32',
    defrag_thold: 'float',
    cb_eval: 'void *',
    cb_eval_user_data: 'void *',
    type_k: 'int32',
    type_v: 'int32',
    abort_callback: 'void *',
    abort_callback_data: 'void *',
    embeddings: 'bool',
    offload_kqv: 'bool',
    no_perf: 'bool',
    op_offload: 'bool',
    swa_full: 'bool',
    kv_unified: 'bool',
    samplers: 'void *',
    n_samplers: 'size_t',
    ctx_other: 'void *',
  }),
  llama_model_quantize_params: koffi.struct({
    nthread: 'int32',
    ftype: 'int32',
    output_tensor_type: 'int32',
    token_embedding_type: 'int32',
    allow_requantize: 'bool',
    quantize_output_tensor: 'bool',
    only_copy: 'bool',
    pure: 'bool',
    keep_split: 'bool',
    dry_run: 'bool',
    imatrix: 'void *',
    kv_overrides: 'void *',
    tt_overrides: 'void *',
    prune_layers: 'void *',
    max_buf_size: 'size_t',
  }),
  llama_batch: koffi.struct({
    n_tokens: 'int32',
    token: 'void *',
    embd: 'void *',
    pos: 'void *',
    n_seq_id: 'void *',
    seq_id: 'void *',
    logits: 'void *',
  }),
  ggml_threadpool_params: koffi.struct({
    cpumask: koffi.array('bool', 512),
    n_threads: 'int32',
    prio: 'int32',
    poll: 'uint32',
    strict_cpu: 'bool',
    paused: 'bool',
  }),
  gguf_init_params: koffi.struct({ no_alloc: 'bool', ctx: 'void *' }),
} as const
