"""The demo model: a small Llama (RMSNorm, RoPE in the Hugging Face half-rotation
convention, grouped-query attention, SwiGLU, tied embeddings) in plain PyTorch.

Parameter names are those of Hugging Face's LlamaForCausalLM without the leading
"model.", so that export.py only has to add it.

In training a row holds several documents, and no token may look at another document's. There are two ways
to that: "slices" computes the attention of each document by itself, which is quickest on a CPU; "mask" gives
all rows a mask, which keeps a GPU busy. Both give the same numbers.
"""
import math
from dataclasses import asdict, dataclass

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class Config:
    vocab_size: int = 6144
    hidden_size: int = 512
    intermediate_size: int = 1024
    num_hidden_layers: int = 7
    num_attention_heads: int = 8
    num_key_value_heads: int = 4
    head_dim: int = 64
    rms_norm_eps: float = 1e-5
    rope_theta: float = 10000.0
    max_position_embeddings: int = 4096

    def to_dict(self):
        return asdict(self)


class RMSNorm(nn.Module):
    def __init__(self, size, eps):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.eps = eps

    def forward(self, x):
        return F.rms_norm(x, (x.shape[-1],), self.weight.to(x.dtype), self.eps)


def rope_tables(cfg, length):
    inv = 1.0 / (cfg.rope_theta ** (torch.arange(0, cfg.head_dim, 2).float() / cfg.head_dim))
    angle = torch.outer(torch.arange(length).float(), inv)
    angle = torch.cat([angle, angle], dim=-1)
    return angle.cos(), angle.sin()


def rotate(x, cos, sin):
    half = x.shape[-1] // 2
    turned = torch.cat([-x[..., half:], x[..., :half]], dim=-1)
    return x * cos.to(x.dtype) + turned * sin.to(x.dtype)


class Where:
    """Which token may look at which: documents as slices (row, from, to) or as a mask, and nothing at all for one document."""

    def __init__(self, slices=None, mask=None):
        self.slices, self.mask = slices, mask


def documents_of(begins, way):
    """begins: true where a document begins, (rows, length)."""
    rows, length = begins.shape
    if way == "mask":
        number = begins.cumsum(1)
        same = number[:, :, None] == number[:, None, :]
        return Where(mask=(same & torch.ones(length, length, dtype=torch.bool, device=begins.device).tril())[:, None])
    slices = []
    for r in range(rows):
        at = [i for i in torch.nonzero(begins[r]).flatten().tolist() if i > 0]
        slices += [(r, i, j) for i, j in zip([0] + at, at + [length])]
    return Where(slices=slices)


CHUNK = 256  # queries computed at once: what lies after them costs nothing


class CausalAttention(torch.autograd.Function):
    """Attention of one document by matrix products, on a CPU two to three times quicker than PyTorch's own.

    q: (heads, length, head size); k, v: (key/value heads, length, head size)."""

    @staticmethod
    def forward(ctx, q, k, v):
        heads, length, size = q.shape
        groups = k.shape[0]
        q = (q * size ** -0.5).view(groups, heads // groups, length, size)
        out, shares = torch.empty_like(q), []
        for i in range(0, length, CHUNK):
            j = min(i + CHUNK, length)
            chunk = q[:, :, i:j].reshape(groups, -1, size)
            scores = (chunk @ k[:, :j].mT).view(groups, -1, j - i, j)
            scores[..., i:].masked_fill_(torch.ones(j - i, j - i, dtype=torch.bool).triu_(1), float("-inf"))
            shares.append(torch.softmax(scores, -1).view(groups, -1, j))
            out[:, :, i:j] = (shares[-1] @ v[:, :j]).view(groups, -1, j - i, size)
        ctx.save_for_backward(q, k, v, *shares)
        return out.view(heads, length, size)

    @staticmethod
    def backward(ctx, d_out):
        q, k, v, *shares = ctx.saved_tensors
        groups, _, length, size = q.shape
        d_out = d_out.reshape(q.shape)
        d_q, d_k, d_v = torch.empty_like(q), torch.zeros_like(k), torch.zeros_like(v)
        for i, share in zip(range(0, length, CHUNK), shares):
            j = min(i + CHUNK, length)
            d_chunk = d_out[:, :, i:j].reshape(groups, -1, size)
            d_v[:, :j] += share.mT @ d_chunk
            d_scores = torch._softmax_backward_data(d_chunk @ v[:, :j].mT, share, -1, share.dtype)
            d_k[:, :j] += d_scores.mT @ q[:, :, i:j].reshape(groups, -1, size)
            d_q[:, :, i:j] = (d_scores @ k[:, :j]).view(groups, -1, j - i, size)
        return (d_q * size ** -0.5).view(-1, length, size), d_k, d_v


class Attention(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        h, d = cfg.hidden_size, cfg.head_dim
        self.q_proj = nn.Linear(h, cfg.num_attention_heads * d, bias=False)
        self.k_proj = nn.Linear(h, cfg.num_key_value_heads * d, bias=False)
        self.v_proj = nn.Linear(h, cfg.num_key_value_heads * d, bias=False)
        self.o_proj = nn.Linear(cfg.num_attention_heads * d, h, bias=False)

    def forward(self, x, cos, sin, where, cache=None):
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
        if where.slices is not None:
            parts = [CausalAttention.apply(q[r, :, i:j], k[r, :, i:j], v[r, :, i:j]) for r, i, j in where.slices]
            return self.o_proj(torch.cat(parts, 1).transpose(0, 1).reshape(b, t, -1))
        group = c.num_attention_heads // c.num_key_value_heads
        k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
        attend = F.scaled_dot_product_attention
        if where.mask is not None:
            out = attend(q, k, v, attn_mask=where.mask).transpose(1, 2).reshape(b, t, -1)
        else:
            past = k.shape[2] - t
            mask = None if past == 0 or t == 1 else torch.ones(t, past + t, dtype=torch.bool, device=x.device).tril(past)
            out = attend(q, k, v, attn_mask=mask, is_causal=past == 0 and t > 1).transpose(1, 2).reshape(b, t, -1)
        return self.o_proj(out)


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

    def forward(self, x, cos, sin, where, cache=None):
        x = x + self.self_attn(self.input_layernorm(x), cos, sin, where, cache)
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
                nn.init.normal_(p, 0.0, 1.0 if name == "embed_tokens.weight" else std)
        # Embeddings as large as what layers add, or attention drowns which token it is; logits begin small all the same.
        nn.init.constant_(self.norm.weight, 0.004)

    def forward(self, ids, caches=None, where=Where()):
        """Hidden states after the last norm; with caches, ids continue what is cached."""
        past = caches[0]["k"].shape[2] if caches and caches[0] else 0
        t = ids.shape[1]
        cos, sin = self.cos[past:past + t], self.sin[past:past + t]
        x = self.embed_tokens(ids)
        for i, layer in enumerate(self.layers):
            x = layer(x, cos, sin, where, caches[i] if caches is not None else None)
        return self.norm(x)

    def logits(self, ids, caches=None):
        return F.linear(self(ids, caches), self.embed_tokens.weight)

    def new_caches(self):
        return [{} for _ in self.layers]

    def loss_sum(self, ids, labels, weights, where):
        """Sum of the next-token cross-entropies, each times its weight."""
        h = self(ids, where=where).reshape(-1, self.cfg.hidden_size)
        labels, weights = labels.reshape(-1), weights.reshape(-1)
        if not ids.is_cuda:  # what has no weight needs no logits; a GPU wants fixed shapes
            keep = torch.nonzero(weights).flatten()
            h, labels, weights = h[keep], labels[keep], weights[keep]
        each = F.cross_entropy(F.linear(h, self.embed_tokens.weight.to(h.dtype)).float(), labels, reduction="none")
        return (each * weights).sum()
