"""The safetensors format by hand, and loading the exported model back."""
import json
import os
import struct

import numpy as np
import torch

from model import Config, Llama
from tokenizer import Tokenizer

HERE = os.path.dirname(os.path.abspath(__file__))
MODEL_DIR = os.path.join(HERE, "..", "..", "models", "demo")


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


def read_safetensors(path):
    with open(path, "rb") as f:
        size = struct.unpack("<Q", f.read(8))[0]
        header = json.loads(f.read(size))
        data = f.read()
    header.pop("__metadata__", None)
    return {n: np.frombuffer(data[e["data_offsets"][0]:e["data_offsets"][1]], np.float16).reshape(e["shape"])
            for n, e in header.items()}


def load_exported(folder=MODEL_DIR):
    """(model in float32 from the float16 weights, tokenizer)."""
    with open(os.path.join(folder, "config.json"), encoding="utf-8") as f:
        c = json.load(f)
    cfg = Config(**{k: c[k] for k in Config().to_dict()})
    model = Llama(cfg)
    state = {n.replace("model.", "", 1): torch.from_numpy(t.astype(np.float32))
             for n, t in read_safetensors(os.path.join(folder, "model.safetensors")).items()}
    model.load_state_dict(state)
    return model.eval(), Tokenizer(os.path.join(folder, "tokenizer.json"))


def load_checkpoint(work):
    """(model, tokenizer) of a training run."""
    saved = torch.load(os.path.join(work, "checkpoint.pt"), map_location="cpu")
    model = Llama(Config(**saved["config"]))
    model.load_state_dict(saved["model"])
    return model.eval(), Tokenizer(os.path.join(work, "tokenizer.json"))


def load(work=None, folder=MODEL_DIR):
    return load_checkpoint(work) if work else load_exported(folder)


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
