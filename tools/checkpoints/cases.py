"""The configs of the tiny checkpoints, the shapes of their tensors, and what each case is there to show."""

BASE = {
    "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 2,
    "max_position_embeddings": 512, "rms_norm_eps": 1e-5, "tie_word_embeddings": False,
}
LLAMA = {**BASE, "architectures": ["LlamaForCausalLM"], "hidden_act": "silu", "rope_theta": 10000.0}
MISTRAL = {**LLAMA, "architectures": ["MistralForCausalLM"]}
MINISTRAL3 = {
    **MISTRAL, "architectures": ["Ministral3ForCausalLM"], "sliding_window": None, "head_dim": 32, "rope_theta": 1000000.0,
    "rope_scaling": {"rope_type": "yarn", "factor": 8.0, "original_max_position_embeddings": 32, "beta_fast": 8.0, "beta_slow": 1.0,
                     "mscale": 1.0, "mscale_all_dim": 1.0, "llama_4_scaling_beta": 0.5},
}
GRANITE = {
    **LLAMA, "architectures": ["GraniteForCausalLM"], "embedding_multiplier": 12.0, "attention_multiplier": 0.0625,
    "residual_multiplier": 0.22, "logits_scaling": 4.0,
}
SMOLLM3 = {
    **LLAMA, "architectures": ["SmolLM3ForCausalLM"], "num_hidden_layers": 5, "rope_theta": 2000000.0, "tie_word_embeddings": True,
    "no_rope_layers": [1, 1, 1, 0, 1],
}
QWEN2 = {**LLAMA, "architectures": ["Qwen2ForCausalLM"], "rope_theta": 1000000.0}
QWEN3 = {**QWEN2, "architectures": ["Qwen3ForCausalLM"], "head_dim": 32, "attention_bias": False}
QWEN3_MOE = {
    **QWEN3, "architectures": ["Qwen3MoeForCausalLM"], "num_experts": 6, "num_experts_per_tok": 2, "moe_intermediate_size": 32,
    "norm_topk_prob": True, "decoder_sparse_step": 1, "mlp_only_layers": [],
}
GEMMA2 = {
    **BASE, "architectures": ["Gemma2ForCausalLM"], "hidden_activation": "gelu_pytorch_tanh", "head_dim": 32, "rms_norm_eps": 1e-6,
    "rope_theta": 10000.0, "query_pre_attn_scalar": 32, "sliding_window": 16, "attn_logit_softcapping": 2.0,
    "final_logit_softcapping": 30.0, "tie_word_embeddings": True, "num_hidden_layers": 4,
}
GEMMA3 = {
    **BASE, "architectures": ["Gemma3ForCausalLM"], "hidden_activation": "gelu_pytorch_tanh", "head_dim": 32, "rms_norm_eps": 1e-6,
    "rope_theta": 1000000.0, "rope_local_base_freq": 10000.0, "query_pre_attn_scalar": 32, "sliding_window": 16,
    "sliding_window_pattern": 6, "tie_word_embeddings": True, "num_hidden_layers": 7,
}
GPT_OSS = {
    **BASE, "architectures": ["GptOssForCausalLM"], "hidden_act": "silu", "rope_theta": 150000.0, "num_hidden_layers": 4, "head_dim": 32,
    "attention_bias": True, "sliding_window": 16, "num_local_experts": 4, "num_experts_per_tok": 2, "swiglu_limit": 7.0,
    "quantization_config": {"quant_method": "mxfp4", "modules_to_not_convert": ["lm_head"]},
    "rope_scaling": {"rope_type": "yarn", "factor": 8.0, "original_max_position_embeddings": 64, "beta_fast": 8.0, "beta_slow": 1.0,
                     "truncate": False},
}
PHI3 = {
    **BASE, "architectures": ["Phi3ForCausalLM"], "hidden_act": "silu", "rope_theta": 10000.0, "max_position_embeddings": 1024,
    "original_max_position_embeddings": 256, "sliding_window": None,
}
LLAMA3_SCALING = {
    "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 64,
}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64, "beta_fast": 8, "beta_slow": 1}
LONGROPE = {
    "type": "longrope", "short_factor": [1.0, 1.05, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6],
    "long_factor": [1.0, 1.5, 2.5, 4.0, 6.0, 8.0, 12.0, 16.0],
}




def image_text(name, config, text_type):
    """A model that takes images too, of which the config and the tensors of text are parts."""
    text = {key: value for key, value in config.items() if key != "architectures"}
    return {"architectures": [name], "text_config": {**text, "model_type": text_type},
            "vision_config": {"hidden_size": 32}}


def text_of(config):
    """The config of a model of text alone."""
    if "text_config" not in config:
        return config
    family = config["architectures"][0].replace("ForConditionalGeneration", "")
    alone = {"Gemma3": "Gemma3ForCausalLM", "Mistral3": "MistralForCausalLM"}[family]
    if config["text_config"]["model_type"] == "ministral3":
        alone = "Ministral3ForCausalLM"
    return {**config["text_config"], "architectures": [alone]}


def stored_names(names, prefix):
    """As a model that takes images too names the tensors of text; old releases put its matrix of logits there as well."""
    old = prefix == "language_model.model."
    return {name: name.replace("model.", prefix, 1) if name.startswith("model.")
            else f"language_model.{name}" if old else name for name in names}


def case(name, config, tokenizer, without=None, **options):
    """`without`: changes of the config that must change the logits, so that the case can fail.
    `prefix`: of the tensors of text in a model that takes images too.
    `fused`: whether the experts of a layer are one tensor. `context`: what the engine is told a sequence may grow to. `shards`: files of weights."""
    return {
        "name": name, "config": config, "tokenizer": tokenizer, "without": without or [], "dtype": "F32", "shards": 1,
        "prompt": 40, "context": 512, **options,
    }


CASES = [
    case("llama", LLAMA, "llama2", shards=3, dtype="F16"),
    case("llama, tied, bias, head_dim", {
        **LLAMA, "tie_word_embeddings": True, "attention_bias": True, "mlp_bias": True, "head_dim": 32, "num_key_value_heads": 1,
    }, "llama3", dtype="BF16"),
    case("llama 3 rope factors", {**LLAMA, "rope_theta": 500000.0, "rope_scaling": LLAMA3_SCALING}, "llama3",
         [{"rope_scaling": None}], prompt=120),
    case("llama, linear rope", {**LLAMA, "rope_scaling": {"type": "linear", "factor": 4.0}}, "llama2", [{"rope_scaling": None}]),
    case("llama, yarn", {**LLAMA, "rope_scaling": YARN}, "llama2",
         [{"rope_scaling": None}, {"rope_scaling": {"type": "linear", "factor": 4.0}}], prompt=200),
    case("mistral, window longer than the prompt", {**MISTRAL, "sliding_window": 64}, "mistral", [{"sliding_window": 8}],
         context=64, shards=2),
    case("mistral without a window", {**MISTRAL, "sliding_window": None}, "mistral", prompt=100),
    case("granite, tied", {**GRANITE, "tie_word_embeddings": True}, "qwen2",
         [{name: 1.0} for name in ("embedding_multiplier", "residual_multiplier", "logits_scaling")]
         + [{"attention_multiplier": 0.25}], dtype="BF16"),
    case("granite, bias", {**GRANITE, "attention_bias": True, "mlp_bias": True}, "qwen2", shards=2),
    case("smollm3", SMOLLM3, "llama3", [{"no_rope_layers": [1] * 5}], dtype="BF16", shards=2),
    case("smollm3, untied, yarn", {
        **{key: value for key, value in SMOLLM3.items() if key != "no_rope_layers"}, "tie_word_embeddings": False, "rope_scaling": YARN,
    }, "llama3", [{"no_rope_layers": [1] * 5}, {"rope_scaling": None}], prompt=150),
    case("qwen2", QWEN2, "qwen2", dtype="BF16", shards=2),
    case("qwen2, tied, yarn with its own temperature", {
        **QWEN2, "tie_word_embeddings": True, "rope_scaling": {**YARN, "attention_factor": 1.5},
    }, "qwen2", [{"rope_scaling": YARN}], prompt=150),
    case("qwen3", QWEN3, "qwen2", dtype="BF16"),
    case("qwen3, tied", {**QWEN3, "tie_word_embeddings": True, "num_key_value_heads": 4}, "qwen2"),
    case("qwen3 moe", QWEN3_MOE, "qwen2", [{"num_experts_per_tok": 3}, {"norm_topk_prob": False}], dtype="BF16", shards=3),
    case("qwen3 moe, tied", {**QWEN3_MOE, "tie_word_embeddings": True, "num_experts": 4, "num_experts_per_tok": 3}, "qwen2"),
    case("qwen3 moe, experts of a layer in one tensor", QWEN3_MOE, "qwen2", fused=True, dtype="BF16", shards=2),
    case("gemma2, window shorter than the prompt", GEMMA2, "gemma",
         [{"sliding_window": None}, {"attn_logit_softcapping": None}, {"final_logit_softcapping": None},
          {"query_pre_attn_scalar": 64}], dtype="BF16"),
    case("gemma2, window longer than the prompt", {**GEMMA2, "sliding_window": 128}, "gemma", [{"sliding_window": 16}]),
    case("gemma2 of 46 layers", {
        **GEMMA2, "num_hidden_layers": 46, "hidden_size": 32, "intermediate_size": 32, "query_pre_attn_scalar": 8,
    }, "gemma", [{"query_pre_attn_scalar": 32}]),
    case("gemma3, window shorter than the prompt", GEMMA3, "gemma",
         [{"sliding_window": None}, {"rope_local_base_freq": 1000000.0}, {"sliding_window_pattern": 2}], dtype="BF16"),
    case("gemma3, linear rope on its global layers, layer types", {
        **{key: value for key, value in GEMMA3.items() if key != "sliding_window_pattern"},
        "layer_types": ["full_attention", "sliding_attention", "sliding_attention"] * 2 + ["full_attention"],
        "rope_scaling": {"rope_type": "linear", "factor": 8.0}, "sliding_window": 128,
    }, "gemma", [{"rope_scaling": None}, {"layer_types": ["sliding_attention"] * 7}], prompt=60),
    case("gemma3 with images, old names", image_text("Gemma3ForConditionalGeneration", GEMMA3, "gemma3_text"), "gemma",
         prefix="language_model.model.", shards=2, dtype="BF16"),
    case("gemma3 with images, new names", image_text("Gemma3ForConditionalGeneration", GEMMA3, "gemma3_text"), "gemma",
         prefix="model.language_model."),
    case("mistral3 with images, old names", image_text("Mistral3ForConditionalGeneration", {**MISTRAL, "sliding_window": None, "head_dim": 32}, "mistral"),
         "mistral", prefix="language_model.model.", dtype="BF16"),
    case("mistral3 with images, new names", image_text("Mistral3ForConditionalGeneration", {**MISTRAL, "sliding_window": None, "head_dim": 32}, "mistral"),
         "tekken", prefix="model.language_model.", shards=2),
    case("ministral3", MINISTRAL3, "tekken",
         [{"rope_scaling": None}, {"rope_scaling": {**MINISTRAL3["rope_scaling"], "llama_4_scaling_beta": 0.0}},
          {"rope_scaling": {**MINISTRAL3["rope_scaling"], "mscale": 0.0}}], dtype="BF16", prompt=120),
    case("ministral3 with images", image_text("Mistral3ForConditionalGeneration", {**MINISTRAL3, "tie_word_embeddings": True}, "ministral3"),
         "tekken", prefix="language_model.model.", prompt=80),
    case("gpt-oss", GPT_OSS, "o200k",
         [{"sinks": False}, {"sliding_window": None}, {"rope_scaling": None}, {"num_experts_per_tok": 3}, {"swiglu_limit": 100.0}],
         dtype="BF16", shards=3, prompt=120),
    case("gpt-oss, experts in BF16, layer types", {
        **{key: value for key, value in GPT_OSS.items() if key != "quantization_config"},
        "layer_types": ["full_attention", "sliding_attention", "sliding_attention", "full_attention"], "rope_scaling": YARN,
    }, "o200k", [{"layer_types": ["sliding_attention", "full_attention"] * 2}], dtype="BF16", prompt=60),
    case("phi3", {**PHI3, "original_max_position_embeddings": 1024}, "phi3", shards=2, dtype="BF16"),
    case("phi3, short factors", {**PHI3, "rope_scaling": LONGROPE}, "phi3", [{"rope_scaling": None}], context=256, prompt=100),
    case("phi3, long factors", {**PHI3, "rope_scaling": LONGROPE}, "phi3", [{"rope_scaling": None}], context=512, prompt=300),
    case("phi3, long factors for a short text of a long context", {**PHI3, "rope_scaling": LONGROPE}, "phi3", context=512),
    case("phi3, partly rotated", {
        **PHI3, "partial_rotary_factor": 0.75, "num_key_value_heads": 1,
        "rope_scaling": {key: value[:6] if isinstance(value, list) else value for key, value in LONGROPE.items()},
    }, "phi3", [{"partial_rotary_factor": 1.0, "rope_scaling": None}], context=512),
]


def gpt_oss_experts(result, p, c):
    experts, hidden, feed = c["num_local_experts"], c["hidden_size"], c["intermediate_size"]
    result[f"{p}.self_attn.sinks"] = [c["num_attention_heads"]]
    result[f"{p}.mlp.router.weight"] = [experts, hidden]
    result[f"{p}.mlp.router.bias"] = [experts]
    for name, rows, columns in (("gate_up_proj", 2 * feed, hidden), ("down_proj", hidden, feed)):
        e = f"{p}.mlp.experts.{name}"
        result[f"{e}_bias"] = [experts, rows]
        if "quantization_config" in c:
            result[f"{e}_blocks"] = [experts, rows, columns // 32, 16]
            result[f"{e}_scales"] = [experts, rows, columns // 32]
        else:
            result[e] = [experts, columns, rows]


def shapes(config, vocab_size):
    c = config
    family = c["architectures"][0]
    hidden, feed = c["hidden_size"], c["intermediate_size"]
    heads, kv_heads = c["num_attention_heads"], c["num_key_value_heads"]
    head_dim = c.get("head_dim") or hidden // heads
    queries, keys = heads * head_dim, kv_heads * head_dim
    result = {"model.embed_tokens.weight": [vocab_size, hidden], "model.norm.weight": [hidden]}
    if not c["tie_word_embeddings"]:
        result["lm_head.weight"] = [vocab_size, hidden]
    for layer in range(c["num_hidden_layers"]):
        p = f"model.layers.{layer}"

        def add(name, rows, columns=None, bias=False):
            result[f"{p}.{name}.weight"] = [rows] if columns is None else [rows, columns]
            if bias:
                result[f"{p}.{name}.bias"] = [rows]

        norms = ["input_layernorm", "post_attention_layernorm"]
        if "Gemma" in family:
            norms += ["pre_feedforward_layernorm", "post_feedforward_layernorm"]
        for norm in norms:
            add(norm, hidden)
        if family.startswith("Phi3"):
            add("self_attn.qkv_proj", queries + 2 * keys, hidden)
            add("mlp.gate_up_proj", 2 * feed, hidden)
        else:
            bias = family.startswith("Qwen2") or c.get("attention_bias", False)
            for part, rows in (("q", queries), ("k", keys), ("v", keys)):
                add(f"self_attn.{part}_proj", rows, hidden, bias)
            if family == "GptOssForCausalLM":
                gpt_oss_experts(result, p, c)
            elif "num_experts" in c:
                add("mlp.gate", c["num_experts"], hidden)
            else:
                for part in ("gate", "up"):
                    add(f"mlp.{part}_proj", feed, hidden, c.get("mlp_bias", False))
            for expert in range(c.get("num_experts", 0)):
                for part in ("gate", "up"):
                    add(f"mlp.experts.{expert}.{part}_proj", c["moe_intermediate_size"], hidden)
                add(f"mlp.experts.{expert}.down_proj", hidden, c["moe_intermediate_size"])
        add("self_attn.o_proj", hidden, queries, c.get("attention_bias", False))
        if "num_experts" not in c and "num_local_experts" not in c:
            add("mlp.down_proj", hidden, feed, c.get("mlp_bias", False))
        if family.startswith(("Qwen3", "Gemma3")):
            add("self_attn.q_norm", head_dim)
            add("self_attn.k_norm", head_dim)
    return result
