"""Writes what a correct conversion of tiny checkpoints must reproduce, under test/model/reference/checkpoints:

    python3 generate.py [--out ../../test/model/reference/checkpoints]

logits.json: for each case its config, the shapes of its tensors, a prompt, logits at some positions and a greedy
continuation. tokenizers.json: the tokenizers, and ids of many strings. Needs numpy and regex.
"""
import argparse
import base64
import json
import os

import numpy as np

from cases import CASES, shapes, stored_names, text_of
from forward import Forward, gelu_by_table, in_8_bits
from strings import strings
from tokenizers import TOKENIZERS, encode, sentence_piece_model, vocab_size
from weights import from_mxfp4, hashed, tensor

STEPS = 8
POSITIONS = 4
MATTERS = 0.02


def load(config, vocab):
    around = 0 if "Gemma" in config["architectures"][0] else 1
    weights = {name: tensor(name, shape, around) for name, shape in shapes(config, vocab).items()}
    for name in [name for name in weights if name.endswith("_blocks")]:
        whole = name.removesuffix("_blocks")
        weights[whole] = from_mxfp4(weights[name], weights[f"{whole}_scales"]).swapaxes(1, 2)
    return weights


def as_llama(config):
    """llama.cpp always rounds the borders of YaRN."""
    scaling = config.get("rope_scaling") or {}
    return config if scaling.get("truncate", True) else {**config, "rope_scaling": {**scaling, "truncate": True}}


def with_vocab(config, vocab):
    if "text_config" in config:
        return {**config, "text_config": {**config["text_config"], "vocab_size": vocab}}
    return {**config, "vocab_size": vocab}


def rounded(row):
    return [round(float(v), 5) for v in row]


def reference(case):
    vocab = vocab_size(TOKENIZERS[case["tokenizer"]])
    config = with_vocab(case["config"], vocab)
    trained = text_of(config)
    text = as_llama(trained)
    weights = load(text, vocab)
    forward = Forward(text, weights, case["context"])
    prompt = [int(v) % vocab for v in hashed(f"prompt of {case['name']}", case["prompt"]) + 128]
    rows = forward.logits(prompt)
    if text is not trained:
        exact = Forward(trained, weights, case["context"]).logits(prompt)
        print(f"{case['name']}: rounding the borders of YaRN changes the logits by {np.abs(exact - rows).max():.4f}")
    rounding = {"gelu": gelu_by_table} if forward.gemma else {"to_mxfp4": in_8_bits} if "quantization_config" in text else None
    rounded_as_llama = None if rounding is None else Forward(text, weights, case["context"], **rounding).logits(prompt)
    for change in case["without"]:
        other = Forward({**text, **change}, weights, case["context"]).logits(prompt)
        difference = np.abs(other - rows).max()
        assert difference > MATTERS, f"{case['name']}: {change} changes the logits by {difference} only"
    ids, gaps = list(prompt), []
    for _ in range(STEPS):
        last = np.sort(forward.logits(ids)[-1])
        gaps.append(float(last[-1] - last[-2]))
        ids.append(int(np.argmax(forward.logits(ids)[-1])))
    positions = [round((i + 1) * len(prompt) / POSITIONS) - 1 for i in range(POSITIONS)]
    print(f"{case['name']}: logits from {rows.min():.2f} to {rows.max():.2f}, smallest gap {min(gaps):.4f}")
    return {
        "name": case["name"], "config": config, "tokenizer": case["tokenizer"], "dtype": case["dtype"], "shards": case["shards"],
        "context": case["context"], "shapes": shapes(text, vocab), "prompt": prompt,
        **({"stored": stored_names(weights, case["prefix"])} if "prefix" in case else {}),
        **({"fused": True} if case.get("fused") else {}),
        "logits": [{"position": p, "values": rounded(rows[p]),
                    **({} if rounded_as_llama is None else {"rounded_as_llama": rounded(rounded_as_llama[p])})} for p in positions],
        "greedy": ids[len(prompt):], "gaps": [round(gap, 4) for gap in gaps],
    }


def tokenization(tokenizer):
    texts = strings([token["content"] for token in tokenizer["json"]["added_tokens"] if token["special"]],
                    is_cased=tokenizer.get("digits", 1) is None)
    entry = {"name": tokenizer["name"], "json": tokenizer["json"], "bos": tokenizer["bos"], "eos": tokenizer["eos"],
             "cases": [[text, encode(tokenizer, text)] for text in texts]}
    if "pieces" in tokenizer:
        entry["model"] = base64.b64encode(sentence_piece_model(tokenizer)).decode()
    return entry


def write(path, about, items):
    with open(path, "w", encoding="utf-8") as file:
        lines = ",\n".join(json.dumps(item, ensure_ascii=False, separators=(",", ":")) for item in items)
        file.write(f'{{"about":{json.dumps(about)},"cases":[\n{lines}\n]}}\n')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", default=os.path.join(os.path.dirname(__file__), "../../test/model/reference/checkpoints"))
    args = parser.parse_args()
    os.makedirs(args.out, exist_ok=True)
    write(os.path.join(args.out, "logits.json"), "Written by tools/checkpoints/generate.py: a forward pass in double precision.",
          [reference(case) for case in CASES])
    items = [tokenization(tokenizer) for tokenizer in TOKENIZERS.values()]
    for item in items:
        print(f"{item['name']}: {len(item['cases'])} strings, {len(item['json']['model']['vocab'])} tokens")
    write(os.path.join(args.out, "tokenizers.json"), "Written by tools/checkpoints/generate.py: byte pair merges by rank.", items)


if __name__ == "__main__":
    main()
