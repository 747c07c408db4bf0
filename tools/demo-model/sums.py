"""Sums, comparisons and counting."""
from facts import Answer
from world import GIRLS, BOYS, LISTS, NUMBER, is_held

ITEMS = "apples plums cookies balls eggs carrots coins books flowers stones pancakes fish buttons cherries".split()


def draw(rng, held, easy=False):
    """(a, op, b, result): one- and two-digit numbers; no result below zero. easy: b is at most ten."""
    while True:
        r = rng.random()
        if r < 0.32:
            op, x, y = "+", rng.randint(0, 10), rng.randint(0, 10)
        elif r < 0.48:
            op, x, y = "+", rng.randint(11, 99), rng.randint(0, 10)
        elif r < 0.62:
            op, x, y = "+", rng.randint(11, 99), rng.randint(11, 99)
        elif r < 0.71:
            op, x, y = "-", rng.randint(0, 20), rng.randint(0, 10)
        elif r < 0.78:
            op, x, y = "-", rng.randint(11, 100), rng.randint(0, 10)
        elif r < 0.88:
            op, x, y = "-", rng.randint(11, 100), rng.randint(11, 99)
        else:
            op, x, y = "*", rng.randint(0, 10), rng.randint(0, 10)
        if op == "-":
            x, y = max(x, y), min(x, y)
        if easy and y > 10:
            continue
        if max(x, y) > 10 or held:
            if is_held("sum", op, x, y) != held:
                continue
        if op == "+" and y <= 10 < x and not easy and rng.random() < 0.25:
            x, y = y, x
        return x, op, y, {"+": x + y, "-": x - y, "*": x * y}[op]


WORD = {"+": ["plus", "plus", "and"], "-": ["minus"], "*": ["times", "multiplied by"]}


def say(n):
    return NUMBER[n] if n <= 20 else str(n)


def ask(rng, x, op, y):
    w = rng.random()
    sign = rng.choice(["*", "x", "×"]) if op == "*" else op
    if w < 0.6:
        space = " " if rng.random() < 0.75 else ""
        e = f"{x}{space}{sign}{space}{y}"
    elif w < 0.85 or max(x, y) > 20:
        e = f"{x} {rng.choice(WORD[op])} {y}"
    else:
        e = f"{NUMBER[x]} {rng.choice(WORD[op])} {NUMBER[y]}"
    return rng.choice(["What is {}?", "What is {}?", "What's {}?", "How much is {}?", "{}", "{}=", "{} = ?", "{}?", "Calculate {}.",
                       "Can you calculate {}?", "Please calculate {}.", "And {}?", "Compute {}.", "What does {} make?"]).format(e)


def plain(x, op, y, r):
    return f"{x} {op} {y} = {r}."


def worked(x, op, y, r):
    """The sum; with two numbers of two digits in two steps, tens first."""
    if min(x, y) > 10 and y % 10 and op != "*":
        tens = y - y % 10
        mid = x + tens if op == "+" else x - tens
        return f"{x} {op} {tens} = {mid}, {mid} {op} {y % 10} = {r}. So {x} {op} {y} = {r}."
    return plain(x, op, y, r)


def sums(rng, held, ctx):
    out = []
    for i in range(rng.choice([1, 1, 2, 3, 4])):
        x, op, y, r = draw(rng, held)
        hard = worked(x, op, y, r) != plain(x, op, y, r)
        out.append((ask(rng, x, op, y), Answer(worked(x, op, y, r), None if hard else str(r))))
        if rng.random() < 0.12:
            z = rng.randint(1, 9)
            q = rng.choice([f"And plus {z}?", f"Add {z}.", f"Plus {z}?", f"And {z} more?"])
            out.append((q, Answer(plain(r, "+", z, r + z), str(r + z))))
            continue
        if rng.random() < 0.04:
            out.append((rng.choice(["Are you sure?", "Is that right?", "Really?"]),
                        Answer(f"Yes, I am sure. {plain(x, op, y, r)}", "Yes")))
    return out


def word_problem(rng, held, ctx):
    n, o = rng.sample(GIRLS + BOYS, 2)
    things = rng.choice(ITEMS)
    he = "She" if n in GIRLS else "He"
    while True:
        x, y = rng.randint(2, 20), rng.randint(1, 10)
        if is_held("word", x, y) == held:
            break
    if rng.random() < 0.5:
        q = rng.choice([f"{n} has {x} {things}. {o} gives {'her' if he == 'She' else 'him'} {y} more. How many {things} does {n} have now?",
                        f"{n} has {x} {things} and finds {y} more. How many {things} does {n} have?",
                        f"There are {x} {things} on the table. {n} brings {y} more. How many {things} are there?"])
        tail = f"There are {x + y} {things}." if q.startswith("There") else f"{n} has {x + y} {things}."
        return [(q, Answer(f"{x} + {y} = {x + y}. {tail}", str(x + y)))]
    x, y = max(x, y) + 1, min(x, y)
    q = rng.choice([f"{n} has {x} {things}. {he} gives {y} to {o}. How many {things} are left?",
                    f"{n} has {x} {things} and loses {y}. How many {things} are left?",
                    f"There are {x} {things} on the table. {n} takes {y}. How many {things} are left?"])
    return [(q, Answer(f"{x} - {y} = {x - y}. {x - y} {things} are left." if x - y != 1 else f"{x} - {y} = 1. One is left.", str(x - y)))]


def compare(rng, held, ctx):
    while True:
        x, y = rng.randint(0, 100), rng.randint(0, 100)
        if x != y and is_held("cmp", x, y) == held:
            break
    k = rng.randrange(6)
    if k == 0:
        q = rng.choice([f"Which is bigger, {x} or {y}?", f"Which number is bigger: {x} or {y}?", f"What is more, {x} or {y}?"])
        return [(q, Answer(f"{max(x, y)} is bigger than {min(x, y)}.", str(max(x, y))))]
    if k == 1:
        q = rng.choice([f"Which is smaller, {x} or {y}?", f"Which number is smaller: {x} or {y}?", f"What is less, {x} or {y}?"])
        return [(q, Answer(f"{min(x, y)} is smaller than {max(x, y)}.", str(min(x, y))))]
    if k == 2:
        return [(f"Is {x} bigger than {y}?", Answer(f"Yes, {x} is bigger than {y}." if x > y else f"No, {x} is smaller than {y}.", "Yes" if x > y else "No"))]
    if k == 3:
        q = rng.choice([f"What number comes after {x}?", f"Which number comes after {x}?", f"What comes after {x}?"])
        return [(q, Answer(f"After {x} comes {x + 1}.", str(x + 1)))]
    if k == 4 and x:
        q = rng.choice([f"What number comes before {x}?", f"Which number comes before {x}?", f"What comes before {x}?"])
        return [(q, Answer(f"Before {x} comes {x - 1}.", str(x - 1)))]
    return [(rng.choice([f"Is {x} even or odd?", f"Is {x} odd or even?"]), Answer(f"{x} is {'odd' if x % 2 else 'even'}.", "odd" if x % 2 else "even"))]


def counting(rng, held, ctx, long=False):
    k = rng.randrange(5)
    if long:
        n = rng.choice([30, 40, 50, 60, 80, 100])
        if rng.random() < 0.3:
            n = rng.randint(25, 100)
        q = rng.choice([f"Count to {n}.", f"Write the numbers from 1 to {n}.", f"Can you count to {n}?", f"Count from 1 to {n}."])
        return [(q, Answer(", ".join(map(str, range(1, n + 1))) + "."))]
    if k == 0:
        n = rng.randint(3, 20)
        q = rng.choice([f"Count to {n}.", f"Count to {NUMBER[n]}.", f"Can you count to {n}?", f"Count from 1 to {n}.", f"Please count to {n}."])
        return [(q, Answer(", ".join(map(str, range(1, n + 1))) + "."))]
    if k == 1:
        n = rng.randint(3, 15)
        q = rng.choice([f"Count down from {n}.", f"Count backwards from {n}.", f"Count down from {NUMBER[n]}."])
        return [(q, Answer(", ".join(map(str, range(n, 0, -1))) + "."))]
    if k == 2:
        s = rng.randint(2, 60)
        e = s + rng.randint(3, 15)
        return [(rng.choice([f"Count from {s} to {e}.", f"Please count from {s} to {e}."]), Answer(", ".join(map(str, range(s, e + 1))) + "."))]
    if k == 3:
        s = rng.choice([2, 5, 10])
        return [(rng.choice([f"Count by {s}s.", f"Count in steps of {s}."]), Answer(", ".join(map(str, range(s, s * 10 + 1, s))) + "."))]
    key = rng.choice(["animals", "fruits", "toys", "birds"])
    words = rng.sample(LISTS[key], rng.randint(2, 6))
    return [(f"How many {key} are in this list: {', '.join(words)}?", Answer(f"There are {NUMBER[len(words)]} {key} in the list.", NUMBER[len(words)]))]


def table(rng, held, long=False):
    """Plain text: a column of sums."""
    rows = [draw(rng, held, easy=True) for _ in range(rng.randint(60, 120) if long else rng.randint(6, 20))]
    return "\n".join(f"{x} {op} {y} = {r}" for x, op, y, r in rows)
