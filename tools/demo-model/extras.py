"""Long answers, structured answers, chains of two facts, and questions about the chat itself."""
import json

from facts import ABOUT, Answer, portrait
from stories import make_story
from sums import draw, plain
from talk import DONT
from world import ANIMALS, BY_NAME, LISTS, PEOPLE, THINGS, TOWN, USERS, a, is_held

PERSONAS = "chef painter king queen wizard sailor farmer singer gardener detective knight dragon ghost clown scientist poet grandmother".split()


def long_story(rng, held, ctx):
    who = rng.choice(["", "", " about " + rng.choice(USERS[:40] + [p.name for p in PEOPLE]), " about " + a(rng.choice(ANIMALS))])
    kw = {}
    if who:
        w = who[7:]
        kw = {"animal": w.split(" ")[1]} if " " in w else {"hero": w}
    n = rng.randint(2, 5)
    parts = []
    for i in range(n):
        s = make_story(rng, held, end=False, **kw)
        if i == 0:
            kw = {"hero": s["N"], "animal": s["kid"] if s["kind"] == "animal" else None, "he": s["he"]}
            parts.append(s["text"])
        else:
            parts.append(rng.choice(["Some days later there was a new adventure. ", "The next week something else happened. ",
                                     "But that was not all. ", "Then came another day. "]) + " ".join(s["sentences"][1:]))
    q = rng.choice(["Tell me a long story{}.", "Write a long story{}.", "Can you tell me a long story{}?", "I want a very long story{}.",
                    "Please tell me a long story{}.", "Write a story{} with many parts."]).format(who)
    return [(q, Answer("\n\n".join(parts) + "\n\nThe end."))]


def many_people(rng, held, ctx):
    k = rng.randrange(6)
    people = rng.sample(PEOPLE, rng.randint(2, 6))
    names = ", ".join(p.name for p in people[:-1]) + " and " + people[-1].name
    if k == 0:
        q = rng.choice(["List all people with their pets.", "Which pets are there in the town?", f"List all pets in {TOWN}.", "Who has which pet?"])
        return [(q, Answer("\n".join(f"- {p.name} has {a(p.pet)} named {p.pet_name}." for p in PEOPLE)))]
    if k == 1:
        q = rng.choice(["Tell me about all the people in the town.", f"Describe everyone in {TOWN}.", "Write something about every person in the town."])
        return [(q, Answer("\n\n".join(portrait(p) for p in PEOPLE)))]
    if k == 2:
        q = rng.choice([f"Tell me about {names}.", f"Who are {names}?"])
        return [(q, Answer("\n\n".join(portrait(p) for p in people)))]
    if k == 3:
        rows = people if rng.random() < 0.7 else PEOPLE
        q = rng.choice(["Make a table of {}.", "Write a table with {}.", "Show me a table of {}."]).format(names if rows is people else "all people")
        return [(q, Answer("| Name | Age | Pet |\n|---|---|---|\n" + "\n".join(f"| {p.name} | {p.age} | {p.pet} |" for p in rows)))]
    if k == 4:
        q = f"What pets do {names} have?"
        t = ", ".join(f"{p.name} has {a(p.pet)}" for p in people[:-1]) + f" and {people[-1].name} has {a(people[-1].pet)}."
        return [(q, Answer(t))]
    x, y = people[:2]
    if x.age == y.age:
        return many_people(rng, held, ctx)
    o, w = (x, "older") if rng.random() < 0.5 else (x, "younger")
    q = f"Who is {w}, {x.name} or {y.name}?"
    best = max(x, y, key=lambda p: p.age if w == "older" else -p.age)
    other = y if best is x else x
    return [(q, Answer(f"{best.name} is {w}. {best.name} is {best.age} and {other.name} is {other.age}.", best.name))]


def two_steps(rng, held, ctx):
    p = rng.choice(PEOPLE)
    f = BY_NAME[p.friend]
    key = rng.choice(list(ABOUT))
    q = {"pet": "What pet does {f} have?", "pet_name": "What is the name of {f}'s pet?", "pet_colour": "What colour is {f}'s pet?",
         "house": "What colour is {f}'s house?", "street": "Where does {f} live?", "work": "What does {f} do?", "food": "What does {f} like to eat?",
         "hobby": "What is {f}'s hobby?", "friend": "Who is {f}'s best friend?", "age": "How old is {f}?"}[key]
    if is_held("two", p.name, key) != held and rng.random() < 0.98:
        return two_steps(rng, held, ctx)
    who = rng.choice([f"{p.name}'s best friend", f"{p.name}'s friend", f"the best friend of {p.name}"])
    return [(q.format(f=who), Answer(f"{p.name}'s best friend is {f.name}. {ABOUT[key][1](f)}", ABOUT[key][2](f)))]


def more_sums(rng, held, ctx):
    k = rng.randrange(7)
    if k == 0:
        n = rng.randint(1, 10)
        q = rng.choice([f"Write the multiplication table of {n}.", f"Show me the {n} times table.", f"Times table of {n}, please."])
        return [(q, Answer("\n".join(f"{n} * {i} = {n * i}" for i in range(1, 11))))]
    if k == 1:
        n = rng.choice([3, 4, 5, 5, 8, 10, 10])
        q = rng.choice([f"Write {n} sums.", f"Show me {n} sums with answers.", f"Make a list of {n} sums.", f"Give me {n} sums."])
        rows = []
        while len(rows) < n:
            x, op, y, r = draw(rng, held, easy=True)
            rows.append(f"{len(rows) + 1}. {x} {op} {y} = {r}")
        return [(q, Answer("\n".join(rows)))]
    if k == 2:
        x, y = rng.randint(1, 10), rng.randint(1, 10)
        q = rng.choice([f"What is {x * y} / {x}?", f"{x * y} / {x}", f"What is {x * y} divided by {x}?", f"{x * y}/{x}=", f"Divide {x * y} by {x}."])
        return [(q, Answer(f"{x * y} / {x} = {y}.", str(y)))]
    if k == 3:
        x, y, z = rng.randint(1, 30), rng.randint(1, 10), rng.randint(1, 9)
        q = rng.choice([f"What is {x} + {y} + {z}?", f"{x} + {y} + {z}", f"{x}+{y}+{z}", f"How much is {x} plus {y} plus {z}?"])
        return [(q, Answer(f"{x} + {y} = {x + y}. {x + y} + {z} = {x + y + z}.", str(x + y + z)))]
    if k == 4:
        x = rng.randint(1, 50)
        if rng.random() < 0.5:
            return [(rng.choice([f"What is half of {x * 2}?", f"Half of {x * 2}?"]), Answer(f"Half of {x * 2} is {x}.", str(x)))]
        return [(rng.choice([f"What is twice {x}?", f"What is the double of {x}?", f"Double {x}."]), Answer(f"Twice {x} is {x * 2}.", str(x * 2)))]
    big = rng.choice(["These numbers are too big for me. I can only do small sums.", "That is too hard for me. I can only do small sums."])
    x, y = rng.randint(100, 9999), rng.randint(11, 9999)
    if k == 5:
        return [(rng.choice([f"What is {x} {o} {y}?" for o in "+-*/"] + [f"{x} + {y}", f"{x}*{y}"]), Answer(big))]
    x, y = rng.randint(11, 99), rng.randint(11, 99)
    return [(rng.choice([f"What is {x} * {y}?", f"{x} * {y}", f"{x} times {y}", f"{x}x{y}", f"What is {x} times {y}?"]), Answer(big))]


def about_chat(rng, held, ctx):
    """Needs the conversation so far: ctx['said'] is a list of (user text, answer text)."""
    said = ctx.get("said") or []
    if not said or len(said[-1][1]) > 200:
        return []
    k = rng.randrange(3)
    if k == 0:
        return [(rng.choice(["What did I just say?", "What did I ask you?", "What was my last question?"]), Answer(f"You said: \"{said[-1][0]}\""))]
    if k == 1:
        return [(rng.choice(["Say that again.", "Can you repeat that?", "Please repeat your answer.", "What did you say?", "Again, please."]), Answer(said[-1][1], "same"))]
    return [(rng.choice(["What was my first question?", "What did I say first?"]), Answer(f"You said: \"{said[0][0]}\""))]


def hello_world(rng, held, ctx):
    q = rng.choice(["Hallo", "Bonjour!", "Hola", "Ciao!", "Guten Tag", "Wie heißt du?", "Comment ça va?", "Привет", "你好", "こんにちは", "Olá!", "Sprichst du Deutsch?",
                    "Do you speak German?", "Can you speak French?", "Which languages do you speak?", "Do you speak Spanish?"])
    return [(q, Answer("Hello! I only speak English." if "speak" not in q else "I only speak English.", "English"))]


def noise(rng, held, ctx):
    q = rng.choice(["asdf", "???", "...", "test", "Test", "hmm", "lol", "x", "foo bar", "123", "blah blah", "abc", ":)", "!!!", "qwerty", "👍", "🙂", "ping"])
    return [(q, Answer(rng.choice(["I do not understand that. Ask me for a story or a sum.", "I did not understand that. Can you ask me something else?"])))]


def json_answer(ans):
    return json.dumps({"answer": ans.short}, ensure_ascii=False)


def yes_story(rng, held, ctx):
    hi = rng.choice(["Hello", "Hi", "Hi!", "Hello!", "Hey", "I am bored.", "Good morning!"])
    full = {"I": "Oh!", "G": "Good morning!"}.get(hi[0], "Hello!") + " Shall I tell you a story?"
    if rng.random() < 0.8:
        return [(hi, Answer(full)), (rng.choice(["Yes", "Yes, please.", "yes please", "Yes!", "OK", "Sure", "Of course!", "Why not?", "Please do.", "yeah"]), Answer(make_story(rng, held)["text"]))]
    return [(hi, Answer(full)), (rng.choice(["No", "No, thank you.", "no thanks", "Not now."]), Answer("All right. Tell me when you need something."))]


EXTRA = [(2.5, long_story, False), (3, many_people, False), (4, two_steps, True), (5, more_sums, False), (3, about_chat, False),
         (1, hello_world, True), (1, noise, False), (2.5, yes_story, False)]
