"""The safetensors format by hand, and loading a model back: an exported folder, the shipped GGUF file or a checkpoint."""
import json
import os
import struct

import numpy as np
import torch

from text.chat_format import ADDED
from training.model import Config, Llama
from training.tokenizer import Tokenizer, tokenizer_json

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SHIPPED = os.path.join(ROOT, "..", "..", "models", "demo", "demo.gguf")
GGUF_NAMES = {"token_embd": "embed_tokens", "output_norm": "norm", "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj",
              "attn_output": "self_attn.o_proj", "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj",
              "attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm"}


def write_safetensors(path, tensors):
    """tensors: name -> float16 numpy array."""
    header, offset = {"__metadata__": {"format": "pt"}}, 0
    for name, t in tensors.items():
        header[name] = {"dtype": "F16", "shape": list(t.shape), "data_offsets": [offset, offset + t.nbytes]}
        offset += t.nbytes
    head = json.dumps(header, separators=(",", ":")).encode()
    head += b" " * (-len(head) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(head)) + head)
        for t in tensors.values():
            f.write(np.ascontiguousarray(t).tobytes())


def write_shards(folder, tensors, size):
    """One file, or several of at most size bytes with an index; the names of the files."""
    groups, room = [{}], size
    for name, t in tensors.items():
        if t.nbytes > room and groups[-1]:
            groups.append({})
            room = size
        groups[-1][name] = t
        room -= t.nbytes
    if len(groups) == 1:
        write_safetensors(os.path.join(folder, "model.safetensors"), tensors)
        return
    where = {}
    for i, group in enumerate(groups):
        file = f"model-{i + 1:05}-of-{len(groups):05}.safetensors"
        write_safetensors(os.path.join(folder, file), group)
        where.update({name: file for name in group})
    with open(os.path.join(folder, "model.safetensors.index.json"), "w", encoding="utf-8") as f:
        json.dump({"metadata": {"total_size": sum(t.nbytes for t in tensors.values())}, "weight_map": where}, f, indent=1)


def read_safetensors(path):
    with open(path, "rb") as f:
        size = struct.unpack("<Q", f.read(8))[0]
        header = json.loads(f.read(size))
        data = f.read()
    header.pop("__metadata__", None)
    return {n: np.frombuffer(data[e["data_offsets"][0]:e["data_offsets"][1]], np.float16).reshape(e["shape"])
            for n, e in header.items()}


def read_weights(folder):
    """The weights of a folder in float32, under the names of model.py."""
    files = sorted(f for f in os.listdir(folder) if f.endswith(".safetensors"))
    return {n.replace("model.", "", 1): torch.from_numpy(t.astype(np.float32)) for f in files
            for n, t in read_safetensors(os.path.join(folder, f)).items()}


def read_gguf(path):
    """(config, weights in float32 under the names of model.py, what tokenizer.json would hold) of a GGUF file."""
    from gguf import GGUFReader
    from gguf.quants import dequantize
    reader = GGUFReader(path)
    meta = lambda key: reader.fields[key].contents()
    cfg = Config(vocab_size=len(meta("tokenizer.ggml.tokens")), hidden_size=meta("llama.embedding_length"), intermediate_size=meta(
        "llama.feed_forward_length"), num_hidden_layers=meta("llama.block_count"), num_attention_heads=meta("llama.attention.head_count"),
        num_key_value_heads=meta("llama.attention.head_count_kv"), head_dim=meta("llama.rope.dimension_count"), rms_norm_eps=meta(
        "llama.attention.layer_norm_rms_epsilon"), rope_theta=meta("llama.rope.freq_base"), max_position_embeddings=meta("llama.context_length"))
    vocab = meta("tokenizer.ggml.tokens")[:-len(ADDED)]
    tokens = tokenizer_json({token: i for i, token in enumerate(vocab)}, meta("tokenizer.ggml.merges"))
    weights = {}
    for t in reader.tensors:
        kind = t.name.removesuffix(".weight").split(".")[-1]
        layer = f"layers.{t.name.split('.')[1]}." if t.name.startswith("blk.") else ""
        w = torch.from_numpy(np.array(dequantize(t.data, t.tensor_type), np.float32)).reshape([int(n) for n in reversed(t.shape)])
        if kind in ("attn_q", "attn_k"):  # GGUF has the halves of each head's rotation side by side
            w = w.view(-1, cfg.head_dim // 2, 2, w.shape[1]).transpose(1, 2).reshape(w.shape)
        weights[f"{layer}{GGUF_NAMES[kind]}.weight"] = w
    return cfg, weights, tokens


def load_gguf(path):
    cfg, weights, tokens = read_gguf(path)
    model = Llama(cfg)
    model.load_state_dict(weights)
    return model.eval(), Tokenizer(tokens)


def load_exported(folder):
    with open(os.path.join(folder, "config.json"), encoding="utf-8") as f:
        c = json.load(f)
    model = Llama(Config(**{k: c[k] for k in Config().to_dict()}))
    model.load_state_dict(read_weights(folder))
    return model.eval(), Tokenizer(os.path.join(folder, "tokenizer.json"))


def load_checkpoint(work):
    saved = torch.load(os.path.join(work, "checkpoint.pt"), map_location="cpu", weights_only=True)
    model = Llama(Config(**saved["config"]))
    model.load_state_dict(saved["model"])
    return model.eval(), Tokenizer(os.path.join(work, "tokenizer.json"))


def load(model=SHIPPED, work=None):
    """(model in float32, tokenizer) of a GGUF file, an exported folder, or the last checkpoint of a training run."""
    if work:
        return load_checkpoint(work)
    return load_exported(model) if os.path.isdir(model) else load_gguf(model)


@torch.no_grad()
def greedy(model, ids, count, stop, pick=None):
    """(token ids, gaps between the two best logits, first logits); ends after stop."""
    caches = model.new_caches()
    logits = model.logits(torch.tensor([ids]), caches)[0, -1]
    first, out, gaps = logits, [], []
    while True:
        top = torch.topk(logits, 2)
        token = int(top.indices[0]) if pick is None else pick(logits)
        out.append(token)
        gaps.append(float(top.values[0] - top.values[1]))
        if token == stop or len(out) >= count:
            return out, gaps, first
        logits = model.logits(torch.tensor([[token]]), caches)[0, -1]


def sampler(temperature, seed):
    """A pick for greedy() that draws at the temperature; None, the likeliest, at 0."""
    gen = torch.Generator().manual_seed(seed)

    def pick(logits):
        return int(torch.multinomial(torch.softmax(logits / temperature, -1), 1, generator=gen))
    return pick if temperature > 0 else None


def answer(model, tok, messages, tools=None, count=400, pick=None):
    """What the model says next."""
    ids = tok.chat(messages, tools)
    count = min(count, model.cfg.max_position_embeddings - len(ids))
    out, _, _ = greedy(model, ids, count, tok.stop, pick)
    return tok.decode(out[:-1]) if out[-1] == tok.stop else tok.decode(out) + " [no end]"
