"""The perplexity of held-out text by kind. What a model answers is judged by `npm run eval:demo`.

    python3 -m evaluation.evaluate --work-dir .work held-out.jsonl
    python3 -m evaluation.evaluate --model FOLDER held-out.jsonl
"""
import argparse
import json
import math
from collections import defaultdict

import torch
import torch.nn.functional as F

from training.weights import SHIPPED, load


@torch.no_grad()
def perplexity(model, tok, path, limit):
    total = defaultdict(lambda: [0.0, 0])
    with open(path, encoding="utf-8") as f:
        for line, _ in zip(f, range(limit)):
            doc = json.loads(line)
            ids = tok.marked(doc["text"])[:model.cfg.max_position_embeddings]
            header, inside = tok.marked("<|im_start|>assistant\n"), False
            loss = F.cross_entropy(model.logits(torch.tensor([ids[:-1]]))[0], torch.tensor(ids[1:]), reduction="none")
            for i, l in enumerate(loss.tolist(), 1):
                inside = (inside or ids[i - len(header):i] == header) and ids[i - 1] != tok.stop
                for key in ["all", doc["kind"]] + (["answers"] if inside else []):
                    total[key][0] += l
                    total[key][1] += 1
    for key, (s, n) in sorted(total.items()):
        print(f"{key:14s} {n:7d} tokens  loss {s / n:.4f}  perplexity {math.exp(s / n):.3f}", flush=True)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--work-dir", help="use the last checkpoint of this folder")
    ap.add_argument("--model", default=SHIPPED)
    ap.add_argument("--limit", type=int, default=10 ** 9, help="so many documents only")
    ap.add_argument("file", metavar="FILE")
    args = ap.parse_args()
    torch.set_num_threads(1)
    perplexity(*load(args.model, args.work_dir), args.file, args.limit)


if __name__ == "__main__":
    main()
