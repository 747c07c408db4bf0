"""Held-out perplexity, and how often greedy answers are exactly right.

    python3 evaluate.py [--work-dir .work] [--held-out held-out.jsonl] [--limit 600]

The held-out file has one document a line: {"kind", "text"}, the text with its special tokens
written out ("<s>", "<|user|>", ...). Perplexity is over every token but the first of a document.
"""
import argparse
import json
import math
import os
from collections import defaultdict

import regex
import torch
import torch.nn.functional as F

from tokenizer import SPECIALS
from weights import HERE, greedy, load

MARK = regex.compile("(" + "|".join(map(regex.escape, SPECIALS)) + ")")


def parse(tok, text):
    ids = []
    for part in MARK.split(text):
        if part:
            ids += [tok.special[part]] if part in tok.special else tok.encode(part)
    return ids


@torch.no_grad()
def perplexity(model, tok, docs):
    total = defaultdict(lambda: [0.0, 0])
    for kind, ids in docs:
        ids = ids[:model.cfg.max_position_embeddings]
        logits = model.logits(torch.tensor([ids[:-1]]))[0]
        loss = F.cross_entropy(logits, torch.tensor(ids[1:]), reduction="none")
        answer = False
        for i, l in zip(ids[1:], loss.tolist()):
            for key in ["all", kind] + (["chat answers"] if answer else []):
                total[key][0] += l
                total[key][1] += 1
            answer = (answer or i == tok.assistant) and i != tok.eos
    for key, (s, n) in sorted(total.items()):
        print(f"{key:14s} {n:7d} tokens  loss {s / n:.4f}  perplexity {math.exp(s / n):.3f}", flush=True)


def category(q, a):
    low = a.lower()
    sums = regex.findall(r"(\d+) ([*/+-]) (\d+) = \d+", a)
    if sums and "\n" not in a:
        x, op, y = sums[-1]
        if len(q) > 40:
            return "word problem"
        digits = "in steps" if "So " in a else "small" if max(int(x), int(y)) <= 10 else ""
        return f"sum {op} {digits}".strip()
    if len(a) > 160:
        return "long"
    for n in ("Mira Otto Lena Finn Nora Tilo Greta Hugo Rosa Oskar Ida Paul Wanda Emil").split():
        if n.lower() in low or n.lower() in q.lower():
            return "fact"
    return "other"


def accuracy(model, tok, docs, limit):
    """Greedy answers in the conversations of the held-out text, each after the true history."""
    right = defaultdict(lambda: [0, 0])
    wrong, done = [], 0
    for kind, ids in docs:
        if kind != "chat" or done >= limit:
            continue
        for i, t in enumerate(ids):
            if t != tok.assistant or done >= limit:
                continue
            end = ids.index(tok.eos, i)
            want = ids[i + 1:end + 1]
            q = tok.decode(ids[max(j for j in range(i) if ids[j] == tok.user) + 1:i])
            key = category(q, tok.decode(want[:-1]))
            if key == "long" or i > 600:
                continue
            got, _, _ = greedy(model, ids[:i + 1], len(want) + 5, tok.eos)
            right[key][1] += 1
            right[key][0] += got == want
            done += 1
            if got != want:
                wrong.append((key, q, tok.decode(got), tok.decode(want)))
    for key, (r, n) in sorted(right.items()):
        print(f"{key:14s} {r}/{n} exactly right ({r / n:.1%})")
    return wrong


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--work-dir")
    ap.add_argument("--held-out", default=os.path.join(HERE, "held-out.jsonl"))
    ap.add_argument("--limit", type=int, default=600, help="answers to check")
    ap.add_argument("--docs", type=int, default=100000)
    ap.add_argument("--wrong", action="store_true", help="print the wrong answers")
    args = ap.parse_args()
    torch.set_num_threads(1)
    model, tok = load(args.work_dir)
    with open(args.held_out, encoding="utf-8") as f:
        docs = [(d["kind"], parse(tok, d["text"])) for d in map(json.loads, f)][:args.docs]
    perplexity(model, tok, docs)
    wrong = accuracy(model, tok, docs, args.limit)
    if args.wrong:
        for w in wrong:
            print(w)


if __name__ == "__main__":
    main()
