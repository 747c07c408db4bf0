"""How good a model is: the checks of eval-prompts.jsonl, and the perplexity of held-out text by kind.

    python3 -m evaluation.evaluate --work-dir .work                     # the prompts, greedy
    python3 -m evaluation.evaluate --model FOLDER --temperature 1       # an exported model, as the API draws by default
    python3 -m evaluation.evaluate --work-dir .work --wrong             # shows the answers that failed
    python3 -m evaluation.evaluate --work-dir .work --perplexity held-out.jsonl

A line of eval-prompts.jsonl is {"class", "messages"[, "tools"], "check"}; checks.py says what a check may be.
Where a user's message follows another, the model's own answer stands between them.
"""
import argparse
import json
import math
import os
import random
from collections import defaultdict

import torch
import torch.nn.functional as F

from evaluation.checks import passes
from training.weights import ROOT, MODEL_DIR, answer, load, sampler


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


def prompts(model, tok, args):
    right = defaultdict(lambda: [0, 0])
    with open(args.prompts, encoding="utf-8") as f:
        lines = [json.loads(line) for line in f]
    if args.limit:
        random.Random(1).shuffle(lines)
        lines = lines[:args.limit]
    for number, line in enumerate(lines):
        if args.classes and line["class"] not in args.classes:
            continue
        pick, messages, reply = sampler(args.temperature, number), [], None
        for m in line["messages"] + [None]:
            if m is None or (m["role"] == "user" and messages and messages[-1]["role"] in ("user", "tool")):
                reply = answer(model, tok, messages, line.get("tools"), args.count, pick)
                messages.append({"role": "assistant", "content": reply})
            if m:
                messages.append(m)
        ok = passes(line["check"], reply)
        right[line["class"]][1] += 1
        right[line["class"]][0] += ok
        if args.all or (args.wrong and not ok):
            said = " / ".join(m["content"] for m in messages[:-1] if m["role"] != "assistant" and m.get("content"))
            print(f"{'ok  ' if ok else 'BAD '} [{line['class']}] {said[-160:]!r}\n      -> {reply[:260]!r}", flush=True)
    for key, (good, n) in right.items():
        print(f"{key:16s} {good:4d} of {n:4d}  {good / n:6.1%}")
    print(f"{'all':16s} {sum(g for g, _ in right.values()):4d} of {sum(n for _, n in right.values()):4d}")


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--work-dir", help="use the last checkpoint of this folder")
    ap.add_argument("--model", default=MODEL_DIR)
    ap.add_argument("--prompts", default=os.path.join(ROOT, "evaluation", "eval-prompts.jsonl"))
    ap.add_argument("--perplexity", metavar="FILE")
    ap.add_argument("--temperature", type=float, default=0.0)
    ap.add_argument("--count", type=int, default=300)
    ap.add_argument("--limit", type=int, help="so many prompts or documents only")
    ap.add_argument("--classes", nargs="*")
    ap.add_argument("--wrong", action="store_true", help="show the answers that failed")
    ap.add_argument("--all", action="store_true", help="show all answers")
    args = ap.parse_args()
    torch.set_num_threads(1)
    model, tok = load(args.work_dir, args.model)
    if args.perplexity:
        perplexity(model, tok, args.perplexity, args.limit or 10 ** 9)
    else:
        prompts(model, tok, args)


if __name__ == "__main__":
    main()
