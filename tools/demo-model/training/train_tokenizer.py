"""Trains the tokenizer on generated documents and writes it as tokenizer.json.

    python3 -m training.train_tokenizer --out tokenizer.json

A word is cut in the same way whether a space stands before it or not: merges are learned from words without their space, and
only then does the space join the first piece of a word. So "milk" in JSON and " milk" in a sentence are one token each,
and a model this small can learn that the one is the other. Digits are never merged.
"""
import argparse
import heapq
import json
import random
from collections import Counter, defaultdict

import regex

from text.chat_format import ADDED, SPECIALS, parts_of
from text.generate import documents
from training.tokenizer import CHAR_TO_BYTE, MARKS, PATTERN, SPACE, pieces, to_chars

SIZE = 6144  # entries with the added tokens
BASE_SIZE = SIZE - len(ADDED)
NUMBER = regex.compile(r"\p{N}")
CUT = 0.6  # share of the entries that are learned from words without the space before them and from all else; the others are words with it


def learn(words, size, vocab):
    """Adds to the vocabulary, up to size, and returns the merges: the most frequent pair first, ties by the pair itself. The
    words, [(pieces, count)], are left as the merges cut them."""
    pair_count, where = Counter(), defaultdict(set)
    for i, (w, n) in enumerate(words):
        for pair in zip(w, w[1:]):
            pair_count[pair] += n
            where[pair].add(i)
    heap = [(-n, pair) for pair, n in pair_count.items()]
    heapq.heapify(heap)
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
    return merges


def train(texts, size=BASE_SIZE):
    """(vocab, merges)."""
    counts, spaced = Counter(), Counter()
    for text in texts:
        for piece in pieces(text):
            is_word = piece.lstrip(" ").isalpha()
            word = piece[1:] if is_word and piece[0] == " " else piece
            counts[word] += 1
            if word is not piece:
                spaced[word] += 1
    vocab = {c: i for i, c in enumerate(sorted(CHAR_TO_BYTE))}
    cut = {w: list(to_chars(w)) for w in counts if not NUMBER.search(w)}
    merges = learn([(w, counts[text]) for text, w in cut.items()], round(size * CUT), vocab)
    first = Counter()
    for word, n in spaced.items():
        first[cut[word][0]] += n
    for piece, _ in sorted(first.items(), key=lambda x: (-x[1], x[0]))[:size - len(vocab)]:
        merges.append((SPACE, piece))
        vocab[SPACE + piece] = len(vocab)
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
