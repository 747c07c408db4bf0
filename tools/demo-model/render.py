"""Writes a corpus with its special tokens spelled out: one {"kind", "text"} a line.

    python3 render.py corpus.jsonl out.jsonl [documents]
"""
import json
import sys

MARK = {"system": "<|system|>", "user": "<|user|>", "assistant": "<|assistant|>"}


def rendered(doc):
    if "text" in doc:
        return "<s>" + doc["text"] + "</s>"
    return "<s>" + "".join(MARK[m["role"]] + m["content"] + ("</s>" if m["role"] == "assistant" else "")
                           for m in doc["messages"])


def main():
    limit = int(sys.argv[3]) if len(sys.argv) > 3 else None
    with open(sys.argv[1], encoding="utf-8") as src, open(sys.argv[2], "w", encoding="utf-8") as out:
        for i, line in enumerate(src):
            if limit and i >= limit:
                break
            doc = json.loads(line)
            out.write(json.dumps({"kind": doc["kind"], "text": rendered(doc)}, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
