"""Draws the losses of the training, as train.py writes them.

    python3 -m training.plot --work-dir .work --out losses.svg
"""
import argparse
import json
import os

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams.update({"svg.hashsalt": "losses", "svg.fonttype": "none", "font.size": 9})
from matplotlib import pyplot  # noqa: E402

from training.weights import ROOT  # noqa: E402


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--work-dir", default=os.path.join(ROOT, ".work"))
    ap.add_argument("--out", required=True)
    args = ap.parse_args()
    with open(os.path.join(args.work_dir, "losses.jsonl"), encoding="utf-8") as f:
        rows = [json.loads(line) for line in f]
    seen, held = ([r for r in rows if key in r] for key in ("loss", "held_out"))
    figure, axes = pyplot.subplots(figsize=(7, 3.6), layout="constrained")
    axes.plot([r["tokens"] / 1e6 for r in seen], [r["loss"] for r in seen], linewidth=0.8, color="#4477aa", label="training, mean of the last steps")
    axes.plot([r["tokens"] / 1e6 for r in held], [r["held_out"] for r in held], "o-", markersize=2.5, linewidth=1, color="#cc6677", label="held out, answers alone")
    axes.set(yscale="log", xlabel="million tokens", ylabel="loss in nats a token")
    axes.set_yticks([0.3, 0.5, 1, 2, 4, 8], ["0.3", "0.5", "1", "2", "4", "8"])
    axes.minorticks_off()
    axes.grid(color="#dddddd", linewidth=0.5)
    axes.legend(frameon=False)
    figure.savefig(args.out, metadata={"Date": None})


if __name__ == "__main__":
    main()
