"""Begins a work folder with the shipped model, so that training goes on from it: its tokenizer and its weights.

    python3 -m training.begin --work-dir .work [--model ../../models/demo/demo.gguf]

The weights are those in 8 bits, and the optimizer begins anew.
"""
import argparse
import json
import os

import torch

from training.train import Optimizer
from training.model import Llama
from training.weights import ROOT, SHIPPED, read_gguf


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--work-dir", default=os.path.join(ROOT, ".work"))
    ap.add_argument("--model", default=SHIPPED)
    args = ap.parse_args()
    os.makedirs(args.work_dir, exist_ok=True)
    cfg, weights, tokens = read_gguf(args.model)
    with open(os.path.join(args.work_dir, "tokenizer.json"), "w", encoding="utf-8") as f:
        json.dump(tokens, f, ensure_ascii=False, indent=1)
    model = Llama(cfg)
    model.load_state_dict(weights)
    optimizer = Optimizer(dict(model.named_parameters()), 1)
    torch.save({"model": weights, "m": optimizer.m, "v": optimizer.v, "state": {}, "config": cfg.to_dict()}, os.path.join(args.work_dir, "checkpoint.pt"))
    print(f"{sum(w.numel() for w in weights.values())} parameters of {args.model}")


if __name__ == "__main__":
    main()
