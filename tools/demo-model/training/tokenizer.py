"""Byte-level BPE with the Qwen2 pre-tokenizer: training, encoding, decoding, and the chat format, in plain Python.

This is an implementation of its own, not a wrapper: reference.py uses it to check the server's.

    python3 -m training.tokenizer --out tokenizer.json
"""
import argparse
import heapq
import json
import random
from collections import Counter, defaultdict

import regex

PATTERN = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
           r"|\s*[\r\n]+|\s+(?!\S)|\s+")
SPLIT = regex.compile(PATTERN)
END, START, STOP = "<|endoftext|>", "<|im_start|>", "<|im_end|>"
# As in Qwen 2.5 and 3 the marks of tool calls are added tokens, but not special ones: they stay in the text.
TOOL_MARKS = ["<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>"]
SPECIALS = [END, START, STOP] + [f"<|reserved_{i}|>" for i in range(9)]
ADDED = SPECIALS[:3] + TOOL_MARKS + SPECIALS[3:]
SIZE = 4096  # entries with the added tokens
BASE_SIZE = SIZE - len(ADDED)
MARKS = regex.compile("(" + "|".join(map(regex.escape, ADDED)) + ")")
TOOLS_BEFORE = ("# Tools\n\nYou may call one or more functions to assist with the user query.\n\n"
                "You are provided with function signatures within <tools></tools> XML tags:\n<tools>")
TOOLS_AFTER = ("\n</tools>\n\nFor each function call, return a json object with function name and arguments within "
               "<tool_call></tool_call> XML tags:\n<tool_call>\n{\"name\": <function-name>, \"arguments\": <args-json-object>}\n</tool_call>")
# The template that Qwen 2.5 publishes, without a system prompt of its own where none is given.
CHAT_TEMPLATE = """{%- if tools %}
    {{- '<|im_start|>system\\n' }}
    {%- if messages[0]['role'] == 'system' %}
        {{- messages[0]['content'] + '\\n\\n' }}
    {%- endif %}
    {{- "BEFORE" }}
    {%- for tool in tools %}
        {{- "\\n" }}
        {{- tool | tojson }}
    {%- endfor %}
    {{- "AFTER<|im_end|>\\n" }}
{%- elif messages[0]['role'] == 'system' %}
    {{- '<|im_start|>system\\n' + messages[0]['content'] + '<|im_end|>\\n' }}
{%- endif %}
{%- for message in messages %}
    {%- if message.role == 'user' or (message.role == 'system' and not loop.first) or (message.role == 'assistant' and not message.tool_calls) %}
        {{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}
    {%- elif message.role == 'assistant' %}
        {{- '<|im_start|>' + message.role }}
        {%- if message.content %}
            {{- '\\n' + message.content }}
        {%- endif %}
        {%- for tool_call in message.tool_calls %}
            {%- if tool_call.function is defined %}
                {%- set tool_call = tool_call.function %}
            {%- endif %}
            {{- '\\n<tool_call>\\n{"name": "' }}
            {{- tool_call.name }}
            {{- '", "arguments": ' }}
            {{- tool_call.arguments if tool_call.arguments is string else tool_call.arguments | tojson }}
            {{- '}\\n</tool_call>' }}
        {%- endfor %}
        {{- '<|im_end|>\\n' }}
    {%- elif message.role == 'tool' %}
        {%- if loop.index0 == 0 or messages[loop.index0 - 1].role != 'tool' %}
            {{- '<|im_start|>user' }}
        {%- endif %}
        {{- '\\n<tool_response>\\n' }}
        {{- message.content }}
        {{- '\\n</tool_response>' }}
        {%- if loop.last or messages[loop.index0 + 1].role != 'tool' %}
            {{- '<|im_end|>\\n' }}
        {%- endif %}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
{%- endif %}
"""


def _quoted(text):
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')


CHAT_TEMPLATE = CHAT_TEMPLATE.replace("BEFORE", _quoted(TOOLS_BEFORE)).replace("AFTER", _quoted(TOOLS_AFTER))
# How much a token counts in training, in tenths.
LEARN, LITTLE, NOTHING = 10, 1, 0


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


def system_text(messages, tools):
    """What stands in the system turn, or None."""
    system = messages[0]["content"] if messages and messages[0]["role"] == "system" else None
    if not tools:
        return system
    lines = "".join("\n" + json.dumps(t, ensure_ascii=False) for t in tools)
    return ("" if system is None else system + "\n\n") + TOOLS_BEFORE + lines + TOOLS_AFTER


def called(message):
    """An assistant's text with its calls, as the template writes them."""
    parts = [message["content"]] if message.get("content") else []
    for c in message.get("tool_calls") or []:
        c = c.get("function", c)
        given = c["arguments"] if isinstance(c["arguments"], str) else json.dumps(c["arguments"], ensure_ascii=False)
        parts.append(f'<tool_call>\n{{"name": "{c["name"]}", "arguments": {given}}}\n</tool_call>')
    return "\n".join(parts)


def turns(messages, tools=None):
    """[(text, how much it counts)] of a conversation; the texts together are what the chat template gives."""
    system = system_text(messages, tools)
    out = [] if system is None else [(f"{START}system\n{system}{STOP}\n", NOTHING if tools else LITTLE)]
    for i, m in enumerate(messages):
        if m["role"] == "system" and i == 0:
            continue
        if m["role"] == "assistant":
            out += [(f"{START}assistant\n", NOTHING), (called(m) + STOP, LEARN), ("\n", NOTHING)]
        elif m["role"] == "tool":
            first = i == 0 or messages[i - 1]["role"] != "tool"
            last = i + 1 == len(messages) or messages[i + 1]["role"] != "tool"
            out.append(((f"{START}user" if first else "") + f"\n<tool_response>\n{m['content']}\n</tool_response>" + (f"{STOP}\n" if last else ""),
                NOTHING))
        else:
            out.append((f"{START}{m['role']}\n{m['content']}{STOP}\n", LITTLE))
    return out


class Tokenizer:
    def __init__(self, path):
        with open(path, encoding="utf-8") as f:
            data = json.load(f)
        self.vocab = data["model"]["vocab"]
        self.rank = {tuple(m.split(" ")): i for i, m in enumerate(data["model"]["merges"])}
        self.special = {t["content"]: t["id"] for t in data["added_tokens"]}
        self.size = len(self.vocab) + len(self.special)
        self.token = {i: t for t, i in self.vocab.items()}
        self.end, self.start, self.stop = (self.special[x] for x in (END, START, STOP))
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
        parts = turns(doc["messages"], doc.get("tools")) if "messages" in doc else [(doc["text"] + END, LEARN)]
        ids, weights = [], []
        for text, weight in parts:
            some = self.marked(text)
            ids += some
            weights += [weight] * len(some)
        return ids, weights


def main():
    from text.generate import documents
    ap = argparse.ArgumentParser()
    ap.add_argument("--out", required=True)
    ap.add_argument("--documents", type=int, default=40000, help="documents to look at")
    ap.add_argument("--seed", type=int, default=6)
    args = ap.parse_args()

    def texts():
        for i, doc in enumerate(documents(random.Random(args.seed))):
            if i == args.documents:
                return
            for text, _ in turns(doc["messages"], doc.get("tools")) if "messages" in doc else [(doc["text"], 0)]:
                yield from (part for part in MARKS.split(text) if part not in ADDED)
    vocab, merges = train(texts())
    with open(args.out, "w", encoding="utf-8") as f:
        json.dump(tokenizer_json(vocab, merges), f, ensure_ascii=False, indent=1)
    print(f"{len(vocab)} entries, {len(merges)} merges, {len(ADDED)} added tokens")


if __name__ == "__main__":
    main()
