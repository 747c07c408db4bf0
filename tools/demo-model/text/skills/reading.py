"""Answers out of a text that the user or the system prompt gives: the only questions about strangers that can be answered."""
from text.conversation import Answer
from text.data.words import ANIMALS, BOYS, CITIES, COLOURS, FOODS, GIRLS, HOBBIES, JOBS, PETS, THINGS, any_name, invented
from text.english import a, first_up, joined

PLACES = "on the table|under the bed|in the kitchen|in the garden|behind the door|on the shelf|in the car|in the blue box|at the station|in the cellar|next to the window|in the drawer".split(
    "|")


def _facts(t):
    """[(sentence, [(question, full answer, short answer)])] about one person and a few things."""
    n = any_name(t.rng)
    boy = n in BOYS or n not in GIRLS and t.chance(0.5)
    he, his = ("He", "his") if boy else ("She", "her")
    age, city, job, pet, petname, food, hobby = (t.rng.randint(6, 90), t.rng.choice(CITIES) if t.chance(0.7) else invented(t.rng), t.rng.choice(JOBS),
                                                 t.rng.choice(ANIMALS[:18]), t.rng.choice(PETS) if t.chance(0.6) else invented(t.rng),
                                                 t.rng.choice(FOODS), t.rng.choice(HOBBIES))
    rows = [(f"{n} is {age} years old.", [(f"How old is {n}?", f"{n} is {age} years old.", str(age))]),
            (f"{he} lives in {city}.", [(f"Where does {n} live?", f"{n} lives in {city}.", city), (f"Who lives in {city}?", f"{n} lives in {city}.",
            n)]),
            (f"{he} is {a(job)}.", [(f"What is {n}'s job?", f"{n} is {a(job)}.", job), (f"What does {n} do?", f"{n} is {a(job)}.", job)]),
            (f"{he} has {a(pet)} named {petname}.", [(f"What is {n}'s {pet} called?", f"{n}'s {pet} is called {petname}.", petname), (
            f"What pet does {n} have?", f"{n} has {a(pet)}.", pet), (f"Who is {petname}?", f"{petname} is {n}'s {pet}.", None)]),
            (f"{he} likes {food}.", [(f"What does {n} like?", f"{n} likes {food}.", food)]),
            (f"{first_up(his)} hobby is {hobby}.", [(f"What is {n}'s hobby?", f"{n}'s hobby is {hobby}.", hobby)])]
    rest = t.rng.sample(rows[1:], t.rng.randint(1, 4))
    out = [rows[0]] + rest
    for _ in range(t.rng.randint(0, 2)):
        x, c, p, k = t.rng.choice(THINGS), t.rng.choice(COLOURS), t.rng.choice(PLACES), t.rng.randint(2, 30)
        out.append(t.pick((f"The {x} is {c}.", [(f"What colour is the {x}?", f"The {x} is {c}.", c)]), (f"The {x} is {p}.", [(f"Where is the {x}?",
                          f"The {x} is {p}.", p)]),
                          (f"{n} bought {k} {x}s.", [(f"How many {x}s did {n} buy?", f"{n} bought {k} {x}s.", str(k))])))
    return n, out, [r for r in rows if r not in out]


def passage(t):
    """A short text, then one to three questions on it; one may ask for what is not in it."""
    n, facts, missing = _facts(t)
    text = " ".join(s for s, _ in facts)
    asks = [t.rng.choice(qs) for _, qs in t.rng.sample(facts, min(len(facts), t.rng.randint(1, 3)))]
    asks = [(q, Answer(full, short, exact=True)) for q, full, short in asks]
    if missing and t.chance(0.25):
        q = t.rng.choice(t.rng.choice(missing)[1])[0]
        if not q.startswith(("What is " + n + "'s " + "x",)) and "Who " not in q:
            asks.append((q, Answer("The text does not say that.", "Unknown", "refuse", exact=True)))
    q, first = asks[0]
    lead = t.pick("{x} {q}", "{x}\n\n{q}", "Text: {x}\nQuestion: {q}", "Read this: {x} {q}", "{q}\n\n{x}", "Here is a text: \"{x}\" {q}",
        "Answer with the text. {x} {q}", "Context: {x}\n\n{q}").format(x=text, q=q)
    return [(lead, first)] + asks[1:]


def shop(t):
    """(system prompt, questions): an assistant of a made-up shop, hotel, museum."""
    kind = t.pick("café", "shop", "hotel", "museum", "library", "bakery", "restaurant", "pharmacy", "school", "gym", "bookshop", "zoo")
    name, open_, close, city, owner = invented(t.rng), t.rng.randint(6, 11), t.rng.randint(16, 23), t.rng.choice(CITIES), any_name(t.rng)
    thing, price, phone = t.pick("coffee", "cake", "ticket", "book", "room", "soup", "lesson"), t.rng.randint(1, 90), t.rng.randint(10000, 99999)
    rows = [(f"It is open from {open_} to {close}.", [("When do you open?", f"We open at {open_}.", str(open_)), ("When do you close?",
                                                     f"We close at {close}.", str(close)), ("What are your opening hours?",
                                                     f"We are open from {open_} to {close}.", f"{open_} to {close}"),
                                                     ("When are you open?", f"We are open from {open_} to {close}.", None)]),
            (f"A {thing} costs {price} euros.", [(f"How much is a {thing}?", f"A {thing} costs {price} euros.", f"{price} euros"), (
            f"What does a {thing} cost?", f"A {thing} costs {price} euros.", f"{price} euros")]),
            (f"It is in {city}.", [("Where are you?", f"We are in {city}.", city), (f"In which city is the {kind}?", f"The {kind} is in {city}.",
            city)]),
            (f"The owner is {owner}.", [("Who is the owner?", f"The owner is {owner}.", owner), (f"Who owns the {kind}?", f"The owner is {owner}.",
            owner)]),
            (f"The phone number is {phone}.", [("What is your phone number?", f"The phone number is {phone}.", str(phone)), ("How can I call you?",
            f"Call {phone}.", str(phone))])]
    rows = t.rng.sample(rows, t.rng.randint(2, 5))
    system = f"You are the assistant of the {kind} {name}. " + " ".join(s for s, _ in rows)
    asks = [(q, Answer(full, short, exact=True)) for q, full, short in (t.rng.choice(qs) for _, qs in t.rng.sample(rows, t.rng.randint(1, len(rows))))]
    if t.chance(0.4):
        asks.insert(0, (t.pick("Hello", "Hi!", "Good morning", "Hi, who are you?", "Who are you?"), Answer(f"Hello! I am the assistant of the "
            f"{kind} {name}. How can I help you?", None, "hello")))
    return system, asks


def who_has(t):
    """Several people and what they have; who has what, who has most."""
    names, things = [], t.rng.choice(THINGS)
    while len(names) < t.rng.randint(2, 4):
        n = any_name(t.rng)
        if n not in names:
            names.append(n)
    k = t.rng.randrange(3)
    if k == 0:
        colours = t.rng.sample(COLOURS, len(names))
        text = joined([f"{n} has {a(c)} {things}" for n, c in zip(names, colours)]) + "."
        i = t.rng.randrange(len(names))
        q, full, short = t.pick((f"Who has the {colours[i]} {things}?", f"{names[i]} has the {colours[i]} {things}.", names[i]), (
            f"What colour is {names[i]}'s {things}?", f"{names[i]}'s {things} is {colours[i]}.", colours[i]))
    elif k == 1:
        counts = t.rng.sample(range(1, 60), len(names))
        text = joined([f"{n} has {c} {things}s" for n, c in zip(names, counts)]) + "."
        most = t.chance(0.5)
        best = names[counts.index(max(counts) if most else min(counts))]
        q, full, short = (f"Who has the {'most' if most else 'fewest'}?", f"{best} has the {'most' if most else 'fewest'}.", best)
    else:
        ages = t.rng.sample(range(5, 90), len(names))
        text = joined([f"{n} is {c}" for n, c in zip(names, ages)]) + "."
        old = t.chance(0.5)
        best = names[ages.index(max(ages) if old else min(ages))]
        q, full, short = (f"Who is the {'oldest' if old else 'youngest'}?", f"{best} is the {'oldest' if old else 'youngest'}.", best)
    return [(f"{text} {q}", Answer(full, short, exact=True))]
