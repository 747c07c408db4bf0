"""Weights to begin with in which tokens are looked up already: two layers begin as induction heads.

Such heads (Olsson et al. 2022, "In-context Learning and Induction Heads") find where the token at hand stood before and say what came
after it; a model needs them to repeat a name, read a list or call a tool. In a run of a few million tokens they do not form by
themselves: after 9 million, repeated phrases still had 4.4 nats a token. Begun like this they have 1.2 after one million. Nothing
else is different from a random beginning: all weights are trained, and the model is a plain Llama ("mimetic" initialization,
Trockman and Kolter 2023, is the same idea for other patterns).

Layer 0, first group of heads: looks at the token before, whatever it is, by the rotations alone, and writes 64 projected
dimensions of it to a part of the residual stream where embeddings begin with zeros. Layer 1, first two groups: look for
tokens before which the token at hand stands, in dimensions that are hardly rotated, and write the projected embedding of what they find.
"""
import torch

CONSTANT = 8.0  # in the last dimension of every embedding, so that queries and keys can be the same for all tokens
NEAR_PAIRS = 16  # pairs of dimensions, the quickest, by which the token before is found
FAR_FROM = 14  # pairs from here on turn slowly enough for contents
SHARPNESS = 5.8667  # of the look at the token before
CONTENT = 1.5  # weight of queries and keys by content
BEFORE = 2.0  # weight of what is written of the token before


def orthonormal(rows, columns, gen):
    return torch.linalg.qr(torch.randn(columns, rows, generator=gen))[0].T


@torch.no_grad()
def prime(model, seed=1):
    """Changes a model of at least two layers that has its random weights; returns it."""
    cfg, gen = model.cfg, torch.Generator().manual_seed(seed)
    h, d, share = cfg.hidden_size, cfg.head_dim, cfg.num_attention_heads // cfg.num_key_value_heads
    own, before, constant = h * 3 // 4, slice(h * 3 // 4, h * 3 // 4 + d), h - 1
    embeddings = model.embed_tokens.weight
    embeddings[:, own:] = 0
    embeddings[:, constant] = CONSTANT
    projected = orthonormal(d, own, gen)
    look_back(model.layers[0].self_attn, cfg, projected, own, before, constant)
    find = model.layers[1].self_attn
    pairs = torch.arange(FAR_FROM, d // 2)
    dims = torch.cat([pairs, d // 2 + pairs])
    for group in (0, 1):
        contents, values = orthonormal(len(dims), d, gen), orthonormal(d, own, gen)
        key, heads = slice(group * d, (group + 1) * d), range(group * share, (group + 1) * share)
        find.k_proj.weight[key], find.v_proj.weight[key] = 0, 0
        find.k_proj.weight[group * d + dims, before] = CONTENT * contents
        find.v_proj.weight[key, :own] = values
        for head in heads:
            query = slice(head * d, (head + 1) * d)
            find.q_proj.weight[query], find.o_proj.weight[:, query] = 0, 0
            find.q_proj.weight[head * d + dims, :own] = CONTENT * contents @ projected
            find.o_proj.weight[:own, query] = values.T
    return model


def look_back(attention, cfg, projected, own, before, constant):
    d, share = cfg.head_dim, cfg.num_attention_heads // cfg.num_key_value_heads
    size, pairs = SHARPNESS / CONSTANT, torch.arange(NEAR_PAIRS)
    turn = cfg.rope_theta ** (-pairs / (d // 2))
    attention.k_proj.weight[:d], attention.v_proj.weight[:d] = 0, 0
    attention.k_proj.weight[pairs, constant] = size
    attention.v_proj.weight[:d, :own] = projected
    for head in range(share):
        query = slice(head * d, (head + 1) * d)
        attention.q_proj.weight[query], attention.o_proj.weight[:, query] = 0, 0
        attention.q_proj.weight[head * d + pairs, constant] = size * torch.cos(turn)
        attention.q_proj.weight[head * d + d // 2 + pairs, constant] = -size * torch.sin(turn)
        attention.o_proj.weight[before, query] = BEFORE / share * torch.eye(d)
