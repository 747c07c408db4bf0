"""Draws the weights of a work folder part of the way back to an earlier checkpoint of the same run: what the text of the run told
less of is known again, and little of what is new is lost.

    python3 -m training.average --work-dir .work --earlier before.pt --share 0.3

The mean of weights along one run often does better than its end (Izmailov et al. 2018, https://arxiv.org/abs/1803.05407).
"""
import argparse
import os

import torch

from training.weights import ROOT


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--work-dir", default=os.path.join(ROOT, ".work"))
    ap.add_argument("--earlier", required=True, help="a checkpoint.pt")
    ap.add_argument("--share", type=float, required=True, help="of the earlier weights, from 0 to 1")
    args = ap.parse_args()
    if not 0 <= args.share <= 1:
        ap.error(f"--share must be from 0 to 1, but was {args.share}.")
    path = os.path.join(args.work_dir, "checkpoint.pt")
    checkpoint = torch.load(path, map_location="cpu", weights_only=True)
    earlier = torch.load(args.earlier, map_location="cpu", weights_only=True)["model"]
    for name, weight in checkpoint["model"].items():
        weight.lerp_(earlier[name], args.share)
    torch.save(checkpoint, path)
    print(f"{args.share:g} of {args.earlier} in {path}")


if __name__ == "__main__":
    main()
