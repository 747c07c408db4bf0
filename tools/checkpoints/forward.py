"""Forward passes of decoder-only transformers in double precision, written from the published architectures:
Llama (arXiv 2302.13971, 2407.21783), Mistral (2310.06825), Qwen2 (2407.10671), Qwen3 (2505.09388), Gemma 2 (2408.00118),
Gemma 3 (2503.19786), Phi-3 (2404.14219), Granite (its model cards), SmolLM3 (its report), gpt-oss (2508.10925); YaRN (2309.00071), LongRoPE (2402.13753). No cache: every call computes the
whole text. Reads the config as it stands in config.json and the tensors under their names in a checkpoint.
"""
import math

import numpy as np


class Forward:
    def __init__(self, config, weights, context=None, gelu=None, to_mxfp4=None):
        """`context` is what the text may grow to; it decides between the long and the short factors of LongRoPE.
        `to_mxfp4` is what happens to the numbers that are multiplied by weights in MXFP4."""
        self.c, self.w, self.context = config, weights, context
        self.gelu = gelu or gelu_tanh
        self.to_mxfp4 = to_mxfp4 or (lambda x: x)
        self.family = config["architectures"][0].replace("ForCausalLM", "")
        self.gemma = self.family.startswith("Gemma")
        self.heads = config["num_attention_heads"]
        self.kv_heads = config.get("num_key_value_heads", self.heads)
        self.head_dim = config.get("head_dim") or config["hidden_size"] // self.heads
        self.rotary_dim = int(self.head_dim * config.get("partial_rotary_factor", 1.0))

    def logits(self, ids):
        """One row for each position."""
        c, w = self.c, self.w
        x = w["model.embed_tokens.weight"][ids]
        x = x * (math.sqrt(c["hidden_size"]) if self.gemma else c.get("embedding_multiplier", 1.0))
        for layer in range(c["num_hidden_layers"]):
            x = self.block(x, layer)
        x = self.norm(x, "model.norm")
        head = w["model.embed_tokens.weight"] if self.tied() else w["lm_head.weight"]
        return soft_cap(x @ head.T / c.get("logits_scaling", 1.0), c.get("final_logit_softcapping"))

    def tied(self):
        return self.c.get("tie_word_embeddings", self.gemma)

    def block(self, x, layer):
        p = f"model.layers.{layer}"
        if self.gemma:
            attended = self.attention(self.norm(x, f"{p}.input_layernorm"), layer)
            x = x + self.norm(attended, f"{p}.post_attention_layernorm")
            fed = self.feed_forward(self.norm(x, f"{p}.pre_feedforward_layernorm"), p)
            return x + self.norm(fed, f"{p}.post_feedforward_layernorm")
        scale = self.c.get("residual_multiplier", 1.0)
        x = x + scale * self.attention(self.norm(x, f"{p}.input_layernorm"), layer)
        return x + scale * self.feed_forward(self.norm(x, f"{p}.post_attention_layernorm"), p)

    def norm(self, x, name):
        scaled = x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + self.c["rms_norm_eps"])
        weight = self.w[f"{name}.weight"]
        return scaled * (1 + weight if self.gemma else weight)

    def linear(self, x, name):
        y = x @ self.w[f"{name}.weight"].T
        bias = self.w.get(f"{name}.bias")
        return y if bias is None else y + bias

    def feed_forward(self, x, p):
        if self.family == "Qwen3Moe":
            return self.experts(x, p)
        if self.family == "GptOss":
            return self.biased_experts(x, p)
        if self.family == "Phi3":
            gate, up = np.split(self.linear(x, f"{p}.mlp.gate_up_proj"), 2, axis=-1)
        else:
            gate, up = self.linear(x, f"{p}.mlp.gate_proj"), self.linear(x, f"{p}.mlp.up_proj")
        return self.linear((self.gelu(gate) if self.gemma else silu(gate)) * up, f"{p}.mlp.down_proj")

    def experts(self, x, p):
        """Each token goes to the experts that its router gives most, weighted by their shares."""
        c = self.c
        scores = self.linear(x, f"{p}.mlp.gate")
        shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
        shares /= shares.sum(axis=-1, keepdims=True)
        result = np.zeros_like(x)
        for token, row in enumerate(shares):
            chosen = np.argsort(-row)[:c["num_experts_per_tok"]]
            total = row[chosen].sum() if c["norm_topk_prob"] else 1.0
            for expert in chosen:
                e = f"{p}.mlp.experts.{expert}"
                inner = silu(self.linear(x[token], f"{e}.gate_proj")) * self.linear(x[token], f"{e}.up_proj")
                result[token] += row[expert] / total * self.linear(inner, f"{e}.down_proj")
        return result

    def biased_experts(self, x, p):
        """gpt-oss: shares among those that are chosen; gate and up in turns, both bounded, and one is added to up."""
        c, limit = self.c, self.c["swiglu_limit"]
        e = f"{p}.mlp.experts"
        scores = self.linear(x, f"{p}.mlp.router")
        result = np.zeros_like(x)
        for token, row in enumerate(scores):
            chosen = np.argsort(-row)[:c["num_experts_per_tok"]]
            shares = np.exp(row[chosen] - row[chosen].max())
            for expert, share in zip(chosen, shares / shares.sum()):
                both = self.to_mxfp4(x[token]) @ self.w[f"{e}.gate_up_proj"][expert] + self.w[f"{e}.gate_up_proj_bias"][expert]
                gate, up = np.minimum(both[::2], limit), np.clip(both[1::2], -limit, limit)
                inner = gate / (1 + np.exp(-1.702 * gate)) * (up + 1)
                result[token] += share * (self.to_mxfp4(inner) @ self.w[f"{e}.down_proj"][expert] + self.w[f"{e}.down_proj_bias"][expert])
        return result

    def qkv(self, x, p):
        if self.family == "Phi3":
            queries, keys = self.heads * self.head_dim, self.kv_heads * self.head_dim
            return np.split(self.linear(x, f"{p}.self_attn.qkv_proj"), [queries, queries + keys], axis=-1)
        return [self.linear(x, f"{p}.self_attn.{part}_proj") for part in "qkv"]

    def attention(self, x, layer):
        p, n = f"model.layers.{layer}", len(x)
        q, k, v = self.qkv(x, p)
        q = q.reshape(n, self.heads, self.head_dim)
        k = k.reshape(n, self.kv_heads, self.head_dim)
        v = v.reshape(n, self.kv_heads, self.head_dim)
        if self.family in ("Qwen3", "Qwen3Moe", "Gemma3"):
            q, k = self.norm(q, f"{p}.self_attn.q_norm"), self.norm(k, f"{p}.self_attn.k_norm")
        if self.has_positions(layer):
            cos, sin = self.rotation(n, layer)
            q, k = self.rotate(q, cos, sin), self.rotate(k, cos, sin)
        q = q * self.query_scale(n)[:, None, None]
        shared = self.heads // self.kv_heads
        k, v = np.repeat(k, shared, axis=1), np.repeat(v, shared, axis=1)
        scores = np.einsum("ihd,jhd->hij", q, k) * self.attention_scale()
        scores = soft_cap(scores, self.c.get("attn_logit_softcapping"))
        scores = np.where(self.visible(n, layer), scores, -np.inf)
        most = scores.max(axis=-1, keepdims=True)
        weights = np.exp(scores - most)
        sinks = self.w.get(f"{p}.self_attn.sinks") if self.c.get("sinks", True) else None
        # A share of the attention goes nowhere.
        nowhere = 0.0 if sinks is None else np.exp(sinks[:, None, None] - most)
        weights /= weights.sum(axis=-1, keepdims=True) + nowhere
        return self.linear(np.einsum("hij,jhd->ihd", weights, v).reshape(n, -1), f"{p}.self_attn.o_proj")

    def has_positions(self, layer):
        """SmolLM3 has layers without (arXiv 2501.18795)."""
        if self.family != "SmolLM3":
            return True
        given = self.c.get("no_rope_layers")
        return bool(given[layer]) if given else (layer + 1) % self.c.get("no_rope_layer_interval", 4) != 0

    def query_scale(self, n):
        """Ministral 3: grows with each stretch as long as the original context."""
        scaling = self.c.get("rope_scaling") or {}
        stretch = np.floor(np.arange(n) / scaling.get("original_max_position_embeddings", 1))
        return 1 + scaling.get("llama_4_scaling_beta", 0.0) * np.log(1 + stretch)

    def attention_scale(self):
        if self.family == "Granite":
            return self.c["attention_multiplier"]
        return 1 / math.sqrt(self.c.get("query_pre_attn_scalar", self.head_dim) if self.gemma else self.head_dim)

    def slides(self, layer):
        c = self.c
        if "layer_types" in c:
            return c["layer_types"][layer] == "sliding_attention"
        if self.family in ("Gemma2", "GptOss"):
            return layer % 2 == 0
        if self.family == "Gemma3":
            return (layer + 1) % c.get("sliding_window_pattern", 6) != 0
        if self.family.startswith("Qwen"):
            return c.get("use_sliding_window", False) and layer >= c.get("max_window_layers", 28)
        return True

    def visible(self, n, layer):
        i, j = np.arange(n)[:, None], np.arange(n)[None, :]
        window = self.c.get("sliding_window")
        within = j > i - window if window is not None and self.slides(layer) else True
        return (j <= i) & within

    def rotate(self, x, cos, sin):
        r = self.rotary_dim
        turned, rest = x[..., :r], x[..., r:]
        halves = np.concatenate([-turned[..., r // 2:], turned[..., :r // 2]], axis=-1)
        return np.concatenate([turned * cos[:, None, :] + halves * sin[:, None, :], rest], axis=-1)

    def rotation(self, n, layer):
        """Cosines and sines for each position and each number of the rotated part."""
        is_local = self.family == "Gemma3" and self.slides(layer)
        if is_local:
            inverse, temperature = self.base_frequencies(self.c.get("rope_local_base_freq", 10_000.0)), 1.0
        else:
            inverse, temperature = self.frequencies()
        angles = np.arange(n)[:, None] * np.concatenate([inverse, inverse])[None, :]
        return np.cos(angles) * temperature, np.sin(angles) * temperature

    def base_frequencies(self, theta):
        return 1.0 / theta ** (np.arange(0, self.rotary_dim, 2) / self.rotary_dim)

    def frequencies(self):
        c = self.c
        theta, scaling = c.get("rope_theta", 10_000.0), c.get("rope_scaling") or {}
        inverse = self.base_frequencies(theta)
        kind = scaling.get("rope_type", scaling.get("type"))
        if kind is None:
            return inverse, 1.0
        return {"linear": linear, "llama3": llama3, "yarn": self.yarn, "longrope": self.longrope}[kind](inverse, scaling)

    def yarn(self, inverse, scaling):
        theta, factor, dim = self.c.get("rope_theta", 10_000.0), scaling["factor"], self.rotary_dim
        original = scaling["original_max_position_embeddings"]

        def dimension(rotations):
            return dim * math.log(original / (rotations * 2 * math.pi)) / (2 * math.log(theta))

        low, high = dimension(scaling.get("beta_fast", 32)), dimension(scaling.get("beta_slow", 1))
        if scaling.get("truncate", True):
            low, high = math.floor(low), math.ceil(high)
        low, high = max(low, 0), min(high, dim - 1)
        ramp = np.clip((np.arange(dim // 2) - low) / max(high - low, 0.001), 0, 1)
        derived = 0.1 * math.log(factor) + 1
        if scaling.get("mscale") and scaling.get("mscale_all_dim"):
            derived = (0.1 * scaling["mscale"] * math.log(factor) + 1) / (0.1 * scaling["mscale_all_dim"] * math.log(factor) + 1)
        temperature = scaling.get("attention_factor", derived)
        return inverse / factor * ramp + inverse * (1 - ramp), temperature

    def longrope(self, inverse, scaling):
        original = self.c["original_max_position_embeddings"]
        factors = scaling["long_factor" if self.context > original else "short_factor"]
        ratio = self.c["max_position_embeddings"] / original
        return inverse / np.array(factors), math.sqrt(1 + math.log(ratio) / math.log(original)) if ratio > 1 else 1.0


def linear(inverse, scaling):
    return inverse / scaling["factor"], 1.0


def llama3(inverse, scaling):
    factor, original = scaling["factor"], scaling["original_max_position_embeddings"]
    low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
    turns = original * inverse / (2 * math.pi)
    blend = np.clip((turns - low) / (high - low), 0, 1)
    return (1 - blend) * inverse / factor + blend * inverse, 1.0


def silu(x):
    return x / (1 + np.exp(-x))


def gelu_tanh(x):
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))


def gelu_by_table(x):
    """As llama.cpp has it on a CPU: a table from half precision to half precision, between -10 and 10."""
    looked_up = gelu_tanh(x.astype(np.float16).astype(np.float64)).astype(np.float16).astype(np.float64)
    return np.where(x <= -10, 0.0, np.where(x >= 10, x, looked_up))


def in_8_bits(x):
    """As llama.cpp has it on a CPU: whole numbers up to 127 times a scale in half precision, for each 32."""
    blocks = x.reshape(-1, 32)
    scale = np.abs(blocks).max(axis=-1, keepdims=True) / 127
    whole = np.round(blocks / np.where(scale == 0, 1, scale))
    return (whole * scale.astype(np.float16).astype(np.float64)).reshape(x.shape)


def soft_cap(x, cap):
    return x if cap is None else cap * np.tanh(x / cap)
