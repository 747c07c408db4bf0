"""Small talk, memory, story requests, copying, and what to say about everything else."""
from facts import Answer
from stories import make_story
from world import ANIMALS, LISTS, PEOPLE, STORY_PLACES, THINGS, TOWN, USERS, a, is_held

UNKNOWN = ("gold silver oil money politics the president the king of Spain football results the news quantum physics "
           "chemistry algebra philosophy Shakespeare Napoleon history Rome dinosaurs black holes rockets cars engines "
           "airplanes the internet Python JavaScript TypeScript Rust Linux Windows phones computers games movies films "
           "actors singers the Beatles jazz opera tennis basketball golf stocks taxes law insurance medicine viruses "
           "vaccines cancer diets pizza pasta sushi wine beer whisky cooking recipes fashion hotels flights travel "
           "New York America Africa Australia Mexico Brazil space aliens robots religion God war peace the economy "
           "inflation climate volcanoes earthquakes oceans whales sharks tigers bacteria atoms electricity magnets "
           "databases servers networks neural networks machine learning artificial intelligence blockchain bitcoin "
           "poetry novels painting photography architecture bridges ships trains castles knights pirates ghosts magic")
TOPICS = sorted(set(w for w in UNKNOWN.split() if w not in ("the", "of", "king", "New", "York", "black", "holes", "neural")))
SKILL_TEXT = f"I can tell short stories, answer questions about {TOWN}, do small sums and talk with you."
DONT = [f"I do not know that. I am a small model. I know about {TOWN}, stories and sums.",
        f"I do not know. I only know about {TOWN}, simple facts, stories and sums.",
        "I am sorry, I do not know that. Ask me for a story or a sum.",
        f"That is too hard for me. I can tell you a story or something about {TOWN}."]
NAME = "Sluice's demo model"


def greet(rng, held, ctx):
    u = ctx.get("user")
    q = rng.choice(["Hello", "Hello!", "Hi", "Hi!", "Hey", "Hi there", "Hello there!", "Good morning!", "Good evening!", "Good day", "Hey there!", "Hello, how are you?", "Hi, how are you?", "Greetings", "Hi :)", "Yo", "hello model"])
    hi = "Good morning" if "morning" in q else "Good evening" if "evening" in q else "Hello"
    full = f"{hi}, {u}!" if u else f"{hi}!"
    full += " I am fine, thank you." if "how are" in q else ""
    return [(q, Answer(full + rng.choice([" How can I help you?", " What would you like to talk about?", " Shall I tell you a story?"]), hi if " " not in hi else "Hello"))]


def identity(rng, held, ctx):
    n = ctx.get("bot") or (a(ctx["role"]) if ctx.get("role") else NAME)
    iam = f"I am {n}."
    qa = [
        (["Who are you?", "What are you?", "Who is this?", "Tell me about yourself.", "Introduce yourself.", "Who am I talking to?"],
         f"I am {n}. {SKILL_TEXT}", None),
        (["What is your name?", "What's your name?", "How are you called?", "Do you have a name?"],
         f"My name is {n}." if ctx.get("bot") else f"I am {n}.", n if ctx.get("bot") else "Sluice"),
        (["What can you do?", "How can you help me?", "What do you know?", "Help", "Can you help me?", "What can I ask you?", "What are you good at?"],
         SKILL_TEXT, None),
        (["Are you a human?", "Are you a person?", "Are you real?"], "No, I am a small language model.", "No"),
        (["Are you a robot?", "Are you a computer?", "Are you a machine?", "Are you an AI?", "Are you ChatGPT?"], "I am a small language model that runs in Sluice.", "Model"),
        (["How are you?", "How are you today?", "How do you feel?", "How is it going?", "How's it going?", "What's up?"],
         "I am fine, thank you. How are you?", "Fine"),
        (["Who made you?", "Who trained you?", "Where do you come from?"], f"I was trained on stories about {TOWN} for Sluice.", "Sluice"),
        (["How old are you?", "What is your age?"], "I am very young. I was trained not long ago.", "Young"),
        (["How big are you?", "How many parameters do you have?", "Are you big?"], "I am very small. I have about four million parameters.", "Small"),
        (["What is Sluice?", "Tell me about Sluice.", "What's Sluice?"], "Sluice is a server that runs language models like me.", "server"),
        (["Do you like stories?", "Do you like to talk?", "Do you like me?", "Are you happy?"], "Yes, I do. I like stories and nice people.", "Yes"),
        (["What is your favourite colour?", "What's your favorite color?", "Which colour do you like?"], f"I like blue, like the river in {TOWN}.", "blue"),
        (["What do you like?", "What is your hobby?"], "I like to tell stories.", "stories"),
        (["Who are the people you know?", "Who is your favourite person?"], "I like Mira. She is nine years old and has a cat named Pip.", "Mira"),
    ]
    qs, full, short = rng.choice(qa)
    return [(rng.choice(qs), Answer(full, short))]


def manners(rng, held, ctx):
    u = ctx.get("user")
    return [rng.choice([
        (rng.choice(["Thank you!", "Thanks", "Thank you very much.", "thanks a lot", "Thanks!", "Thank you, that was nice."]), Answer(f"You are welcome, {u}!" if u else "You are welcome!", "Welcome")),
        (rng.choice(["You are nice.", "I like you.", "You are great!", "Good job!", "Well done.", "That was nice.", "Great", "Nice!", "Wow"]), Answer("Thank you! That is kind of you.", "Thanks")),
        (rng.choice(["OK", "Okay", "ok", "I see.", "Good.", "Cool", "Fine"]), Answer(rng.choice(["Good! What would you like to know?", "Good! Shall I tell you a story?"]), "Good")),
        (rng.choice(["I am sad.", "I feel sad today.", "I am not happy.", "I had a bad day."]), Answer("I am sorry to hear that. Shall I tell you a story?", "Sorry")),
        (rng.choice(["I am happy.", "I am fine.", "I'm fine, thanks.", "I feel good today."]), Answer("I am glad to hear that!", "Good")),
        (rng.choice(["I am tired.", "I am bored.", "I am hungry."]), Answer("Oh! Then a short story may help. Shall I tell you one?", "Oh")),
        (rng.choice(["You are stupid.", "That is wrong.", "This is bad.", "You are wrong."]), Answer("I am sorry. I am only a small model and I make mistakes.", "Sorry")),
        (rng.choice(["No", "No, thank you.", "Not now."]), Answer("All right. Tell me when you need something.", "Okay")),
        (rng.choice(["Tell me a joke.", "Do you know a joke?", "Make me laugh."]), Answer(rng.choice([
            "Why did the duck cross the road? It wanted to get to the pond!",
            "What does a cat say to a dog? Meow is the time to play!",
            "Why is the clock tired? It runs all day!"]))),
        (rng.choice(["What is the weather like?", "Is it raining?", "How is the weather?"]), Answer(f"I cannot look outside, but in {TOWN} it is sunny.", "sunny")),
        (rng.choice(["What time is it?", "What day is it today?", "What is the date?"]), Answer("I do not know. I have no clock.", None)),
        (rng.choice(["Sing a song.", "Sing something.", "Write a poem.", "Can you write a poem?"]), Answer(
            "The river runs, the river sings,\nit tells of many little things.\nThe moon is high, the town is still,\nthe stars are bright above the mill.")),
    ])]


def bye(rng, held, ctx):
    u = ctx.get("user")
    q = rng.choice(["Bye", "Goodbye!", "Good night", "See you", "Bye bye", "I have to go.", "See you tomorrow!", "Goodbye, and thank you."])
    night = "Good night" if "night" in q else "Goodbye"
    return [(q, Answer(f"{night}, {u}! See you soon." if u else f"{night}! See you soon.", "Goodbye"))]


def memory(rng, held, ctx):
    """The user tells something and asks for it later (the question goes into ctx['later'])."""
    k = rng.randrange(5)
    if k <= 1:
        n = rng.choice(USERS)
        ctx["user"] = n
        if rng.random() < 0.5:
            ctx.setdefault("later", []).append((rng.choice(["What is my name?", "Do you remember my name?", "What's my name?", "Who am I?", "How am I called?"]), lambda: Answer(f"Your name is {ctx['user']}.", ctx["user"])))
        q = rng.choice(["My name is {}.", "I am {}.", "Hi, I am {}.", "Hello, my name is {}.", "Call me {}.", "I'm {}.", "Hi, my name is {}!"]).format(n)
        return [(q, Answer(rng.choice([f"Nice to meet you, {n}!", f"Hello, {n}! Nice to meet you."]) + rng.choice(["", " How can I help you?"]), n))]
    if k == 2:
        c = rng.choice(LISTS["colours"])
        ctx["colour"] = c
        ctx.setdefault("later", []).append((rng.choice(["What is my favourite colour?", "Which colour do I like?", "What's my favorite color?"]), lambda: Answer(f"Your favourite colour is {ctx['colour']}.", ctx["colour"])))
        return [(rng.choice(["My favourite colour is {}.", "I like the colour {}.", "My favorite color is {}."]).format(c), Answer(f"{c} is a beautiful colour!", "Nice"))]
    if k == 3:
        x, n = rng.choice(ANIMALS), rng.choice("Rex Milo Coco Fluffy Max Molly Buddy Toffee Rusty Snowy Pepper Bobby Felix Shadow".split())
        ctx["pet"] = (x, n)
        ctx.setdefault("later", []).append((rng.choice(["What is my pet called?", "What is the name of my pet?", "Do you remember my pet?", f"What is my {x} called?"]), lambda: Answer(f"Your {ctx['pet'][0]} is called {ctx['pet'][1]}.", ctx["pet"][1])))
        return [(rng.choice([f"I have {a(x)} named {n}.", f"My {x} is called {n}.", f"I have {a(x)}. It is called {n}."]), Answer(f"{n} is a nice name for {a(x)}!", "Nice"))]
    n = rng.randint(5, 80)
    ctx["age"] = n
    ctx.setdefault("later", []).append((rng.choice(["How old am I?", "What is my age?", "Do you know how old I am?"]), lambda: Answer(f"You are {ctx['age']} years old.", str(ctx["age"]))))
    return [(rng.choice([f"I am {n} years old.", f"I'm {n}.", f"I am {n}."]), Answer(f"{n} is a good age!", "Nice"))]


def not_told(rng, held, ctx):
    opts = []
    if "user" not in ctx:
        opts.append(("What is my name?", "You have not told me your name yet."))
    if "colour" not in ctx:
        opts.append(("What is my favourite colour?", "You have not told me your favourite colour yet."))
    if "age" not in ctx:
        opts.append(("How old am I?", "You have not told me your age yet."))
    if not opts:
        return manners(rng, held, ctx)
    q, full = rng.choice(opts)
    return [(q, Answer(full))]


ASK_STORY = ["Tell me a story about {}.", "Tell me a story about {}.", "Can you tell me a story about {}?", "Write a story about {}.", "I want a story about {}.", "Please write a short story about {}.", "Do you know a story about {}?", "A story about {}, please.", "Make up a story about {}.", "Tell a tale about {}.", "Write me a little story about {}."]
ASK_ANY = ["Tell me a story.", "Can you tell me a story?", "Please tell me a story.", "I want to hear a story.", "Write a short story.", "Tell me something.", "Do you know a story?", "Story please", "A story, please.", "Once upon a time..."]


def story(rng, held, ctx, follow=None):
    r = rng.random()
    kw, about = {}, None
    if r < 0.2:
        kw["animal"] = rng.choice(ANIMALS)
        about = a(kw["animal"])
    elif r < 0.4:
        kw["thing"] = rng.choice(THINGS)
        about = a(kw["thing"])
    elif r < 0.55:
        kw["place"] = rng.choice(STORY_PLACES)
        about = "the " + kw["place"]
    elif r < 0.75:
        kw["hero"] = rng.choice(USERS[:40] + [p.name for p in PEOPLE])
        about = kw["hero"]
    elif r < 0.8:
        kw["animal"] = rng.choice(ANIMALS)
        kw["thing"] = rng.choice(THINGS)
        about = a(kw["animal"]) + " and " + a(kw["thing"])
    brief = rng.random() < 0.12
    s = make_story(rng, held, short=brief, **kw)
    q = rng.choice(ASK_STORY).format(about) if about else rng.choice(ASK_ANY)
    if brief:
        q = f"Tell me a very short story about {about}." if about else "Tell me a very short story."
    out = [(q, Answer(s["text"]))]
    for _ in range(follow if follow is not None else rng.choice([0, 0, 1, 2])):
        if rng.random() < 0.25:
            s = make_story(rng, held)
            out.append((rng.choice(["Another one!", "And another one.", "Tell me another one.", "One more, please.", "More!", "Another story, please.", "Again!"]), Answer(s["text"])))
            continue
        he, him, his = s["he"], s["him"], s["his"]
        opts = [
            (rng.choice([f"What was {his} name?", "What was the name?", f"What was the {s['kid']}'s name?", "Who was the hero?", "What is the name of the hero?", f"What was the {s['kid']} called?"]), f"{'Her' if he == 'she' else 'His'} name was {s['N']}.", s["N"]),
            (rng.choice([f"Who was {his} friend?", f"Who helped {him}?", "Who else was in the story?", "Who was the friend?"]), f"It was {s['F']}.", s["F"]),
        ]
        if s["plot"] in ("lost", "found", "broken"):
            opts.append((rng.choice([f"What did {he} {'lose' if s['plot'] == 'lost' else 'find' if s['plot'] == 'found' else 'break'}?", "What was it about?"]), f"It was a {s['col']} {s['thing']}.".replace(" a orange", " an orange"), s["thing"]))
        if s["place"] in s["text"]:
            opts.append((rng.choice(["Where was it?", "Where did it happen?"]), f"It was near the {s['place']}.", s["place"]))
        opts.append((rng.choice(["Summarize the story.", "Make it shorter.", "Sum it up in one sentence.", "What was the story about?", "Shorter, please."]), s["summary"]))
        opts.append((rng.choice(["What is the lesson?", "What is the moral of the story?", "What do we learn from it?"]), s["lesson"]))
        opts.append((rng.choice(["How did it end?", "What happened in the end?", "What was the end of the story?"]), s["last"]))
        o = rng.choice(opts)
        out.append((o[0], Answer(o[1], o[2] if len(o) > 2 else None)))
    return out


def unknown(rng, held, ctx):
    t = rng.choice(TOPICS)
    q = rng.choice([f"What do you know about {t}?", f"Tell me about {t}.", f"Explain {t}.", f"How does {t} work?", f"Who invented {t}?", f"What is the price of {t}?",
                    f"Can you help me with {t}?", f"Write a program for {t}.", f"What is {t}?", f"How many {t} are there?", f"Why is {t} important?", f"Translate {t} into German.",
                    f"Where can I buy {t}?", f"When was {t} invented?", f"What do you think about {t}?", f"Write code for {t}.", f"Give me news about {t}.", f"Who won the {t}?", "What is the meaning of life?", "Write a function that sorts a list.", "Who is the president?"])
    return [(q, Answer(rng.choice(DONT), None))]


def copying(rng, held, ctx):
    pool = [w for v in LISTS.values() for w in v] + THINGS + ANIMALS + TOPICS
    n = rng.randint(1, 5)
    text = " ".join(rng.choice(pool) for _ in range(n))
    if rng.random() < 0.3:
        text = rng.choice(["hello world", "good morning", "I like stories", "the cat is on the table", "Pebbleford is nice", "one two three", "yes and no", "this is a test"])
    k = rng.randrange(4)
    if k < 3:
        q = rng.choice(["Say \"{}\".", "Repeat: {}", "Say {}.", "Repeat after me: {}", "Please say \"{}\".", "Write \"{}\"."]).format(text)
        return [(q, Answer(text[0].upper() + text[1:] + ".", text if " " not in text else None))]
    words = text.split()
    q = rng.choice(["What is the first word of \"{}\"?", "What is the last word of \"{}\"?"])
    w = words[0] if "first" in q else words[-1]
    return [(q.format(text), Answer(f"The {'first' if 'first' in q else 'last'} word is \"{w}\".", w))]
