"""The safetensors format by hand, and loading a model back: an exported folder or a checkpoint."""
import json
import os
import struct

import numpy as np
import torch

from training.model import Config, Llama
from training.tokenizer import Tokenizer

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SHIPPED = os.path.join(ROOT, "..", "..", "models", "demo")
DTYPES = {"F32": np.float32, "F16": np.float16, "I8": np.int8}


def to_int8(name, weight):
    """{name: tensor} as stored: the matrices of the layers in 8 bits with a scale for each row, everything else in float16.

    The scale is the one of 17, up to that of the row's largest number, that rounds it best."""
    if not name.endswith("_proj.weight"):
        return {name: weight.astype(np.float16)}
    weight, best = weight.astype(np.float32), None
    largest = np.abs(weight).max(1, keepdims=True)
    for share in np.linspace(0.8, 1, 17):
        scale = np.maximum(largest * share / 127, 1e-6).astype(np.float16).astype(np.float32)
        numbers = np.clip(np.rint(weight / scale), -127, 127)
        error = ((numbers * scale - weight) ** 2).sum(1, keepdims=True)
        if best is None:
            best = [error, scale, numbers]
        else:
            better = error < best[0]
            best = [np.where(better, new, old) for new, old in zip((error, scale, numbers), best)]
    return {name: best[2].astype(np.int8), name + "_scale": best[1].astype(np.float16)}


def write_safetensors(path, tensors):
    """tensors: name -> numpy array of float16 or int8."""
    header, offset = {"__metadata__": {"format": "pt"}}, 0
    for name, t in tensors.items():
        header[name] = {"dtype": "I8" if t.dtype == np.int8 else "F16", "shape": list(t.shape), "data_offsets": [offset, offset + t.nbytes]}
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
    return {n: np.frombuffer(data[e["data_offsets"][0]:e["data_offsets"][1]], DTYPES[e["dtype"]]).reshape(e["shape"])
            for n, e in header.items()}


def read_weights(folder):
    """The weights of a folder in float32, under the names of model.py."""
    files = sorted(f for f in os.listdir(folder) if f.endswith(".safetensors"))
    stored = {n.replace("model.", "", 1): t.astype(np.float32) for f in files for n, t in read_safetensors(os.path.join(folder, f)).items()}
    return {n: torch.from_numpy(t * stored.get(n + "_scale", np.float32(1))) for n, t in stored.items() if not n.endswith("_scale")}


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


def load(folder=SHIPPED, work=None):
    """(model in float32, tokenizer) of an exported folder, or of the last checkpoint of a training run."""
    return load_checkpoint(work) if work else load_exported(folder)


@torch.no_grad()
def greedy(model, ids, count, stops, pick=None):
    """(token ids, gaps between the two best logits, first logits); ends after any of stops."""
    caches = model.new_caches()
    logits = model.logits(torch.tensor([ids]), caches)[0, -1]
    first, out, gaps = logits, [], []
    while True:
        top = torch.topk(logits, 2)
        token = int(top.indices[0]) if pick is None else pick(logits)
        out.append(token)
        gaps.append(float(top.values[0] - top.values[1]))
        if token in stops or len(out) >= count:
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
    out, _, _ = greedy(model, ids, count, (tok.stop,), pick)
    return tok.decode(out[:-1]) if out[-1] == tok.stop else tok.decode(out) + " [no end]"
