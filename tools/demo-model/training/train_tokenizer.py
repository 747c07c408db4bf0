"""Trains the tokenizer on generated documents and writes it as tokenizer.json.

    python3 -m training.train_tokenizer --out tokenizer.json
"""
import argparse
import heapq
import json
import random
from collections import Counter, defaultdict

from text.chat_format import ADDED, SPECIALS, parts_of
from text.generate import documents
from training.tokenizer import CHAR_TO_BYTE, MARKS, PATTERN, pieces, to_chars

SIZE = 4096  # entries with the added tokens
BASE_SIZE = SIZE - len(ADDED)


def train(texts, size=BASE_SIZE):
    """(vocab, merges): the most frequent pair first, ties by the pair itself."""
    counts = Counter()
    for text in texts:
        counts.update(pieces(text))
    words = [(list(to_chars(w)), n) for w, n in counts.items()]
    pair_count, where = Counter(), defaultdict(set)
    for i, (w, n) in enumerate(words):
        for pair in zip(w, w[1:]):
            pair_count[pair] += n
            where[pair].add(i)
    heap = [(-n, pair) for pair, n in pair_count.items()]
    heapq.heapify(heap)
    vocab = {c: i for i, c in enumerate(sorted(CHAR_TO_BYTE))}
    merges = []
    while len(vocab) < size and heap:
        n, pair = heapq.heappop(heap)
        if pair_count.get(pair, 0) != -n:
            continue  # an old count; the current one is further down
        if n == 0:
            break
        new = pair[0] + pair[1]
        merges.append(pair)
        vocab.setdefault(new, len(vocab))
        changed = set()
        for i in where.pop(pair):
            w, c = words[i]
            for p in zip(w, w[1:]):
                pair_count[p] -= c
                changed.add(p)
            out, j = [], 0
            while j < len(w):
                if j + 1 < len(w) and w[j] == pair[0] and w[j + 1] == pair[1]:
                    out.append(new)
                    j += 2
                else:
                    out.append(w[j])
                    j += 1
            w[:] = out
            for p in zip(w, w[1:]):
                pair_count[p] += c
                where[p].add(i)
                changed.add(p)
        for p in changed:
            if pair_count[p] > 0:
                heapq.heappush(heap, (-pair_count[p], p))
    return vocab, merges


def tokenizer_json(vocab, merges):
    """What Hugging Face's tokenizers library writes for such a tokenizer."""
    added = [{"id": len(vocab) + i, "content": s, "single_word": False, "lstrip": False, "rstrip": False,
              "normalized": False, "special": s in SPECIALS} for i, s in enumerate(ADDED)]
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False}
    return {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": added, "normalizer": None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
            {"type": "Split", "pattern": {"Regex": PATTERN}, "behavior": "Isolated", "invert": False}, byte_level]},
        "post_processor": byte_level, "decoder": byte_level,
        "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                  "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
                  "vocab": vocab, "merges": [" ".join(m) for m in merges]},
    }


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--out", required=True)
    ap.add_argument("--documents", type=int, default=40000, help="documents to look at")
    ap.add_argument("--seed", type=int, default=6)
    args = ap.parse_args()

    def texts():
        for i, doc in enumerate(documents(random.Random(args.seed))):
            if i == args.documents:
                return
            for text, _ in parts_of(doc):
                yield from (part for part in MARKS.split(text) if part not in ADDED)
    vocab, merges = train(texts())
    with open(args.out, "w", encoding="utf-8") as f:
        json.dump(tokenizer_json(vocab, merges), f, ensure_ascii=False, indent=1)
    print(f"{len(vocab)} entries, {len(merges)} merges, {len(ADDED)} added tokens")


if __name__ == "__main__":
    main()
