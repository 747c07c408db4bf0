"""Generates, encodes and packs the training text: rows of token ids as files that train.py maps into memory.

    python3 -m training.corpus --out .work --name train-1024 --length 1024 --tokens 50e6 --seed 7
    python3 -m training.corpus --out .work --name train-4096 --length 4096 --tokens 5e6 --seed 8 --long 1
    python3 -m training.corpus --out .work --name held-1024 --length 1024 --tokens 2e5 --seed 99 --held-out

Writes NAME.ids.npy (16-bit ids) and NAME.marks.npy (how much each token counts in training, in tenths; plus
128 where a document begins), one row of length + 1 tokens after another, and NAME.json with their number and
hash. The work is cut into shards of equal size, each with random numbers of its own, so the same seed gives the
same rows however many processes do it, and more tokens only add rows at the end.
"""
import argparse
import hashlib
import json
import multiprocessing
import os
import random
from bisect import bisect_right, insort

import numpy as np

from text.generate import documents
from training.tokenizer import Tokenizer

BEGIN = 128
SHARD_TOKENS = 1 << 20
POOL = 256  # documents that wait for a place
_tokenizer = None


def rows(source, tok, length, count, rng):
    """count rows: a random document, then always the longest of the pool that still fits."""
    pool, number = [], 0
    ids = np.full((count, length), tok.end, np.uint16)
    marks = np.zeros((count, length), np.uint8)
    for row in range(count):
        at = 0
        while True:
            while len(pool) < POOL:
                doc, weights = tok.document(next(source))
                if len(doc) <= length:
                    insort(pool, (len(doc), number, doc, weights))
                    number += 1
            if at == 0:
                entry = pool.pop(rng.randrange(len(pool)))
            else:
                fits = bisect_right(pool, (length - at, number))
                if fits == 0:
                    break
                entry = pool.pop(fits - 1)
            _, _, doc, weights = entry
            ids[row, at:at + len(doc)] = doc
            marks[row, at:at + len(doc)] = weights
            marks[row, at] = BEGIN  # nothing comes before it, so it is not predicted
            at += len(doc)
        if at < length:
            marks[row, at] = BEGIN
    order = list(range(count))
    rng.shuffle(order)
    return ids[order], marks[order]


def shard(job):
    args, index, first, count = job
    rng = random.Random(f"{args.seed}/{index}/{args.held_out}")
    ids, marks = rows(documents(rng, args.held_out, args.long), _tokenizer, args.length + 1, count, rng)
    for kind, data in (("ids", ids), ("marks", marks)):
        out = np.lib.format.open_memmap(os.path.join(args.out, f"{args.name}.{kind}.npy"), mode="r+")
        out[first:first + count] = data
    return hashlib.sha256(ids.tobytes() + marks.tobytes()).hexdigest(), int((ids != _tokenizer.end).sum())


def main():
    global _tokenizer
    ap = argparse.ArgumentParser()
    ap.add_argument("--out", required=True, help="folder with tokenizer.json, where the rows go")
    ap.add_argument("--name", required=True)
    ap.add_argument("--length", type=int, default=1024)
    ap.add_argument("--tokens", type=float, required=True, help="about how many tokens; whole shards are made")
    ap.add_argument("--seed", type=int, default=7)
    ap.add_argument("--long", type=float, default=0.0, help="share of long documents")
    ap.add_argument("--held-out", action="store_true")
    ap.add_argument("--processes", type=int, default=os.cpu_count())
    args = ap.parse_args()
    _tokenizer = Tokenizer(os.path.join(args.out, "tokenizer.json"))
    per_shard = max(1, min(SHARD_TOKENS, int(args.tokens)) // args.length)
    shards = max(1, round(args.tokens / (per_shard * args.length)))
    shape = (shards * per_shard, args.length + 1)
    for kind, dtype in (("ids", np.uint16), ("marks", np.uint8)):
        np.lib.format.open_memmap(os.path.join(args.out, f"{args.name}.{kind}.npy"), mode="w+", dtype=dtype, shape=shape)
    jobs = [(args, i, i * per_shard, per_shard) for i in range(shards)]
    total, digest = 0, hashlib.sha256()
    with multiprocessing.get_context("fork").Pool(args.processes) as pool:
        for i, (one, used) in enumerate(pool.imap(shard, jobs)):
            digest.update(one.encode())
            total += used
            if (i + 1) % 20 == 0 or i + 1 == shards:
                print(f"{args.name}: {i + 1} of {shards} shards, {total} tokens", flush=True)
    info = {"seed": args.seed, "rows": shape[0], "length": args.length, "tokens": total, "full": round(total / (shape[0] * shape[1]), 4), "long": args.long,
            "held_out": args.held_out, "sha256": digest.hexdigest()}
    with open(os.path.join(args.out, f"{args.name}.json"), "w") as f:
        json.dump(info, f, indent=1)
    print(info)


if __name__ == "__main__":
    main()
