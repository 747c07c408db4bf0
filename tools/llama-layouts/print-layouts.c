/* Prints the size of each struct that src/engines/llamacpp passes to llama.cpp, and where its members lie, as JSON.
 * A member that a newer header adds makes `size` differ; one that it renames or drops stops the compiler. */
#include <stddef.h>
#include <stdio.h>

#include "ggml.h"
#include "gguf.h"
#include "llama.h"

static const char * struct_separator = "";
static const char * member_separator = "";

#define BEGIN(type)                                                                                 \
    printf("%s\n    \"%s\": {\n      \"size\": %zu,\n      \"offsets\": {", struct_separator, #type, \
           sizeof(struct type));                                                                    \
    struct_separator = ",";                                                                         \
    member_separator = "";
#define MEMBER(type, member)                                                                        \
    printf("%s\n        \"%s\": %zu", member_separator, #member, offsetof(struct type, member));     \
    member_separator = ",";
#define END printf("\n      }\n    }");

int main(void) {
    printf("{\n  \"llamaVersion\": \"%s\",\n  \"structs\": {", SLUICE_LLAMA_VERSION);

    BEGIN(llama_model_params)
#define M(member) MEMBER(llama_model_params, member)
    M(devices) M(tensor_buft_overrides) M(n_gpu_layers) M(split_mode) M(load_mode) M(lazy_mode) M(main_gpu)
    M(tensor_split) M(progress_callback) M(progress_callback_user_data) M(kv_overrides) M(vocab_only)
    M(check_tensors) M(use_extra_bufts) M(no_host) M(no_alloc) M(load_mtp)
#undef M
    END

    BEGIN(llama_model_kv_override)
#define M(member) MEMBER(llama_model_kv_override, member)
    M(tag) M(key) M(val_i64)
#undef M
    END

    BEGIN(llama_context_params)
#define M(member) MEMBER(llama_context_params, member)
    M(n_ctx) M(n_batch) M(n_ubatch) M(n_seq_max) M(n_rs_seq) M(n_outputs_max) M(n_outputs_max_per_seq) M(n_threads)
    M(n_threads_batch) M(ctx_type) M(rope_scaling_type) M(pooling_type) M(attention_type) M(flash_attn_type)
    M(rope_freq_base) M(rope_freq_scale) M(yarn_ext_factor) M(yarn_attn_factor) M(yarn_beta_fast) M(yarn_beta_slow)
    M(yarn_orig_ctx) M(defrag_thold) M(cb_eval) M(cb_eval_user_data) M(type_k) M(type_v) M(abort_callback)
    M(abort_callback_data) M(embeddings) M(offload_kqv) M(no_perf) M(op_offload) M(swa_full) M(kv_unified) M(samplers)
    M(n_samplers) M(ctx_other)
#undef M
    END

    BEGIN(llama_model_quantize_params)
#define M(member) MEMBER(llama_model_quantize_params, member)
    M(nthread) M(ftype) M(output_tensor_type) M(token_embedding_type) M(allow_requantize) M(quantize_output_tensor)
    M(only_copy) M(pure) M(keep_split) M(dry_run) M(imatrix) M(kv_overrides) M(tt_overrides) M(prune_layers)
    M(max_buf_size)
#undef M
    END

    BEGIN(llama_batch)
#define M(member) MEMBER(llama_batch, member)
    M(n_tokens) M(token) M(embd) M(pos) M(n_seq_id) M(seq_id) M(logits)
#undef M
    END

    BEGIN(ggml_threadpool_params)
#define M(member) MEMBER(ggml_threadpool_params, member)
    M(cpumask) M(n_threads) M(prio) M(poll) M(strict_cpu) M(paused)
#undef M
    END

    BEGIN(gguf_init_params)
#define M(member) MEMBER(gguf_init_params, member)
    M(no_alloc) M(ctx)
#undef M
    END

    printf("\n  }\n}\n");
    return 0;
}
