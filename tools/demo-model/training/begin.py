"""Begins a work folder with the shipped model, so that training goes on from it: its tokenizer, its weights and its losses so far.

    python3 -m training.begin --work-dir .work [--model ../../models/demo]

The weights are those in 8 bits, and the optimizer begins anew.
"""
import argparse
import json
import os
import shutil

import torch

from training.tokenizer import Tokenizer, twins
from training.train import Optimizer
from training.weights import ROOT, SHIPPED, load


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--work-dir", default=os.path.join(ROOT, ".work"))
    ap.add_argument("--model", default=SHIPPED)
    ap.add_argument("--sharpened", type=float, default=3.0, help="by what factor export.py sharpened the logits")
    args = ap.parse_args()
    os.makedirs(args.work_dir, exist_ok=True)
    shutil.copy(os.path.join(args.model, "tokenizer.json"), os.path.join(args.work_dir, "tokenizer.json"))
    model, _ = load(args.model)
    weights = model.state_dict()
    weights["norm.weight"] /= args.sharpened
    optimizer = Optimizer(dict(model.named_parameters()), 1, twins(Tokenizer(os.path.join(args.work_dir, "tokenizer.json"))))
    losses = os.path.join(ROOT, "losses.jsonl")
    shutil.copy(losses, args.work_dir)
    with open(losses, encoding="utf-8") as f:
        *_, last = f
    state = {"tokens": json.loads(last)["tokens"]}
    torch.save({"model": weights, "m": optimizer.m, "v": optimizer.v, "state": state, "config": model.cfg.to_dict()}, os.path.join(args.work_dir, "checkpoint.pt"))
    print(f"{sum(w.numel() for w in weights.values())} parameters of {args.model}")


if __name__ == "__main__":
    main()
