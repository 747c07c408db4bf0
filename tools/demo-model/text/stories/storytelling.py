"""Asking for stories, and about them; poems and haikus."""
from text.conversation import Answer
from text.data.words import ANIMALS, BOYS, GIRLS, NAMES, NOUNS, THINGS, any_name, invented
from text.english import a
from text.stories.stories import make_story
from text.stories.world import BY_NAME, STORY_PLACES

ASK = ["Tell me a story about {}.", "Tell me a story about {}.", "Can you tell me a story about {}?", "Write a story about {}.",
       "I want a story about {}.", "Please write a short story about {}.", "Do you know a story about {}?",
       "A story about {}, please.", "Make up a story about {}.", "Tell a tale about {}.", "Write me a little story about {}.", "story about {}",
       "Invent a story with {}.", "Could you write a fairy tale about {}?",
       "a bedtime story about {}", "Once upon a time there was {}... go on!", "I'd like to hear a story about {}",
       "My child wants a story about {}.", "Write a funny story about {}.", "short story with {}", "I'd love a story with {} in it.",
       "I would love to hear a tale about {}.", "a tale with {} in it please", "tell me something about {}, as a story", "{} story, but really short",
       "story time! it is about {}", "Story time! The hero is {}.", "got a story with {}?", "Do you have a story for me, about {}?", "how about a story with {}",
       "My daughter asks for a story about {}.", "for my son, who likes {}: a story please", "Let me hear a story about {}.", "give me a short tale about {}",
       "Can I have a story with {}?", "Could you tell me a bedtime story with {} in it?", "I'd love a bedtime story with {}", "Please think of a story about {}.",
       "now a little story about {} please", "I am bored, tell me a story about {}", "make a story where {} is the hero", "let us have a story. {} should be in it",
       "create a nice story with {}", "Tell us a story about {}, we are listening.", "a few sentences about {}, like in a fairy tale", "entertain me with a story about {}"]
ASK_ANY = ["Tell me a story.", "Can you tell me a story?", "Please tell me a story.", "I want to hear a story.", "Write a short story.",
           "Do you know a story?", "Story please", "A story, please.", "Once upon a time...", "tell me a story",
           "Tell me a fairy tale.", "I need a bedtime story.", "Read me a story.", "a story!", "Make up a story.", "Tell me a good night story.", "story time!",
           "got a story for me?", "I'd love a story.", "I would like to hear a little tale.", "how about a story", "Can I have a story?", "I am bored, tell me a story",
           "a short tale please", "any story will do", "Let me hear one of your stories.", "you tell stories? tell me one", "show me a story", "Come on, a story!"]
MORE = ["Another one!", "And another one.", "Tell me another one.", "One more, please.", "More!", "Another story, please.", "Again!",
    "another one please", "one more", "a different one"]


def _subject(t):
    """(keywords of make_story, how the user names it)"""
    r = t.rng.random()
    if r < 0.24:
        x = t.rng.choice(ANIMALS)
        return {"animal": x}, t.pick(a(x), a(x), "the " + x, x + "s")
    if r < 0.36:
        x, n = t.rng.choice(ANIMALS), any_name(t.rng)
        return {"animal": x, "hero": n}, t.pick(f"{a(x)} named {n}", f"{a(x)} called {n}", f"{n} the {x}", f"the {x} {n}")
    if r < 0.5:
        x = t.rng.choice(THINGS) if t.chance(0.6) else t.rng.choice(NOUNS) if t.chance(0.8) else invented(t.rng, False)
        return {"thing": x}, t.pick(a(x), "the " + x, a(t.pick("red", "magic", "lost", "old")) + " " + x)
    if r < 0.6:
        x = t.rng.choice(STORY_PLACES)
        return {"place": x}, "the " + x
    if r < 0.8:
        x = t.rng.choice(NAMES) if t.chance(0.4) else t.rng.choice(list(BY_NAME)) if t.chance(0.2) else any_name(t.rng)
        if t.chance(0.3) and x not in BY_NAME:
            boy = x in BOYS or x not in GIRLS and t.chance(0.5)
            return {"hero": x, "he": "he" if boy else "she"}, f"a {'boy' if boy else 'girl'} named {x}"
        return {"hero": x}, x
    if r < 0.84:
        x, y = any_name(t.rng), any_name(t.rng)
        return {"hero": x, "friend": y}, t.pick(f"{x} and {y}", f"{x} and {y}", f"{x} and a friend called {y}", f"two friends, {x} and {y}")
    if r < 0.91:
        x, y = any_name(t.rng), t.rng.choice(ANIMALS)
        while x in BY_NAME and not BY_NAME[x].child:
            x = any_name(t.rng)
        boy = BY_NAME[x].he == "he" if x in BY_NAME else x in BOYS or x not in GIRLS and t.chance(0.5)
        child = f"a {'boy' if boy else 'girl'} {t.pick('named', 'called')} {x}"
        return {"hero": x, "he": "he" if boy else "she", "friend": "the " + y}, t.pick(f"{a(y)} and {child}", f"{child} and {a(y)}", f"{child} who meets {a(y)}", f"{x} and {a(y)}")
    if r < 0.95:
        x, y = t.rng.choice(ANIMALS), t.rng.choice(THINGS)
        return {"animal": x, "thing": y}, f"{a(x)} and {a(y)}"
    x, y = t.rng.choice(ANIMALS), t.rng.choice(STORY_PLACES)
    return {"animal": x, "place": y}, f"{a(x)} in the {y}"


def story(t):
    rng = t.rng
    kw, about = _subject(t) if t.chance(0.75) else ({}, None)
    short = t.chance(0.45)
    s = make_story(rng, t.held, short=short, **kw)
    q = rng.choice(ASK).format(about) if about else rng.choice(ASK_ANY)
    if short:
        q = t.pick("Tell me a very short story about {}.", "A very short story about {}, please.", "Write a tiny story about {}.", "tell me a short story about {}", "Tell me a short story about {}.", "short story about {} please", "write a short story about {}",
                   "Can you tell me a short story about {}?", "a three sentence story about {}", "Write a four sentence story about {}.", "make up a very short story about {}", "a little story about {}", "a mini story about {} please").format(about) if about else t.pick(
                   "Tell me a very short story.", "tell me a short story", "Tell me a short story, please.", "a very short story please", "a short bedtime story")
    out = [(q, Answer(s["text"], None, "text", exact=True, key=("story", s["plot"], s["thing"], s["place"])))]
    for _ in range(rng.choice([0, 1, 1, 2, 3, 4])):
        if t.chance(0.2):
            kw2, about2 = _subject(t) if t.chance(0.4) else ({}, None)
            s = make_story(rng, t.held, **kw2)
            out.append((t.pick("Now one about {}.", "And one about {}?", "another one about {}").format(about2) if about2 else rng.choice(MORE),
                Answer(s["text"], None, "text", exact=True)))
            continue
        out.append(_about_story(t, s))
    if t.chance(0.08) and s["kid"] in ANIMALS:
        out.append((t.pick("Make me a haiku about that {}.", "Now a haiku about the {}.", "Write a haiku about the {}.", "and a haiku about that {}", "a haiku about it").format(s["kid"]),
            Answer(_framed(t, s["kid"]), None, "text", exact=True)))
    return out


def _about_story(t, s):
    he, him, his = s["he"], s["him"], s["his"]
    opts = [
        (t.pick(f"What was {his} name?", "What was the name?", f"What was the {s['kid']}'s name?", "Who was the hero?",
        "What is the name of the hero?", f"What was the {s['kid']} called?", "who was it about?", f"What was the name of the {s['kid']}?",
        f"what is the name of the {s['kid']}", f"How was the {s['kid']} called?", f"What is the {s['kid']} called?", "What was the hero called?", f"the {s['kid']}'s name?"),
         f"{'Her' if he == 'she' else 'His'} name was {s['N']}.", s["N"]),
        (t.pick(f"Who was {his} friend?", f"Who helped {him}?", "Who else was in the story?", "Who was the friend?"), f"It was {s['F']}.", s["F"])]
    if s["plot"] in ("lost", "found", "broken"):
        opts.append((t.pick(f"What did {he} {'lose' if s['plot'] == 'lost' else 'find' if s['plot'] == 'found' else 'break'}?",
            "Which thing was it about?"), f"It was {a(s['col'])} {s['thing']}.", s["thing"]))
    if s["place"] in s["text"]:
        opts.append((t.pick("Where was it?", "Where did it happen?"), f"It was near the {s['place']}.", s["place"]))
    title = t.pick(f"{s['N']} and {s['F']}", f"{s['N']} and the {s['thing']}" if s["thing"] in s["text"] else f"{s['N']} and {s['F']}")
    opts += [(t.pick("give it a title", "What is a good title for it?", "Find a title.", "a title for the story please", "What is it called?", "how would you call the story"), f"\"{title[0].upper() + title[1:]}\"", None),
             (t.pick("Who was in it?", "who was in the story", "Which characters were in it?", "Who are the people in it?", "name everybody in the story"), f"{s['N']} and {s['F']} were in it.", None),
             (t.pick(f"What did {s['N']} do?", f"what did {he} do", f"What happened to {s['N']}?", f"what happened to {him}", "What happened in it?", "tell it in one sentence"), s["summary"], None),
             (t.pick(f"Was {s['N']} a boy or a girl?" if s["kid"] in ("boy", "girl") else f"What animal was {s['N']}?" if s["kid"] in ANIMALS else f"Who was {s['N']}?", f"What was {s['N']}?", "what kind of animal was it about" if s["kid"] in ANIMALS else f"and who is {s['N']}"), f"{s['N']} was {a(s['kid'])}.", s["kid"])]
    opts += [(t.pick("Summarize the story.", "Make it shorter.", "Sum it up in one sentence.", "What was the story about?", "Shorter, please.",
             "summary please", "tl;dr"), s["summary"], None),
             (t.pick("What is the lesson?", "What is the moral of the story?", "What do we learn from it?"), s["lesson"], None),
             (t.pick("How did it end?", "What happened in the end?", "What was the end of the story?"), s["last"], None)]
    q, full, short = t.rng.choice(opts)
    return (q, Answer(full, short, exact=True))


def long_story(t):
    kw, about = _subject(t) if t.chance(0.6) else ({}, None)
    kw.pop("thing", None)
    about = about if kw or about is None else None
    parts = []
    for i in range(t.rng.randint(2, 5)):
        s = make_story(t.rng, t.held, end=False, **kw)
        if i == 0:
            kw = {"hero": s["N"], "animal": s["kid"] if s["kind"] == "animal" else None, "he": s["he"]}
            parts.append(s["text"])
        else:
            parts.append(t.pick("Some days later there was a new adventure. ", "The next week something else happened. ", "But that was not all. ",
                "Then came another day. ") + " ".join(s["sentences"][1:]))
    q = t.pick("Tell me a long story{}.", "Write a long story{}.", "Can you tell me a long story{}?", "I want a very long story{}.",
        "Please tell me a long story{}.").format(f" about {about}" if about else "")
    return [(q, Answer("\n\n".join(parts) + "\n\nThe end.", None, "text", exact=True))]


HAIKU = {  # topic: haikus, lines of five, seven and five syllables
    "the sea": ["Waves roll to the shore,\nwhite foam dances in the wind,\nthe sea never sleeps."], "autumn": [
    "Red leaves on the ground,\na cold wind walks through the trees,\nautumn says hello."],
    "winter": ["Snow on every roof,\nthe village is white and still,\nsmoke climbs to the stars."], "spring": [
    "Small buds on the branch,\na bird sings of warmer days,\nspring opens its eyes."],
    "summer": ["Long and golden days,\nbees hum in the meadow grass,\nsummer takes its time."], "the moon": ["Moon above the roofs,\nsilver light "
    "on sleeping streets,\na cat walks alone."], "rain": ["Rain on the window,\ndrops run races down the glass,\ntea is getting cold."],
    "a cat": ["The cat on the sill\nwatches birds behind the glass,\nher tail moves slowly."], "a dog": ["A dog by the door,\nhis ears hear the "
    "steps outside,\njoy runs through the house."], "love": ["Two hands in one coat,\nwinter wind cannot come in,\nlove needs little space."],
    "snow": ["First snow of the year,\nfootprints lead into the wood,\nnone of them comes back."], "night": ["The night is quiet,\na single lamp "
    "in the street,\nmoths dance in its light."],
    "computers": ["A small light blinks green,\nfans hum softly in the dark,\nthe server is up."], "the forest": [
    "Deep in the forest\nthe old trees talk with the wind,\nmoss keeps their secrets."], "coffee": ["Steam above the cup,\nthe morning begins "
    "slowly,\none sip, and I wake."],
    "a mountain": ["Cloud around the peak,\nthe mountain does not mind it,\nit has time to wait."], "the sun": [
    "Sun over the hill,\nthe dew on the grass lights up,\na new day begins."], "a river": ["The river runs on,\nit carries a yellow leaf\nto the "
    "distant sea."],
    "a frog": ["An old quiet pond,\na green frog sits on a stone,\njump, and rings of light."], "friendship": [
    "Two cups on the stair,\nwe talk until it is late,\nthe moon listens too."],
}


def syllables(word):
    """A rough count, good enough to choose a line that has room for the word."""
    groups, last = 0, False
    for i, c in enumerate(word.lower()):
        vowel = c in "aeiouy"
        groups += vowel and not last
        last = vowel
    return max(1, groups - (word.endswith("e") and groups > 1 and not word.endswith("le")))


FRAMES = {1: ["A {t} in the sun,", "The {t} in the wind,", "One {t} in the rain,"], 2: ["The {t} in spring,", "The {t} in snow,", "A {t} at night,"],
          3: ["The {t} waits,", "A {t} sleeps,", "The {t} shines,"], 4: ["The {t},", "A {t},"]}
MIDDLES = ["the wind goes by without words,", "clouds pass over quiet hills,", "somewhere a small door opens,", "a bird sings from its high branch,"]
LASTS = ["the day has begun.", "and the world stands still.", "I close my eyes now.", "evening comes slowly.", "no one says a word."]


def _framed(t, x):
    """A haiku about any word."""
    first = t.rng.choice(FRAMES[min(4, syllables(x))]).format(t=x)
    for vowel in "aeio":
        first = first.replace("A " + vowel, "An " + vowel)
    return "\n".join([first, t.rng.choice(MIDDLES), t.rng.choice(LASTS)])


def haiku(t):
    ask = ["Write a haiku about {}.", "A haiku about {}, please.", "haiku about {}", "Can you write a haiku about {}?", "Write me a haiku on {}",
        "Compose a haiku about {}.", "Make a haiku about {}.", "I'd like a haiku about {}", "three lines about {}, as a haiku", "do a haiku on {} for me", "Try a haiku: {}"]
    if t.chance(0.35):
        topic, texts = t.rng.choice(list(HAIKU.items()))
        q = t.rng.choice(ask).format(topic) if t.chance(0.6) else t.pick("Write a haiku.", "haiku please", "Do you know a haiku?", "A haiku!",
            "Can you write a haiku?", "Write me a haiku.")
        out = [(q, Answer(t.rng.choice(texts), None, "text"))]
        if t.chance(0.3):
            topic, texts = t.rng.choice(list(HAIKU.items()))
            out.append((t.pick("Another one.", "One more.", "another haiku"), Answer(t.rng.choice(texts), None, "text")))
        return out
    x = t.rng.choice(THINGS + ANIMALS + NOUNS)
    return [(t.rng.choice(ask).format(t.pick(a(x), x, x + "s", "the " + x)), Answer(_framed(t, x), None, "text", exact=True))]


RHYMES = [
    ("{T} is a thing to see,\nit sits beneath the apple tree.\nThe wind is soft, the sky is blue,\nand here is a small poem for you."),
    ("I thought of {t} when I woke,\nthe sun came up, the silence broke.\nThe morning sang, the morning shone,\nand with {t} I'm not alone."),
    ("Oh {t}, I sing of you tonight,\nthe moon is round, the stars are bright.\nThe river hums its evening song,\nand {t} can hear it all night "
    "long."),
    ("Have you heard of {t}, my friend?\nA road that does not seem to end.\nWe walk along it, you and I,\nbeneath the wide and open sky."),
    ("A poem about {t} is what you chose,\nit smells of rain, it smells of rose.\nIt is not long, it is not deep,\nbut read it once before you "
    "sleep."),
]


def poem(t):
    r = t.rng.random()
    x = t.rng.choice(THINGS + ANIMALS + NOUNS) if t.chance(0.85) else invented(t.rng, False)
    what = t.pick("the " + x, a(x), "my " + x)
    if r < 0.25:
        q = t.pick("Write a poem.", "Can you write a poem?", "poem please", "Tell me a poem.", "A poem!", "Sing a song.", "Sing something.",
            "Write a short poem.", "Write a rhyme.", "I want a poem")
        return [(q, Answer("The river runs, the river sings,\nit tells of many little things.\nThe moon is high, the town is still,\nthe stars are "
            "bright above the mill.", None, "text"))]
    q = t.pick("Write a poem about {}.", "A poem about {}, please.", "poem about {}", "Can you write a short poem about {}?",
        "Write me a little rhyme about {}", "Make a poem about {}.", "Sing a song about {}.", "Rhyme something about {}.", "Write a verse about {}.",
        "I'd love a poem about {}.", "Do you have a poem about {}?", "a few rhymes about {} please", "can you do a poem on {}", "four lines about {}, rhyming", "Give me a poem about {}.",
        "a short rhyme on {}", "For a birthday card: a poem about {}.", "please rhyme a little about {}")
    body = t.rng.choice(RHYMES)
    return [(q.format(what), Answer(body.format(t=what.replace("my ", "your "), T=what.replace("my ", "your ").capitalize()), None, "text", exact=True))]
