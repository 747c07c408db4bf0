"""The demo model: a small Llama (RMSNorm, RoPE in the Hugging Face half-rotation
convention, grouped-query attention, SwiGLU, tied embeddings) in plain PyTorch.

Parameter names are those of Hugging Face's LlamaForCausalLM without the leading
"model.", so that export.py only has to add it.
"""
import math
from dataclasses import asdict, dataclass

import torch
import torch.nn.functional as F
from torch import nn

BLOCK = 128  # queries at a time in training


@dataclass
class Config:
    vocab_size: int = 4104
    hidden_size: int = 256
    intermediate_size: int = 768
    num_hidden_layers: int = 5
    num_attention_heads: int = 4
    num_key_value_heads: int = 2
    head_dim: int = 64
    rms_norm_eps: float = 1e-5
    rope_theta: float = 10000.0
    max_position_embeddings: int = 2048

    def to_dict(self):
        return asdict(self)


class RMSNorm(nn.Module):
    def __init__(self, size, eps):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.eps = eps

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight


def rope_tables(cfg, length):
    inv = 1.0 / (cfg.rope_theta ** (torch.arange(0, cfg.head_dim, 2).float() / cfg.head_dim))
    angle = torch.outer(torch.arange(length).float(), inv)
    angle = torch.cat([angle, angle], dim=-1)
    return angle.cos(), angle.sin()


def rotate(x, cos, sin):
    half = x.shape[-1] // 2
    turned = torch.cat([-x[..., half:], x[..., :half]], dim=-1)
    return x * cos + turned * sin


class Attention(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        h, d = cfg.hidden_size, cfg.head_dim
        self.q_proj = nn.Linear(h, cfg.num_attention_heads * d, bias=False)
        self.k_proj = nn.Linear(h, cfg.num_key_value_heads * d, bias=False)
        self.v_proj = nn.Linear(h, cfg.num_key_value_heads * d, bias=False)
        self.o_proj = nn.Linear(cfg.num_attention_heads * d, h, bias=False)

    def forward(self, x, cos, sin, mask, cache=None):
        c = self.cfg
        b, t, _ = x.shape
        q = self.q_proj(x).view(b, t, c.num_attention_heads, c.head_dim).transpose(1, 2)
        k = self.k_proj(x).view(b, t, c.num_key_value_heads, c.head_dim).transpose(1, 2)
        v = self.v_proj(x).view(b, t, c.num_key_value_heads, c.head_dim).transpose(1, 2)
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        if cache is not None:
            if cache:
                k, v = torch.cat([cache["k"], k], 2), torch.cat([cache["v"], v], 2)
            cache["k"], cache["v"] = k, v
        group = c.num_attention_heads // c.num_key_value_heads
        # Query heads of one group share a key/value head: the group is folded into the rows.
        q = q.view(b, c.num_key_value_heads, group, t, c.head_dim) * (1.0 / math.sqrt(c.head_dim))
        past, outs = k.shape[2] - t, []
        step = BLOCK if self.training else t
        for start in range(0, t, step):  # in training: no work on keys that all queries of a block may not see
            end = min(t, start + step)
            qb = q[:, :, :, start:end].reshape(b, c.num_key_value_heads, group * (end - start), c.head_dim)
            scores = torch.matmul(qb, k[:, :, :past + end].transpose(2, 3))
            if mask is not None:
                scores = scores + mask[start:end, :past + end].repeat(group, 1)
            ob = torch.matmul(F.softmax(scores, dim=-1), v[:, :, :past + end])
            outs.append(ob.view(b, c.num_key_value_heads, group, end - start, c.head_dim))
        out = torch.cat(outs, 3).reshape(b, c.num_attention_heads, t, c.head_dim)
        return self.o_proj(out.transpose(1, 2).reshape(b, t, -1))


class MLP(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.gate_proj = nn.Linear(cfg.hidden_size, cfg.intermediate_size, bias=False)
        self.up_proj = nn.Linear(cfg.hidden_size, cfg.intermediate_size, bias=False)
        self.down_proj = nn.Linear(cfg.intermediate_size, cfg.hidden_size, bias=False)

    def forward(self, x):
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class Layer(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.input_layernorm = RMSNorm(cfg.hidden_size, cfg.rms_norm_eps)
        self.self_attn = Attention(cfg)
        self.post_attention_layernorm = RMSNorm(cfg.hidden_size, cfg.rms_norm_eps)
        self.mlp = MLP(cfg)

    def forward(self, x, cos, sin, mask, cache=None):
        x = x + self.self_attn(self.input_layernorm(x), cos, sin, mask, cache)
        return x + self.mlp(self.post_attention_layernorm(x))


class Llama(nn.Module):
    def __init__(self, cfg, seed=None):
        super().__init__()
        if seed is not None:
            torch.manual_seed(seed)
        self.cfg = cfg
        self.embed_tokens = nn.Embedding(cfg.vocab_size, cfg.hidden_size)
        self.layers = nn.ModuleList(Layer(cfg) for _ in range(cfg.num_hidden_layers))
        self.norm = RMSNorm(cfg.hidden_size, cfg.rms_norm_eps)
        cos, sin = rope_tables(cfg, cfg.max_position_embeddings)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)
        for name, p in self.named_parameters():
            if p.dim() == 2:
                std = 0.02
                if name.endswith(("o_proj.weight", "down_proj.weight")):
                    std /= math.sqrt(2 * cfg.num_hidden_layers)
                nn.init.normal_(p, 0.0, std)

    def forward(self, ids, caches=None):
        """Hidden states after the last norm; with caches, ids continue what is cached."""
        past = caches[0]["k"].shape[2] if caches and caches[0] else 0
        t = ids.shape[1]
        cos, sin = self.cos[past:past + t], self.sin[past:past + t]
        mask = None
        if t > 1:
            mask = torch.full((t, past + t), float("-inf")).triu(past + 1)
        x = self.embed_tokens(ids)
        for i, layer in enumerate(self.layers):
            x = layer(x, cos, sin, mask, caches[i] if caches is not None else None)
        return self.norm(x)

    def logits(self, ids, caches=None):
        return F.linear(self(ids, caches), self.embed_tokens.weight)

    def new_caches(self):
        return [{} for _ in self.layers]

    def loss(self, ids, labels, weights=None):
        """Mean next-token cross-entropy; labels < 0 are left out."""
        h = self(ids).reshape(-1, self.cfg.hidden_size)
        labels = labels.reshape(-1)
        keep = labels >= 0
        logits = F.linear(h[keep], self.embed_tokens.weight)
        each = F.cross_entropy(logits, labels[keep], reduction="none")
        if weights is None:
            return each.mean()
        w = weights.reshape(-1)[keep]
        return (each * w).sum() / w.sum()
