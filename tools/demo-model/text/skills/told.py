"""What users tell in sentences of their own, and what they ask back of it: who, what, where, when, why, how many, which.

The same events are told of many people, in many orders and tenses, so that an answer can only be found in what was said.
"""
import re

from text.conversation import Answer
from text.data.events import APPOINTMENTS, EVENTS, FEELINGS, HABITS, HOURS, KINDS, LYING, NEXT_TIMES, PAIRS, PAST_TIMES, SPOTS, WARES
from text.data.tables import DAYS, MONTHS, NUMBER
from text.data.words import BOYS, CITIES, COLOURS, FOODS, GIRLS, HOBBIES, JOBS, PETS, any_name, invented
from text.english import a, first_up, joined
from text.skills import refusals

RELATIONS = ("sister|brother|mother|father|mom|dad|aunt|uncle|cousin|grandmother|grandfather|grandma|grandpa|son|daughter|neighbour|teacher|boss|friend|wife|husband|colleague|roommate|"
             "niece|nephew|doctor|coach|landlord|best friend|boyfriend|girlfriend|little brother|big sister|flatmate|classmate").split("|")
TURNED = {"i": "you", "me": "you", "my": "your", "mine": "yours", "our": "your", "us": "you", "we": "you", "am": "are", "myself": "yourself"}
SHE, HE = ({"my " + x for x in names.split("|")} for names in ("sister|mother|mom|aunt|grandmother|grandma|daughter|wife|niece|girlfriend|big sister", "brother|father|dad|uncle|grandfather|grandpa|son|husband|nephew|boyfriend|little brother"))
BARE = {"where was that", "when is it", "what do we do", "who is coming", "how many people is that", "how many are we", "and who with", "who with", "with whom", "which day was it again", "when is it now", "so when is it now", "who is older", "and who is older", "who is the older one", "who is younger", "and who is younger", "who is the younger one", "by how many years", "what is the difference", "when was that", "when is that", "when again", "what are they called", "which one is cheaper", "which of the two is cheaper", "and the cheaper one?", "which one is more expensive", "and at what time", "what did I just tell you",
        "what have I told you"}  # only where one thing was told
NOT_TOLD = ("You have not told me that.", "You did not tell me that.")


def turned(text):
    """What the user says of himself, as it is said to him."""
    return re.sub(r"[A-Za-z]+", lambda m: TURNED.get(m[0].lower(), m[0]), text)


def turned_back(text):
    return re.sub(r"^your ", "my ", text)


class Fact:
    """One thing that is told. said: the user's sentence; tone: good, bad or plain; about: a word for it; asks: [(questions, answer, in short)]."""

    def __init__(self, said, tone, about, asks, coming=False):
        self.said, self.tone, self.about, self.asks, self.coming = said, tone, about, asks, coming
        self.echo = turned(said)


def named(t, kind):
    """A name that fits a brother, a sister, sons."""
    kind = kind.rstrip("s")
    while True:
        x = any_name(t.rng)
        if not ("my " + kind in SHE and x in BOYS or "my " + kind in HE and x in GIRLS):
            return x


def he_or_she(t, who):
    kin = next((x for x in SHE | HE if who == x or who.startswith(x + " ")), None)
    return "she" if kin in SHE or who in GIRLS else "he" if kin in HE or who in BOYS else t.pick("she", "he")


def person(t):
    """Somebody who is not the user."""
    r = t.rng.random()
    if r < 0.62:
        return "my " + t.rng.choice(RELATIONS)
    if r < 0.8:
        return any_name(t.rng)
    kind = t.pick('friend', 'sister', 'brother', 'cousin', 'boss', 'neighbour', 'son', 'daughter', 'aunt', 'uncle', 'colleague')
    return f"my {kind} {named(t, kind)}"


def thing(t, options):
    pools = {"@city": CITIES, "@job": JOBS, "@food": FOODS, "@hobby": HOBBIES}
    if options in pools:
        x = t.rng.choice(pools[options]) if options != "@city" or t.chance(0.8) else invented(t.rng)
        return a(x) if options == "@job" else x
    return t.rng.choice(options.split("|"))


def third(base):
    verb, _, rest = base.partition(" ")
    verb = {"have": "has", "go": "goes"}.get(verb, verb[:-1] + "ies" if verb.endswith("y") and verb[-2] not in "aeiou" else verb + ("es" if verb.endswith(("s", "sh", "ch", "x", "o")) else "s"))
    return verb + (" " + rest if rest else "")


def event(t, who=None):
    """Somebody did something, or is about to: where and when are told half of the time."""
    verb, after, things, places, tone = t.rng.choice(EVENTS)
    base, past, ing = verb.split()
    who = who or "I" if who or t.chance(0.35) and tone != "bad" and base != "bite" else person(t)
    if base == "bite":
        who = "my " + t.pick("dog", "cat", "parrot", "hamster", "horse", "goat", "rabbit")
    o = thing(t, things) if things != "-" else None
    whom = "me" if who != "I" and t.chance(0.6) else person(t)
    while whom == who:
        whom = person(t)
    if who == "I" and o:
        o = o.replace("my ", "the ") if t.chance(0.5) else o
    where = t.rng.choice(places.split("|")) if places != "-" and t.chance(0.4) else None
    later = t.chance(0.4) and tone != "bad"
    when = t.rng.choice(NEXT_TIMES if later else PAST_TIMES) if t.chance(0.55) else None
    if where and when and ("lunch" in where and "lunch" in when or "night" in where and when != "last night"):
        where = None
    company = person(t) if "{p}" not in after and tone == "good" or base in ("go", "drive", "walk", "talk", "eat") else None
    company = f"{company} and {t.pick('me' if who != 'I' else person(t), person(t))}" if company and t.chance(0.15) else company
    company = company if t.chance(0.35) and company != who else None
    i = who == "I"
    if later:
        k = t.rng.randrange(4)
        finite, ask, rest_verb = (
            (f"{'am' if i else 'is'} {ing}", "am" if i else "is", ing), ("will " + base, "will", base),
            (f"{'am' if i else 'is'} going to {base}", "am" if i else "is", "going to " + base),
            ("want to " + base if i else "wants to " + base, "do" if i else "does", "want to " + base))[k]
    else:
        finite, ask, rest_verb = past, "did", base
    rest = after.format(o=o, p=whom)
    full = " ".join(x for x in (who, finite, rest, where, company and f"with {company}") if x)
    said = full if not when else f"{when} {full}" if t.chance(0.2) else f"{full} {when}"
    told = first_up(turned(full))
    asks = []
    if not i:
        asks.append(([f"who {finite} {rest}", f"who {'was it that ' if not later else ''}{finite} {rest}", f"and who {finite} {rest}"], told, turned(who)))
    if o and "{o}" in after:
        left = after.replace(" {o}", "").replace("{o}", "").format(p=whom).strip()
        what = "where" if after == "to {o}" else "what"
        asks.append(([x.rstrip() for x in (f"{what} {ask} {who} {rest_verb} {'' if what == 'where' else left}", f"and {what} {ask} {who} {rest_verb} {'' if what == 'where' else left}")], told, turned(o)))
    if "{p}" in after and whom != "me" and base not in ("give", "send", "show", "teach", "lend", "bring", "tell", "invite"):
        asks.append(([f"who {ask} {who} {rest_verb}{' ' + after.split(' ')[0] if after.split(' ')[0] != '{p}' else ''}"], told, turned(whom)))
    short_of = rest if t.chance(0.6) or not o else after.format(o=t.pick("it", "that"), p=whom) if o and base not in ("go",) and "to {o}" not in after else rest
    if company:
        asks += [([f"who {ask} {who} {rest_verb} {short_of} with", f"with whom {ask} {who} {rest_verb} {short_of}", "and who with", "who with", "with whom"], told, turned(company))] * 2
    if where:
        asks.append(([f"where {ask} {who} {rest_verb} {short_of}", f"and where {ask} {who} {rest_verb} {short_of}", "where was that"] if not later else [f"where {ask} {who} {rest_verb} {short_of}"], told, where))
    if when:
        asks.append(([f"when {ask} {who} {rest_verb} {short_of}", f"and when {ask} {who} {rest_verb} {short_of}", "when was that" if not later else "when is that", "when again"], f"{told} {when}", when))
    if o and t.chance(0.5):
        other = thing(t, things)
        right = t.chance(0.5) or other == o
        asks.append(([f"{ask} {who} {rest_verb} {rest if right else after.format(o=other, p=whom)}"], f"{'Yes' if right else 'No'}, {turned(full)}", "yes" if right else "no"))
    asks.append(([f"what did I tell you about {who}" if not i else "what did I just tell you", f"what do you know about {who}" if not i else "what have I told you"], f"You told me that {turned(full)}", None))
    return Fact(said, tone, turned(who), asks, later)


def habit(t, who=None):
    """What somebody likes, has, plays, works as; of one or of two, with the same verb."""
    base, after, things, tone = t.rng.choice(HABITS)
    people = [who or ("I" if t.chance(0.5) else person(t))]
    if not who and t.chance(0.45):
        other = person(t)
        if other not in people:
            people.append(other)
    got = []
    while len(got) < len(people):
        o = thing(t, things)
        if o not in got:
            got.append(o)
    rows = [(who, base if who == "I" else third(base), after.format(o=o), o) for who, o in zip(people, got)]
    short = len(rows) == 2 and t.chance(0.3) and "I" not in people
    said = t.pick(" and ", ", and ", " but ", ", ").join(f"{who} {verb} {rest}" if not short or n == 0 else f"{who} {rest}" for n, (who, verb, rest, _) in enumerate(rows))
    prep, asks = after.replace("{o}", "").strip(), []
    for who, verb, rest, o in rows:
        told, do = first_up(turned(f"{who} {verb} {rest}")), "do" if who == "I" else "does"
        if base == "live":
            questions = [f"where {do} {who} live", f"in which city {do} {who} live", f"and where {do} {who} live", f"which city {do} {who} live in"]
        elif base == "work":
            questions = [f"where {do} {who} work", f"and where {do} {who} work"] if prep == "in" else [f"what {do} {who} work as", f"what is {'my' if who == 'I' else who + chr(39) + 's'} job", f"what {do} {who} do for a living"]
        elif base in ("get up", "sleep"):
            questions = [f"{'when' if base == 'get up' else 'where'} {do} {who} {base}"]
        else:
            questions = [f"what {do} {who} {base}", f"and what {do} {who} {base}", f"what was it that {who} {verb}"]
        asks.append((questions, told, turned(o)))
        if who != "I":
            asks.append(([f"who {verb} {rest}", f"and who {verb} {rest}"], told, turned(who)))
        if t.chance(0.25):
            other = o if t.chance(0.4) else thing(t, things)
            one = base in ("live", "work", "get up", "sleep")  # who likes soup may like cake too
            full = turned(f"{who} {verb} {rest}")
            asks.append(([f"{do} {who} {base} {after.format(o=other)}"], f"Yes, {full}" if other == o else f"No, {full}" if one else f"I only know that {full}", "yes" if other == o else "no" if one else None))
    return Fact(said, "nice" if tone == "good" else tone, turned(people[-1]), asks)


def tastes(t):
    """What one likes and what one does not."""
    who = "I" if t.chance(0.6) else person(t)
    i, (x, y) = who == "I", t.rng.sample(FOODS if t.chance(0.6) else HOBBIES if t.chance(0.6) else "mushrooms|olives|dogs|winter|loud music|rain|mornings|coffee|cheese|maths|fish|crowds|spinach|football|horror films|sweets|the sea|tomatoes".split("|"), 2)
    do, like, love, hate = ("do", "like", "love", "hate") if i else ("does", "likes", "loves", "hates")
    liked, verb = t.pick((f"{who} {like} {x}", like), (f"{who} {love} {x}", love), (f"{'my' if i else who + chr(39) + 's'} favourite is {x}", like), (f"{who} really {like} {x}", like))
    him = "I" if i else "she" if who in SHE else "he" if who in HE else who
    not_liked = t.pick(f"{him} {do} not like {y}", f"{him} {do}n't like {y}", f"not {y}", f"{him} {hate} {y}", f"{him} can't stand {y}")
    said = f"{liked}{t.pick(' but ', ' and ', ', but ')}{not_liked}"
    yours, does = turned(who), "do" if i else "does"
    good, bad = first_up(f"{yours} {'like' if i else 'likes'} {x}"), first_up(f"{yours} {does} not like {y}")
    asks = [([f"what {do} {who} like", f"and what {do} {who} like", f"what {do} {who} {'love' if t.chance(0.5) else 'like'}", f"which one {do} {who} like"], good, x),
            ([f"what {do}n't {who} like", f"and what {do} {who} not like", f"what {do} {who} not like", f"what {do} {who} hate", f"and what {do}nt {who} like"], bad, y),
            ([f"{do} {who} like {x}"], f"Yes, {good[0].lower() + good[1:] if i or who.startswith('my') else good}", "yes"), ([f"{do} {who} like {y}"], f"No, {bad[0].lower() + bad[1:] if i or who.startswith('my') else bad}", "no")]
    fact = Fact(said, "plain", yours, asks)
    fact.echo = f"{good[0].lower() + good[1:] if i or who.startswith('my') else good} but not {y}"
    return fact


ANIMAL_KINDS = ("dogs", "cats", "rabbits", "horses", "parrots", "goats", "hamsters", "ponies")


def group(t):
    """Several of a kind with names, and what each of them is like."""
    kind = t.rng.choice(list(KINDS))
    one = {"ponies": "pony"}.get(kind, kind[:-1])
    n = t.pick(2, 2, 2, 3)
    names = []
    while len(names) < n:
        x = t.rng.choice(PETS) if kind in ANIMAL_KINDS and t.chance(0.5) else named(t, kind)
        if x not in names:
            names.append(x)
    i = t.rng.randrange(2)
    of_people = ("black", "brown", "fat")  # with what excludes them: only of animals
    adjectives = t.rng.choice([x for x in PAIRS if not (x.split()[0] in of_people if kind not in ANIMAL_KINDS else "hair" in x or "hand" in x)]).split()[::t.pick(1, -1)]
    said = t.pick("I have {n} {k}, {w}", "my {k} are called {w}", "I have {n} {k} called {w}", "we have {n} {k}: {w}", "the names of my {k} are {w}", "my {n} {k} are {w}").format(
        n=t.pick(NUMBER[n], n), k=kind, w=joined(names))
    called, count = f"Your {kind} are called {joined(names)}", f"You have {NUMBER[n]} {kind}"
    asks = [([f"how many {kind} do I have", f"and how many {kind} do I have", f"number of my {kind}"], count, NUMBER[n]),
            ([f"what are my {kind} called", f"what are the names of my {kind}", f"how are my {kind} called", f"names of my {kind}", f"what are they called"], called, joined(names))]
    facts = [Fact(said, "nice", names[0], asks)]
    facts[0].echo = f"your {kind} are called {joined(names)}"
    if n == 2 and t.chance(0.8):
        (x, y), (p, q) = (names if i == 0 else names[::-1]), adjectives
        both = t.chance(0.45)
        said = t.pick("{x} is {p} and {y} is {q}", "{x} is {p}, {y} is {q}", "{x} is {p} and {y} {q}", "{x} is the {p} one and {y} the {q} one", "the {p} one is {x} and the {q} one is {y}") if both else t.pick(
            "{x} is the {p} one", "the {p} one is {x}", "{x} is {p}", "{x} is the {p} one, {y} is not")
        told = [(x, p, f"{x} is the {p} one")] + ([(y, q, f"{y} is the {q} one")] if both else [])
        asks = []
        for name, adjective, full in told:
            asks += [([f"which one is the {adjective} {one}", f"which one is {adjective}", f"who is the {adjective} one", f"which {one} is {adjective}", f"and which one is the {adjective} one", f"which of them is {adjective}", f"what is the {adjective} {one} called", f"name of the {adjective} {one}"], full, name)] * 2
            asks.append(([f"is {name} {adjective}", f"is {name} the {adjective} one"], f"Yes, {full}", "yes"))
        fact = Fact(said.format(x=x, y=y, p=p, q=q), "plain", x, asks)
        fact.echo = ", and ".join(full for _, _, full in told)
        facts.append(fact)
    return facts


def lying(t):
    """Where things are."""
    things, spots = t.rng.sample(LYING, 2), t.rng.sample(SPOTS, 2)
    two = t.chance(0.5)
    rows = list(zip(things, spots))[:2 if two else 1]
    be = lambda x: "are" if x.endswith("s") and not x.endswith("ss") else "is"
    form = t.pick("{x} {b} {s}", "I put {x} {s}", "I left {x} {s}", "{x} {b} {s}")
    said = t.pick(" and ", ", ", " and ").join(form.format(x=x, b=be(x), s=s) if n == 0 or form[0] == "{" or t.chance(0.4) else f"{x} {s}" for n, (x, s) in enumerate(rows))
    asks = []
    for x, s in rows:
        full = first_up(turned(f"{x} {be(x)} {s}"))
        asks += [([f"where {be(x)} {x}", f"where did I put {x}", f"where did I leave {x}", f"do you know where {x} {be(x)}", f"I cannot find {x}, where did I leave {'them' if be(x) == 'are' else 'it'}"], full, turned(s)),
                 ([f"what is {s}", f"what did I put {s}"], full, turned(x))]
    return Fact(said, "plain", turned(things[0]), asks)


def appointment(t):
    """What is when, at what time; sometimes it is moved, sometimes there is another day with something else."""
    days = t.rng.sample([w for w in NEXT_TIMES if "'" not in w and "lunch" not in w] + "on Tuesday|on Wednesday|on Thursday|on Sunday".split("|"), 3)
    x, day, hour = t.rng.choice(APPOINTMENTS).format(S=person(t)), days[0], t.rng.choice(HOURS) if t.chance(0.5) else None
    my = "my " + re.sub(r"^(a|an) ", "", x)
    said = t.pick(f"I have {x} {day}", f"{day} I have {x}", f"there is {x} {day}", f"{my} is {day}") + (f" {hour}" if hour else "")
    facts, other = [], None
    if t.chance(0.35):
        other = t.pick(*[f"visit {person(t)}", "go to the zoo", "clean the house", "have a day off", "play football", "go swimming", "see a film", "bake a cake", f"meet {person(t)}", "go shopping", "help in the garden", "work late"])
        said += t.pick(" and ", ", ", ", and ") + f"{days[1]} I {other}"
    facts.append(Fact(said, "plain", turned(my), [], True))
    facts[0].echo = f"you have {turned(x)} {day}{' ' + hour if hour else ''}" + (f" and {days[1]} you {turned(other)}" if other else "")
    if t.chance(0.3):
        new = t.pick(days[2], days[2], t.rng.choice([h for h in HOURS if h != hour]))
        moved = new == days[2]
        to = re.sub(r"^(on|in|at) ", "", new)
        said = t.pick(f"they moved it to {to}", f"it was moved to {to}", f"oh, it is {new} now", f"no wait, it is {new}", f"I moved {my} to {to}", f"actually it is {new}", f"change it to {to}")
        if moved:
            day, same = new, bool(hour) and t.chance(0.5)
            said += ", same time" if same else ""
            hour = hour if same else None
        else:
            hour = new
        facts.append(Fact(said, "plain", turned(my), [], True))
        facts[1].echo = f"{turned(my)} is {day}{' ' + hour if hour else ''}"
    when = f"{day} {hour}" if hour else day
    full = f"You have {turned(x)} {when}"
    asks = [([f"when is {my}", f"when do I have {x}", f"and when is {my}", "so when is it now" if len(facts) > 1 else f"when was {my} again", "when is it now" if len(facts) > 1 else f"when is {my}"], full, when)] * 2
    asks.append(([f"what do I have {day}", f"what is {day}", f"what did I plan {day}"], full, turned(x)))
    if hour:
        asks.append(([f"at what time is {my}", f"what time is {my}", f"at what time do I have {x}", "and at what time"], full, hour))
    if other:
        asks.append(([f"what do I do {days[1]}", f"and what do I do {days[1]}", f"what did I plan {days[1]}", f"what is {days[1]}"], first_up(f"{days[1]} you {turned(other)}"), turned(other)))
        asks.append(([f"am I free {day}"], f"You have {turned(x)} {day}", "no"))
        asks.append(([f"am I busy {day}"], f"You have {turned(x)} {day}", "yes"))
    free = next(d for d in DAYS if d not in " ".join([day, *days]))
    if t.chance(0.2) and len(facts) == 1:
        asks.append(([f"am I free on {free}", f"and am I free on {free}", f"what do I do on {free}"], f"You have told me nothing about {free}", None))
    facts[-1].asks = asks
    return facts


def feeling(t):
    word, good, reasons = t.rng.choice(FEELINGS)
    reason = t.rng.choice(reasons).format(S=person(t), city=t.rng.choice(CITIES))
    said = t.pick(f"I am {word} because {reason}", f"I'm so {word}, {reason}", f"{reason}, so I am {word}", f"im {word} because {reason}", f"I feel {word} because {reason}")
    because = f"Because {turned(reason)}"
    asks = [([f"why am I {word}", f"why am i so {word}", f"why do I feel {word}", f"and why am I {word}", "why did I say I feel that way"], because, None),
            (["how do I feel", "how am I feeling", "what did I say how I feel", "how do I feel today"], f"You are {word} because {turned(reason)}", word)]
    fact = Fact(said, "good" if good else "bad", "it", asks)
    fact.echo = f"you are {word} because {turned(reason)}"
    return fact


def age(t, who):
    """How old somebody may be."""
    kin = who.split(" ")[-1] if who.startswith("my ") and who.split(" ")[-1] in RELATIONS else who.split(" ")[1] if who.startswith("my ") else ""
    if kin.startswith("grand"):
        return t.rng.randint(50, 99)
    if kin in ("mother", "father", "mom", "dad", "aunt", "uncle", "teacher", "boss", "wife", "husband", "colleague", "doctor", "coach", "landlord"):
        return t.rng.randint(25, 80)
    return t.rng.randint(2, 94) if kin in ("", "neighbour") else t.rng.randint(2, 40)


def ages(t):
    """How old one is or will be, how much something costs, how many there are."""
    k = t.rng.randrange(6)
    if k > 3:
        x, y = person(t), "I" if t.chance(0.35) else person(t)
        while y == x:
            y = person(t)
        m = n = 0
        while m == n:
            m, n = age(t, x), age(t, y)
        be = lambda z: "am" if z == "I" else "is"
        said = t.pick(f"{x} {be(x)} {m} and {y} {be(y)} {n}", f"{x} {be(x)} {m} years old, {y} {be(y)} {n}", f"{y} {be(y)} {n} and {x} {be(x)} {m}")
        old, young = ((x, m), (y, n)) if m > n else ((y, n), (x, m))
        asks = [([f"how old {be(z)} {z}", f"and how old {be(z)} {z}"], first_up(turned(f"{z} {be(z)} {k}")), str(k)) for z, k in ((x, m), (y, n))]
        asks += [(["who is older", "which of us is older" if y == "I" else "which of them is older", "and who is older", "who is the older one"], first_up(turned(f"{old[0]} {be(old[0])} older: {old[1]} is more than {young[1]}")), turned(old[0]))] * 2
        asks += [(["who is younger", "and who is younger", "who is the younger one"], first_up(turned(f"{young[0]} {be(young[0])} younger: {young[1]} is less than {old[1]}")), turned(young[0])),
                 (["by how many years", "how many years are between us" if y == "I" else "how many years are between them", "what is the difference"], f"{old[1]} - {young[1]} = {old[1] - young[1]} years", str(old[1] - young[1]))]
        return Fact(said, "plain", turned(x), asks)
    if k == 0:
        who = person(t)
        n = age(t, who)
        form = t.rng.randrange(3)
        when = t.rng.choice(NEXT_TIMES[:4] + NEXT_TIMES[6:12])
        said = (f"{who} is {n} years old", f"{who} turns {n} {when}", f"it is {who}'s birthday {when}, {he_or_she(t, who)} turns {n}")[form]
        full = first_up(turned(f"{who} is {n} years old" if form == 0 else f"{who} turns {n}"))
        if form == 2 and t.chance(0.5):
            said = f"{t.pick('I travel to', 'I go to', 'I fly to')} {t.rng.choice(CITIES)} {when}, it is for {who}'s birthday, {he_or_she(t, who)} turns {n}"
        be = "is" if form == 0 else t.pick("will", "will")
        asks = [([f"how old {be} {who}{' be' if be == 'will' else ''}", f"and how old {be} {who}{' be' if be == 'will' else ''}", f"how old does {who} get" if form else f"what is {who}'s age"], full, str(n)), ([f"who {'is' if form == 0 else 'turns'} {n}"], full, turned(who))]
        if form:
            asks.append(([f"when is {who}'s birthday", f"when does {who} turn {n}"], f"{full} {when}", when))
        return Fact(said, "good" if form else "plain", turned(who), asks, form > 0)
    if k == 1:
        x, (c, d) = t.rng.choice(WARES), t.rng.sample(COLOURS, 2)
        m, n = t.rng.sample(range(2, 100), 2)
        said = t.pick(f"the {c} {x} costs {m} euros and the {d} one {n}", f"the {c} {x} is {m} euros, the {d} {x} is {n} euros", f"there is a {c} {x} for {m} euros and a {d} one for {n} euros")
        cheap, dear = ((c, m), (d, n)) if m < n else ((d, n), (c, m))
        asks = [([f"how much is the {y} {x}", f"how much does the {y} one cost", f"what does the {y} {x} cost", f"price of the {y} one"], f"The {y} {x} costs {p} euros", str(p)) for y, p in ((c, m), (d, n))]
        asks += [(["which one is cheaper", f"which {x} is cheaper", f"which of the two is cheaper", "and the cheaper one?"], f"The {cheap[0]} {x} is cheaper", cheap[0]), (["which one is more expensive", f"which {x} costs more"], f"The {dear[0]} {x} costs more", dear[0])]
        return Fact(said, "plain", f"the {c} {x}", asks)
    if k == 2:
        who, n = "my" if t.chance(0.5) else person(t) + "'s", f"{t.rng.randint(1, 28)} {t.rng.choice(MONTHS)}"
        x = t.pick("birthday", "party", "wedding", "exam")
        full = first_up(turned(f"{who} {x} is on {n}"))
        return Fact(f"{who} {x} is on {n}", "plain", turned(f"{who} {x}"), [([f"when is {who} {x}", f"and when is {who} {x}", f"on which day is {who} {x}", f"what date is {who} {x}"], full, n)])
    m, n = t.rng.sample(range(2, 30), 2)
    x, y = t.rng.sample("apples|eggs|books|chairs|pens|plates|stamps|tickets|coins|plants|candles|balloons|bottles|cups".split("|"), 2)
    return Fact(t.pick(f"I have {m} {x} and {n} {y}", f"there are {m} {x} and {n} {y} in the box"), "plain", f"{m} {x}", [([f"how many {z} do I have", f"how many {z} are there", f"and how many {z}"], f"There are {k} {z}", str(k)) for z, k in ((x, m), (y, n))])


def company(t):
    """Several who do something together; perhaps one of them cannot come."""
    names = []
    while len(names) < t.pick(1, 2, 2, 3):
        x = any_name(t.rng) if t.chance(0.75) else "my " + t.rng.choice(RELATIONS)
        if x not in names:
            names.append(x)
    what = t.pick("go camping", "go to the beach", "see a film", "have a picnic", "play football", "go hiking", "bake a cake", "go to a concert", "visit the zoo", "go swimming", "have dinner", "play cards", "go skiing", "rent a boat")
    when = t.pick("", " " + t.rng.choice(NEXT_TIMES), " " + t.rng.choice(NEXT_TIMES))
    group = joined([*names, "I"]) if t.chance(0.6) else joined(["me", *names])
    said = t.pick(f"{group} want to {what}{when}", f"{group} {what}{when}", f"we {what}{when}: {', '.join(['me', *names])}", f"{group} will {what}{when}") if not group.startswith("me") else f"we want to {what}{when}, {group}"
    yours = [turned(x) for x in names]
    number = lambda rest: NUMBER[len(rest) + 1]
    told = f"You and {joined(yours)} {what}{when}" if len(yours) == 1 else f"You, {joined(yours)} {what}{when}"
    facts = [Fact(said, "good", yours[0], [], True)]
    facts[0].echo = told[0].lower() + told[1:]
    left = list(yours)
    if len(names) > 1 and t.chance(0.45):
        i = t.rng.randrange(len(names))
        left.pop(i)
        facts.append(Fact(t.pick(f"{names[i]} can't come", f"{names[i]} cannot come", f"{names[i]} is ill and stays at home", f"without {names[i]}, {names[i]} has to work", f"{names[i]} does not come with us"), "plain", yours[i], [], True))
        facts[1].echo = f"then you and {joined(left)} {what}" if len(left) == 1 else f"then you, {joined(left)} {what}"
    who = f"you and {joined(left)}" if len(left) == 1 else f"you, {joined(left)}"
    asks = [(["how many people is that", "how many are we", "how many people are we", "how many of us are there", "so how many people go"], f"{number(left)}: {who}", number(left)),
            (["who is coming", "who goes now" if len(facts) > 1 else "who goes", "who is coming along", "who comes with me", "and who is it"], who, who), ([f"what do we do{when}", "what did we plan", "what do we want to do"], f"You {what}{when}", what)]
    if when:
        asks.append((["when is it", "when do we go", f"when do we {what}"], f"You {what}{when}", when.strip()))
    facts[-1].asks = asks
    return facts


ADVICE = ("what should I do now|what should I do|what should I do about it|what would you do|how should I celebrate|what should I bring|what should we bring|what should I cook|what should I watch tonight|can you recommend something|"
          "what is a nice present for {who}|what should I give {who}|how can I cheer up {who}|what should I say to {who}|do you think {who} is right|do you think it was on purpose|should I call {who}|what should I wear|"
          "what can I see there|what should we do together|is it a good idea|what do you recommend|any tips|do you have a tip for me|what would {who} like|how can I make it better|why would {who} do that").split("|")


def advice(t, who):
    """A question for advice, which a small model cannot give."""
    q = t.rng.choice(ADVICE).format(who=who)
    return q, refusals.refusal(t, t.pick("I cannot give good advice on that.", "I cannot give advice on that.", "I am not able to give good advice.", "I am sorry, I cannot tell."))


MAKERS = [*[event] * 9, company, company, *[habit] * 3, *[tastes] * 2, *[group] * 3, *[lying] * 2, appointment, appointment, feeling, feeling, ages, ages]


def end(t, text, mark):
    """The user's sentence, more or less carefully written."""
    r = t.rng.random()
    text = text.lower() if r < 0.12 else first_up(text) if r < 0.7 else text
    if t.chance(0.1):
        text = text.replace("'", "").replace("I am ", "im ", 1)
    return text + mark if t.chance(0.65) else text


def heard(t, facts):
    """What is answered to something told."""
    f = facts[-1]
    r, echo = t.rng.random(), joined([x.echo for x in facts])
    bad = "bad" in [x.tone for x in facts]
    if r < (0.15 if bad else 0.4):
        text = (t.pick("I see, {}.", "Oh, {}.", "Oh, so {}.", "I see, {}. I am sorry.") if bad else t.pick("I see, {}.", "All right, {}.", "So {}.", "Good to know: {}.", "I see, so {}.", "OK, {}.")).format(echo) if len(echo) < 120 else "I see. I will remember that." if not bad else "I see. I am sorry to hear that."
    elif bad:
        text = t.pick("I am sorry to hear that.", "Oh no, I am sorry to hear that.", "That is not nice. I am sorry.", "I am sorry. I hope it gets better soon.", "Oh no! I hope it will be all right.", "That sounds hard. I am sorry.")
    elif f.coming and r < 0.8:
        text = t.pick("I hope it goes well!", "I will remember it. Have a good time!", "That is good to know. Have fun!", "All right. I hope it is a good day!") if f.tone == "good" else t.pick(
            "I hope it goes well!", "All right, I will remember it.", "I will remember it. I hope it goes well!", "I see, I will remember that.")
    elif f.tone == "nice":
        text = t.pick("How nice!", "That is nice to hear!", "That sounds nice!", "Good to know.", "I see, how nice!", "Good to know. I will remember it.")
    elif f.tone == "good":
        text = t.pick("How nice!", "That is nice to hear!", "That is good news!", "That sounds nice!", "That is lovely!", "Good to hear!", "Wonderful!", "How nice! I am glad to hear it.")
    else:
        text = t.pick("I see.", "All right, I will remember that.", "Good to know.", "I see, thank you for telling me.", "All right.", "I will keep that in mind.", "OK, I have got that.")
    return Answer(first_up(text), "I see", "text", exact=True)


def asked(t, ask, alone):
    questions, full, short = ask
    q = t.rng.choice([q for q in questions if alone or q not in BARE])
    q = t.pick(q, q, q, q, q, q + " again", "tell me, " + q, "do you remember " + q if t.chance(0.3) else q, "so " + q, "ok, " + q, "wait, " + q, "now, " + q)
    return (end(t, q.strip(), "?"), Answer(first_up(full) + ".", short, "text", exact=True))


def told(t):
    """One to three things in one to three messages, then questions, some of them later in the conversation."""
    facts = []
    while len(facts) < t.pick(1, 1, 2, 2, 3):
        made = t.rng.choice(MAKERS)(t)
        facts += made if isinstance(made, list) else [made]
        who = next((x for x in sorted(SHE | HE) if facts[-1].said.startswith(x + " ")), None) if t.chance(0.6) else None
        if who and facts[-1].about == turned(who):  # and more of the same person
            more = t.pick(event, habit)(t, who)
            more.said = more.said.replace(who, "she" if who in SHE else "he", 1)
            facts.append(more)
    out, at = [], 0
    while at < len(facts):
        n = 2 if len(facts) - at > 1 and facts[at].asks and t.chance(0.25) else 1  # what is changed at once is told in two messages
        part = facts[at:at + n]
        out.append((end(t, t.pick(" and ", ". ", ", ", ", and ").join(x.said for x in part), t.pick(".", ".", ".", "!")), heard(t, part)))
        at += n
    asks = [ask for f in facts for ask in f.asks if len(facts) == 1 or any(q not in BARE for q in ask[0])]
    if len(facts) > 1 and facts[0].about != facts[-1].about and t.chance(0.3):
        first = t.chance(0.6)
        asks.append(([f"who or what did I tell you about {'first' if first else 'last'}", f"what did I tell you {'first' if first else 'last'}", f"what was the {'first' if first else 'last'} thing I told you"],
            f"You told me that {facts[0 if first else -1].echo}", None))
    t.rng.shuffle(asks)
    now = t.pick(1, 1, 2, 2, 3, 4)
    out += [asked(t, ask, len(facts) == 1) for ask in asks[:now]]
    for ask in asks[now:now + t.pick(0, 1, 1, 2)]:
        if any(q not in BARE for q in ask[0]):
            t.later.append(lambda ask=ask: asked(t, ask, False))
    if t.chance(0.12):
        q, answer = advice(t, next((x for x in (turned_back(f.about) for f in facts) if x.startswith("my ") and x[3:].split(" ")[0] in RELATIONS), "my friend"))
        out.append((end(t, q, "?"), answer))
    if facts[-1].about.startswith("your ") and t.chance(0.1):
        out.append((end(t, t.pick("who are we talking about", "who are we talking about again", "who did I just tell you about", "who was that about"), "?"), Answer(f"We are talking about {facts[-1].about}.", facts[-1].about, exact=True)))
    if t.chance(0.08):
        kind = t.pick("phone number", "shoe size", "favourite song", "address", "dog's name", "eye colour", "grandmother's name", "middle name", "teacher's name", "favourite book")
        out.append((end(t, t.pick("what is my {}", "and what's my {}", "do you know my {}").format(kind), "?"), Answer(t.pick(*NOT_TOLD), "unknown", "text")))
    return out
