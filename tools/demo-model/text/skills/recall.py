"""A few facts of one kind told at once, or a list, and many questions about them: which goes with which, which one is where, what changes.

Where a chat asks once or twice for what it was told, here all of it is asked for, in every direction.
"""
from text.conversation import Answer
from text.data.tables import DAYS, LISTS, NARROW, NUMBER, ORDINAL
from text.data.words import ANIMALS, CITIES, COLOURS, EVERYDAY, FOODS, GOODS, HOBBIES, JOBS, LANGUAGES, THINGS, any_name, invented
from text.english import a, first_up, joined
from text.skills.told import named

RELATIVES = "sister brother mother father aunt uncle cousin grandmother grandfather son daughter neighbour boss friend wife husband".split()
DRINKS = "tea coffee water milk juice cocoa lemonade cola wine beer".split() + ["hot chocolate", "green tea", "apple juice"]
ROOMS = "kitchen|bedroom|living room|bathroom|hall|office|garage|cellar|garden|attic".split("|")


class Kind:
    """third, base: the verb with what follows it, of others and of the user; objects: a function of the random source; what, who: how one asks for the object
    and for the subject; things: whether the subjects are things and not people; more: of numbers, the words that compare them and their unit."""

    def __init__(self, third, base, objects, what, who, things=False, more=None):
        self.third, self.base, self.objects, self.what, self.who, self.things, self.more = third, base, objects, what.split("|"), who.split("|"), things, more


def _any(options):
    return lambda rng: rng.choice(options)


KINDS = [
    Kind("likes {}", "like {}", lambda r: r.choice(r.choice([FOODS, HOBBIES, DRINKS, LISTS["sports"]])), "what {do} {s} like", "who likes {o}"),
    Kind("likes {}", "like {}", lambda r: r.choice(r.choice([FOODS, DRINKS])), "what {do} {s} like|what could I make for {s}", "who likes {o}|who would take {o}"),
    Kind("has {}", "have {}", lambda r: a(r.choice(ANIMALS[:30])), "what {do} {s} have|which animal {do} {s} have", "who has {o}"),
    Kind("plays {}", "play {}", lambda r: r.choice([x for x in LISTS["sports"] if not x.endswith("ing")]) if r.random() < 0.5 else "the " + r.choice(LISTS["instruments"]), "what {do} {s} play", "who plays {o}"),
    Kind("lives in {}", "live in {}", _any(CITIES), "where {do} {s} live|in which city {do} {s} live", "who lives in {o}"),
    Kind("is from {}", "am from {}", _any(CITIES), "where {be} {s} from", "who is from {o}"),
    Kind("works as {}", "work as {}", lambda r: a(r.choice(JOBS)), "what {do} {s} work as|what is the job of {t}", "who works as {o}"),
    Kind("is {}", "am {}", lambda r: a(r.choice(JOBS)), "what {be} {s}|what {do} {s} do for work", "who is {o}"),
    Kind("brings {}", "bring {}", lambda r: r.choice(r.choice([FOODS, DRINKS, GOODS])), "what {do} {s} bring", "who brings {o}"),
    Kind("wants {}", "want {}", lambda r: a(r.choice(THINGS)), "what {do} {s} want", "who wants {o}"),
    Kind("speaks {}", "speak {}", _any(LANGUAGES), "what {do} {s} speak|which language {do} {s} speak", "who speaks {o}"),
    Kind("comes on {}", "come on {}", _any(DAYS), "when {do} {s} come|on which day {do} {s} come", "who comes on {o}"),
    Kind("arrives at {}", "arrive at {}", lambda r: f"{r.randint(1, 12)}{r.choice([':00', ':15', ':30', ' pm', ' am'])}", "when {do} {s} arrive|at what time {do} {s} arrive", "who arrives at {o}"),
    Kind("drives {}", "drive {}", lambda r: a(r.choice(COLOURS)) + " " + r.choice(["car", "bike", "van", "bus"]), "what {do} {s} drive", "who drives {o}"),
    Kind("is {} years old", "am {} years old", lambda r: r.randint(2, 90), "how old {be} {s}|what is the age of {t}", "who is {o} years old|who is {o}", more=("older", "oldest", "younger", "youngest", "years")),
    Kind("has {} euros", "have {} euros", lambda r: r.randint(2, 90), "how much {do} {s} have|how many euros {do} {s} have", "who has {o} euros", more=("richer", "richest", "poorer", "poorest", "euros")),
    Kind("scored {} points", "scored {} points", lambda r: r.randint(2, 90), "how many points {did} {s} score|how many points for {t}", "who scored {o} points", more=("better", "best", "worse", "worst", "points")),
    Kind("is {}", "", _any(COLOURS), "what colour {be} {s}|which colour does {s} have|what is the colour of {t}|what color {be} {s}", "what is {o}|which one is {o}|which thing is {o}", True),
    Kind("costs {} euros", "", lambda r: r.randint(2, 99), "how much does {s} cost|what does {s} cost|what is the price of {t}", "what costs {o} euros|which one costs {o} euros", True,
        ("more expensive", "most expensive", "cheaper", "cheapest", "euros")),
    Kind("is in the {}", "", _any(ROOMS), "where {be} {s}|in which room {be} {s}", "what is in the {o}|which thing is in the {o}", True),
    Kind("belongs to {}", "", lambda r: any_name(r), "who does {s} belong to|whose is {s}|who owns {s}", "what belongs to {o}|which thing is of {o}", True),
    Kind("weighs {} kilos", "", lambda r: r.randint(2, 99), "how much does {s} weigh|what is the weight of {t}", "what weighs {o} kilos|which one weighs {o} kilos", True,
        ("heavier", "heaviest", "lighter", "lightest", "kilos")),
]


class Row:
    """Who or what, as the user says it and as it is answered, and what goes with it."""

    def __init__(self, kind, subject, o):
        self.kind, self.subject, self.o, self.is_user = kind, subject, o, subject == "I"

    def said(self):
        return f"{self.subject} {(self.kind.base if self.is_user else self.kind.third).format(self.o)}"

    def told(self):
        verb = self.kind.base.replace("am ", "are ", 1) if self.is_user and self.kind.base.startswith("am ") else self.kind.base if self.is_user else self.kind.third
        return f"{yours(self.subject)} {verb.format(self.o)}"

    def asked(self, form):
        return form.format(s=self.subject, t="me" if self.is_user else self.subject, o=self.o, do="do" if self.is_user else "does", be="am" if self.is_user else "is", did="did")


def yours(subject):
    return "you" if subject == "I" else "your" + subject[2:] if subject.startswith("my ") else subject


def _subject(t, kind):
    if kind.things:
        return t.pick("the ", "the ", "the ", "my ") + t.rng.choice(THINGS)
    r = t.rng.random()
    return "I" if r < 0.15 else any_name(t.rng) if r < 0.7 else "my " + (kin := t.rng.choice(RELATIVES)) + (" " + named(t, kin) if r < 0.8 else "")


def _rows(t, kind, n, taken=()):
    rows = list(taken)
    while len(rows) < n + len(taken):
        row = Row(kind, _subject(t, kind), kind.objects(t.rng))
        if all(row.subject.split(" ")[-1] != x.subject.split(" ")[-1] and row.o != x.o for x in rows):
            rows.append(row)
    return rows[len(taken):]


def _mark(t, q):
    return first_up(q) + "?" if t.chance(0.6) else q + t.pick("", "", "?")


def _listed(rows):
    return joined([row.told() for row in rows])


def _told_in(t, rows):
    """What the user says, in one message or in two, and what is answered."""
    if len(rows) > 2 and t.chance(0.25):
        return _told_in(t, rows[:-1]) + [(t.pick("and ", "And ", "also, ", "oh, and ") + rows[-1].said(), _all_right(t, rows[-1:]))]
    said = (joined if t.chance(0.6) else ", ".join)([row.said() for row in rows])
    return [(first_up(said) + "." if t.chance(0.6) else said, _all_right(t, rows))]


def _all_right(t, rows):
    return t.pick("All right: {}.", "All right: {}.", "I see: {}.", "I will remember that.").format(_listed(rows))


def _compared(t, rows):
    more, most, less, least, unit = rows[0].kind.more
    x, y = t.rng.sample(rows, 2)
    up = t.chance(0.5)
    if t.chance(0.25):
        high, low = max(x.o, y.o), min(x.o, y.o)
        return t.pick("how many {u} is the difference between {a} and {b}", "what is the difference between {a} and {b} in {u}").format(u=unit, a=x.asked("{t}"), b=y.asked("{t}")), f"{high} - {low} = {high - low} {unit}."
    if t.chance(0.5) and len(rows) > 2:
        best = (max if up else min)(rows, key=lambda row: row.o)
        word = "what" if rows[0].kind.things else "who"
        return t.pick("{w} is the {m}", "which one is the {m}", "the {m} of them").format(w=word, m=most if up else least), f"{yours(best.subject)} {'are' if best.is_user else 'is'} the {most if up else least}: {best.o} {unit}."
    best, other = sorted((x, y), key=lambda row: -row.o if up else row.o)
    word = "what" if rows[0].kind.things else "who"
    return t.pick("{w} is {m}, {a} or {b}", "{w} is {m}: {a} or {b}", "is {a} or {b} {m}").format(w=word, m=more if up else less, a=x.asked("{t}"), b=y.asked("{t}")), \
        f"{yours(best.subject)} {'are' if best.is_user else 'is'} {more if up else less}: {best.o} is {'more' if up else 'less'} than {other.o}."


def _question(t, rows, last):
    """(question, answer, the row that it is about): last: (row, whether its object was asked for) of the question before."""
    row, kind = t.rng.choice(rows), rows[0].kind
    r = t.rng.random()
    if last and last[0] is not row and r < 0.3:  # the same of another
        if last[1]:
            return t.pick("and {}", "what about {}", "and what about {}", "and {}", "now {}").format(row.asked("{t}")), row.told(), (row, True)
        return t.pick("and what {}", "and which one {}").format(kind.third.format(row.o)) if kind.things else t.pick("and who {}", "who {} then").format(kind.third.format(row.o)), row.told(), (row, False)
    if r < 0.52:
        return row.asked(t.rng.choice(kind.what)), row.told(), (row, True)
    if r < 0.72:
        return row.asked(t.rng.choice(kind.who)), row.told(), (row, False)
    if r < 0.8 and kind.more:
        return (*_compared(t, rows), None)
    if r < 0.86:
        right = t.chance(0.5)
        o = row.o if right else t.rng.choice(rows).o if t.chance(0.6) else kind.objects(t.rng)
        return f"{row.said().replace(str(row.o), str(o))}, {t.pick('right', 'is that right', 'yes or no', 'true')}", f"{'Yes' if o == row.o else 'No'}, {row.told()}", None
    if r < 0.90:
        return t.pick("how many did I name", "how many of them did I tell you about", "how many are there"), f"You named {NUMBER[len(rows)]}", None
    if r < 0.94:
        return t.pick("say it all again", "list them all", "tell me everything again", "what did I tell you", "repeat all of it"), _listed(rows), None
    if r < 0.97:
        n = t.rng.randrange(len(rows))
        where = "last" if n == len(rows) - 1 and t.chance(0.5) else ORDINAL[n + 1]
        return t.pick("which one did I name {}", "what did I tell you {}").format({"first": "first", "last": "last"}.get(where, where)), rows[n].told(), None
    stranger = _rows(t, kind, 1, rows)[0]
    return stranger.asked(t.rng.choice(kind.what)), "You have not told me that", None


def _change(t, rows):
    """Something becomes otherwise, or is added, or taken away: (message, answer, the rows after it)."""
    n = t.rng.randrange(len(rows))
    r, old, kind = t.rng.random(), rows[n], rows[n].kind
    if r < 0.65:
        new = Row(kind, old.subject, _rows(t, kind, 1, rows)[0].o)
        form = t.pick("{f} now", "actually, {f}", "sorry, {f}", "no, {f}", "I was wrong: {f}", "not any more: {f}", "{f}, not {o}", "correction: {f}", "Now {f}.", "it changed: {f}", "oh wait, {f}")
        text = form.format(f=new.said(), o=old.o)
        return text if t.chance(0.4) else first_up(text), f"All right: {new.told()} now.", [*rows[:n], new, *rows[n + 1:]]
    if r < 0.85 or len(rows) < 3:
        new = _rows(t, kind, 1, rows)[0]
        return t.pick("and {}", "also, {}", "one more: {}", "And {}.", "I forgot: {}").format(new.said()), f"All right: {new.told()}.", [*rows, new]
    return t.pick("forget {}", "take {} off", "without {}, please", "{} is out").format(old.asked("{t}")), f"All right, without {yours(old.subject) if not old.is_user else 'you'}.", rows[:n] + rows[n + 1:]


def facts(t, least=2, most=4):
    kind = t.rng.choice(KINDS)
    rows = _rows(t, kind, t.rng.choice([2, 2, 3, 3, 4]))
    turns, last = _told_in(t, rows), None
    for _ in range(t.rng.randint(least, most)):
        if t.chance(0.16) and len(rows) < 6:
            q, full, rows = _change(t, rows)
            turns.append((q, full))
            last = None
        else:
            q, full, last = _question(t, rows, last)
            turns.append((_mark(t, q), full if full.endswith(".") else full + "."))
    return [(q, Answer(full, kind="text" if full.startswith("All right") else "fact", exact=True)) for q, full in turns]


def _some_list(t):
    r = t.rng.random()
    words = t.rng.choice(NARROW)[1] if r < 0.25 else t.rng.choice(list(LISTS.values())) if r < 0.6 else EVERYDAY if r < 0.8 else [invented(t.rng, False) for _ in range(8)]
    return t.rng.sample(list(dict.fromkeys(words)), min(len(set(words)), t.rng.randint(3, 6)))


def row(t, least=2, most=4):
    """A list that the user gives: what stands where in it, and what becomes of it."""
    if t.chance(0.45):
        names, words = t.rng.choice(NARROW) if t.chance(0.4) else t.rng.choice([([k], list(v)) for k, v in LISTS.items()])
        words = words[:t.rng.randint(3, min(7, len(words)))] if len(words) > 3 else words
        q = t.pick("Name {n} {k}.", "Give me {n} {k}.", "list {n} {k}", "{n} {k} please", "Can you name {n} {k}?", "tell me {n} {k}").format(n=t.pick(NUMBER[len(words)], len(words)), k=t.rng.choice(names))
    else:
        words, q = _some_list(t), None
    spare = [w for w in t.rng.sample(EVERYDAY, 8) if w not in words]
    turns = [(q, first_up(joined(words)) + ".")] if q else [(t.pick("Here is my list: {}", "my list: {}", "Remember these: {}", "I have {}.", "the words are {}", "We need {}.", "list: {}").format(", ".join(words)), "All right: " + joined(words) + ".")]
    for _ in range(t.rng.randint(least, most)):
        n, k = t.rng.randrange(len(words)), len(words)
        r, nth = t.rng.random(), ORDINAL[n + 1]
        if r < 0.3:
            where = t.pick("last", "last") if n == k - 1 and t.chance(0.7) else nth
            turns.append((t.pick("which one is the {}", "the {} one", "what is the {}", "the {} please", "which is the {} one", "and the {}", "what was the {} again").format(where), f"The {where} is {words[n]}."))
        elif r < 0.38:
            turns.append((t.pick("which is number {}", "what is number {}", "number {}").format(n + 1), f"Number {n + 1} is {words[n]}."))
        elif r < 0.5 and k > 1:
            n = t.rng.randrange(k - 1)
            after = t.chance(0.5)
            x, y = (words[n], words[n + 1]) if after else (words[n + 1], words[n])
            turns.append((t.pick("what comes {w} {x}", "which one is {w} {x}", "what stands {w} {x}").format(w="after" if after else "before", x=x), f"{first_up(y)} comes {'after' if after else 'before'} {x}."))
        elif r < 0.57:
            turns.append((t.pick("how many are there", "how many are on it", "how many is that", "count them"), f"There are {NUMBER[k]}."))
        elif r < 0.66:
            x = words[n] if t.chance(0.5) else t.rng.choice(spare)
            turns.append((t.pick("is {} on the list", "is {} in it", "did I say {}").format(x), (f"Yes, {x} is number {words.index(x) + 1}." if x in words else f"No, {x} is not on it.")))
        elif r < 0.78 and spare and k < 9:
            x = spare.pop()
            front = t.chance(0.25)
            words = [x, *words] if front else [*words, x]
            turns.append((t.pick("add {} at the front", "put {} first").format(x) if front else t.pick("add {}", "and {}", "also {}", "put {} on it", "add {} to the list").format(x), first_up(joined(words)) + "."))
        elif r < 0.9 and k > 2:
            x = words[n]
            name = t.pick(x, x, f"the {nth}", "the last one" if n == k - 1 else f"the {nth} one")
            words = words[:n] + words[n + 1:]
            turns.append((t.pick("remove {}", "without {}", "take {} off", "delete {}", "drop {}").format(name), first_up(joined(words)) + "."))
        elif r < 0.94 and spare:
            x, y = words[n], spare.pop()
            words = [*words[:n], y, *words[n + 1:]]
            turns.append((t.pick("replace {x} with {y}", "change {x} to {y}", "{y} instead of {x}").format(x=x, y=y), first_up(joined(words)) + "."))
        else:
            turns.append((t.pick("what is on it now", "say the list again", "the whole list please", "what do I have now", "what is left"), first_up(joined(words)) + "."))
    return [(q if i == 0 or " " not in q else _mark(t, q) if not q.startswith(("add", "put", "remove", "take", "delete", "drop", "replace", "change", "say", "and", "also", "without")) else q,
        Answer(full, kind="text", exact=True)) for i, (q, full) in enumerate(turns)]


SKILLS = [(34, facts, False), (12, row, False)]
