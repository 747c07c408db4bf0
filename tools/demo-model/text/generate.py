"""Puts the skills together into documents: {"kind", "messages"[, "tools"]}, {"kind", "text"} or {"kind", "parts"}.

    python3 -m text.generate --documents 20 --seed 1            # prints them, to look at
    python3 -m text.generate --documents 900 --held-out --json  # JSON lines
"""
import argparse
import json
import random

from text import systems
from text.chat_format import parts_of
from text.conversation import Answer, Talk
from text.copies import copies
from text.data.words import any_name
from text.drills import drill
from text.held_out import is_held
from text.rough import rough
from text.skills import chains, extras, facts, followups, newcomers, people, reading, recall, refusals, smalltalk, sums, texts, told, written
from text.skills.sluice import about_sluice
from text.stories import storytelling
from text.stories.stories import make_story
from text.tools import toolcalls
from text.tools.near import could_serve

SKILLS = [  # (weight, skill, whether single questions of it are kept for the held-out text)
    (14, facts.capitals, True), (6, facts.countries, True), (12, facts.table, True), (3, facts.units, True), (4, facts.order, True), (16, facts.single,
    False),
    (12, facts.yes_no, False), (8, facts.made_yes_no, True), (8, facts.what_is, False), (2, facts.which_is, True),
    (2.5, people.who, False), (2, followups.about_it, False), (3, followups.more, False), (2.5, followups.which_more, True), (2, followups.statement,
    False),
    (16, sums.sums, True), (8, sums.more_sums, True), (4, sums.word_problem, False), (5, sums.compare, True), (10, sums.counting, True), (1.5, sums.how_many,
    True), (4, sums.sequence, True),
    (10, texts.repeat, True), (16, texts.letters, True), (4, texts.sentence, True), (16, texts.lists, True), (12, texts.json_made, True), (5, texts.json_facts,
    True), (1.5, texts.table, True), (1.5, texts.make_sentence, True),
    (6, smalltalk.greet, False), (9, smalltalk.who, False), (7, smalltalk.about_me, False), (8, smalltalk.manners, False), (2, smalltalk.joke,
    False), (0.5, smalltalk.riddle, False), (3, smalltalk.bye, False), (1, smalltalk.clock, False),
    (9, smalltalk.memory, True), (2, smalltalk.not_told, False), (3, smalltalk.about_chat, False), (3, smalltalk.why, False), (1.5, smalltalk.loading,
    False),
    (16, storytelling.story, True), (0.4, storytelling.long_story, False), (3, storytelling.haiku, True), (3, storytelling.poem, True),
    (11, about_sluice, False), (5, reading.passage, True), (2, reading.who_has, True), (42, refusals.refuse, True),
    (90, written.question, False), (260, written.conversation, False), (36, written.plot, False), (45, written.turns, False), (70, told.told, False),
] + extras.SKILLS + chains.SKILLS + recall.SKILLS + newcomers.SKILLS
_WEIGHTS = [w for w, _, _ in SKILLS]
STARTERS = {smalltalk.about_chat, smalltalk.why, smalltalk.loading, followups.more}  # need something said before
PLAIN = [(w, f, h) for w, f, h in SKILLS if f in (facts.capitals, facts.single, facts.yes_no, facts.what_is, sums.sums, smalltalk.greet, smalltalk.who,
    smalltalk.manners, smalltalk.joke, texts.repeat, about_sluice, smalltalk.bye)]


def drawn(t, skills=SKILLS, weights=_WEIGHTS):
    """Turns of a skill, on the right side of the line between the training text and the held-out one."""
    while True:
        _, skill, kept = t.rng.choices(skills, weights)[0]
        if skill in STARTERS and not t.said:
            continue
        known, later = dict(t.known), list(t.later)
        turns = skill(t)
        if turns and (not kept or is_held(*(turns[0][1].key or (turns[0][0].lower(),))) == t.held):
            return turns
        t.known, t.later = known, later


class Chat:
    """A conversation in the making."""

    def __init__(self, rng, held):
        self.t, self.rng, self.messages = Talk(rng, held), rng, []
        self.style = self.value = None
        self.turns = 0

    def system(self):
        """In a third of the conversations something stands in the system turn."""
        t, r = self.t, self.rng.random()
        if r < 0.08:
            text = self.rng.choice(systems.DEFAULT)
        elif r < 0.13:
            text = systems.some(t)
        elif r < 0.29:
            self.style, self.value, text = systems.choose(t)
            text = systems.with_more(t, text)
        elif r < 0.32:
            text = systems.with_more(t, systems.name_prompt(t))
        elif r < 0.34:
            text = systems.role_prompt(t)
        elif r < 0.36:
            n, text = systems.user_prompt(t)
            t.later.append(lambda: ("What is my name?", Answer(f"Your name is {n}.", n, exact=True)))
        else:
            return
        self.messages.append({"role": "system", "content": text})

    def opened(self, q, reply, ans):
        """The first question with a greeting before it, or with the user's name, or with a word about the question."""
        rng = self.rng
        if ans.kind not in ("fact", "yes", "no", "refuse") or self.style is not None or rng.random() > 0.1:
            return q, reply
        r = rng.random()
        if r < 0.55:
            hi = rng.choice(["Hi! ", "Hello! ", "Hi, ", "Hello, ", "Hey, ", "Good morning! ", "hi ", "Hello there. ", "hey ", "hello ",
                "Good evening, ", "Hi there, ", "Hey! ", "Hello! I have a question: ", "Hi. I hope you are well. ", "Hi, can you help me? "])
            return hi + q, ("Good morning! " if "morning" in hi else "Good evening! " if "evening" in hi else "Hello! ") + reply
        if r < 0.75:
            n = self.t.known["name"] = any_name(rng)
            self.t.later.append(lambda: (rng.choice(["What is my name?", "what's my name", "Do you remember my name?"]), Answer(f"Your name is {n}.",
                n, exact=True)))
            return rng.choice(["Hi, I am {}. ", "Hello, my name is {}. ", "I'm {}. ", "Hi, {} here. ", "hello i am {}, "]).format(n) + q, f"Hello, {n}! " + reply
        return rng.choice(["I have a question. ", "Can you help me? ", "Quick question: ", "My son asks: ", "I need this for school: ",
            "Let me ask you something. ", "Just curious. ", "Test question: ", "I forgot it, so: ", "Please answer: "]) + q, reply

    def joined(self, turns):
        """Two short questions in one message, and both answers."""
        known, later = dict(self.t.known), list(self.t.later)
        (q, x), (p, y) = turns[0], drawn(self.t)[0]
        self.t.known, self.t.later = known, later  # of the second only the first question is taken, or nothing
        if any(z.kind not in ("fact", "yes", "no") or z.exact or len(z.full) > 90 for z in (x, y)) or self.style:
            return turns
        q = q.rstrip("?.!") if self.rng.random() < 0.5 else q
        link = self.rng.choice([" And ", " Also, ", "\n", " "]) if q[-1] in "?.!" else self.rng.choice([", and ", " and ", "; "])
        return [(q + link + (p[0].lower() + p[1:] if self.rng.random() < 0.5 and not p.startswith("I ") else p), Answer(x.full + " " + y.full, None,
            "text"))]

    def add(self, turns):
        if self.rng.random() < 0.05:
            turns = self.joined(turns)
        for q, ans in turns:
            reply = systems.styled(self.t, self.style, self.value, ans)
            if reply is None:
                return False
            wished = systems.asked(self.t, q, ans) if self.style is None and not ans.exact and self.rng.random() < 0.08 else None
            if wished:
                q, reply = wished
            elif self.turns == 0:
                q, reply = self.opened(q, reply, ans)
            elif (q, ans) == turns[0] and ans.kind in ("fact", "text") and self.rng.random() < 0.08:
                q = self.rng.choice(["ok, then ", "Thanks. ", "Nice. ", "Good. ", "OK. ", "thanks! ", "cool, ", "Great! ", "ok thanks, ", "Good, now: ", "and ", "Alright, ", "Okay, next: ",
                    "Now something else: ", "well, ", "Thanks, and "]) + q
            q = rough(self.rng, q, ans.exact)
            self.messages += [{"role": "user", "content": q}, {"role": "assistant", "content": reply}]
            self.t.said.append((q, Answer(reply, ans.short, ans.kind, ans.exact, None, ans.why)))
            self.turns += 1
        return True

    def talk(self, turns):
        t, tries = self.t, 0
        if t.bot or t.role:
            self.add(smalltalk.who(t))
        while self.turns < turns and tries < 40 + 3 * turns:
            tries += 1
            if t.later and self.turns and self.rng.random() < 0.4:
                self.add([t.later.pop(0)()])
            else:
                known, later = dict(t.known), list(t.later)
                if not self.add(drawn(t)):  # what was not said is not asked for later
                    t.known, t.later = known, later
        if t.later and self.rng.random() < 0.7:
            self.add([t.later.pop(0)()])
        return {"kind": "chat" if not self.style else "styled", "messages": self.messages}


def chat(rng, held, turns):
    while True:
        c = Chat(rng, held)
        c.system()
        doc = c.talk(turns)
        if c.turns:
            return doc


def shop(rng, held):
    t = Talk(rng, held)
    system, asks = reading.shop(t)
    messages = [{"role": "system", "content": system}]
    for q, ans in asks:
        messages += [{"role": "user", "content": rough(rng, q)}, {"role": "assistant", "content": ans.full}]
    return {"kind": "system facts", "messages": messages}


def no_tool(t, families):
    """Something for which none of the offered tools is there."""
    for _ in range(30):
        q, text = no_tool_maybe(t, families)
        if not could_serve(q, families):
            break
    return q, text


def no_tool_maybe(t, families):
    skill = t.rng.choice([refusals.now, refusals.persons, refusals.cannot, None, None])
    if skill is None:
        f = t.rng.choice([f for f in toolcalls.FAMILIES if not any(f.resembles(g) for g in families) and f.names[0] not in ("calculator", "add",
            "search", "define_word", "get_news")])
        ask = t.rng.choice(f.asks)
        q = toolcalls.fill(ask, [toolcalls.value(t.rng, p.kind) if not p.enum else t.rng.choice(p.enum) for p in f.params])
    else:
        if any("search" in f.names or "get_news" in f.names or "get_weather" in f.names for f in families):
            skill = refusals.persons
        if any("search" in f.names for f in families):
            skill = refusals.code
        q = skill(t)[0][0]
    return q, t.pick("I have no tool for that.", "I have no tool for that, and I do not know it myself.", "None of my tools can do that.")


def tools(rng, held):
    t = Talk(rng, held)
    def plain(t, families):
        skills = [x for x in PLAIN if x[1] is not sums.sums or not any("expression" in f.about[0] or "numbers" in f.about[0] for f in families)]
        return [x for x in drawn(t, skills, [w for w, _, _ in skills]) if "`" not in x[1].full]

    messages = []
    while not messages:
        messages, specs = toolcalls.conversation(t, rough, plain, no_tool)
    if rng.random() < 0.3:
        date = f"20{rng.randint(24, 30)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}"
        messages.insert(0, {"role": "system", "content": rng.choice(systems.DEFAULT + ["You are a helpful assistant with access to tools.",
                                                                                   "Use the tools where they help.",
                                                                                   f"You are a helpful assistant. Today is {date}.",
                                                                                   "Call a function when it is needed.",
                                                                                   "You are the assistant of a shop. Use your tools.",
                                                                                   "You can use tools. Do not make up values."])})
    return {"kind": "tools", "messages": messages, "tools": specs}


def plain_text(rng, held):
    """Text without turns, for the endpoints that continue a prompt."""
    if rng.random() < 0.6:
        return {"kind": "story", "text": make_story(rng, held)["text"]}
    t, lines = Talk(rng, held), []
    form = rng.choice(["{q}\n{a}", "Question: {q}\nAnswer: {a}", "Q: {q}\nA: {a}", "{a}"])
    skills = [(1, f, True) for f in (facts.capitals, facts.table, facts.units, facts.order, facts.single, facts.what_is, sums.sums, facts.countries)]
    for _ in range(rng.randint(2, 8)):
        lines += [form.format(q=q, a=ans.full) for q, ans in drawn(t, skills, [1] * len(skills))]
    return {"kind": "plain", "text": ("\n\n" if "\n" in form else " ").join(lines)}


def book(rng, held):
    """A long plain text: chapters, each a story."""
    parts = ["The book of Pebbleford"]
    for i in range(rng.randint(6, 16)):
        parts += [f"Chapter {i + 1}", make_story(rng, held)["text"]]
    return {"kind": "book", "text": "\n\n".join(parts)}


COPIES, DRILLS = 0.05, 0.19  # shares of the short documents


def document(rng, held=False, long=False):
    r = rng.random()
    if long:
        if r < 0.15:
            return book(rng, held)
        if r < 0.25:
            n = rng.choice([60, 80, 100, 100, 150, 200])
            doc = chat(rng, held, rng.randint(3, 10))
            doc["messages"] += [{"role": "user", "content": rng.choice(["Count to {}.", "Write the numbers from 1 to {}.", "count from 1 to {}"]).format(
                                n)},
                                {"role": "assistant", "content": ", ".join(map(str, range(1, n + 1))) + "."}]
            return doc
        return chat(rng, held, rng.randint(15, 60))
    if not held and rng.random() < COPIES:
        return copies(rng)
    if not held and rng.random() < DRILLS:
        return drill(rng, held)
    if r < 0.22:
        return tools(rng, held)
    if r < 0.24:
        return shop(rng, held)
    if r < 0.26:
        return plain_text(rng, held)
    return chat(rng, held, rng.choice([1, 1, 1, 2, 2, 3, 4, 5, 6, 8]))


def documents(rng, held=False, long=0.0):
    while True:
        yield document(rng, held, rng.random() < long)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--documents", type=int, default=20)
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--long", type=float, default=0.0)
    ap.add_argument("--held-out", action="store_true")
    ap.add_argument("--json", action="store_true", help="JSON lines with the special tokens written out: {kind, text}")
    args = ap.parse_args()
    source = documents(random.Random(args.seed), args.held_out, args.long)
    for _ in range(args.documents):
        doc = next(source)
        text = "".join(x for x, _ in parts_of(doc))
        print(json.dumps({"kind": doc["kind"], "text": text}, ensure_ascii=False) if args.json else text + "\n" + "-" * 20)


if __name__ == "__main__":
    main()
