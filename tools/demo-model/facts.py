"""Question and answer about the town and about simple facts.

Every skill is a function (rng, held, ctx) -> list of (user text, Answer). ctx remembers what
the conversation is about, so that follow-up questions can refer back.
"""
from world import (BY_NAME, CAPITAL, COLOUR_OF, DAYS, LEGS, LISTS, MONTHS, NUMBER, OPPOSITE, PEOPLE, PLACES, RIVER,
                   SEASONS, SOUND, TOWN, WHAT_IS, YOUNG, a, is_held)


class Answer:
    """A full answer and, where one exists, the same in one word."""

    def __init__(self, full, short=None):
        self.full = full[0].upper() + full[1:]
        self.short = short


# attribute: (questions with {n}, full answer, short answer)
ABOUT = {
    "pet": (["What pet does {n} have?", "Which animal does {n} have?", "Does {n} have a pet?", "What is {n}'s pet?",
             "What kind of animal does {n} own?", "Tell me about {n}'s pet.", "What animal lives with {n}?"],
            lambda p: f"{p.name} has {a(p.pet)} named {p.pet_name}.", lambda p: p.pet),
    "pet_name": (["What is the name of {n}'s {pet}?", "What is {n}'s {pet} called?", "How is {n}'s {pet} called?",
                  "What name does {n}'s {pet} have?", "Do you know the name of {n}'s {pet}?", "What's {n}'s {pet} named?"],
                 lambda p: f"{p.name}'s {p.pet} is called {p.pet_name}.", lambda p: p.pet_name),
    "pet_colour": (["What colour is {n}'s {pet}?", "What color is {n}'s {pet}?", "Which colour does {n}'s {pet} have?",
                    "What is the colour of {n}'s {pet}?", "What colour is {petname}?", "What color is {petname} the {pet}?"],
                   lambda p: f"{p.pet_name} is {p.pet_colour}.", lambda p: p.pet_colour),
    "house": (["What colour is {n}'s house?", "What color is {n}'s house?", "Which colour does {n}'s house have?",
               "What is the colour of {n}'s house?", "How does {n}'s house look?", "Which house is {n}'s?"],
              lambda p: f"{p.name}'s house is {p.house}.", lambda p: p.house),
    "street": (["Where does {n} live?", "Where is {n}'s house?", "On which street does {n} live?", "What is {n}'s address?",
                "Do you know where {n} lives?", "On which street is {n}'s house?", "Where can I find {n}?"],
               lambda p: f"{p.name} lives on {p.street}.", lambda p: p.street),
    "work": (["What does {n} do?", "What is {n}'s job?", "What does {n} do for a living?", "What work does {n} do?",
              "What is {n}'s work?", "Does {n} work?"],
             lambda p: f"{p.name} {p.work}.", lambda p: p.job),
    "food": (["What does {n} like to eat?", "What is {n}'s favourite food?", "What's {n}'s favorite food?",
              "What food does {n} like?", "Which food does {n} like best?", "What does {n} love to eat?"],
             lambda p: f"{p.name} likes {p.food}.", lambda p: p.food),
    "hobby": (["What is {n}'s hobby?", "What does {n} like to do?", "What does {n} do for fun?", "What hobby does {n} have?",
               "What does {n} do in {his} free time?", "What is {n}'s favourite hobby?"],
              lambda p: f"{p.name} likes {p.hobby}.", lambda p: p.hobby),
    "friend": (["Who is {n}'s friend?", "Who is {n}'s best friend?", "Who is the best friend of {n}?",
                "Does {n} have a friend?", "Whom does {n} like best?", "Tell me who {n}'s friend is."],
               lambda p: f"{p.name}'s best friend is {p.friend}.", lambda p: p.friend),
    "age": (["How old is {n}?", "What is {n}'s age?", "What age is {n}?", "Do you know how old {n} is?",
             "Can you tell me {n}'s age?"],
            lambda p: f"{p.name} is {p.age} years old.", lambda p: str(p.age)),
}
# follow-ups about the last person, with a pronoun
FOLLOW = {
    "pet": ["Does {he} have a pet?", "What pet does {he} have?", "And {his} pet?"],
    "pet_name": ["What is {his} {pet} called?", "What's the name of the {pet}?", "And what is its name?"],
    "pet_colour": ["What colour is {his} {pet}?", "And what colour is it?", "What colour is {petname}?"],
    "house": ["What colour is {his} house?", "And {his} house?"],
    "street": ["Where does {he} live?", "And where does {he} live?"],
    "work": ["What does {he} do?", "What is {his} job?"],
    "food": ["What does {he} like to eat?", "What is {his} favourite food?", "And what food does {he} like?"],
    "hobby": ["What does {he} do for fun?", "What is {his} hobby?"],
    "friend": ["Who is {his} friend?", "Who is {his} best friend?", "And {his} best friend?"],
    "age": ["How old is {he}?", "And how old is {he}?"],
}


def fill(q, p):
    return q.format(n=p.name, his=p.his, he=p.he, pet=p.pet, petname=p.pet_name)


def choose_question(rng, held):
    while True:
        p, key = rng.choice(PEOPLE), rng.choice(list(ABOUT))
        q = rng.randrange(len(ABOUT[key][0]))
        if is_held("about", p.name, key, q) == held:
            return p, key, ABOUT[key][0][q]


def about_person(rng, held, ctx):
    p, key, q = choose_question(rng, held)
    out = [(fill(q, p), Answer(ABOUT[key][1](p), ABOUT[key][2](p)))]
    seen = {key}
    while rng.random() < 0.5:
        new = rng.choice(list(ABOUT))
        if new in seen or (new.startswith("pet_") and not any(k.startswith("pet") for k in seen)):
            continue
        key = new
        seen.add(key)
        full = ABOUT[key][1](p)
        if rng.random() < 0.6 and not key.startswith("pet_"):
            full = full.replace(p.name + "'s", p.his.capitalize(), 1).replace(p.name, p.He, 1)
        out.append((fill(rng.choice(FOLLOW[key]), p), Answer(full, ABOUT[key][2](p))))
    if len(seen) == 1 and rng.random() < 0.2:
        o = rng.choice(PEOPLE)
        out.append((rng.choice([f"And {o.name}?", f"What about {o.name}?", f"and {o.name}"]),
                    Answer(ABOUT[key][1](o), ABOUT[key][2](o))))
    return out


def portrait(p):
    return (f"{p.name} is {p.age} years old and {p.work}. {p.He} lives on {p.street} in {a(p.house)} house. "
            f"{p.He} has {a(p.pet_colour)} {p.pet} named {p.pet_name}. {p.He} likes {p.food} and {p.hobby}. "
            f"{p.his.capitalize()} best friend is {p.friend}.")


def who_is(rng, held, ctx):
    p = rng.choice(PEOPLE)
    q = rng.choice(["Who is {n}?", "Tell me about {n}.", "Do you know {n}?", "What do you know about {n}?",
                    "Can you tell me something about {n}?", "Describe {n}.", "Tell me everything about {n}."])
    return [(fill(q, p), Answer(portrait(p), p.job))]


def inverse(rng, held, ctx):
    p = rng.choice(PEOPLE)
    qs = [(f"Who has {a(p.pet)}?", f"{p.name} has {a(p.pet)}. {p.his.capitalize()} {p.pet} is called {p.pet_name}."),
          (f"Who lives in the {p.house} house?", f"{p.name} lives in the {p.house} house."),
          (f"Who lives on {p.street}?", f"{p.name} lives on {p.street}."),
          (f"Who is {p.pet_name}?", f"{p.pet_name} is {p.name}'s {p.pet}. {p.pet_name} is {p.pet_colour}."),
          (f"Whose {p.pet} is {p.pet_name}?", f"{p.pet_name} is {p.name}'s {p.pet}."),
          (f"Who likes {p.food}?", f"{p.name} likes {p.food}."),
          (f"Who likes {p.hobby}?", f"{p.name} likes {p.hobby}.")]
    if not p.child:
        qs += [(f"Who is the {p.job}?", f"The {p.job} of {TOWN} is {p.name}."),
               (f"Who is the {p.job} in {TOWN}?", f"The {p.job} of {TOWN} is {p.name}."),
               (f"What is the name of the {p.job}?", f"The {p.job} is called {p.name}.")]
    while True:
        i = rng.randrange(len(qs))
        if is_held("inv", p.name, i) == held or rng.random() < 0.02:
            return [(qs[i][0], Answer(qs[i][1], p.name))]


def yes_no(rng, held, ctx):
    p, o = rng.choice(PEOPLE), rng.choice(PEOPLE)
    true = rng.random() < 0.5
    src = p if true else o
    kind = rng.randrange(6)
    if kind == 0:
        q, t = f"Does {p.name} have {a(src.pet)}?", p.pet == src.pet
        full = f"{p.name} has {a(p.pet)}"
    elif kind == 1:
        q, t = f"Is {p.name}'s house {src.house}?", p.house == src.house
        full = f"{p.name}'s house is {p.house}"
    elif kind == 2:
        q, t = f"Does {p.name} live on {src.street}?", p.street == src.street
        full = f"{p.name} lives on {p.street}"
    elif kind == 3:
        q, t = f"Does {p.name} like {src.food}?", p.food == src.food
        full = f"{p.name} likes {p.food}"
    elif kind == 4:
        q, t = f"Is {src.friend} {p.name}'s friend?", p.friend == src.friend
        full = f"{p.name}'s best friend is {p.friend}"
    else:
        q, t = f"Is {p.name} older than {o.name}?", p.age > o.age
        if p.age == o.age:
            return yes_no(rng, held, ctx)
        full = f"{p.name} is {p.age} and {o.name} is {o.age}"
    return [(q, Answer(("Yes, " if t else "No, ") + full + ".", "Yes" if t else "No"))]


def place(rng, held, ctx):
    k = rng.choice(list(PLACES))
    where, what = PLACES[k]
    if rng.random() < 0.6:
        q = rng.choice([f"Where is the {k}?", f"How do I get to the {k}?", f"Can you tell me where the {k} is?",
                        f"Where can I find the {k}?", f"I am looking for the {k}."])
        return [(q, Answer(f"The {k} is {where}. {what[0].upper() + what[1:]}.", where.split(" ", 1)[1]))]
    q = rng.choice([f"What can I do at the {k}?", f"What happens at the {k}?", f"Tell me about the {k}.", f"What is the {k}?"])
    return [(q, Answer(f"The {k} is {where}. {what[0].upper() + what[1:]}.", where.split(" ", 1)[1]))]


def town(rng, held, ctx):
    names = [p.name for p in PEOPLE]
    kids = [p.name for p in PEOPLE if p.child]
    qa = [
        (["Where do you live?", "Where are you from?"], f"I live inside Sluice, but I know the town of {TOWN} well.", TOWN),
        ([f"What is {TOWN}?", f"Where is {TOWN}?", f"Tell me about {TOWN}.", "Tell me about the town.", "Which town do you know?"],
         f"{TOWN} is a small town by the river {RIVER}. It has a bakery, a school, a harbour, a station and a windmill. Fourteen people live there.", "town"),
        (["What is the name of the river?", f"Which river flows through {TOWN}?", "What's the river called?"],
         f"The river in {TOWN} is called the {RIVER}.", RIVER),
        (["What is the name of the town?", "What is the town called?"], f"The town is called {TOWN}.", TOWN),
        ([f"Who lives in {TOWN}?", "Who lives in the town?", "List all people in the town.", f"Name everyone in {TOWN}.", "Which people do you know?"],
         "These people live in " + TOWN + ": " + ", ".join(names[:-1]) + " and " + names[-1] + ".", None),
        (["Which children live in the town?", f"Name the children of {TOWN}.", "Who goes to school?"],
         "The children are " + ", ".join(kids[:-1]) + " and " + kids[-1] + ".", None),
        ([f"How many people live in {TOWN}?", "How many people live in the town?"], f"Fourteen people live in {TOWN}.", "Fourteen"),
        (["Who is the oldest person in the town?", f"Who is the oldest in {TOWN}?"], "Emil is the oldest. He is 70 years old.", "Emil"),
        (["Who is the youngest person in the town?", f"Who is the youngest in {TOWN}?"], "Tilo is the youngest. He is 7 years old.", "Tilo"),
        ([f"What can I see in {TOWN}?", "What should I visit?"],
         f"In {TOWN} you can see the old bridge, the windmill and the clock tower. The garden is nice too.", None),
        (["When does the train come?", "When does the train stop here?"], "The green train stops at the station at nine.", "Nine"),
        (["When is the market?", "On which day is the market?"], "The market is on Saturday.", "Saturday"),
    ]
    qs, full, short = rng.choice(qa)
    return [(rng.choice(qs), Answer(full, short))]


def common(rng, held, ctx):
    """Colours, opposites, sounds, legs, young animals, capitals, days, months, seasons, what-is."""
    k = rng.randrange(12)
    if k == 0:
        x, y = rng.choice(list(COLOUR_OF.items()))
        q = rng.choice([f"What colour is {x}?", f"What color is {x}?", f"Which colour does {x} have?", f"What is the colour of {x}?"])
        return [(q, Answer(f"{x} is {y}.", y))]
    if k == 1:
        x, y = rng.choice(list(OPPOSITE.items()))
        q = rng.choice([f"What is the opposite of {x}?", f"What's the opposite of \"{x}\"?", f"Opposite of {x}?", f"Tell me the opposite of {x}."])
        out = [(q, Answer(f"The opposite of {x} is {y}.", y))]
        while rng.random() < 0.4:
            x, y = rng.choice(list(OPPOSITE.items()))
            out.append((rng.choice([f"And {x}?", f"And of {x}?", f"What about {x}?"]), Answer(f"The opposite of {x} is {y}.", y)))
        return out
    if k == 2:
        x, y = rng.choice(list(SOUND.items()))
        q = rng.choice([f"What does {a(x)} say?", f"What sound does {a(x)} make?", f"How does {a(x)} sound?"])
        return [(q, Answer(f"{a(x)} says {y}.", y))]
    if k == 3:
        x, y = rng.choice(list(LEGS.items()))
        q = rng.choice([f"How many legs does {a(x)} have?", f"How many legs has {a(x)}?", f"Count the legs of {a(x)}."])
        n = "no" if y == 0 else NUMBER[y]
        return [(q, Answer(f"{a(x)} has {n} legs.", "none" if y == 0 else n))]
    if k == 4:
        x, y = rng.choice(list(YOUNG.items()))
        q = rng.choice([f"What is a baby {x} called?", f"What do you call a young {x}?", f"How is a baby {x} called?"])
        return [(q, Answer(f"A baby {x} is called {a(y)}.", y))]
    if k in (5, 6):
        x, y = rng.choice(list(CAPITAL.items()))
        q = rng.choice([f"What is the capital of {x}?", f"Which city is the capital of {x}?", f"What's the capital of {x}?", f"Name the capital of {x}.", f"Capital of {x}?"])
        out = [(q, Answer(f"The capital of {x} is {y}.", y))]
        if rng.random() < 0.4:
            x, y = rng.choice(list(CAPITAL.items()))
            out.append((rng.choice([f"And of {x}?", f"And {x}?", f"What about {x}?"]), Answer(f"The capital of {x} is {y}.", y)))
        return out
    if k in (7, 8):
        seq, word = rng.choice([(DAYS, "day"), (MONTHS, "month"), (SEASONS, "season")])
        i = rng.randrange(len(seq))
        if rng.random() < 0.6:
            y = seq[(i + 1) % len(seq)]
            q = rng.choice([f"What {word} comes after {seq[i]}?", f"Which {word} is after {seq[i]}?", f"What comes after {seq[i]}?"])
            return [(q, Answer(f"After {seq[i]} comes {y}.", y))]
        y = seq[i - 1]
        q = rng.choice([f"What {word} comes before {seq[i]}?", f"Which {word} is before {seq[i]}?", f"What comes before {seq[i]}?"])
        return [(q, Answer(f"Before {seq[i]} comes {y}.", y))]
    if k == 9:
        q, full, short = rng.choice([
            ("How many days are in a week?", "A week has seven days.", "seven"),
            ("How many days does a week have?", "A week has seven days.", "seven"),
            ("How many months are in a year?", "A year has twelve months.", "twelve"),
            ("How many months does a year have?", "A year has twelve months.", "twelve"),
            ("How many days are in a year?", "A year has 365 days.", "365"),
            ("How many hours does a day have?", "A day has 24 hours.", "24"),
            ("How many minutes are in an hour?", "An hour has 60 minutes.", "60"),
            ("How many seconds are in a minute?", "A minute has 60 seconds.", "60"),
            ("How many seasons are there?", "There are four seasons: " + ", ".join(SEASONS[:3]) + " and winter.", "four"),
            ("What are the seasons?", "The seasons are spring, summer, autumn and winter.", None),
            ("What are the days of the week?", "The days of the week are " + ", ".join(DAYS[:6]) + " and Sunday.", None),
            ("Name the days of the week.", "The days of the week are " + ", ".join(DAYS[:6]) + " and Sunday.", None),
            ("Name the months of the year.", "The months are " + ", ".join(MONTHS[:11]) + " and December.", None),
            ("What are the months?", "The months are " + ", ".join(MONTHS[:11]) + " and December.", None),
            ("How many letters are in the alphabet?", "The alphabet has 26 letters.", "26"),
            ("Why is the sky blue?", "The sky is blue because the air scatters the blue light of the sun.", None),
            ("What do bees make?", "Bees make honey.", "honey"), ("What do cows give?", "Cows give milk.", "milk"),
            ("What do cows drink?", "Cows drink water.", "water"), ("Where do fish live?", "Fish live in the water.", "water"),
            ("Where do birds live?", "Birds live in nests.", "nests"), ("When do we sleep?", "We sleep at night.", "night"),
            ("What do you need when it rains?", "You need an umbrella.", "umbrella"),
            ("What shines at night?", "The moon and the stars shine at night.", "moon"),
        ])
        return [(q, Answer(full, short))]
    if k == 10:
        abc = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
        i = rng.randrange(25)
        return [(f"Which letter comes after {abc[i]}?", Answer(f"After {abc[i]} comes {abc[i + 1]}.", abc[i + 1]))]
    x, y = rng.choice(list(WHAT_IS.items()))
    q = rng.choice([f"What is {x}?", f"What's {x}?", f"Explain {x}.", f"Can you explain what {x} is?", f"Tell me what {x} is."])
    return [(q, Answer(y, None))]


def lists(rng, held, ctx):
    k, words = rng.choice(list(LISTS.items()))
    n = rng.randint(2, min(8, len(words)))
    pick = words[:n]
    num = NUMBER[n] if rng.random() < 0.6 else str(n)
    if rng.random() < 0.6:
        q = rng.choice([f"Name {num} {k}.", f"Tell me {num} {k}.", f"Can you name {num} {k}?", f"Give me {num} {k}."])
        return [(q, Answer(", ".join(pick[:-1]) + " and " + pick[-1] + "."))]
    q = rng.choice([f"Make a list of {num} {k}.", f"List {num} {k}.", f"Write a list of {num} {k}."])
    return [(q, Answer("\n".join(f"{i + 1}. {w}" for i, w in enumerate(pick))))]


def as_json(rng, held, ctx):
    p = rng.choice(PEOPLE)
    q = rng.choice([f"Give me {p.name} as JSON.", f"Describe {p.name} in JSON.", f"Write {p.name} as JSON.", f"{p.name} as JSON, please."])
    body = (f'{{"name": "{p.name}", "age": {p.age}, "pet": "{p.pet}", "house": "{p.house}", "street": "{p.street}"}}')
    return [(q, Answer(body))]
