"""Sums, comparisons, counting and small word problems."""
from text.conversation import Answer, verdict
from text.data.tables import LISTS, NUMBER, TENS
from text.data.words import BOYS, GIRLS
from text.held_out import is_held

ITEMS = (
    "apples plums cookies balls eggs carrots coins books flowers stones pancakes fish buttons cherries pens cards stickers sweets "
    "marbles toys euros dollars").split()
TOO_BIG = ["These numbers are too big for me. I can only do small sums.", "That is too hard for me: I am a small demo model and only do small sums.",
           "I only do small sums. For this one please take a calculator or a bigger model.", "That sum is too big for a small demo model like me."]
SIGN = {"+": ["plus", "plus", "and", "added to"], "-": ["minus"], "*": ["times", "times", "multiplied by"], "/": ["divided by", "over"]}


def in_words(n):
    """A number up to a hundred in letters."""
    if n <= 20:
        return NUMBER[n]
    return TENS[n] if n in TENS else TENS[n - n % 10] + "-" + NUMBER[n % 10]


def only_held_out(x, op, y):
    return max(x, y) > 10 and op != "/" and is_held("sum", op, min(x, y), max(x, y))


def draw(t, small=False):
    """(x, sign, y, result): sums to about a hundred, the small times tables, divisions that come out even."""
    rng = t.rng
    while True:
        r = rng.random()
        if r < 0.22 or small:
            op, x, y = "+", rng.randint(0, 12), rng.randint(0, 12)
        elif r < 0.32:
            op, x, y = "+", rng.randint(11, 99), rng.randint(0, 10)
        elif r < 0.52:
            op, x, y = "+", rng.randint(11, 99), rng.randint(11, 99)
        elif r < 0.60:
            op, x, y = "-", rng.randint(0, 20), rng.randint(0, 10)
        elif r < 0.66:
            op, x, y = "-", rng.randint(11, 100), rng.randint(0, 10)
        elif r < 0.80:
            op, x, y = "-", rng.randint(11, 100), rng.randint(11, 99)
        elif r < 0.92:
            op, x, y = "*", rng.randint(0, 12), rng.randint(0, 12)
        else:
            op, x, y = "/", 0, rng.randint(1, 12)
            x = y * rng.randint(0, 12)
        if op == "-":
            x, y = max(x, y), min(x, y)
        if op in "+*" and rng.random() < 0.3:
            x, y = y, x
        if max(x, y) > 10 and op != "/" and only_held_out(x, op, y) != t.held:
            continue
        return x, op, y, {"+": x + y, "-": x - y, "*": x * y, "/": x // max(1, y)}[op]


def written(t, x, op, y):
    """The sum as a person types it."""
    r = t.rng.random()
    if t.chance(0.12):
        return t.pick(*{"+": [f"the sum of {x} and {y}", f"{x} and {y} together", f"{y} more than {x}", f"{x} added to {y}"], "-": [
                        f"the difference between {x} and {y}", f"{y} less than {x}", f"{x} take away {y}", f"{x} without {y}"],
                        "*": [f"the product of {x} and {y}", f"{x} multiplied with {y}"], "/": [f"{x} split by {y}", f"{x} shared among {y}"]}[op])
    if r < 0.33:
        e = f"{x} {op} {y}"
    elif r < 0.48:
        e = f"{x}{op}{y}"
    elif r < 0.85 or max(x, y) > 100:
        e = f"{x} {t.rng.choice(SIGN[op])} {y}"
    else:
        e = f"{in_words(x)} {t.rng.choice(SIGN[op])} {in_words(y)}"
    if op == "*" and t.chance(0.25):
        e = e.replace("*", t.pick("x", "×"))
    return e


ASK = ["What is {}?", "What is {}?", "What's {}?", "How much is {}?", "{}", "{}=", "{} = ?", "{}?", "Calculate {}.", "Can you calculate {}?",
       "Please calculate {}.", "Compute {}.",
       "What does {} make?", "whats {}", "Tell me what {} is.", "Solve {}.", "Can you add up {}?", "I need to know {}.", "what do you get for {}",
       "{} is?", "How many is {}?", "Hey, {}?"]


def equal(x, op, y, r):
    return f"{x} {op} {y} = {r}."


def sums(t):
    out = []
    for i in range(t.rng.choice([1, 1, 1, 2, 3])):
        x, op, y, r = draw(t)
        q = t.rng.choice(ASK)
        if op != "+" and "add up" in q:
            q = "What is {}?"
        if t.chance(0.08):
            q = {"+": t.pick(f"Add {x} and {y}.", f"add {x} to {y}", f"What do I get if I add {x} and {y}?"), "-": t.pick(f"Subtract {y} from {x}.",
                 f"Take {y} away from {x}.", f"subtract {y} from {x}"),
                 "*": t.pick(f"Multiply {x} by {y}.", f"multiply {x} and {y}"), "/": f"Divide {x} by {y}."}[op]
        out.append((("And " if i and t.chance(0.3) else "") + q.format(written(t, x, op, y)),
                    Answer(equal(x, op, y, r), str(r), key=("sum", op, min(x, y), max(x, y)), why=f"Because {x} {op} {y} makes {r}.")))
        z = t.rng.randint(1, 10)
        if t.chance(0.12) and r <= 110:
            out.append((t.pick(f"And plus {z}?", f"Add {z}.", f"Plus {z}?", f"And {z} more?", f"now add {z} to that", f"and if you add {z}?"),
                        Answer(equal(r, "+", z, r + z), str(r + z), why=f"Because {r} + {z} makes {r + z}.")))
        elif t.chance(0.06) and r <= 50:
            out.append((t.pick("Times two?", "And times 2?", "double it", "And the double of that?"), Answer(equal(r, "*", 2, 2 * r), str(2 * r))))
        if t.chance(0.05):
            out.append((t.pick("Are you sure?", "Is that right?", "Really?"), Answer(f"Yes, I am sure: {out[-1][1].full}", "Yes", "yes")))
    return out


def more_sums(t):
    rng, k = t.rng, t.rng.randrange(11)
    if k == 0:
        n = rng.randint(1, 12)
        q = t.pick(f"Write the multiplication table of {n}.", f"Show me the {n} times table.", f"Times table of {n}, please.", f"{n} times table")
        return [(q, Answer("\n".join(f"{n} * {i} = {n * i}" for i in range(1, 11)), kind="text"))]
    if k == 1:
        x, y, z = rng.randint(1, 50), rng.randint(1, 40), rng.randint(1, 20)
        q = t.pick("What is {x} + {y} + {z}?", "{x} + {y} + {z}", "{x}+{y}+{z}", "How much is {x} plus {y} plus {z}?", "add {x}, {y} and {z}",
            "Sum of {x}, {y} and {z}?")
        return [(q.format(x=x, y=y, z=z), Answer(f"{x} + {y} = {x + y}, and {x + y} + {z} = {x + y + z}.", str(x + y + z)))]
    if k == 2:
        x = rng.randint(1, 50)
        if t.chance(0.5):
            return [(t.pick("What is half of {}?", "Half of {}?", "half of {}", "Divide {} by two.").format(x * 2), Answer(
                f"Half of {x * 2} is {x}.", str(x)))]
        return [(t.pick("What is twice {}?", "What is the double of {}?", "Double {}.", "two times {}").format(x), Answer(f"Twice {x} is {x * 2}.",
            str(x * 2)))]
    if k == 3:
        x = rng.randint(1, 20)
        if t.chance(0.5):
            return [(t.pick("What is {} squared?", "{}^2", "Square of {}?", "what is the square of {}").format(x), Answer(f"{x} squared is {x * x}.",
                str(x * x)))]
        return [(t.pick("What is the square root of {}?", "Square root of {}?", "sqrt({})", "sqrt {}").format(x * x), Answer(
            f"The square root of {x * x} is {x}.", str(x)))]
    if k == 4:
        p, x = rng.choice([10, 20, 25, 50, 100]), 20 * rng.randint(1, 20)
        q = t.pick("What is {p}% of {x}?", "{p} percent of {x}?", "How much is {p} % of {x}?", "{p}% of {x}")
        return [(q.format(p=p, x=x), Answer(f"{p} percent of {x} is {p * x // 100}.", str(p * x // 100)))]
    if k == 5:
        x, y, z = rng.randint(1, 10), rng.randint(1, 10), rng.randint(1, 10)
        if t.chance(0.5):
            return [(t.pick("What is ({x} + {y}) * {z}?", "({x}+{y})*{z}").format(x=x, y=y, z=z), Answer(
                f"{x} + {y} = {x + y}, and {x + y} * {z} = {(x + y) * z}.", str((x + y) * z)))]
        return [(t.pick("What is {x} + {y} * {z}?", "{x}+{y}*{z}").format(x=x, y=y, z=z), Answer(
            f"{y} * {z} = {y * z}, and {x} + {y * z} = {x + y * z}.", str(x + y * z)))]
    if k == 6:
        x = 10 * rng.randint(1, 10)
        y = 10 * rng.randint(1, 10)
        op = rng.choice("+*")
        return [(rng.choice(ASK).format(f"{x} {op} {y}").replace("add up ", ""), Answer(equal(x, op, y, x + y if op == "+" else x * y), str(x + y if op == "+" else x * y)))]
    if k == 7:
        n = rng.choice([3, 5, 10])
        rows = [draw(t, small=True) for _ in range(n)]
        q = t.pick("Write {n} sums.", "Show me {n} sums with answers.", "Make a list of {n} sums.", "Give me {n} easy sums.")
        return [(q.format(n=n), Answer("\n".join(f"{i + 1}. {x} {op} {y} = {r}" for i, (x, op, y, r) in enumerate(rows)), kind="text"))]
    x, y = rng.randint(100, 99999), rng.randint(13, 99999)
    op = rng.choice("+-*/*")
    if k == 8:
        x, y, op = rng.randint(13, 99), rng.randint(13, 99), "*"
    e = written(t, x, op, y) if op != "/" else f"{x} {t.pick('/', 'divided by')} {y}"
    return [(rng.choice(ASK).format(e), Answer(rng.choice(TOO_BIG), None, "refuse"))]


def word_problem(t):
    rng = t.rng
    girl = t.chance(0.5)
    n, o = rng.choice(GIRLS if girl else BOYS), rng.choice(BOYS if girl else GIRLS)
    thing, he, her = rng.choice(ITEMS), "she" if girl else "he", "her" if girl else "him"
    while True:
        x, y = rng.randint(2, 40), rng.randint(1, 20)
        if is_held("word", x, y) == t.held:
            break
    r = rng.random()
    if r < 0.4:
        q = t.pick(f"{n} has {x} {thing}. {o} gives {her} {y} more. How many {thing} does {n} have now?", f"{n} has {x} {thing} and finds {y} "
                   f"more. How many {thing} does {n} have?",
                   f"There are {x} {thing} on the table. {n} brings {y} more. How many {thing} are there?",
                   f"I have {x} {thing} and buy {y} more. How many do I have?", f"I had {x} {thing} and got {y} more. How many are that now?",
                   f"I bought {x} {thing} and then {y} more. how many do i have", f"If {n} has {x} {thing} and gets {y}, how many are there?",
                   f"{n} has {x} {thing} and {o} has {y}. How many {thing} do they have together?", f"If I have {x} {thing} and you give me {y}, "
                   f"how many do I have?")
        who = "You have" if " I " in q else "There are" if "on the table" in q else "Together they have" if "together" in q else f"{n} has"
        return [(q, Answer(f"{x} + {y} = {x + y}. {who} {x + y} {thing}.", str(x + y)))]
    if r < 0.8:
        x, y = max(x, y) + 1, min(x, y)
        eat = "eats" if thing in ("apples", "plums", "cookies", "eggs", "carrots", "pancakes", "cherries", "sweets") else "loses"
        q = t.pick(f"{n} has {x} {thing}. {he.capitalize()} gives {y} to {o}. How many {thing} are left?", f"{n} has {x} {thing} and {eat} {y}. "
                   f"How many {thing} are left?",
                   f"There are {x} {thing} on the table. {n} takes {y}. How many {thing} are left?", f"I have {x} {thing} and give away {y}. How "
                   f"many do I have left?",
                   f"I had {x} {thing}, then I lost {y}. how many are left", f"If I have {x} {thing} and {eat[:-1]} {y}, how many do I have left?",
                   f"if i have {x} {thing} and {t.pick('lose', 'sell', 'give away', 'use', 'drop')} {y}, how many are left?",
                   f"I had {x} {thing} and {t.pick('sold', 'lost', 'used', 'dropped', 'gave away')} {y}. How many remain?",
                   f"{n} had {x} {thing} and {t.pick('sold', 'lost', 'used')} {y}. What is left?", f"{x} {thing}, {y} are gone. How many remain?",
                   f"Of {x} {thing} I take away {y}. How many stay?")
        return [(q, Answer(f"{x} - {y} = {x - y}. " + (f"{x - y} {thing} are left." if x - y != 1 else "One is left."), str(x - y)))]
    x, y = rng.randint(2, 10), rng.randint(2, 10)
    q = t.pick(f"{n} has {x} boxes with {y} {thing} in each. How many {thing} does {n} have?", f"One box holds {y} {thing}. How many {thing} are "
               f"in {x} boxes?",
               f"{x} children have {y} {thing} each. How many {thing} is that?", f"A book costs {y} euros. How much do {x} books cost?")
    what = "euros" if "book costs" in q else thing
    return [(q, Answer(f"{x} * {y} = {x * y}. That is {x * y} {what}.", str(x * y)))]


def compare(t):
    rng = t.rng
    top = rng.choice([20, 100, 100, 1000])
    x, y = rng.randint(0, top), rng.randint(0, top)
    k = rng.randrange(8)
    if x == y:
        return compare(t)
    if k in (0, 1):
        big = k == 0
        q = t.pick(*(["Which is bigger, {x} or {y}?", "Which number is bigger: {x} or {y}?", "What is more, {x} or {y}?",
                      "Which is larger, {x} or {y}?", "bigger number: {x} or {y}",
                      "Which one is greater: {x}, {y}?", "Compare {x} and {y}. Which is more?"] if big else
                     ["Which is smaller, {x} or {y}?", "Which number is smaller: {x} or {y}?", "What is less, {x} or {y}?",
                     "smaller number: {x} or {y}"]))
        r, s = (max(x, y), min(x, y)) if big else (min(x, y), max(x, y))
        return [(q.format(x=x, y=y), Answer(f"{r} is {'bigger' if big else 'smaller'} than {s}.", str(r), why=f"Because {max(x, y)} is more than {min(x, y)}."))]
    if k == 2:
        word, yes = t.pick(("bigger", x > y), ("smaller", x < y), ("more", x > y), ("less", x < y), ("greater", x > y))
        truth = f"{x} is {'bigger' if x > y else 'smaller'} than {y}"
        return [(f"Is {x} {word} than {y}?", verdict(yes, truth))]
    if k == 3:
        q = t.pick("What number comes after {x}?", "Which number comes after {x}?", "What comes after {x}?", "next number after {x}",
            "And after {x}?", "What number follows {x}?", "which number follows {x}", "the number after {x}?", "one more than {x}?", "what's the number right after {x}", "which number comes just after {x}", "{x} and then?")
        return [(q.format(x=x), Answer(f"After {x} comes {x + 1}.", str(x + 1)))]
    if k == 4 and x:
        q = t.pick("What number comes before {x}?", "Which number comes before {x}?", "What comes before {x}?", "what's the number right before {x}", "the number before {x}?", "which number comes just before {x}", "one less than {x}?", "number right before {x}")
        return [(q.format(x=x), Answer(f"Before {x} comes {x - 1}.", str(x - 1)))]
    if k == 5:
        n = rng.randint(3, 6)
        row = rng.sample(range(top + 1), n)
        what = t.pick("biggest", "smallest", "largest")
        r = min(row) if what == "smallest" else max(row)
        q = t.pick("Which is the {w} number: {r}?", "Find the {w} of these numbers: {r}.", "What is the {w} number in {r}?", "whats the {w} of these: {r}", "the {w} one of {r}", "{r}: which one is the {w}?", "Which of these is the {w}: {r}",
                   "from {r} give me the {w}", "{w} of {r}", "I have {r}. What is the {w}?")
        return [(q.format(w=what, r=", ".join(map(str, row))), Answer(f"The {what} number is {r}.", str(r)))]
    if k == 6:
        row = rng.sample(range(min(100, top) + 1), rng.randint(3, 7))
        down = t.chance(0.3)
        q = t.pick("Sort these numbers: {r}", "Put these numbers in order: {r}", "Order {r} from small to big.", "sort {r}", "put these in order please: {r}", "order these: {r}", "Arrange {r} from smallest to largest.", "{r} from low to high", "sort these from smallest to biggest: {r}", "{r} in order please", "Put {r} in the right order.") if not down else "Sort these numbers from big to small: {r}"
        return [(q.format(r=", ".join(map(str, row))), Answer(", ".join(map(str, sorted(row, reverse=down))) + ".", kind="text"))]
    return [(t.pick("Is {x} even or odd?", "Is {x} odd or even?", "{x}: even or odd?").format(x=x), Answer(f"{x} is {'odd' if x % 2 else 'even'}.",
        "odd" if x % 2 else "even"))]


def counting(t):
    rng, k = t.rng, t.rng.randrange(12)
    text = lambda row: Answer(", ".join(map(str, row)) + ".", kind="text", key=("count", str(row)))
    if k < 4:
        n = rng.choice([3, 4, 5, 5, 6, 7, 8, 9, 10, 10, 10, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 20, 25, 30])
        w = NUMBER[n] if n <= 20 and t.chance(0.5) else n
        q = t.pick("Count to {}.", "Count to {}.", "Can you count to {}?", "Count from 1 to {}.", "Please count to {}.", "count up to {}",
                   "count to {} please", "Count from one to {}.",
                   "Write the numbers from 1 to {}.", "Could you count to {} for me?", "List the numbers 1 to {}", "count till {}",
                   "Show me you can count to {}.", "numbers from 1 to {}", "would you count all the way to {}", "Count all the way up to {}.", "let us count to {}", "start at one and count to {}", "one, two, three ... go on to {}", "I want you to count to {}", "count: 1 to {}")
        if t.chance(0.15):
            return [(q.format(w).rstrip(".?!") + t.pick(" in words.", " with words.", ", in words please."), text([in_words(i) for i in range(1, n + 1)]))]
        out = [(q.format(w), text(range(1, n + 1)))]
        if t.chance(0.2) and n <= 20:
            out.append((t.pick("And backwards?", "Now backwards.", "and now count down", "Now the other way round."), text(range(n, 0, -1))))
        elif t.chance(0.15):
            m = n + rng.choice([3, 5, 10])
            out.append((t.pick(f"Go on to {m}.", f"Continue to {m}.", f"and up to {m}?"), text(range(n + 1, m + 1))))
        return out
    if k < 6:
        n = rng.choice([3, 4, 5, 5, 6, 7, 8, 9, 10, 10, 10, 12, 15, 20])
        w = NUMBER[n] if t.chance(0.4) else n
        zero = t.chance(0.15)
        q = t.pick("Count down from {}", "Count backwards from {}", "count down from {}", "Can you count backwards from {}",
            "Start at {} and count down", "countdown from {}", "a countdown starting at {}", "do a countdown, starting at {}", "rocket countdown from {}", "count in reverse from {}", "from {} backwards please")
        return [(q.format(w) + (t.pick(" to 0.", " to zero.") if zero else t.pick(".", " to 1.", "")), text(range(n, -1 if zero else 0, -1)))]
    if k < 8:
        s = rng.randint(2, 90)
        e = s + rng.randint(3, 12)
        if t.chance(0.2):
            return [(t.pick(f"Count from {e} down to {s}.", f"Count backwards from {e} to {s}.", f"count down from {e} to {s}"), text(range(e, s - 1,
                -1)))]
        return [(t.pick(f"Count from {s} to {e}.", f"Please count from {s} to {e}.", f"Write the numbers from {s} to {e}.",
            f"{s} to {e}, count please", f"Start at {s} and count to {e}."), text(range(s, e + 1)))]
    if k < 10:
        s = rng.choice([2, 2, 3, 4, 5, 5, 10, 10, 100])
        e = s * rng.randint(4, 10)
        many = {2: "twos", 3: "threes", 4: "fours", 5: "fives", 10: "tens", 100: "hundreds"}[s]
        q = t.pick(f"Count by {s}s to {e}.", f"Count in steps of {s} to {e}.", f"Count to {e} in {s}s.", f"Count by {s} up to {e}.",
            f"count to {e} by {s}s", f"Count by {many} to {e}.", f"Count to {e} in {many}.", f"Count in {many} up to {e}.", f"count by {many} until {e}",
            f"Say the multiples of {s} up to {e}.", f"Count to {e} by {many}.")
        return [(q, text(range(s, e + 1, s)))]
    if k == 10:
        n = rng.randint(4, 10)
        odd = t.chance(0.5)
        q = t.pick(f"Write the first {n} {'odd' if odd else 'even'} numbers.", f"List {n} {'odd' if odd else 'even'} numbers.",
            f"Name {n} {'odd' if odd else 'even'} numbers.")
        if t.chance(0.6):
            e = rng.choice([8, 10, 10, 12, 14, 15, 20, 20, 30])
            q = t.pick("{k} numbers to {e}", "Which numbers up to {e} are {k}?", "Count the {k} numbers up to {e}.", "List all {k} numbers to {e}.",
                       "{k} numbers from 1 to {e}", "Tell me the {k} numbers up to {e}.", "all {k} numbers below {f}", "Write the {k} numbers till {e}.",
                       "What are the {k} numbers between 1 and {f}?").format(k="odd" if odd else "even", e=e, f=e + 1)
            return [(q, text(range(1 if odd else 2, e + 1, 2)))]
        return [(q, text(range(1 if odd else 2, 2 * n + 1, 2)))]
    return sequence(t)


def sequence(t):
    """A few numbers in even steps, or doubled, and which one is next, or which ones are."""
    rng, n = t.rng, t.rng.randint(3, 6)
    r = rng.random()
    if r < 0.4:  # a row of the multiplication table
        d = rng.choice([2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 15, 20, 25, 50, 100])
        row = [d * i for i in range(1, n + 3)]
    elif r < 0.7:
        s, d = rng.randint(1, 30), rng.choice([1, 2, 2, 3, 3, 4, 5, 5, 6, 7, 10, 10])
        row = [s + d * i for i in range(n + 2)]
    elif r < 0.9:
        d = rng.choice([1, 2, 3, 4, 5, 5, 10, 10])
        s = d * (n + 2) + (rng.randint(0, 20) if t.chance(0.5) else 0)
        row = [s - d * i for i in range(n + 2)]
    else:
        s = rng.choice([1, 1, 2, 3, 5])
        row = [s * 2 ** i for i in range(n + 2)]
    r = ", ".join(map(str, row[:n])) + t.pick("", "", ",", ", ...", " ...", ", ?")
    if t.chance(0.15):
        q = t.pick("What are the next two numbers: {r}", "Which two numbers come next: {r}", "continue with two more numbers: {r}", "{r} and the next two?")
        return [(q.format(r=r), Answer(f"The next numbers are {row[n]} and {row[n + 1]}.", exact=True))]
    q = t.pick("What comes next: {r}", "Continue: {r}", "Which number is next: {r}", "{r} what is next?", "what number comes next: {r}", "What number comes next? {r}", "next number: {r}",
               "Which number comes next in this row: {r}", "complete the sequence {r}", "what's the next number in the sequence {r}", "{r} which number follows?", "find the next number: {r}",
               "The numbers are {r} What comes next?", "Continue the pattern: {r}")
    out = [(q.format(r=r), Answer(f"The next number is {row[n]}.", str(row[n]), exact=True))]
    if t.chance(0.2):
        out.append((t.pick("And then?", "and the one after that?", "and next?", "what comes after that?", "one more"), Answer(f"The next number is {row[n + 1]}.", str(row[n + 1]), exact=True)))
    return out


def how_many(t):
    key = t.rng.choice(["animals", "fruits", "toys", "birds", "colours", "tools"])
    words = t.rng.sample(LISTS[key], t.rng.randint(2, 7))
    q = t.pick(f"How many {key} are in this list: {', '.join(words)}?", f"How many words are these: {' '.join(words)}?",
        f"Count the {key}: {', '.join(words)}.")
    what = "words" if "words" in q else key
    return [(q, Answer(f"There are {NUMBER[len(words)]} {what}.", NUMBER[len(words)]))]


