"""Small tokenizers in the Hugging Face layout, and the algorithms that read them, written from the documentation of
the format: added tokens first, then normalizer, pre-tokenizer and byte pair merges by rank.
"""
import struct
import unicodedata
from collections import Counter

import regex

CORPUS = (
    "The cat sat on the mat and the dog sat near the cat. There is a house in the town of Pebbleford, and in that house "
    "there lives a man who tells stories about the sea, the mountains and the stars. When the night comes, he says: "
    "\"I'll tell you what I've seen; you're not going to believe it, and that's fine.\" Numbers like 12, 345 and 6789 are "
    "in here too. Über die Straße läuft ein Mädchen. Le café est près de la forêt. The weather is nice today, isn't it? "
    "We don't know what they'd do. He'd said so; she's sure. Tokens and merges, merges and tokens, again and again.\n"
    "def main():\n    return [x for x in range(10)]\n"
)
# Marks behind letters, and capitals beyond ASCII, over and over: what is trained on this has tokens that a wrong cut would break.
CASED_CORPUS = CORPUS + (
    "हिन्दी में लिखा हुआ हिन्दी का पाठ, हिन्दी की किताब। ภาษาไทยเป็นภาษาที่ใช้ในประเทศไทย ภาษาไทย. ÉCOLE École ÉCOLE École ÜBER Über ÜBER. "
    "iPhone macOS XMLHttpRequest getElementById XMLHttpRequest iPhone I'LL DON'T I'LL it's IT'S cafe\u0301 cafe\u0301 // a/b//c ///\n"
)
CONTRACTIONS = ("'s", "'t", "'re", "'ve", "'m", "'ll", "'d")
LLAMA3_PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
QWEN2_PATTERN = LLAMA3_PATTERN.replace(r"\p{N}{1,3}", r"\p{N}")
UPPER, LOWER, FRONT = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]", r"[^\r\n\p{L}\p{N}]?"
CASED_REST = r" ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
CONTRACTION = "(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
O200K_PATTERN = f"{FRONT}{UPPER}*{LOWER}+{CONTRACTION}|{FRONT}{UPPER}+{LOWER}*{CONTRACTION}|\\p{{N}}{{1,3}}|{CASED_REST}"
TEKKEN_PATTERN = f"{FRONT}{UPPER}*{LOWER}+|{FRONT}{UPPER}+{LOWER}*|\\p{{N}}|{CASED_REST}"


def byte_letters():
    """The printable letter that byte-level BPE writes for each byte."""
    own = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    letters = {byte: chr(byte) for byte in own}
    for byte in range(256):
        letters.setdefault(byte, chr(256 + len(letters) - len(own)))
    return letters


LETTERS = byte_letters()


def kind(char):
    if char.isspace():
        return "s"
    return {"L": "l", "N": "n"}.get(unicodedata.category(char)[0], "o")


def words(text, digits):
    """What the pattern of Llama 3 (`digits` 3) or of Qwen 2 (1) cuts a text into."""
    kinds, start, n = [kind(char) for char in text], 0, len(text)

    def run(at, wanted, most=n):
        end = at
        while end < n and end - at < most and kinds[end] in wanted:
            end += 1
        return end

    while start < n:
        contraction = next((c for c in CONTRACTIONS if text[start:start + len(c)].lower() == c), None)
        after_one = start + 1 if kinds[start] not in "ln" and text[start] not in "\r\n" else start
        after_space = start + 1 if text[start] == " " else start
        spaces = run(start, "s")
        newline = max(text.rfind("\r", start, spaces), text.rfind("\n", start, spaces))
        if contraction is not None:
            end = start + len(contraction)
        elif run(after_one, "l") > after_one:
            end = run(after_one, "l")
        elif kinds[start] == "n":
            end = run(start, "n", digits)
        elif run(after_space, "o") > after_space:
            end = run(after_space, "o")
            while end < n and text[end] in "\r\n":
                end += 1
        elif newline >= 0:
            end = newline + 1
        else:
            end = spaces if spaces == n or spaces == start + 1 else spaces - 1
        yield text[start:end]
        start = end


def train(sequences, count, may_merge=lambda left, right: True):
    """The `count` most frequent merges, one after the other."""
    table, merges = Counter(tuple(s) for s in sequences), []
    for _ in range(count):
        pairs = Counter()
        for symbols, times in table.items():
            for pair in zip(symbols, symbols[1:]):
                if may_merge(*pair):
                    pairs[pair] += times
        pair = max(sorted(pairs), key=lambda p: pairs[p])
        merges.append(pair)
        merged = Counter()
        for symbols, times in table.items():
            merged[tuple(merge_all(list(symbols), pair))] += times
        table = merged
    return merges


def merge_all(symbols, pair):
    at = 0
    while at < len(symbols) - 1:
        if (symbols[at], symbols[at + 1]) == pair:
            symbols[at:at + 2] = ["".join(pair)]
        at += 1
    return symbols


def bpe(symbols, ranks):
    while True:
        best = min(((ranks[p], i) for i, p in enumerate(zip(symbols, symbols[1:])) if p in ranks), default=None)
        if best is None:
            return symbols
        at = best[1]
        symbols[at:at + 2] = [symbols[at] + symbols[at + 1]]


def byte_level(name, pattern, digits, ignore_merges, specials, bos, eos):
    """`digits` is null where the pattern itself cuts words."""
    cut = words(CORPUS, digits) if digits else regex.findall(pattern, CASED_CORPUS)
    sequences = ["".join(LETTERS[b] for b in word.encode()) for word in cut]
    merges = train(sequences, 64 if digits else 160)
    vocab = [*LETTERS.values(), *("".join(pair) for pair in merges)]
    added = [{"id": len(vocab) + i, "content": text, "special": special, "normalized": False, "lstrip": False,
              "rstrip": False, "single_word": False} for i, (text, special) in enumerate(specials)]
    split = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
    byte_step = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False}
    template = {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": bos, "type_id": 0}},
                                                         {"Sequence": {"id": "A", "type_id": 0}}]}
    return {"name": name, "digits": digits, "pattern": pattern, "bos": bos, "eos": eos, "json": {
        "version": "1.0", "added_tokens": added, "normalizer": None if bos or not digits else {"type": "NFC"},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, byte_step]},
        "post_processor": {"type": "Sequence", "processors": [byte_step, template]} if bos else byte_step,
        "decoder": byte_step,
        "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": "", "end_of_word_suffix": "",
                  "fuse_unk": False, "byte_fallback": False, "ignore_merges": ignore_merges,
                  "vocab": {token: i for i, token in enumerate(vocab)}, "merges": [" ".join(pair) for pair in merges]},
    }}


UNKNOWN, CONTROL, USER_DEFINED, BYTE, NORMAL = 2, 3, 4, 6, 1


def sentence_piece(name, scheme, front, added, runs=(), eos="</s>"):
    """`front`: pieces before the bytes, with their types. `added`: (text, special, rstrip) behind the pieces.
    `runs`: pieces of several spaces or newlines, which count as user-defined."""
    spaced = ["▁" + word for word in CORPUS.replace("\n", " ").split(" ") if word]
    trained = train(spaced, 110, lambda left, right: not right.startswith("▁"))
    characters = sorted(set("▁" + "".join(spaced)))
    pieces = [(text, 0.0, kind) for text, kind in front]
    pieces += [(f"<0x{byte:02X}>", 0.0, BYTE) for byte in range(256)]
    pieces += [(text, 0.0, USER_DEFINED) for text in runs]
    # Two merges may lead to one piece.
    merged = list(dict.fromkeys("".join(pair) for pair in trained))
    pieces += [(text, -float(i + 1), NORMAL) for i, text in enumerate([*merged, *characters])]
    ids = {text: i for i, (text, _, _) in enumerate(pieces)}
    mergeable = {text: score for text, score, kind in pieces if kind in (NORMAL, USER_DEFINED)}
    merges = []
    for text, score in mergeable.items():
        halves = [(text[:cut], text[cut:]) for cut in range(1, len(text))]
        local = [(left, right) for left, right in halves if left in mergeable and right in mergeable]
        merges += [(score, pair) for pair in sorted(local, key=lambda p: (ids[p[0]], ids[p[1]]))]
    merges = [pair for _, pair in sorted(merges, key=lambda m: -m[0])]

    def added_token(i, text, special, rstrip=False):
        return {"id": i, "content": text, "special": special, "normalized": False, "lstrip": False, "rstrip": rstrip,
                "single_word": False}

    tokens = [added_token(i, text, True) for i, (text, _) in enumerate(front)]
    tokens += [added_token(ids[text], text, False) for text in runs]
    tokens += [added_token(len(pieces) + i, *entry) for i, entry in enumerate(added)]
    for token in tokens:
        token["rstrip"] = token["rstrip"] or (token["content"] == "</s>" and any(entry[2] for entry in added))
    replace = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
    prepend = {"type": "Prepend", "prepend": "▁"}
    bos = "<bos>" if scheme == "none" else "<s>"
    decoders = [{"type": "Replace", "pattern": {"String": "▁"}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"}]
    strip = {"type": "Strip", "content": " ", "start": 1, "stop": 0}
    normalizer = {"always": {"type": "Sequence", "normalizers": [prepend, replace]}, "first": None, "none": replace}[scheme]
    pre_tokenizer = {
        "always": None, "none": {"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithPrevious", "invert": False},
        "first": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": False},
    }[scheme]
    return {"name": name, "scheme": scheme, "bos": bos, "eos": eos, "pieces": pieces, "json": {
        "version": "1.0", "added_tokens": tokens, "normalizer": normalizer, "pre_tokenizer": pre_tokenizer,
        "post_processor": {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": bos, "type_id": 0}},
                                                                    {"Sequence": {"id": "A", "type_id": 0}}]},
        "decoder": {"type": "Sequence", "decoders": decoders + ([] if scheme == "none" else [strip])},
        "model": {"type": "BPE", "dropout": None, "unk_token": "<unk>", "continuing_subword_prefix": None,
                  "end_of_word_suffix": None, "fuse_unk": True, "byte_fallback": True, "ignore_merges": False,
                  "vocab": ids, "merges": [list(pair) if name == "gemma" else " ".join(pair) for pair in merges]},
    }}


LLAMA_FRONT = [("<unk>", UNKNOWN), ("<s>", CONTROL), ("</s>", CONTROL)]
TOKENIZERS = {t["name"]: t for t in (
    byte_level("llama3", LLAMA3_PATTERN, 3, True, [
        ("<|begin_of_text|>", True), ("<|end_of_text|>", True), ("<|start_header_id|>", True), ("<|end_header_id|>", True),
        ("<|eot_id|>", True)], "<|begin_of_text|>", "<|eot_id|>"),
    byte_level("qwen2", QWEN2_PATTERN, 1, False, [
        ("<|endoftext|>", True), ("<|im_start|>", True), ("<|im_end|>", True), ("<think>", False)], None, "<|im_end|>"),
    byte_level("o200k", O200K_PATTERN, None, False, [
        ("<|startoftext|>", True), ("<|endoftext|>", True), ("<|return|>", True), ("<|constrain|>", True), ("<|channel|>", True),
        ("<|start|>", True), ("<|end|>", True), ("<|message|>", True), ("<|call|>", True)], None, "<|return|>"),
    byte_level("tekken", TEKKEN_PATTERN, None, True, [
        ("<s>", True), ("</s>", True), ("[INST]", True), ("[/INST]", True), ("[TOOL_CALLS]", True)], "<s>", "</s>"),
    sentence_piece("llama2", "always", LLAMA_FRONT, []),
    sentence_piece("mistral", "first", LLAMA_FRONT, [("[INST]", True, False), ("[/INST]", True, False)]),
    sentence_piece("gemma", "none", [("<pad>", CONTROL), ("<eos>", CONTROL), ("<bos>", CONTROL), ("<unk>", UNKNOWN)],
                   [("<start_of_turn>", True, False), ("<end_of_turn>", True, False)], ["\n", "\n\n", "▁▁", "▁▁▁", "▁▁▁▁"],
                   "<eos>"),
    sentence_piece("phi3", "always", LLAMA_FRONT, [
        ("<|endoftext|>", True, False), ("<|assistant|>", True, True), ("<|end|>", True, True), ("<|user|>", True, True)], eos="<|endoftext|>"),
)}


def vocab_size(tokenizer):
    spec = tokenizer["json"]
    return 1 + max([*spec["model"]["vocab"].values(), *(token["id"] for token in spec["added_tokens"])])


def encode(tokenizer, text):
    """Ids of a text, its special tokens recognised, nothing put in front."""
    spec = tokenizer["json"]
    added = sorted(spec["added_tokens"], key=lambda token: -len(token["content"]))
    vocab = spec["model"]["vocab"]
    merges = [tuple(m.split(" ")) if isinstance(m, str) else tuple(m) for m in spec["model"]["merges"]]
    ranks = {pair: rank for rank, pair in enumerate(merges)}
    ids, at, plain = [], 0, 0

    def flush(end):
        if end > plain:
            ids.extend(encode_plain(tokenizer, text[plain:end], plain == 0, vocab, ranks))

    while at < len(text):
        token = next((t for t in added if text.startswith(t["content"], at)), None)
        if token is None:
            at += 1
            continue
        flush(at)
        ids.append(token["id"])
        at += len(token["content"])
        while token["rstrip"] and at < len(text) and text[at].isspace():
            at += 1
        plain = at
    flush(len(text))
    return ids


def encode_plain(tokenizer, text, is_first, vocab, ranks):
    if "digits" in tokenizer:
        if tokenizer["json"]["normalizer"] is not None:
            text = unicodedata.normalize("NFC", text)
        digits = tokenizer["digits"]
        for word in words(text, digits) if digits else regex.findall(tokenizer["pattern"], text):
            written = "".join(LETTERS[byte] for byte in word.encode())
            if tokenizer["json"]["model"]["ignore_merges"] and written in vocab:
                yield vocab[written]
            else:
                yield from (vocab[symbol] for symbol in bpe(list(written), ranks))
        return
    text = text.replace(" ", "▁")
    if tokenizer["scheme"] == "always" or (tokenizer["scheme"] == "first" and is_first and not text.startswith("▁")):
        text = "▁" + text
    symbols = []
    for char in text:
        symbols += [char] if char in vocab else [f"<0x{byte:02X}>" for byte in char.encode()]
    yield from (vocab[symbol] for symbol in bpe(symbols, ranks))


def sentence_piece_model(tokenizer):
    """tokenizer.model, a protocol buffer: pieces with text, score and type, and the kind of model."""
    def field(number, wire, payload):
        return varint(number << 3 | wire) + payload

    def varint(value):
        out = b""
        while value > 0x7F:
            out += bytes([value & 0x7F | 0x80])
            value >>= 7
        return out + bytes([value])

    def sized(number, payload):
        return field(number, 2, varint(len(payload)) + payload)

    pieces = b""
    for text, score, piece_type in tokenizer["pieces"]:
        body = sized(1, text.encode()) + field(2, 5, struct.pack("<f", score))
        pieces += sized(1, body if piece_type == NORMAL else body + field(3, 0, varint(piece_type)))
    return pieces + sized(2, field(3, 0, varint(2))) + sized(3, sized(1, b"identity"))
