"""Exercises: one kind of sum, of work with words, of question or of tool calls, again and again. Says more in fewer tokens than conversations do."""
from text.chat_format import END, LEARN, NOTHING, called
from text.conversation import Talk
from text.held_out import is_held
from text.skills import facts, sums, texts
from text.tools.toolcalls import call_drill

KINDS = [sums.sums, sums.compare, sums.more_sums, sums.counting, *[texts.letters] * 3, *[texts.repeat] * 3, *[texts.sentence] * 2, facts.yes_no,
    *[facts.made_yes_no] * 2, facts.capitals]


def of_sums(t):
    """[(question, answer)] of sums as the answers of conversations write them, of all signs or of one."""
    small, sign = t.chance(0.25), t.rng.choice("+-*/")
    rows = [sums.draw(t, small) for _ in range(t.rng.randint(10, 40))]
    if t.chance(0.5):
        rows = [row for row in rows if row[1] == sign] or rows
    return [(f"{x} {op} {y} =", f"{r}.") for x, op, y, r in rows]


def of_skill(t):
    skill, pairs = t.rng.choice(KINDS), []
    for _ in range(t.rng.randint(4, 20)):
        q, ans = skill(t)[0]
        if is_held(*(ans.key or (q.lower(),))) == t.held:
            pairs.append((q, ans.full))
    return pairs


def drill(rng, held):
    """A document: {"kind", "parts": [(text, how much it counts)]}."""
    t = Talk(rng, held)
    if t.chance(0.25):
        rows = ((q, call and called({"tool_calls": [call]})) for q, call in call_drill(t))
        parts = [part for q, call in rows for part in ((q + "\n", NOTHING), *([(call, LEARN), ("\n", NOTHING)] if call else []))]
        return {"kind": "drill", "parts": [*parts, (END, NOTHING)]}
    pairs = of_sums(t) if t.chance(0.3) else of_skill(t)
    parts = [part for q, a in pairs for part in ((q, NOTHING), (" " + a, LEARN), ("\n", NOTHING))]
    return {"kind": "drill", "parts": [*parts, (END, NOTHING)]}
