"""Byte-level BPE with the Qwen2 pre-tokenizer: training, encoding, decoding, in plain Python.

This is an implementation of its own, not a wrapper: reference.py uses it to check the server's.

    python3 tokenizer.py corpus.jsonl --out tokenizer.json
"""
import argparse
import heapq
import json
from collections import Counter, defaultdict

import regex

PATTERN = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
           r"|\s*[\r\n]+|\s+(?!\S)|\s+")
SPLIT = regex.compile(PATTERN)
BASE_SIZE = 4096
SPECIALS = ["<s>", "</s>", "<|system|>", "<|user|>", "<|assistant|>", "<|pad|>", "<|reserved_0|>", "<|reserved_1|>"]
CHAT_TEMPLATE = (
    "{{- bos_token }}"
    "{%- for message in messages %}"
    "{%- if message['role'] == 'system' %}{{- '<|system|>' + message['content'] }}"
    "{%- elif message['role'] == 'user' %}{{- '<|user|>' + message['content'] }}"
    "{%- elif message['role'] == 'assistant' %}{{- '<|assistant|>' + message['content'] + eos_token }}"
    "{%- endif %}"
    "{%- endfor %}"
    "{%- if add_generation_prompt %}{{- '<|assistant|>' }}{%- endif %}"
)


def byte_alphabet():
    """GPT-2's map from bytes to printable characters."""
    keep = list(range(33, 127)) + list(range(161, 173)) + list(range(174, 256))
    table, extra = {}, 0
    for b in range(256):
        if b in keep:
            table[b] = chr(b)
        else:
            table[b] = chr(256 + extra)
            extra += 1
    return table


BYTE_TO_CHAR = byte_alphabet()
CHAR_TO_BYTE = {c: b for b, c in BYTE_TO_CHAR.items()}


def pieces(text):
    return [m.group() for m in SPLIT.finditer(text)]


def to_chars(piece):
    return "".join(BYTE_TO_CHAR[b] for b in piece.encode("utf-8"))


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
    special = [{"id": len(vocab) + i, "content": s, "single_word": False, "lstrip": False, "rstrip": False,
                "normalized": False, "special": True} for i, s in enumerate(SPECIALS)]
    bos = len(vocab)
    return {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": special, "normalizer": None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
            {"type": "Split", "pattern": {"Regex": PATTERN}, "behavior": "Isolated", "invert": False},
            {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False}]},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
            "pair": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
                     {"SpecialToken": {"id": "<s>", "type_id": 1}}, {"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": {"<s>": {"id": "<s>", "ids": [bos], "tokens": ["<s>"]}}},
        "decoder": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False},
        "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                  "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
                  "vocab": vocab, "merges": [" ".join(m) for m in merges]},
    }


class Tokenizer:
    def __init__(self, path):
        with open(path, encoding="utf-8") as f:
            data = json.load(f)
        self.vocab = data["model"]["vocab"]
        self.rank = {tuple(m.split(" ")): i for i, m in enumerate(data["model"]["merges"])}
        self.special = {t["content"]: t["id"] for t in data["added_tokens"]}
        self.size = len(self.vocab) + len(self.special)
        self.token = {i: t for t, i in self.vocab.items()}
        self.bos, self.eos, self.system, self.user, self.assistant, self.pad = list(self.special.values())[:6]
        self.special_name = {i: s for s, i in self.special.items()}
        self.cache = {}

    def _piece(self, piece):
        if piece in self.cache:
            return self.cache[piece]
        w = list(to_chars(piece))
        while len(w) > 1:
            best = min(range(len(w) - 1), key=lambda i: self.rank.get((w[i], w[i + 1]), 1 << 30))
            if (w[best], w[best + 1]) not in self.rank:
                break
            pair, out, j = (w[best], w[best + 1]), [], 0
            while j < len(w):
                if j + 1 < len(w) and (w[j], w[j + 1]) == pair:
                    out.append(w[j] + w[j + 1])
                    j += 2
                else:
                    out.append(w[j])
                    j += 1
            w = out
        ids = [self.vocab[t] for t in w]
        if len(self.cache) < 200000:
            self.cache[piece] = ids
        return ids

    def encode(self, text):
        """Ids of plain text: no special token is added or recognised."""
        return [i for p in pieces(text) for i in self._piece(p)]

    def decode(self, ids):
        out = b""
        for i in ids:
            if i in self.special_name:
                out += self.special_name[i].encode()
            else:
                out += bytes(CHAR_TO_BYTE[c] for c in self.token[i])
        return out.decode("utf-8", errors="replace")

    def chat(self, messages, generate=True):
        """Ids of a conversation, as the chat template renders it."""
        role = {"system": self.system, "user": self.user, "assistant": self.assistant}
        ids = [self.bos]
        for m in messages:
            ids += [role[m["role"]]] + self.encode(m["content"])
            if m["role"] == "assistant":
                ids.append(self.eos)
        return ids + [self.assistant] if generate else ids

    def document(self, doc):
        """Ids of a line of the corpus: a conversation, or a text between BOS and EOS."""
        if "messages" in doc:
            return self.chat(doc["messages"], generate=False)
        return [self.bos] + self.encode(doc["text"]) + [self.eos]


def texts(path, limit=None):
    with open(path, encoding="utf-8") as f:
        for i, line in enumerate(f):
            if limit and i >= limit:
                return
            doc = json.loads(line)
            if "text" in doc:
                yield doc["text"]
            else:
                for m in doc["messages"]:
                    yield m["content"]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("corpus")
    ap.add_argument("--out", required=True)
    ap.add_argument("--limit", type=int, default=30000, help="documents to look at")
    args = ap.parse_args()
    vocab, merges = train(texts(args.corpus, args.limit))
    with open(args.out, "w", encoding="utf-8") as f:
        json.dump(tokenizer_json(vocab, merges), f, ensure_ascii=False, indent=1)
    print(f"{len(vocab)} entries, {len(merges)} merges, {len(SPECIALS)} special tokens")


if __name__ == "__main__":
    main()
