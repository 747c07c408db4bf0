"""Turns a corpus into rows of token ids of one length, ready for training.

    python3 pack.py corpus.jsonl --tokenizer tokenizer.json --length 512 --out train-512.npz

Documents are kept whole wherever they fit a row; the rest of a row is padding without weight.
What the user and the system say is learned with weight 0.1, everything else with weight 1.
"""
import argparse
import json
import random

import numpy as np

from tokenizer import Tokenizer

OTHER_SIDE = 1  # tenths


def weights(tok, ids):
    out, w = [], 10
    for i in ids:
        out.append(w)  # the weight of predicting i
        if i in (tok.user, tok.system):
            w = OTHER_SIDE
        elif i == tok.assistant or i == tok.bos:
            w = 10
    out[0] = 0
    return out


def pack(docs, length, rng, pool_size=400):
    """Rows of length + 1 (ids, weights): always the largest document of a pool that still fits."""
    it = iter(docs)
    pool, rows = [], []
    done = False
    while True:
        while not done and len(pool) < pool_size:
            d = next(it, None)
            if d is None:
                done = True
                break
            ids, w = d
            for i in range(0, len(ids), length + 1):
                pool.append((ids[i:i + length + 1], w[i:i + length + 1]))
        if not pool:
            break
        row, wrow = [], []
        first = pool.pop(rng.randrange(len(pool)))
        row += first[0]
        wrow += first[1]
        while True:
            space = length + 1 - len(row)
            best = -1
            for i, (ids, _) in enumerate(pool):
                if len(ids) <= space and (best < 0 or len(ids) > len(pool[best][0])):
                    best = i
            if best < 0:
                break
            ids, w = pool.pop(best)
            row += ids
            wrow += w
        rows.append((row, wrow))
    rng.shuffle(rows)
    return rows


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("corpus")
    ap.add_argument("--tokenizer", required=True)
    ap.add_argument("--length", type=int, default=512)
    ap.add_argument("--out", required=True)
    ap.add_argument("--seed", type=int, default=7)
    args = ap.parse_args()
    tok = Tokenizer(args.tokenizer)

    def docs():
        with open(args.corpus, encoding="utf-8") as f:
            for line in f:
                ids = tok.document(json.loads(line))
                yield ids, weights(tok, ids)

    rows = pack(docs(), args.length, random.Random(args.seed))
    ids = np.full((len(rows), args.length + 1), tok.eos, dtype=np.uint16)
    w = np.zeros((len(rows), args.length + 1), dtype=np.uint8)
    for i, (r, wr) in enumerate(rows):
        ids[i, :len(r)] = r
        w[i, :len(r)] = wr
    np.savez(args.out, ids=ids, weights=w)
    used = sum(len(r) for r, _ in rows)
    print(f"{len(rows)} rows of {args.length}, {used} tokens, {used / ids.size:.1%} full")


if __name__ == "__main__":
    main()
