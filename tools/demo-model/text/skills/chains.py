"""Several turns about one thing, a word, a number, a list, what was offered: each question is about the answer before it."""
import json

from text.conversation import Answer, verdict
from text.data.countries import CAPITAL, CONTINENT, LANGUAGE, MONEY, NOT_CAPITAL, verb
from text.data.tables import COMPARE, LISTS, NUMBER, OPPOSITE, ORDINAL, PAST, YOUNG
from text.data.words import CITIES, any_name, invented
from text.english import first_up, joined, plural
from text.skills import extras, facts, refusals, smalltalk, sums, texts

# What is asked of a word: with the word, and with what stands for it.
WORD_ASKS = {
    "spell": ("Spell {w}.|spell the word {w}|How do you spell {w}?|Can you spell {w}?|please spell {w}|Spell \"{w}\".",
              "Spell it.|now spell it|How is it spelled?|and how do you spell it?|Can you spell it?|spell that|Spell that word."),
    "reverse": ("Reverse the word {w}.|Spell {w} backwards.|write {w} backwards|What is {w} backwards?|reverse {w}",
                "now reverse it|Reverse it.|and backwards?|Now backwards.|Spell it backwards.|What is it backwards?|reverse that word|turn it around|"
                "Can you reverse it?|and in reverse?|Write it backwards."),
    "count": ("How many letters does {w} have?|How many letters are in {w}?|how long is the word {w}|Count the letters of {w}.",
              "How many letters does it have?|how many letters is that|How long is it?|and how many letters?|How many letters are in it?|count its letters|"
              "How many letters are there?|how many letters does that word have"),
    "first": ("What is the first letter of {w}?|Which letter does {w} start with?|first letter of {w}",
              "What is its first letter?|Which letter does it start with?|and the first letter?|what is the first letter of it|first letter?"),
    "last": ("What is the last letter of {w}?|Which letter does {w} end with?|last letter of {w}",
             "What is its last letter?|Which letter does it end with?|and the last letter?|what is the last letter of it|last letter?"),
    "upper": ("Write {w} in capital letters.|{w} in capitals|uppercase {w}|Make {w} upper case.",
              "Write it in capital letters.|in capitals please|now in upper case|and in capitals?|Put it in capitals."),
    "say": ("Say {w}.|Repeat: {w}|say the word {w}|Say \"{w}\".|repeat after me: {w}", "Say it again.|repeat the word|Say the word again.|say it once more"),
}


def of_word(form, w):
    full, short = {
        "spell": (texts.spelled(w), texts.spelled(w)), "reverse": (texts.backwards(w), texts.spelled(w[::-1])),
        "count": (f"{texts.spelled(w)}: {len(w)} letters.", str(len(w))), "first": (f"The first letter of {w} is {w[0].upper()}.", w[0].upper()),
        "last": (f"The last letter of {w} is {w[-1].upper()}.", w[-1].upper()), "upper": (w.upper(), w.upper()), "say": (w, w)}[form]
    return Answer(full, short, "text" if form in ("reverse", "upper", "say") else "fact", exact=True, key=("letters", form, w))


def some_word(t):
    r = t.rng.random()
    return t.rng.choice(texts.EVERYDAY) if r < 0.4 else t.rng.choice(texts.COMMON) if r < 0.75 else any_name(t.rng) if r < 0.85 else invented(t.rng, False)


def word(t):
    w, form = some_word(t), t.rng.choice(list(WORD_ASKS))
    out = [(t.rng.choice(WORD_ASKS[form][0].split("|")).format(w=w), of_word(form, w))]
    for _ in range(t.rng.randint(1, 4)):
        if t.chance(0.3):
            w = some_word(t)
            q = t.pick("and the word {}?", "And {}?", "what about {}?", "now {}", "Now the word {}.", "the same with {}", "And for {}?", "do that with {}",
                       "and {}").format(w)
        else:
            form = t.rng.choice([f for f in WORD_ASKS if f != form])
            q = t.rng.choice(WORD_ASKS[form][1].split("|"))
        out.append((q, of_word(form, w)))
    return out


def number(t):
    """A sum, and what may be asked of its result."""
    x, op, y, r = sums.draw(t, t.chance(0.6))
    out = [(t.rng.choice(sums.ASK).replace("add up ", "calculate ").format(sums.written(t, x, op, y)), Answer(sums.equal(x, op, y, r), str(r),
        key=("sum", op, min(x, y), max(x, y))))]
    results = []
    for _ in range(t.rng.randint(1, 4)):
        results.append(r)
        k, z = t.rng.randrange(9), t.rng.randint(1, 20)
        if k < 3:
            other = max(0, r + t.rng.choice([-30, -20, -10, -5, -3, -2, -1, 1, 2, 3, 5, 10, 20, 30]))
            other = round(other, -1) if t.chance(0.4) else other
            if other == r:
                continue
            words, more = t.pick(("more than", True), ("less than", False), ("bigger than", True), ("smaller than", False), ("greater than", True), ("over", True),
                                 ("under", False))
            q = t.pick("Is that {w} {n}?", "Is it {w} {n}?", "and is that {w} {n}?", "Is the result {w} {n}?", "is this {w} {n}").format(w=words, n=other)
            out.append((q, verdict(r > other if more else r < other, f"{r} is {'more' if r > other else 'less'} than {other}")))
        elif k == 3:
            q = t.pick("Is that even?", "Is it an even number?", "is that even or odd", "Is it odd?", "Is the result odd?")
            truth = f"{r} is {'odd' if r % 2 else 'even'}"
            out.append((q, Answer(truth + ".", "odd" if r % 2 else "even") if " or " in q else verdict((r % 2 == 1) == ("odd" in q), truth)))
        elif k == 4 and r % 2 == 0 and r:
            out.append((t.pick("And half of that?", "half of it?", "What is half of that?", "now half of it", "divided by two?", "and divided by 2?"), Answer(
                sums.equal(r, "/", 2, r // 2), str(r // 2))))
            r //= 2
        elif k == 5 and r <= 50:
            out.append((t.pick("And twice that?", "double that", "What is twice that?", "times 2?", "and times two"), Answer(sums.equal(r, "*", 2, 2 * r), str(2 * r))))
            r *= 2
        elif k == 6 and z <= r:
            out.append((t.pick(f"and minus {z}?", f"Minus {z}?", f"take away {z}", f"now subtract {z}", f"And if I take away {z}?", f"less {z}?"), Answer(
                sums.equal(r, "-", z, r - z), str(r - z))))
            r -= z
        elif k == 8 and len(out) > 1:
            first = t.chance(0.7)
            got = results[0] if first else r
            out.append((t.pick("what was the {} result", "What was the {} result?", "And the {} result?", "tell me the {} result again", "the {} result was?").format("first" if first else "last"), Answer(
                f"The {'first' if first else 'last'} result was {got}.", str(got))))
        else:
            out.append((t.pick(f"and plus {z}?", f"Plus {z}?", f"add {z}", f"now add {z}", f"And with {z} more?", f"plus {z} please"), Answer(
                sums.equal(r, "+", z, r + z), str(r + z))))
            r += z
    if t.chance(0.2):
        out.append((t.pick("thanks, you are good at maths", "Thanks, that was quick.", "you are good with numbers, thanks", "Great, thank you"), Answer(
            "You are welcome!", "Welcome")))
    return out


SIZE = "ant bee mosquito fly ladybird beetle moth butterfly mouse hamster frog robin sparrow hen owl duck rabbit cat fox goat sheep dog wolf pig deer lion bear tiger cow horse elephant".split()


COUNTABLE = {w for row in ("animals", "fruits", "vegetables", "pets") for w in LISTS[row]} | set(texts.THINGS)


def about_item(t, w):
    """One thing of a list, and what is asked of it as "it"."""
    form = t.pick("spell", "count", "first", "upper", "plural", "plural", "plural")
    if form == "plural" and w not in COUNTABLE:
        form = "spell"
    if form == "plural":
        return t.pick("what is the plural of it", "What's its plural?", "and the plural of it?", "the plural of it?", "Whats the plural of that?", "and in the plural?"), Answer(
            f"The plural of {w} is {plural(w)}.", plural(w), exact=True)
    return t.rng.choice(WORD_ASKS[form][1].split("|")), of_word(form, w)


def items(t):
    """A list, and what may be done with it."""
    def listed():
        k, words = t.rng.choice([x for x in LISTS.items() if len(x[0].split()) == 1 or t.chance(0.2)])
        n = t.rng.randint(2, min(6, len(words)))
        got = list(words[:n]) if t.chance(0.85) else t.rng.sample(list(words), n)
        return k, got, t.pick(NUMBER[n], n), [first_up(w) for w in got]

    k, got, n, big = listed()
    own = t.chance(0.25)
    if own:  # of the user
        k, got = "things", list(dict.fromkeys(some_word(t) for _ in range(len(got)))) if t.chance(0.7) else got
        out = [(t.pick("Here are some {k}: {w}.", "These are my {k}: {w}.", "Take these {k}: {w}", "I have {w}.", "my list: {w}").format(k=t.pick("words", "things"), w=joined(got) if t.chance(
            0.5) else ", ".join(got)), Answer(t.pick("All right. What shall I do with them?", "Good. What shall I do with them?"), "Good", exact=True))]
    else:
        out = [(t.pick("Name {n} {k}.", "give me a list of {n} {k}", "Tell me {n} {k}.", "{n} {k} please", "List {n} {k}.", "Can you name {n} {k}?").format(n=n, k=k), t.pick(
            Answer(joined(got) + ".", exact=True), Answer("\n".join(f"{i + 1}. {w}" for i, w in enumerate(big)), kind="text", exact=True)))]
    say = lambda qs, full, short=None, kind="text": out.append((t.rng.choice(qs.split("|")).format(k=k, key=key), Answer(full, short, kind, exact=True)))
    for _ in range(t.rng.randint(1, 3)):
        f, key = t.rng.randrange(13), t.pick(k.split(" ")[-1], k.split(" ")[-1], "items", "list", "words", "values", "result")
        if f < 2:
            say("write the {k} as JSON with the key {key}|Put them into JSON with the key {key}.|as JSON with the key {key}|Now as a JSON object with the key \"{key}\".|"
                "Give me that as JSON, key {key}.|make a json of it with the key {key}|Return the {k} in JSON under the key {key}.", json.dumps({key: got}, ensure_ascii=False))
        elif f == 2:
            say("as JSON|Now as a JSON array.|as a json list please|Write them as JSON.|json array of them", json.dumps(got, ensure_ascii=False))
        elif f == 3:
            say("as bullet points|Now with dashes.|Make bullet points of them.|bullets please", "\n".join("- " + first_up(w) for w in got))
        elif f == 4:
            say("as a numbered list|Number them.|Now with numbers.|numbered please", "\n".join(f"{i + 1}. {first_up(w)}" for i, w in enumerate(got)))
        elif f == 5:
            say("one per line|Each on its own line.|Write one in each line.|One per line, please.", "\n".join(first_up(w) for w in got))
        elif f == 6:
            got = got[::-1]
            say("in reverse order|Reverse the order.|now the other way round|Turn the list around.|from the last to the first", first_up(", ".join(got)) + ".")
        elif f == 7:
            i = t.rng.randrange(len(got))
            at, which = (ORDINAL[i + 1], f"{ORDINAL[i + 1]} one") if i < len(got) - 1 or t.chance(0.4) else ("last", "last one")
            out.append((t.pick("What is the {w}?", "Which is the {w}?", "the {w}?", "What was the {w}?", "and the {w}?", "Which one was {a}?").format(w=which, a="the " + at), Answer(
                f"The {at} is {got[i]}.", got[i], exact=True)))
            if t.chance(0.4) and " " not in got[i]:
                out.append(about_item(t, got[i]))
        elif f == 8:
            say("How many are that?|how many did you name|How many {k} are that?|count them", f"There are {NUMBER[len(got)]}.", NUMBER[len(got)], "fact")
        elif f == 9:
            got = sorted(got, key=str.lower)
            say("Sort them.|in alphabetical order please|sort them alphabetically|Now sorted by the alphabet.", first_up(", ".join(got)) + ".")
        elif f == 10 and all(w in SIZE for w in got):
            is_up = t.chance(0.65)
            w = (max if is_up else min)(got, key=SIZE.index)
            adjective = t.pick("biggest", "largest") if is_up else "smallest"
            out.append((t.pick("Which of them is the {}?", "Which one is the {}?", "which is {}", "What is the {} of them?", "and which of these is {}?").format(adjective).replace(
                "is " + adjective + "?", "is the " + adjective + "?"), Answer(f"The {adjective} of them is the {w}.", w, exact=True)))
        elif f == 10:
            say("Which do you like best?|your favourite of them?|Which one do you like?", "I am a program and have no favourites.", "none", "fact")
        elif f == 11 and not own and (more := [w for w in LISTS[k] if w not in got]):
            got = [*got, more[0]]
            say("Add one more.|one more please|add another one|And one more?|Add one more to it.|another one to the list|Can you add one more?|put one more on the list|plus one more", first_up(joined(got)) + ".")
        elif own:
            say("Say them again.|What were they?|repeat my list|list them", first_up(joined(got)) + ".")
        else:
            k, got, n, _ = listed()
            out.append((t.pick("now {n} {k}", "And {n} {k}?", "Now name {n} {k}.", "and {n} {k} please").format(n=n, k=k), Answer(joined(got) + ".", exact=True)))
    return out


def results(t):
    """Two sums or two halves, and what may be asked of both results."""
    def one(last=None):
        k = t.rng.randrange(4)
        if k == 0:
            n = 2 * t.rng.randint(1, 30)
            return t.pick("half of {}", "What is half of {}?", "What's half of {}?", "and half of {}").format(n), Answer(f"Half of {n} is {n // 2}.", str(n // 2)), n // 2, None
        if k == 1:
            n = t.rng.randint(1, 25)
            return t.pick("twice {}", "What is double {}?", "double {}", "two times {}").format(n), Answer(f"Twice {n} is {2 * n}.", str(2 * n)), 2 * n, None
        x, op, y, r = sums.draw(t, True)
        return t.rng.choice(sums.ASK).replace("add up ", "calculate ").format(sums.written(t, x, op, y)), Answer(sums.equal(x, op, y, r), str(r), key=("sum", op, min(x, y), max(x, y))), r, (x, op, y)

    rows = []
    while len(rows) < t.pick(2, 2, 2, 3):
        row = one()
        if not row[3] or t.held or not sums.only_held_out(*row[3]):
            rows.append(row)
    out, got = [row[:2] for row in rows], [row[2] for row in rows]
    x, y, many = got[0], got[-1], len(got) > 2
    for _ in range(t.pick(1, 1, 2, 3)):
        k = t.rng.randrange(7)
        if k < 2 and not many:
            r = x + y
            out.append((t.pick("add those two together", "Add the two results.", "and both together?", "what is the sum of both", "now add them up", "What do they make together?", "add both results"), Answer(sums.equal(x, "+", y, r), str(r))))
        elif k == 2 and not many:
            out.append((t.pick("whats the difference between them", "What is the difference?", "and the difference of the two?", "how far apart are they"), Answer(sums.equal(max(x, y), "-", min(x, y), abs(x - y)), str(abs(x - y)))))
        elif k == 3 and len(set(got)) == len(got):
            big = t.chance(0.6)
            best = (max if big else min)(got)
            word = t.pick("bigger", "larger", "greater") if big else t.pick("smaller", "lower")
            if many:
                word = {"bigger": "biggest", "larger": "largest", "greater": "greatest", "smaller": "smallest", "lower": "lowest"}[word]
            out.append((t.pick(f"which result is {'the ' if many else ''}{word}", f"Which one is the {word}?", f"which of the {NUMBER[len(got)]} results is the {word}?", f"and which is {'the ' if many else ''}{word}?"), Answer(
                f"The results are {joined(map(str, got))}, so {best} is the {word}.", str(best))))
        elif k < 6:
            at = t.rng.randrange(len(got))
            word = ORDINAL[at + 1] if at < len(got) - 1 or t.chance(0.5) else "last"
            out.append((t.pick("what was the {} result", "What was the {} answer?", "And the {} result?", "tell me the {} result again", "the {} one was?", "what was the {} again?").format(word), Answer(
                f"The {word} result was {got[at]}.", str(got[at]))))
        else:
            out.append((t.pick("list the results", "what were the results", "All results again, please.", "tell me both again" if not many else "tell me all results"), Answer(
                f"The results were {joined(map(str, got))}.", joined(map(str, got)))))
    return out


def edits(t):
    """A list that the user changes, turn by turn: every answer is the whole list, in the form it has."""
    k, words = t.rng.choice([x for x in LISTS.items() if " " not in x[0]])
    n = t.rng.randint(2, min(5, len(words) - 1))
    got, form = list(words[:n]) if t.chance(0.5) else t.rng.sample(list(words), n), t.rng.randrange(4)
    new = lambda: t.rng.choice([w for w in words if w not in got] + [some_word(t) for _ in range(3)])
    show = lambda: [lambda: first_up(", ".join(got)) + ".", lambda: first_up(joined(got)) + ".", lambda: "\n".join(f"{i + 1}. {first_up(w)}" for i, w in enumerate(got)), lambda: json.dumps(got, ensure_ascii=False)][form]()
    many, out = t.pick(NUMBER[n], n), []
    if t.chance(0.35):
        out.append(((t.pick("My list: {}", "I have {}.", "I need {}", "shopping list: {}", "my {k}: {}") if k in ("fruits", "vegetables", "drinks", "tools") else t.pick("My list: {}", "here is a list: {}", "{k}: {}", "my {k}: {}")).format(t.pick(", ".join(got), joined(got)), k=k), Answer(t.pick("All right. What shall I do with the list?", "I will remember it."), "Good", exact=True)))
        form %= 2
    else:
        q = ("Name {n} {k}.", "Name {n} {k}.", "Give me a numbered list of {n} {k}.", "{n} {k} as a JSON array") if t.chance(0.5) else ("name {n} {k}", "tell me {n} {k}", "{n} {k}, numbered please", "give me {n} {k} as json")
        out.append((q[form].format(n=many, k=k), Answer(show(), kind="text", exact=True)))
    for _ in range(t.rng.randint(2, 5)):
        f = t.rng.randrange(13)
        if f < 3:
            w = new()
            got.append(w)
            q = t.pick("add {}", "Add {} to it.", "now add {}", "and {} please", "put {} on the list", "also {}", "plus {}").format(w)
        elif f == 3 and len(got) > 1:
            q, got = t.pick("remove the first one", "Remove the first.", "without the first one", "drop the first one", "take away the first one"), got[1:]
        elif f == 4 and len(got) > 1:
            q, got = t.pick("remove the last one", "without the last one", "drop the last", "delete the last one"), got[:-1]
        elif f == 5 and len(got) > 2:
            w = t.rng.choice(got)
            q, got = t.pick("remove {}", "Take {} off the list.", "without {}", "no {} please", "delete {}").format(w), [x for x in got if x != w]
        elif f == 6 and len(got) > 2:
            m = t.rng.randint(2, len(got) - 1)
            q, got = t.pick("just the first {}", "only the first {}", "keep the first {}", "the first {} only").format(t.pick(NUMBER[m], m)), got[:m]
        elif f == 7:
            w, x = t.rng.choice(got), new()
            q, got = t.pick("replace {} with {}", "{1} instead of {0}", "change {} to {}").format(w, x), [x if y == w else y for y in got]
        elif f == 8:
            q, form = t.pick(("as a json list", 3), ("Write them as JSON.", 3), ("as json", 3), ("now as a numbered list", 2), ("number them", 2), ("in one line", 0))
        elif f == 9:
            out.append((t.pick("how many are there now", "How many are that?", "how many are on the list?", "count them"), Answer(f"There {'are' if len(got) > 1 else 'is'} {NUMBER[len(got)]}.", NUMBER[len(got)], exact=True)))
            continue
        elif f == 10:
            at = t.rng.randrange(len(got))
            name = ORDINAL[at + 1] if at < len(got) - 1 or t.chance(0.5) else "last"
            out.append((t.pick("what is number {n}" if name != "last" else "what is the last one", "the {w} one?", "which is the {w} now", "What is the {w} one?").format(n=at + 1, w=name), Answer(f"The {name} is {got[at]}.", got[at], exact=True)))
            if t.chance(0.3) and " " not in got[at]:
                out.append(about_item(t, got[at]))
            continue
        elif f == 11:
            w = t.rng.choice(got) if t.chance(0.5) else new()
            out.append((t.pick("is {} on it", "Is {} on the list?", "is there {}?").format(w), Answer(f"{'Yes' if w in got else 'No'}, {w} is {'' if w in got else 'not '}on the list.", "yes" if w in got else "no", exact=True)))
            continue
        else:
            q = t.pick("what's left", "the whole list again", "What is on the list now?", "show me the list", "so what do we have", "read it to me")
        out.append((q, Answer(show(), kind="text", exact=True)))
    return out


FORMS = (  # word -> answer, how it is asked, how it is asked of the next word, the answer
    (OPPOSITE, ("What is the opposite of {}?", "opposite of {}", "whats the opposite of {}", "the opposite of {} please"), "The opposite of {} is {}."),
    (None, ("What is the plural of {}?", "plural of {}", "whats the plural of {}"), "The plural of {} is {}."),
    (PAST, ("What is the past tense of {}?", "past tense of {}", "past of {}"), "The past tense of {} is {}."),
    (YOUNG, ("What is a young {} called?", "what do you call a baby {}", "a baby {} is called?"), "A young {} is called a {}."),
    (COMPARE, ("What is the comparative of {}?", "comparative of {}"), "The comparative of {} is {}."))


def answers(t):
    """A word that is an answer, and what is asked of it as a word; then the same of another one."""
    table, asks, says = t.rng.choice(FORMS[:3] if t.chance(0.75) else FORMS)
    drawn = lambda: t.rng.choice([w for w in table if " " not in w + table[w]]) if table else t.rng.choice(texts.THINGS if t.chance(0.3) else [w for row in ("animals", "fruits", "vegetables") for w in LISTS[row]])
    w = drawn()
    got = table[w] if table else plural(w)
    out = [(t.rng.choice(asks).format(w), Answer(says.format(w, got), got, exact=True))]
    for _ in range(t.rng.randint(1, 4)):
        if t.chance(0.4):
            w, same = drawn(), out[-1][1].full.startswith(says.split("{")[0])
            got = table[w] if table else plural(w)
            out.append(((t.pick("and of {}?", "and {}?", "of {}?", "now {}", "What about {}?", "And of {}?") if same else t.rng.choice(asks)).format(w), Answer(says.format(w, got), got, exact=True)))
        else:
            form = t.pick("spell", "spell", "first", "first", "last", "count", "reverse", "upper")
            out.append((t.rng.choice(WORD_ASKS[form][1].split("|") + (["And the first letter of it?", "first letter of that?"] if form == "first" else [])), of_word(form, got)))
    return out


def places(t):
    """Two to four capitals, and what may be asked of those countries and cities."""
    names, out = [], []
    while len(names) < t.rng.choice([2, 3, 3, 4]):
        name = facts.country(t)
        if name not in names:
            names.append(name)
            q = t.rng.choice(facts.CAPITAL_QUESTIONS if len(names) == 1 else facts.AND).format(facts.called(t, name))
            out.append((q, Answer(f"The capital of {name} is {CAPITAL[name]}.", CAPITAL[name])))
    cities, count = [CAPITAL[x] for x in names], NUMBER[len(names)]
    for _ in range(t.rng.randint(1, 3)):
        f, i = t.rng.randrange(9), t.rng.randrange(len(names))
        at = ORDINAL[i + 1] if i < len(names) - 1 else "last"
        if f == 0:
            there, of_city = CONTINENT[names[i]], t.chance(0.5)
            q = t.pick("Which of these {k} is in {c}?", "which of those {n} {k} is in {c}", "And which one is in {c}?", "Which of them is in {c}?", "Thanks! Which of those {n} {k} is in {c}?",
                       "which {one} of these lies in {c}?")
            q = q.format(k="cities" if of_city else "countries", one="city" if of_city else "country", n=count, c=there)
            got = [city if of_city else name for name, city in zip(names, cities) if CONTINENT[name] == there]
            ans = Answer(f"{first_up(joined(got))} {'are' if len(got) > 1 else verb(got[0])} in {there}.", joined(got), exact=True)
        elif f == 1:
            q = t.pick("Which country did I ask about {}?", "Which country was the {} one?", "what was the {} country", "the {} country I asked for?").format(at)
            ans = Answer(f"The {at} country was {names[i]}.", names[i])
        elif f == 2:
            q = t.pick("Which city was the {} one?", "what was the {} city again", "the {} city?", "Which capital did you name {}?").format(at)
            ans = Answer(f"The {at} city was {cities[i]}.", cities[i])
        elif f == 3:
            q = t.pick("List these cities.", "all cities please", "Say all of those cities again.", "the cities in one line", "now all of them", "List the capitals.")
            ans = Answer(joined(cities) + ".", exact=True)
        elif f in (4, 5):
            name, other = names[-1], t.rng.choice([c for c, n in NOT_CAPITAL.items() if n == names[-1]] or CITIES)
            if other == CAPITAL[name]:
                continue
            q = t.pick("I thought it was {}?", "I thought it was {}??", "isn't it {}?", "so not {}?", "not {}?", "is it not {}?", "hm, I thought {}", "Really? Not {}?", "are you sure it is not {}?", "but {} is bigger").format(other)
            ans = Answer(f"{t.pick('No, the', 'The')} capital of {name} is {CAPITAL[name]}, not {other}.", "no", exact=True)
        elif f in (6, 7):
            tables = [(LANGUAGE, t.pick("what language do they speak {w}", "Which language is spoken {w}?", "and the language {w}?"), "People in {n} speak {v}."), (CONTINENT, t.pick("on which continent is {w2}?", "what continent is {w2} on", "and which continent is {w2} on"), "{n} {b} in {v}."),
                      (MONEY, t.pick("what money do they use {w}", "Which currency do they have {w}?", "and how do people pay {w}"), "People in {n} pay with the {v}.")]
            table, q, full = t.rng.choice([x for x in tables if names[i] in x[0]])
            last = i == len(names) - 1
            w = t.pick("there", "in that country") if last and t.chance(0.6) else f"in the {at} {t.pick('one', 'country')}"
            q, ans = q.format(w=w, w2="it" if w in ("there", "in that country") else w[3:]), Answer(full.format(n=names[i], v=table[names[i]], b=verb(names[i])), table[names[i]])
        else:
            q = t.pick("as JSON, country and capital", "Write them as JSON, the countries as keys.", "make a json of it: country to capital", "Now as a JSON object, please: country, capital.")
            ans = Answer(json.dumps(dict(zip(names, cities)), ensure_ascii=False), kind="text", exact=True)
        out.append((q, ans))
    return out


def rhymes(t):
    """Rhymes with one word and with the next, each another one."""
    words = list(t.rng.choice([row for row in extras.RHYMES if len(row) > 3]))
    t.rng.shuffle(words)
    x, *rest = words
    ask = ("What rhymes with {}?", "Give me a word that rhymes with {}.", "a rhyme for {}", "rhyme with {}", "a word that rhymes with {} please", "what word rhymes with {}")
    out = [(t.rng.choice(ask).format(x), Answer(f"{rest[0]} rhymes with {x}.", rest[0], exact=True))]
    said = rest[:1]
    for y in rest[1:t.rng.randint(2, 4)]:
        said.append(y)
        out.append((t.pick("Another one.", "another one please", "and another?", "one more", "one more rhyme", "something else", "another rhyme with {}").format(x), Answer(f"{y} rhymes with {x}.", y, exact=True)))
    if t.chance(0.4):
        out.append((t.pick("say them all", "all of them please", "which rhymes did you give me?", "list them"), Answer(joined(said) + ".", exact=True)))
    if t.chance(0.5):
        x, y = t.rng.sample(t.rng.choice(extras.RHYMES), 2)
        out.append((t.pick("and with {}?", "now with {}", "And {}?", "now with \"{}\"", "what about {}?").format(x), Answer(f"{y} rhymes with {x}.", y, exact=True)))
    return out


EXAMPLES = ["What is the capital of France?", "What is 12 + 9?", "Name three fruits.", "Tell me a story about a cat.", "Spell elephant.", "Write a haiku about the sea."]


def offered(t):
    """After what it can do: an example."""
    x = t.rng.choice(EXAMPLES)
    return [(t.pick("What can you do?", "what can you do then?", "How can you help me?", "What can I ask you?", "what are you good at?"), Answer(smalltalk.CAN, "stories")),
            (t.pick("Give me an example.", "Nice. Give me an example", "For example?", "an example please", "like what?", "Can you give an example?", "such as?", "Show me an example.",
                    "cool, give me an example", "What could I ask?"), Answer(f"Ask me: \"{x}\"", x))]


def after_refusal(t):
    """The user asks what else there is."""
    if t.chance(0.4):
        return [(t.pick("Are you a big model?", "are you a large model", "Are you big?", "How big are you?", "are you a big language model?", "Are you small?"), Answer(
            f"I am very small: I have {smalltalk.SIZE} parameters.", "small")), *(offered(t)[:1 + t.chance(0.5)])]
    return [*refusals.refuse(t)[:1], (t.pick("What do you know then?", "what can you do then?", "ok, what can you do?", "So what do you know?", "what then?", "What can I ask then?",
        "is there anything you know?", "then what can you tell me"), Answer(smalltalk.CAN, "stories"))]


SKILLS = [(13, word, True), (10, number, True), (14, items, False), (9, results, True), (14, edits, False), (9, answers, False), (10, places, False), (3, rhymes, False), (2.5, offered, False), (3, after_refusal, False)]
