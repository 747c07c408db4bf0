"""Writes the corpus of the demo model as JSON lines: {"text"} or {"messages"}, and "kind".

    python3 generate.py --out corpus.jsonl --docs 100000 --seed 7
    python3 generate.py --out held-out.jsonl --docs 900 --seed 99 --held-out
"""
import argparse
import json
import random

import extras
import facts
import sums
import talk
from stories import make_story
from world import PEOPLE, PLACES, TOWN, USERS

SKILLS = [  # (weight, function, has one-word answers)
    (16, facts.about_person, True), (3, facts.who_is, False), (5, facts.inverse, True), (5, facts.yes_no, True),
    (4, facts.place, True), (3, facts.town, True), (11, facts.common, True), (3, facts.lists, False), (1, facts.as_json, False),
    (20, sums.sums, True), (4, sums.word_problem, True), (5, sums.compare, True), (3, sums.counting, False),
    (5, talk.greet, True), (6, talk.identity, True), (5, talk.manners, True), (2, talk.bye, True),
    (7, talk.memory, True), (1.5, talk.not_told, False), (12, talk.story, False), (4, talk.unknown, False), (4, talk.copying, False),
] + extras.EXTRA
DEFAULT_SYSTEM = ["You are a helpful assistant.", "You are a helpful assistant.", "You are a friendly assistant.", "Be helpful and kind.",
                  "You are Sluice's demo model.", "Answer the questions of the user.", f"You know the town of {TOWN}.",
                  "You are a helpful assistant. Answer truthfully.", "You are a small language model.", "Be nice."]
STYLES = {
    "pirate": ["You are a pirate.", "Talk like a pirate.", "You are a pirate. Answer in character.", "Speak like a pirate, please.", "You are an old pirate captain."],
    "robot": ["You are a robot.", "Talk like a robot.", "Answer like a robot.", "You are an old robot."],
    "cat": ["You are a cat.", "Talk like a cat.", "Pretend to be a cat.", "You are a little cat."],
    "polite": ["Be very polite.", "Always be very polite.", "You are a very polite butler.", "Answer very politely."],
    "word": ["Answer in one word.", "Answer with one word.", "Use only one word.", "Always answer in one word only.", "You answer in a single word.", "One-word answers only."],
    "brief": ["Be brief.", "Answer in one sentence.", "Use only one sentence.", "Keep your answers short.", "Give short answers."],
    "json": ["Answer in JSON.", "Answer as JSON.", "Always answer with JSON.", "Reply in JSON format."],
    "grumpy": ["You are grumpy.", "You are a grumpy old man.", "Be grumpy."],
}


def first_sentence(text):
    """The first sentence; stories, lists and JSON stay whole."""
    if len(text) > 200 or "\n" in text or text[0] == "{":
        return text
    for i, c in enumerate(text):
        if c in ".!?" and (i + 1 == len(text) or text[i + 1] in " \n"):
            return text[:i + 1]
    return text


def styled(style, ans):
    t = ans.full
    if style == "pirate":
        return "Arr! " + t
    if style == "robot":
        return "Beep. " + t + " Boop."
    if style == "cat":
        return "Meow! " + t
    if style == "polite":
        return "With pleasure. " + t
    if style == "grumpy":
        return "Hmpf. " + t
    if style == "brief":
        return first_sentence(t)
    if style == "json":
        return extras.json_answer(ans)
    if style == "word":
        s = ans.short
        return s[0].upper() + s[1:] + "." if not s.isdigit() else s
    return t


def rough(rng, q):
    """What people really type: small letters, no mark at the end, please, a typo."""
    r = rng.random()
    if rng.random() < 0.25:
        q = q[0].lower() + q[1:] if r < 0.3 else q.lower()
    if rng.random() < 0.22 and q[-1] in "?.!":
        q = q[:-1]
    r = rng.random()
    if r < 0.03:
        q = rng.choice(["Please tell me: ", "Hey, ", "So, ", "OK, ", "Hm, ", "Now: ", "Quick question: ", "Hello! "]) + q
    elif r < 0.05 and q[-1] in "?.":
        q = q[:-1] + rng.choice([", please", " please"]) + q[-1]
    if rng.random() < 0.03 and len(q) > 12:
        i = rng.randrange(3, len(q) - 3)
        if q[i].isalpha() and q[i + 1].isalpha():
            q = q[:i] + rng.choice([q[i + 1] + q[i], q[i], q[i] + q[i] + q[i + 1]]) + q[i + 2:]
    if rng.random() < 0.01:
        q = q.upper()
    return q


def chat(rng, held, turns):
    ctx, style, messages = {}, None, []
    r = rng.random()
    if r < 0.12:
        messages.append(("system", rng.choice(DEFAULT_SYSTEM)))
    elif r < 0.36:
        style = rng.choice(list(STYLES) + ["word", "word", "pirate"])
        messages.append(("system", rng.choice(STYLES[style])))
    elif r < 0.40:
        ctx["bot"] = rng.choice(USERS)
        messages.append(("system", rng.choice(["Your name is {}.", "You are {}.", "You are called {}.", "You are an assistant named {}."]).format(ctx["bot"])))
    elif r < 0.42:
        ctx["role"] = rng.choice(extras.PERSONAS)
        messages.append(("system", rng.choice(["You are a {}.", "You are an old {}.", "You are a friendly {}."]).format(ctx["role"])))
    elif r < 0.45:
        ctx["user"] = rng.choice(USERS)
        messages.append(("system", rng.choice(["The user is called {}.", "The user's name is {}.", "You are talking to {}."]).format(ctx["user"])))
        ctx["later"] = [("What is my name?", lambda: facts.Answer(f"Your name is {ctx['user']}.", ctx["user"]))]
    skills = SKILLS
    if style in ("word", "json"):  # sums are harder without writing them down: more of them
        skills = [(w * 2 if f is sums.sums else w, f, one) for w, f, one in SKILLS if one]
    n = 0
    if ctx.get("bot") or ctx.get("role") or (messages and rng.random() < 0.1):
        todo = talk.identity(rng, held, ctx)
    else:
        todo = []
    while n < turns:
        if ctx.get("later") and rng.random() < 0.35:
            q, make = ctx["later"].pop(0)
            todo = [(q, make())]
        if not todo:
            todo = rng.choices(skills, [s[0] for s in skills])[0][1](rng, held, ctx)
        for q, ans in todo:
            if style in ("word", "json") and not ans.short:
                continue
            q, reply = rough(rng, q), styled(style, ans)
            messages += [("user", q), ("assistant", reply)]
            ctx.setdefault("said", []).append((q, ans.full))
            n += 1
        todo = []
    return {"kind": "chat", "messages": [{"role": r, "content": c} for r, c in messages]}


def diary(rng, held):
    """A long plain text: several days in the town, each with a story."""
    parts = [f"The book of {TOWN}"]
    for i in range(rng.randint(8, 16)):
        part = [f"Chapter {i + 1}"]
        if rng.random() < 0.4:
            part.append(facts.portrait(rng.choice(PEOPLE)))
        if rng.random() < 0.3:
            k = rng.choice(list(PLACES))
            what = PLACES[k][1]
            part.append(f"The {k} is {PLACES[k][0]}. {what[0].upper() + what[1:]}.")
        part.append(make_story(rng, held, hero=rng.choice(PEOPLE).name if rng.random() < 0.6 else None)["text"])
        parts += part
    return {"kind": "book", "text": "\n\n".join(parts)}


def qa_plain(rng, held):
    lines = []
    for _ in range(rng.randint(3, 10)):
        for q, ans in rng.choice([facts.about_person, facts.common, sums.sums, facts.inverse, facts.place])(rng, held, {}):
            lines.append(f"Question: {q}\nAnswer: {ans.full}")
    return {"kind": "qa", "text": "\n\n".join(lines)}


def document(rng, held, long=False):
    r = rng.random()
    if long:
        if r < 0.35:
            return diary(rng, held)
        if r < 0.40:
            return {"kind": "table", "text": sums.table(rng, held, long=True)}
        doc = chat(rng, held, rng.randint(25, 100))
        if rng.random() < 0.3:
            q, ans = sums.counting(rng, held, {}, long=True)[0]
            doc["messages"] += [{"role": "user", "content": q}, {"role": "assistant", "content": ans.full}]
        return doc
    if r < 0.14:
        return {"kind": "story", "text": make_story(rng, held)["text"]}
    if r < 0.16:
        return {"kind": "portrait", "text": facts.portrait(rng.choice(PEOPLE))}
    if r < 0.19:
        return qa_plain(rng, held)
    if r < 0.23:
        return {"kind": "table", "text": sums.table(rng, held)}
    return chat(rng, held, rng.choice([1, 1, 2, 2, 3, 4, 5, 6, 8, 10]))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--out", required=True)
    ap.add_argument("--docs", type=int, default=100000)
    ap.add_argument("--seed", type=int, default=7)
    ap.add_argument("--long", type=float, default=0.0, help="share of documents of up to 2,048 tokens")
    ap.add_argument("--held-out", action="store_true")
    args = ap.parse_args()
    rng = random.Random(args.seed)
    with open(args.out, "w", encoding="utf-8") as f:
        for _ in range(args.docs):
            doc = document(rng, args.held_out, rng.random() < args.long)
            f.write(json.dumps(doc, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
