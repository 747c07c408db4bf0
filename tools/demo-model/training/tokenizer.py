"""Byte-level BPE: encoding and decoding, in plain Python, with the pre-tokenizer that stands in the file.

This is an implementation of its own, not a wrapper: reference.py uses it to check the server's.
"""
import json

import regex

from text.chat_format import ADDED, END, START, STOP, parts_of, turns

# Of a new tokenizer: the pattern of GPT-2.
PATTERN = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
MARKS = regex.compile("(" + "|".join(map(regex.escape, ADDED)) + ")")


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


def pieces(text, split=regex.compile(PATTERN)):
    return [m.group() for m in split.finditer(text)]


def to_chars(piece):
    return "".join(BYTE_TO_CHAR[b] for b in piece.encode("utf-8"))


SPACE = to_chars(" ")


class Tokenizer:
    def __init__(self, path):
        with open(path, encoding="utf-8") as f:
            data = json.load(f)
        self.split = regex.compile(data["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"])
        self.vocab = data["model"]["vocab"]
        self.rank = {tuple(m.split(" ")): i for i, m in enumerate(data["model"]["merges"])}
        self.special = {t["content"]: t["id"] for t in data["added_tokens"]}
        self.size = len(self.vocab) + len(self.special)
        self.token = {i: t for t, i in self.vocab.items()}
        self.end, self.start, self.stop = (self.special[x] for x in (END, START, STOP))
        self.special_name = {i: s for s, i in self.special.items()}
        self.cache = {}

    def _piece(self, piece):
        if piece not in self.cache:
            if len(self.cache) >= 200000:
                self.cache.clear()
            self.cache[piece] = self.cut(to_chars(piece))
        return self.cache[piece]

    def cut(self, chars):
        """Ids of a piece of text, given as printable characters."""
        w = list(chars)
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
        return [self.vocab[t] for t in w]

    def encode(self, text):
        """Ids of plain text: no special token is added or recognised."""
        return [i for p in pieces(text, self.split) for i in self._piece(p)]

    def decode(self, ids):
        out = b""
        for i in ids:
            if i in self.special_name:
                out += self.special_name[i].encode()
            else:
                out += bytes(CHAR_TO_BYTE[c] for c in self.token[i])
        return out.decode("utf-8", errors="replace")

    def marked(self, text):
        """Ids of text in which the added tokens are written out."""
        ids = []
        for part in MARKS.split(text):
            if part:
                ids += [self.special[part]] if part in self.special else self.encode(part)
        return ids

    def chat(self, messages, tools=None):
        """Ids of a conversation up to where the assistant speaks, as the chat template renders it."""
        return self.marked("".join(text for text, _ in turns(messages, tools)) + f"{START}assistant\n")

    def document(self, doc):
        """(ids, how much each counts) of a conversation, or of a text and its end."""
        ids, weights = [], []
        for text, weight in parts_of(doc):
            some = self.marked(text)
            ids += some
            weights += [weight] * len(some)
        return ids, weights


def twins(tok):
    """Words that are entries without and with the space before them: [(id, id)]."""
    return [(i, tok.vocab[SPACE + t]) for t, i in tok.vocab.items() if SPACE + t in tok.vocab and t[0].isalpha()]
