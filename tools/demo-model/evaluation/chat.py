"""Talk to the model, or print a transcript.

    python3 -m evaluation.chat --work-dir .work     # talk to the last checkpoint
    python3 -m evaluation.chat --model folder       # talk to an exported model
    python3 -m evaluation.chat --script script.txt  # greedy answers to a script; "> system: text" and "---" start a new chat
    python3 -m evaluation.chat --complete "Once upon a time"
"""
import argparse
import sys

import torch

from training.weights import SHIPPED, answer, greedy, load, sampler


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--work-dir")
    ap.add_argument("--model", default=SHIPPED)
    ap.add_argument("--system")
    ap.add_argument("--script")
    ap.add_argument("--complete")
    ap.add_argument("--temperature", type=float, default=0.0)
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--count", type=int, default=500)
    args = ap.parse_args()
    torch.set_num_threads(1)
    model, tok = load(args.model, args.work_dir)
    pick = sampler(args.temperature, args.seed)
    if args.complete is not None:
        out, _, _ = greedy(model, tok.encode(args.complete), args.count, (tok.end,), pick)
        print(args.complete + tok.decode(out))
        return
    messages = [{"role": "system", "content": args.system}] if args.system else []
    lines = open(args.script, encoding="utf-8") if args.script else sys.stdin
    for line in lines:
        line = line.rstrip("\n")
        if line == "---":
            messages = []
            print("\n---\n")
        elif line.startswith("> system: "):
            messages = [{"role": "system", "content": line[10:]}]
            print("system:    " + line[10:])
        elif line:
            messages.append({"role": "user", "content": line})
            text = answer(model, tok, messages, None, args.count, pick)
            messages.append({"role": "assistant", "content": text})
            if args.script:
                print("user:      " + line)
            print("assistant: " + text.replace("\n", "\n           "), flush=True)


if __name__ == "__main__":
    main()
