"""Writes what a correct engine must reproduce: greedy.json and tokenization.json in test/model/reference/demo.

    python3 -m evaluation.reference [--model .work/export] [--out ../../test/model/reference/demo]

Everything is computed from the stored weights in float32, on one thread, and the
prompts are evaluated in one pass, their continuation token by token with a float32 KV cache.
"""
import argparse
import json
import os
import random

import torch


from training.weights import ROOT, SHIPPED, greedy, load

STEPS = 48
RAW = [
    "Once upon a time", "Once upon a time, there was a little dog named", "One rainy day, Mira", "Otto and his dog Bruno",
    "The town of Pebbleford", "Question: What is 3 + 4?\nAnswer:", "Question: What colour is snow?\nAnswer:", "12 + 30 =",
    "1, 2, 3, 4, 5,", "Chapter 1\n\n", "Hello", "Nora was a brave girl who", "\"Do not cry,\" said", "The book of Pebbleford",
    " ", "The capital of France is", "| Country | Capital |\n", "{\"name\": \"Mira\"", "Zoë ate 3 crêpes 🥞 in 東京.", "def main():\n    return",
]
CHATS = [
    ["Hello!"], ["Who are you?"], ["What is 7 + 5?"], ["what is 48 plus 37"], ["Tell me a story about a dragon."],
    ["Tell me a long story about Mira."], ["Is the earth flat?"], ["What is the capital of Italy?"], ["Count to 20."],
    ["Name five animals."], ["Make a table of France and Spain with their capitals."], ["Give me a JSON object with name Ada and age 36."], [
    "thanks"], ["Bonjour!"], ["9 * 8"],
    ["My name is Ana.", "Nice to meet you, Ana!", "What is my name?"],
    ["Tell me a story.", "Once upon a time, there was a kind fox named Milo. He was often alone and wanted a friend. At the pond he saw Vera. "
    "\"Yes!\" said Vera with a big smile. And they are still friends today.", "What was his name?"],
    ["What is 2 + 2?", "2 + 2 = 4.", "And plus 5?"], ["What is the capital of Peru?", "The capital of Peru is Lima.", "And of Chile?"],
    ["How does quantum physics work?"],
]
SYSTEMS = ["You are a pirate.", "Answer in one word.", "You are a robot.", "Be very polite.", "You are a helpful assistant.",
           "Answer in JSON.", "You are a cat."]
ASKED = ["What colour is snow?", "How do I get a key?", "Hello", "What is 15 - 6?", "What comes after Monday?"]


def prompts(tok, held_out):
    """[(name, fields to store, ids)]"""
    out = []
    for text in RAW:
        out.append({"kind": "text", "text": text, "ids": tok.encode(text)})

    def chat(messages):
        out.append({"kind": "chat", "messages": messages, "ids": tok.chat(messages)})
    for turns in CHATS:
        chat([{"role": ["user", "assistant"][i % 2], "content": t} for i, t in enumerate(turns)])
    for i, s in enumerate(SYSTEMS):
        for q in (ASKED[i % 5], ASKED[(i + 2) % 5]):
            chat([{"role": "system", "content": s}, {"role": "user", "content": q}])
    docs = []
    with open(held_out, encoding="utf-8") as f:
        for line in f:
            d = json.loads(line)
            docs.append((d["kind"], tok.marked(d["text"]), d["text"]))
    header = tok.marked("<|im_start|>assistant\n")
    long_chats = sorted((d for d in docs if d[0] == "chat" and len(d[1]) > 330), key=lambda d: (len(d[1]), d[2]))
    for want in (320, 340, 400, 520, 700, 1000, 1500):
        best = next(d for d in long_chats if len(d[1]) > want)
        cut = max(i + len(header) for i in range(min(len(best[1]), want + 100)) if best[1][i:i + len(header)] == header)
        out.append({"kind": "rendered", "text": tok.decode(best[1][:cut]), "ids": best[1][:cut]})
    books = [d for d in docs if d[0] == "book"]
    if books:
        book = max(books, key=lambda d: len(d[1]))
        for n in (350, 1200):
            ids = tok.encode(tok.decode(book[1][:n]))
            out.append({"kind": "text", "text": tok.decode(ids), "ids": ids})
    for d in [d for d in docs if d[0] == "story"][:6]:
        text = d[2][:40 + len(d[2]) // 3]
        out.append({"kind": "text", "text": text, "ids": tok.encode(text)})
    return out


SAMPLES = """
The quick brown fox jumps over the lazy dog.|Hello, world!|don't won't it's I'm we'll they've you'd CAN'T I'LL THEY'VE he'S 'tis
naïve café déjà vu Ångström façade Zürich Straße ÆØÅ|Žluťoučký kůň úpěl ďábelské ódy|Zażółć gęślą jaźń|Pijamalı hasta yağız şoföre çabucak güvendi
Съешь же ещё этих мягких французских булок|Ξεσκεπάζω την ψυχοφθόρα βδελυγμία|Жебракують філософи|Հայերեն լեզու|ქართული ენა
שלום עולם|مرحبا بالعالم، كيف حالك؟|فارسی زبان|नमस्ते दुनिया|বাংলা ভাষা|தமிழ் மொழி|తెలుగు|ಕನ್ನಡ|മലയാളം|ไทย สวัสดีครับ|ພາສາລາວ|မြန်မာ|ភាសាខ្មែរ
你好，世界！|東京都の天気は？|こんにちは、カタカナ。|한국어 문장입니다.|繁體中文測試|ｆｕｌｌｗｉｄｔｈ　ＡＢＣ１２３|Tiếng Việt có dấu
😀 😃😄|👍🏽 👩‍👩‍👧‍👦 🏳️‍🌈 🇩🇪🇫🇷|❤️ ☕ ✈️ ⚡|🤷🏻‍♀️ ok|(╯°□°）╯︵ ┻━┻|½ ¼ ² ³ Ⅷ ① ٣٤٥ ९८
1234567890|3.14159|1,000,000.00|2024-02-29T12:34:56Z|+49 (0)30 123456|0xDEADBEEF|1e-10|50%|$19.99|€5|£3.50
def f(x):\\n    return x ** 2\\n|if (a && b) { c += 1; } // note\\r\\n|<div class="x">Hi &amp; bye</div>|SELECT * FROM t WROOT a='b';|#include <stdio.h>\\nint main(void){return 0;}
https://example.com/a?b=c&d=%20#e|user@example.org|C:\\\\dir\\\\file.txt|/usr/local/bin|{"a": [1, 2, {"b": null}]}|a->b::c(d)[e]|x=y==z!=w<=v>=u
  two spaces|trailing  |\\ttab\\t\\ttabs|\\n|\\n\\n\\n|\\r\\n|\\r\\n\\r\\n|   \\n   |a\\n\\n  b|a \\n b| \\t \\n\\t x|\\u00a0nbsp\\u00a0x|a\\u3000b|a\\u200bb|a\\u200db|\\ufeffbom|soft\\u00adhyphen|e\\u0301 a\\u0308 n\\u0303
...|?!?!|--- ***|“quotes” ‘single’ «guillemets»|—em–en-hyphen|…|¿Qué? ¡Sí!|(a)[b]{c}<d>|~`!@#$%^&*_+=|\\|
<s>|</s>|<|user|>|<|im_start|>|[INST]|A|a| a|é|中|🙂|0|00|'|''|' s|'S|'re're|ſ-free
"""


def strings():
    rng = random.Random(7)
    base = []
    for line in SAMPLES.strip("\n").split("\n"):
        for s in line.replace("<|", "\0").replace("|>", "\1").split("|"):
            s = s.replace("\0", "<|").replace("\1", "|>").replace("\\\\", "\2")
            for k, v in (("\\n", "\n"), ("\\r", "\r"), ("\\t", "\t"), ("\\u00a0", "\u00a0"), ("\\u3000", "\u3000"), ("\\u200b", "\u200b"),
                         ("\\u200d", "\u200d"), ("\\ufeff", "\ufeff"), ("\\u00ad", "\u00ad"), ("\\u0301", "\u0301"), ("\\u0308", "\u0308"),
                         ("\\u0303", "\u0303"), ("\2", "\\")):
                s = s.replace(k, v)
            base.append(s.replace("ſ-free", "end"))
    base += ["a" * 200, "ab" * 150, "x y " * 50, "é" * 60, " " * 40, "\n" * 12, "9" * 50, "Donaudampfschifffahrtsgesellschaftskapitän",
             "PebblefordPebbleford", "MIRA AND OTTO", "mira and otto", "Once upon a time, there was a little dog named Rex.", "👩‍🚀" * 5]
    ranges = [(0x20, 0x7e), (0xa1, 0xff), (0x100, 0x17e), (0x391, 0x3c9), (0x410, 0x44f), (0x5d0, 0x5ea), (0x621, 0x64a), (0x905, 0x939),
              (0xe01, 0xe2e), (0x3041, 0x3096), (0x30a1, 0x30fa), (0x4e00, 0x9fa5), (0xac00, 0xd7a3), (0x1f600, 0x1f64f), (0x2190, 0x21ff),
              (0x2500, 0x257f), (0x1d400, 0x1d454), (0x20000, 0x20fff), (0x300, 0x36f), (0x10a0, 0x10c5), (0x13a0, 0x13f4)]
    words = "the cat Mira story 12 + = Hello don't I'LL \n \n\n \t  , . ! ? ( ) { } \" 'd 'RE _x __init__ 007 3.5 naïve 日本 🙂 Привет".split(" ") + [
        "  ", "   "]
    out, seen = [], set()

    def add(s):
        if s not in seen:
            seen.add(s)
            out.append(s)
    for s in base:
        add(s)
    while len(out) < 1020:
        k = rng.randrange(4)
        if k == 0:  # one script
            lo, hi = rng.choice(ranges)
            add("".join(chr(rng.randint(lo, hi)) if rng.random() < 0.85 else rng.choice(" \n.,'-1") for _ in range(rng.randint(1, 24))))
        elif k == 1:  # all scripts mixed
            add("".join(chr(rng.randint(*rng.choice(ranges))) if rng.random() < 0.7 else rng.choice(" \t\r\n.5aZ") for _ in range(rng.randint(2, 20))))
        elif k == 2:  # words and marks
            add("".join(rng.choice(words) + rng.choice(["", " ", " "]) for _ in range(rng.randint(2, 14))))
        else:  # two samples joined
            add(rng.choice(base) + rng.choice(["", " ", "\n", "  ", "\r\n", "\t", "'s "]) + rng.choice(base))
    return out


def compact(path, head, items):
    with open(path + ".tmp", "w", encoding="utf-8") as f:
        f.write("{\n")
        for k, v in head.items():
            f.write(f" {json.dumps(k)}: {json.dumps(v, ensure_ascii=False)},\n")
        f.write(' "cases": [\n' + ",\n".join(json.dumps(i, ensure_ascii=False, separators=(",", ":")) for i in items) + "\n]}\n")
    os.replace(path + ".tmp", path)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--model", default=SHIPPED)
    ap.add_argument("--out", default=os.path.join(ROOT, "..", "..", "test", "model", "reference", "demo"))
    ap.add_argument("--held-out", default=os.path.join(ROOT, "held-out.jsonl"))
    args = ap.parse_args()
    torch.set_num_threads(1)
    os.makedirs(args.out, exist_ok=True)
    model, tok = load(args.model)
    cases = []
    for s in strings():
        ids = tok.encode(s)
        assert tok.decode(ids) == s
        cases.append({"text": s, "ids": ids})
    compact(os.path.join(args.out, "tokenization.json"),
            {"about": "Ids of plain text: no BOS added, special tokens not recognised in the text."}, cases)
    items = []
    for i, p in enumerate(prompts(tok, args.held_out)):
        ids = p.pop("ids")
        out, gaps, first = greedy(model, ids, STEPS, (tok.stop, tok.end))
        item = {**p, "prompt_token_ids": ids, "token_ids": out, "gaps": [round(g, 4) for g in gaps], "continuation": tok.decode(out)}
        if i % 8 == 0:
            top = torch.topk(first, 10)
            item["first_top10"] = [[int(t), round(float(v), 5)] for t, v in zip(top.indices, top.values)]
        items.append(item)
    compact(os.path.join(args.out, "greedy.json"),
            {"about": "Greedy continuations from the stored weights in float32. kind text: the text. "
                      "kind chat: the chat template with a generation prompt. kind rendered: special tokens written out in the text. "
                      "gaps: difference of the two largest logits at each step. first_top10: [id, logit] at the first step.",
             "steps": STEPS, "eos_token_id": tok.stop}, items)
    small = sorted(g for i in items for g in i["gaps"])
    print(f"{len(cases)} strings, {len(items)} prompts, longest {max(len(i['prompt_token_ids']) for i in items)} tokens, "
          f"smallest gaps {small[:5]}")


if __name__ == "__main__":
    main()
