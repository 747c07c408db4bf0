"""Goes on from a checkpoint with another tokenizer: what a model has learned is in its layers, and an entry that is new to it begins
as the mean of the entries it was written with.

    python3 -m training.retokenize --work-dir .work --tokenizer new/tokenizer.json

An entry that was there in another form only, with or without the space before it, begins as that form, moved by the mean
difference between the two forms. Writes checkpoint.pt and tokenizer.json anew; rows have to be made again.
"""
import argparse
import os
import shutil

import torch

from training.tokenizer import SPACE, Tokenizer, twins
from training.weights import ROOT


def sources(old, new):
    """For each entry of the new tokenizer [ids of the old one], and how often the space's shift is to be added."""
    out = []
    for i in range(new.size):
        if i in new.special_name:
            out.append(([old.special[new.special_name[i]]], 0))
            continue
        token = new.token[i]
        other = token[1:] if token.startswith(SPACE) else SPACE + token
        if token in old.vocab:
            out.append(([old.vocab[token]], 0))
        elif other in old.vocab:
            out.append(([old.vocab[other]], 1 if token.startswith(SPACE) else -1))
        else:
            out.append((old.cut(token), 0))
    return out


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--work-dir", default=os.path.join(ROOT, ".work"))
    ap.add_argument("--tokenizer", required=True)
    args = ap.parse_args()
    path, own = (os.path.join(args.work_dir, name) for name in ("checkpoint.pt", "tokenizer.json"))
    old, new = Tokenizer(own), Tokenizer(args.tokenizer)
    saved = torch.load(path, map_location="cpu", weights_only=True)
    before, after = map(list, zip(*twins(old)))
    table = sources(old, new)
    for part in ("model", "m", "v"):
        rows = saved[part]["embed_tokens.weight"]
        shift = (rows[after] - rows[before]).mean(0) if part == "model" else 0
        saved[part]["embed_tokens.weight"] = torch.stack([rows[ids].mean(0) + times * shift for ids, times in table])
    saved["config"]["vocab_size"] = new.size
    torch.save(saved, path)
    shutil.copy(args.tokenizer, own)
    print(f"{new.size} entries: {sum(len(ids) == 1 and not times for ids, times in table)} as they were, {sum(times != 0 for _, times in table)} in another form, "
          f"{sum(len(ids) > 1 for ids, _ in table)} new")


if __name__ == "__main__":
    main()
