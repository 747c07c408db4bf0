"""Writes test/model/reference/checkpoints/tekken.json: a small tekken.json, and what mistral_common makes of texts and chats with it,
in each version of the format. Needs mistral_common 1.13 and regex.

    python3 tekken.py
"""
import base64
import json
import os
import tempfile

import regex
from mistral_common.protocol.instruct.request import ChatCompletionRequest
from mistral_common.tokens.tokenizers.mistral import MistralTokenizer
from mistral_common.tokens.tokenizers.tekken import Tekkenizer

from strings import strings
from tokenizers import CASED_CORPUS, LETTERS, TEKKEN_PATTERN, train

OUTPUT = os.path.join(os.path.dirname(__file__), "../../test/model/reference/checkpoints/tekken.json")
SPECIALS = 40
NAMED = [token["token_str"] for token in Tekkenizer.DEPRECATED_SPECIAL_TOKENS]
# From v11 on a file names its special tokens; those between have no names.
LISTED = [*NAMED, *(f"<SPECIAL_{i}>" for i in range(len(NAMED), 32)), "[ARGS]", "[CALL_ID]"]
SPECIAL_TOKENS = {"v3": None, "v7": None, "v11": LISTED, "v13": [*LISTED, "[THINK]", "[/THINK]"]}

TOOL = {"type": "function", "function": {
    "name": "get_weather", "description": "Weather of a city",
    "parameters": {"type": "object", "properties": {"city": {"type": "string", "description": "The \"city\""}}, "required": ["city"]}}}
CALL = {"role": "assistant", "content": "", "tool_calls": [
    {"id": "a1B2c3D4e", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Köln"}'}}]}


def user(text):
    return {"role": "user", "content": text}


def result(text):
    return {"role": "tool", "tool_call_id": "a1B2c3D4e", "name": "get_weather", "content": text}


SYSTEM, ANSWER = {"role": "system", "content": "Be brief."}, {"role": "assistant", "content": "A house."}
CHATS = [
    ([user("The cat")], False),
    ([SYSTEM, user("The cat")], False),
    ([user("The cat"), ANSWER, user("[INST] and the dog [/INST]</s>")], False),
    ([SYSTEM, user("The cat"), ANSWER, user("the dog")], False),
    ([user("Weather?")], True),
    ([SYSTEM, user("The cat"), ANSWER, user("Weather?")], True),
    ([user("Weather?"), CALL, result('{"sky": "grey"}')], True),
    ([SYSTEM, user("Weather?"), CALL, result("grey"), ANSWER, user("and tomorrow?")], True),
]
THOUGHT = ([user("The cat"), {**ANSWER, "reasoning": "Where is it?"}, user("the dog")], False)


def as_chunks(message):
    """What was thought as mistral_common takes it."""
    message = dict(message)
    thought = message.pop("reasoning", None)
    if thought is None:
        return message
    return {**message, "content": [{"type": "thinking", "thinking": thought}, {"type": "text", "text": message["content"]}]}


def tekken(ranked):
    vocab = [{"rank": rank, "token_bytes": base64.b64encode(token).decode(), "token_str": token.decode("utf-8", "ignore") or None}
             for rank, token in enumerate(ranked)]
    config = {"pattern": TEKKEN_PATTERN, "num_vocab_tokens": len(vocab), "default_num_special_tokens": SPECIALS}
    # Two ranks more than are used, as in the files of Mistral.
    return {"config": {**config, "default_vocab_size": SPECIALS + len(vocab) - 2}, "vocab": vocab}


def of_version(file, version, names):
    listed = [{"rank": rank, "token_str": name, "is_control": True} for rank, name in enumerate(names or [])]
    return {**file, "config": {**file["config"], "version": version}, **({"special_tokens": listed} if names else {})}


def main():
    bytes_of = {letter: byte for byte, letter in LETTERS.items()}
    words = [[LETTERS[b] for b in word.encode()] for word in regex.findall(TEKKEN_PATTERN, CASED_CORPUS)]
    merged = ["".join(pair) for pair in train(words, 160)]
    ranked = [bytes([b]) for b in range(256)] + [bytes(bytes_of[c] for c in token) for token in merged]
    file = tekken(ranked)
    cases = []
    for version, names in SPECIAL_TOKENS.items():
        versioned = of_version(file, version, names)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "tekken.json")
            with open(path, "w") as out:
                json.dump(versioned, out)
            tokenizer = MistralTokenizer.from_file(path)
        chats = []
        for messages, has_tools in [*CHATS, *([THOUGHT] if "[THINK]" in (names or []) else [])]:
            tools = {"tools": [TOOL]} if has_tools else {}
            ids = tokenizer.encode_chat_completion(ChatCompletionRequest.from_openai([as_chunks(m) for m in messages], **tools)).tokens
            chats.append({"messages": messages, **tools, "ids": ids})
        cases.append({"version": version, "special_tokens": versioned.get("special_tokens"), "chats": chats})
    inner = tokenizer.instruct_tokenizer.tokenizer
    texts = [[text, inner.encode(text, bos=False, eos=False)] for text in strings([], is_cased=True)]
    with open(OUTPUT, "w", encoding="utf-8") as out:
        about = "Written by tools/checkpoints/tekken.py with mistral_common 1.13.1."
        json.dump({"about": about, "file": file, "texts": texts, "versions": cases}, out, ensure_ascii=False, separators=(",", ":"))
        out.write("\n")


if __name__ == "__main__":
    main()
