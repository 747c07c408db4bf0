"""Questions about simple facts, made from the tables. Every skill is a function (t) -> [(question, Answer)]."""
import re

from text.conversation import Answer, verdict
from text.data.countries import ALSO, CAPITAL, CONTINENT, FAMOUS, LANGUAGE, MONEY, NOT_CAPITAL, NOTES, verb
from text.data.questions import QUESTIONS, YES_NO
from text.data.tables import (COLOUR_OF, COMPARE, DAYS, EATS, HAVE, HELLO, HOME, LEGS, LISTS, MONTH_DAYS, MONTHS, NUMBER, OPPOSITE, ORDINAL,
                    PART_OF, PAST, PLANETS, PLURAL, ROMAN, SEASONS, SIDES, SOUND, SYMBOL, THANKS, UNITS, WHAT_IS, YOUNG)
from text.english import a, first_up, joined, plural

WHY_NOT = "I only know that it is so, not why. I am a small demo model."
AND = ["And {}?", "and {}?", "What about {}?", "And of {}?", "How about {}?", "and {}", "{}?"]


def country(t):
    return t.rng.choice(FAMOUS) if t.chance(0.45) else t.rng.choice(list(CAPITAL))


def called(t, name):
    """A country as people name it: mostly as in the table."""
    if name in ALSO and t.chance(0.4):
        return t.rng.choice(ALSO[name])
    return name[4:] if name.startswith("the ") and t.chance(0.3) else name


def capital_answer(t, name):
    full = f"The capital of {name} is {CAPITAL[name]}."
    if name in NOTES and t.chance(0.5):
        full += " " + NOTES[name]
    return Answer(full, CAPITAL[name], why=f"Because {CAPITAL[name]} is the city that {name} has chosen as its capital.")


CAPITAL_QUESTIONS = [
    "What is the capital of {}?", "What is the capital of {}?", "What's the capital of {}?", "Which city is the capital of {}?", "capital of {}",
    "Capital of {}?", "Name the capital of {}.", "Tell me the capital of {}.", "Can you tell me the capital of {}?", "{} capital",
    "Do you know the capital of {}?", "What city is the capital of {}?", "the capital of {} is?", "what is {}'s capital",
    "I forgot the capital of {}. What is it?", "whats the capital city of {}", "Which is the capital city of {}?", "capital city of {}?",
    "What is the name of the capital of {}?", "Give me the capital of {}.", "Where does the government of {} sit, I mean the capital?",
    "I need the capital of {} for my homework.", "Quiz: the capital of {}?", "What's {}'s capital city?",
    "Could you tell me what the capital of {} is?", "{}'s capital?", "capital {}", "The capital of {}, please.", "{}: what is the capital?",
    "Please name the capital city of {}.", "In {}, what is the capital?", "Do you happen to know the capital of {}?", "what would be the capital of {}",
    "which city is {}'s capital", "I want to know the capital of {}.", "Say the capital of {}.", "what is the capital city of {} called",
]


def capitals(t):
    name = country(t)
    out = [(t.rng.choice(CAPITAL_QUESTIONS).format(called(t, name)), capital_answer(t, name))]
    while t.chance(0.4):
        name = country(t)
        out.append((t.rng.choice(AND).format(called(t, name)), capital_answer(t, name)))
    return out


def countries(t):
    """Countries the other way round: whose capital, which continent, language, money; capitals that are none."""
    r = t.rng.random()
    name = country(t)
    if r < 0.2:
        city = CAPITAL[name]
        q = t.pick("{} is the capital of which country?", "Which country has {} as its capital?", "Of which country is {} the capital?",
                   "{} is the capital of?", "What country is {} the capital of?", "Where is {}?", "In which country is {}?",
                   "Which country is {} in?", "where do I find {}?", "Which country has the capital {}?", "{} is in which country?", "what country is {} in", "where is the city of {}", "WHICH COUNTRY HAS {} AS ITS CAPITAL", "tell me the country of {}", "whose capital is {}?")
        return [(q.format(city), Answer(f"{city} is the capital of {name}.", name))]
    if r < 0.45:
        right = t.chance(0.5)
        city = CAPITAL[name] if right else CAPITAL[country(t)]
        wrong = [c for c, n in NOT_CAPITAL.items() if n == name]
        if not right and wrong and t.chance(0.6):
            city = t.rng.choice(wrong)
        yes = city == CAPITAL[name]
        q = t.pick("Is {c} the capital of {n}?", "Is the capital of {n} {c}?", "Isn't {c} the capital of {n}?", "{c} is the capital of {n}, right?",
                   "Is it true that {c} is the capital of {n}?", "{c} is the capital of {n}. True or false?")
        words = ("true", "false") if q.endswith("false?") else ("yes", "no")
        return [(q.format(c=city, n=called(t, name)), verdict(yes, f"the capital of {name} is {CAPITAL[name]}", words=words))]
    if r < 0.6:
        q = t.pick("On which continent is {}?", "Which continent is {} in?", "Where is {}?", "What continent is {} on?",
            "In which part of the world is {}?", "continent of {}", "what continent is {} in", "{} is on which continent?", "where in the world is {}", "to which continent does {} belong")
        return [(q.format(called(t, name)), Answer(f"{first_up(name)} {verb(name)} in {CONTINENT[name]}.", CONTINENT[name]))]
    if r < 0.68:
        there = t.rng.choice(sorted(set(CONTINENT.values())))
        yes = CONTINENT[name] == there
        return [(f"Is {called(t, name)} in {there}?",
                 verdict(yes, f"{name} {verb(name)} in {CONTINENT[name]}"))]
    if r < 0.78:
        name = t.rng.choice(list(LANGUAGE))
        q = t.pick("What language do people speak in {}?", "Which language is spoken in {}?", "What is the language of {}?", "language in {}?", "which language do they speak in {}", "what do people speak in {}?", "What language is spoken in {}?", "official language of {}", "what do they speak in {}", "language of {}", "in {} they speak what?")
        return [(q.format(called(t, name)), Answer(f"People in {name} speak {LANGUAGE[name]}.", LANGUAGE[name]))]
    if r < 0.88:
        name = t.rng.choice(list(MONEY))
        q = t.pick("What is the currency of {}?", "What money do they use in {}?", "Which currency does {} have?", "currency of {}", "What money do people use in {}?", "what do you pay with in {}", "which money is used in {}", "the money of {}?", "what currency do they have in {}", "how do people pay in {}", "What is the money called in {}?", "what money do they have in {}")
        return [(q.format(called(t, name)), Answer(f"People in {name} pay with the {MONEY[name]}.", MONEY[name]))]
    if r < 0.94:
        city, name = t.rng.choice(list(NOT_CAPITAL.items()))
        q = t.pick("In which country is {}?", "Where is {}?", "Which country is {} in?", "What country does {} belong to?")
        return [(q.format(city), Answer(f"{city} is in {name}.", name))]
    if t.chance(0.5):
        there = t.rng.choice(sorted(set(CONTINENT.values())))
        names = t.rng.sample([n for n in CONTINENT if CONTINENT[n] == there], t.rng.randint(2, 5))
        q = t.pick("Name {n} countries in {c}.", "List {n} countries of {c}.", "{n} countries in {c}", "Which countries are in {c}? Name {n}.").format(
            n=t.pick(len(names), NUMBER[len(names)]), c=there)
        return [(q, Answer(first_up(joined(names)) + "."))]
    names = t.rng.sample(FAMOUS, t.rng.randint(2, 5))
    q = t.pick("What are the capitals of {}?", "Tell me the capitals of {}.", "Capitals of {}?", "What is the capital of {}?", "capital of {}",
               "Can you name the capitals of {}?", "I need the capitals of {}.").format(joined(names) if t.chance(0.7) else " and of ".join(names[:2]))
    names = names[:2] if " and of " in q else names
    return [(q, Answer("\n".join(f"- {first_up(x)}: {CAPITAL[x]}" for x in names), kind="text"))]


def _table(t, table, questions, answer, short=lambda x, y: str(y), follow=0.3):
    x, y = t.rng.choice(list(table.items()))
    questions = [q for q in questions if "{xs}" not in q or _many(x) != x]
    out = [(t.rng.choice(questions).format(x=x, a=a(x) if not x.startswith(("a ", "an ", "the ")) else x, xs=_many(x)), Answer(answer(x, y), short(x, y), why=WHY_NOT))]
    while t.chance(follow):
        x, y = t.rng.choice(list(table.items()))
        out.append((t.rng.choice(AND).format(x), Answer(answer(x, y), short(x, y), why=WHY_NOT)))
    return out


def _many(x):
    """All of a kind: cows for a cow; what cannot be counted as it is."""
    bare = re.sub(r"^an? ", "", x)
    return plural(bare) if bare != x or x in LEGS or x in SOUND or x in YOUNG or x in HOME else x


def _legs(x, n):
    return f"{a(x)} has {'no' if n == 0 else NUMBER[n]} leg{'' if n == 1 else 's'}."


TABLES = [
    (3, COLOUR_OF, ["What colour is {x}?", "What color is {x}?", "Which colour does {x} have?", "What is the colour of {x}?", "colour of {x}",
                    "Tell me the color of {x}.", "{x}: which colour?", "What colour has {x}?", "of what colour is {x}", "which color is {x}", "tell me what colour {x} is", "What colour are {xs}?", "Which colour are {xs}?", "what color are {xs}", "Which colour do {xs} have?", "name the colour of {x}", "what colour would you paint {x}", "{x}, what color is it?", "Do you know the colour of {x}?", "What's the color of {x}?", "what colour does {x} have"], lambda x, y: f"{x} is {y}."),
    (4, OPPOSITE, ["What is the opposite of {x}?", "What's the opposite of \"{x}\"?", "Opposite of {x}?", "Tell me the opposite of {x}.",
    "opposite of {x}",
                   "What is the antonym of {x}?", "Give me the opposite of the word {x}.", "Antonym for {x}?", "what is not {x} but the other way round", "{x}, opposite?", "the contrary of {x}", "the opposite word of {x} please", "what's opposite to {x}"], lambda x, y: f"The opposite of {x} is {y}."),
    (1, SOUND, ["What does {a} say?", "What sound does {a} make?", "How does {a} sound?", "What noise does {a} make?", "What sound do {xs} make?", "what noise do {xs} make", "what do {xs} say", "the sound of {a}?", "how do {xs} sound", "Which sound does {a} make?", "{a} says what?", "make the noise of {a}"], lambda x, y: f"{a(x)} says {y}."),
    (2, LEGS, ["How many legs does {a} have?", "How many legs has {a}?", "Count the legs of {a}.", "number of legs of {a}", "How many legs do {xs} have?", "how many legs do {xs} have", "{xs}: how many legs?", "Do you know how many legs {xs} have?", "legs on {a}?", "on how many legs does {a} walk",
    "{a} has how many legs?"], _legs),
    (1.5, YOUNG, ["What is a baby {x} called?", "What do you call a young {x}?", "How is a baby {x} called?", "What's the name for a baby {x}?", "what are baby {xs} called", "a young {x} is called what?", "the baby of {a} is called", "name for a little {x}", "What is the young of {a} called?"],
     lambda x, y: f"A baby {x} is called {a(y)}."),
    (0.8, HOME, ["Where does {a} live?", "What is the home of {a} called?", "In what does {a} live?", "Where do {xs} live?", "where do {xs} live", "what do you call the home of {a}", "what do {xs} live in", "home of {a}?"],
     lambda x, y: f"{a(x)} lives in {a(y) if y != 'water' else y}."),
    (1, EATS, ["What does {a} eat?", "What does {a} like to eat?", "What food does {a} eat?", "What do {xs} eat?", "what do {xs} eat", "what do you feed {a}", "food for {a}?", "What is the food of {xs}?", "tell me what {xs} eat"], lambda x, y: f"{x} eats {y}."),
    (2.5, PLURAL, ["What is the plural of {x}?", "Plural of {x}?", "What's the plural of \"{x}\"?", "One {x}, two what?",
    "How do you write more than one {x}?",
                   "plural form of {x}", "more than one {x}?", "how do you say many {x} right", "What do you call two of {a}?", "the plural for {x} please", "one {x}, many ...?", "{x} in plural"], lambda x, y: f"The plural of {x} is {y}."),
    (1.5, PAST, ["What is the past tense of {x}?", "Past tense of {x}?", "What is the past of \"{x}\"?", "past of {x}",
    "How do you say {x} in the past?", "I {x} today, yesterday I ...?", "{x} in past tense", "what's the past tense of \"{x}\"", "the past form of {x} please", "past tense: {x}"],
     lambda x, y: f"The past tense of {x} is {y}."),
    (0.6, COMPARE, ["What is the comparative of {x}?", "comparative form of {x}"], lambda x, y: f"The comparative of {x} is {y}."),
    (1, MONTH_DAYS, ["How many days does {x} have?", "How many days are in {x}?", "How many days are there in {x}?", "days in {x}", "how long is {x}", "{x} has how many days", "how many days has {x} got", "number of days in {x}?", "How many days long is {x}?"],
     lambda x, y: f"{x} has {y} days{', and 29 in a leap year' if y == 28 else ''}."),
    (1.2, SYMBOL, ["What is the chemical symbol of {x}?", "What is the chemical formula of {x}?", "Chemical symbol for {x}?", "formula of {x}",
                   "What's the symbol for {x}?", "chemical formula for {x}", "what is the formula for {x}", "{x}: chemical symbol?", "which symbol stands for {x}", "symbol of {x}", "how is {x} written in chemistry"], lambda x, y: f"The chemical {'formula' if len(y) > 2 or y == 'O3' else 'symbol'} of {x} is {y}."),
    (0.8, SIDES, ["How many sides does {a} have?", "How many corners does {a} have?", "sides of {a}", "How many sides do {xs} have?", "number of sides of {a}", "{a} has how many sides?", "corners of {a}?"], lambda x, y: f"{a(x)} has {NUMBER[y]} sides and {NUMBER[y]} corners."),
    (0.8, ROMAN, ["What is {x} in Roman numerals?", "Write {x} in Roman numerals.", "Roman numeral for {x}?"], lambda x, y: f"{x} in Roman numerals is {y}."),
    (1.2, HELLO, ["How do you say hello in {x}?", "What is hello in {x}?", "Say hello in {x}.", "hello in {x}", "How do I greet someone in {x}?", "{x} for hello?", "what's the {x} word for hello", "greet me in {x}", "the {x} greeting?"],
     lambda x, y: f"Hello in {x} is \"{y}\"."),
    (0.6, THANKS, ["How do you say thank you in {x}?", "What is thank you in {x}?", "thanks in {x}"], lambda x, y: f"Thank you in {x} is \"{y}\"."),
]
_WEIGHTS = [row[0] for row in TABLES]


def table(t):
    _, rows, questions, answer = t.rng.choices(TABLES, _WEIGHTS)[0]
    return _table(t, rows, questions, answer)


def units(t):
    if t.chance(0.6):
        one, n, of = t.rng.choice(UNITS)
        q = t.pick("How many {of} are in {a}?", "How many {of} does {a} have?", "How many {of} are there in {a}?", "{of} in {a}?",
                   "How many {of} make {a}?",
                   "how many {of} is {a}")
        x = one if one.startswith("half") else a(one)
        return [(q.format(of=of, a=x), Answer(f"{x} has {n:,} {of}." if n != 1 else f"{x} has one {of}.", f"{n:,}"))]
    whole, n, of = t.rng.choice(HAVE)
    q = t.pick("How many {of} does {a} have?", "How many {of} are there in {a}?", "how many {of} has {a}", "Tell me how many {of} {a} has.")
    return [(q.format(of=of, a=whole), Answer(f"{whole} has {NUMBER[n] if n <= 20 else n} {of}.", NUMBER[n] if n <= 20 else str(n)))]


def order(t):
    """What comes before and after: days, months, seasons, letters, planets."""
    abc = list("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    seq, word, ring = t.rng.choice([(DAYS, "day", True), (DAYS, "day", True), (MONTHS, "month", True), (SEASONS, "season", True), (abc, "letter",
        False), (PLANETS, "planet", False)])
    i = t.rng.randrange(len(seq))
    r = t.rng.random()
    if r < 0.45 and (ring or i + 1 < len(seq)):
        x, y = seq[i], seq[(i + 1) % len(seq)]
        q = t.pick("What {w} comes after {x}?", "Which {w} is after {x}?", "What comes after {x}?", "Which {w} follows {x}?", "the {w} after {x}",
            "What is the next {w} after {x}?")
        out = [(q.format(w=word, x=x), Answer(f"After {x} comes {y}.", y))]
        if t.chance(0.3) and (ring or i + 2 < len(seq)):
            z = seq[(i + 2) % len(seq)]
            out.append((t.pick("And then?", "And after that?", "and next?", "What comes next?"), Answer(f"After {y} comes {z}.", z)))
        return out
    if r < 0.75 and (ring or i > 0):
        x, y = seq[i], seq[i - 1]
        q = t.pick("What {w} comes before {x}?", "Which {w} is before {x}?", "What comes before {x}?", "the {w} before {x}")
        return [(q.format(w=word, x=x), Answer(f"Before {x} comes {y}.", y))]
    if seq is not abc and i + 1 < len(ORDINAL):
        where = {"day": "of the week", "month": "of the year", "season": "of the year", "planet": "from the sun"}[word]
        q = t.pick("What is the {o} {w} {where}?", "Which {w} is the {o} one?", "{o} {w} {where}", "Name the {o} {w} {where}.")
        return [(q.format(o=ORDINAL[i + 1], w=word, where=where), Answer(f"The {ORDINAL[i + 1]} {word} {where} is {seq[i]}.", seq[i]))]
    if word == "day":
        x = t.rng.choice(DAYS)
        j, back = DAYS.index(x), t.chance(0.4)
        y = DAYS[(j + (-1 if back else 1)) % 7]
        q = t.pick("Today is {x}. What day {was} {y}?", "If today is {x}, what day {was} {y}?").format(x=x, was="was" if back else "is", y="yesterday" if back else "tomorrow")
        return [(q, Answer(f"{'Yesterday was' if back else 'Tomorrow is'} {y}.", y))]
    return order(t)


def single(t):
    qs, full, short = t.rng.choice(QUESTIONS)
    qs = qs.split("|")
    return [(t.rng.choice(qs), Answer(full, None if short == "-" else short, "text" if full.startswith("A B C") else "fact", why=WHY_NOT if not qs[0].startswith(
        "Why") else None))]


def yes_no(t):
    qs, word, truth = t.rng.choice(YES_NO)
    q = t.rng.choice(qs.split("|"))
    if t.chance(0.3):
        q = roundabout(t, q)
    if t.chance(0.06):
        q = t.pick("Answer yes or no: {}", "Yes or no: {}", "{} Yes or no?").format(q)
    out = [(q, verdict(word == "yes", truth))]
    if t.chance(0.15):
        out.append((t.pick("Are you sure?", "Really?", "Is that true?", "are you certain?"), Answer(f"Yes, I am sure: {truth}.", "Yes", "yes")))
    return out


def roundabout(t, q):
    """A question of yes or no in other words."""
    first, _, rest = q.rstrip("?").partition(" ")
    low = f"{first.lower()} {rest}"
    return t.pick(f"Tell me, {low}?", f"I want to know: {low}?", f"My friend asks: {low}?", f"{q.rstrip('?')}, yes or no?", f"{q.rstrip('?')} or not?",
                  f"Is it true: {low}?", f"Would you say: {low}?", f"{q.rstrip('?')}, what do you think?", f"{q.rstrip('?')}, really?",
                  f"{first} {rest}, is that right?", f"Hm, {low}?", f"Do you know: {low}?", f"so {low}")


def made_yes_no(t):
    """Yes or no out of the tables, half of them wrong."""
    right = t.chance(0.5)
    kind = t.rng.randrange(7)
    if kind == 0:
        x, y = t.rng.choice(list(COLOUR_OF.items()))
        z = y if right else t.rng.choice(LISTS["colours"])
        return _verdict(t, f"Is {x} {z}?", z == y, f"{x} is {y}")
    if kind == 1:
        x, y = t.rng.choice(list(LEGS.items()))
        z = y if right else t.rng.choice([2, 4, 6, 8, 10])
        return _verdict(t, f"Does {a(x)} have {NUMBER[z] if z else 'no'} legs?", z == y, _legs(x, y)[:-1])
    if kind in (2, 3):
        group = t.rng.choice(list(PART_OF))
        x = t.rng.choice(LISTS[group])
        other = group if right else t.rng.choice(list(PART_OF))
        yes = x in LISTS[other] or (group in ("birds", "insects") and other == "animals")
        if group != other and not yes and (x in ("orange", "rose", "violet", "silver", "gold") or {group, other} <= {"animals", "birds", "insects"}):
            return made_yes_no(t)
        what, is_a = (x, f"{x} is {a(PART_OF[group])}") if group in ("planets", "drinks", "metals", "colours", "sports") else (a(x),
            f"{a(x)} is {a(PART_OF[group])}")
        return _verdict(t, f"Is {what} {a(PART_OF[other])}?", yes, is_a if not yes or group == other else f"{a(x)} is {a(PART_OF[other])}")
    if kind == 4:
        x, y = t.rng.choice(list(OPPOSITE.items()))
        z = y if right else t.rng.choice(list(OPPOSITE))
        return _verdict(t, f"Is {z} the opposite of {x}?", z == y, f"the opposite of {x} is {y}")
    if kind == 5:
        seq = t.rng.choice([DAYS, MONTHS])
        i = t.rng.randrange(len(seq))
        z = seq[(i + 1) % len(seq)] if right else t.rng.choice([x for x in seq if x != seq[i]])
        return _verdict(t, t.pick("Does {z} come right after {x}?", "Is {z} the {w} after {x}?", "Is {z} the next {w} after {x}?").format(z=z, x=seq[i], w="day" if seq is DAYS else "month"), z == seq[(i + 1) % len(seq)], f"after {seq[i]} comes {seq[(i + 1) % len(seq)]}")
    one, n, of = t.rng.choice([u for u in UNITS if u[1] < 400 and not u[0].startswith("half")])
    z = n if right else t.rng.choice([5, 7, 10, 12, 24, 30, 50, 60, 100])
    return _verdict(t, f"Does {a(one)} have {z} {of}?", z == n, f"{a(one)} has {n} {of}")


def _verdict(t, q, yes, truth):
    if t.chance(0.2):
        q = roundabout(t, q)
    elif t.chance(0.15):
        q = t.pick("Answer yes or no: {}", "Yes or no: {}", "{} Answer with yes or no.", "Tell me yes or no: {}").format(q)
    return [(q, verdict(yes, truth))]


def what_is(t):
    x, y = t.rng.choice(list(WHAT_IS.items()))
    bare = re.sub(r"^(a|an|the) ", "", x)
    q = t.pick("What is {x}?", "What is {x}?", "What's {x}?", "Explain {x}.", "Can you explain what {x} is?", "Tell me what {x} is.",
               "Tell me about {x}.", "what does {b} mean",
               "Define {b}.", "what is {b}", "whats {x}", "Explain {b} in simple words.", "Do you know what {x} is?", "definition of {b}", "{b}?",
               "What do you know about {x}?",
               "What exactly is {x}?", "I don't know what {x} is. Can you explain it?", "Explain {x} to a child.", "What does \"{b}\" mean?",
               "Describe {x}.", "Tell me something about {b}.", "Give me a fact about {b}.", "a fun fact about {b}", "Describe {x} in one sentence.",
               "What can you tell me about {x}?")
    return [(q.format(x=x, b=bare), Answer(y))]


def which_is(t):
    """Which of these is of that kind; the odd one out."""
    g, h = t.rng.sample(["fruits", "vegetables", "colours", "birds", "tools", "drinks", "instruments", "clothes", "planets", "vehicles"], 2)
    x, others = t.rng.choice(LISTS[g]), t.rng.sample(LISTS[h], t.rng.randint(1, 3))
    if x in LISTS[h] or set(others) & set(LISTS[g]):
        return which_is(t)
    words = others + [x]
    t.rng.shuffle(words)
    one = PART_OF.get(g, {"clothes": "piece of clothing"}.get(g, g[:-1]))
    if len(others) > 1 and t.chance(0.4):
        q = t.pick("Which word does not fit: {}?", "Odd one out: {}", "Which one does not belong: {}?").format(", ".join(words))
        return [(q, Answer(f"{x} does not fit: the others are {h}.", x))]
    q = t.pick("Which of these is {k}: {w}?", "Which one is {k}, {o}?", "Find the one that is {k}: {w}").format(k=a(one), w=", ".join(words), o=joined(
        words, "or"))
    return [(q, Answer(f"{x} is {a(one)}." if g not in ("planets", "drinks", "colours") else f"{x} is {a(one)}.", x))]


