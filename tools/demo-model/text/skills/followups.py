"""What people say after an answer: more, shorter, in capitals, are you sure, and questions with "it" and "there"."""
import json

from text.conversation import Answer, verdict
from text.data.countries import CAPITAL, CONTINENT, COUNTRY_OF, verb
from text.english import a
from text.skills.refusals import refusal
from text.skills.smalltalk import about_chat

BIGGER = "ant bee mouse hamster cat dog sheep pig horse cow rhino elephant whale".split()
FASTER = "snail turtle mouse human horse cheetah plane rocket".split()


def last(t):
    return t.said[-1] if t.said else (None, None)


def more(t):
    """After a fact: more of it, in other clothes, or the question whether it is so."""
    q, x = last(t)
    if x is None or x.kind not in ("fact", "yes", "no") or len(x.full) > 160 or "\n" in x.full:
        return about_chat(t)
    r = t.rng.random()
    if r < 0.28:
        return [(t.pick("Tell me more.", "tell me more about it", "More details, please.", "Can you explain more?", "Go on.", "continue", "and?",
                 "What else?", "Anything else?", "Is that all?", "Give me more information."),
                 Answer(t.pick("That is all I know about it.", "I do not know more about that. I am only a small demo model."), None, "refuse"))]
    if r < 0.45 and x.short:
        return [(t.pick("In one word?", "in one word please", "Shorter, please.", "Just the answer.", "only the answer please",
            "Say it in one word."), Answer(x.short.rstrip(".!") + ".", x.short, exact=True))]
    if r < 0.58:
        return [(t.pick("Say it in capital letters.", "Now in upper case.", "Write that in capitals.", "in caps please"), Answer(x.full.upper(),
            None, "text", exact=True))]
    if r < 0.85:
        return [(t.pick("Are you sure?", "Really?", "Is that true?", "are you certain?", "Sure?", "I don't believe you.", "Is this correct?",
                 "How do you know?", "where did you learn that"),
                 Answer(t.pick(f"Yes, I think so. {x.full}", "I think so, but I am a small model. Please check what matters."), "Yes", "fact", exact=True))]
    if x.short:
        return [(t.pick("As JSON.", "Give me that as JSON.", "answer again in JSON", "Now as JSON, please."), Answer(json.dumps({"answer": x.short},
            ensure_ascii=False), None, "text", exact=True))]
    return [(t.pick("Say that in German.", "Translate that.", "And in French?", "what is that in spanish"), Answer("I only speak English.",
        "English", "refuse"))]


def about_it(t):
    """A capital, then questions with it and there: where it is is known, all else is not."""
    name = t.rng.choice(list(CAPITAL))
    city = CAPITAL[name]
    out = [(t.pick("What is the capital of {}?", "capital of {}", "Tell me the capital of {}.").format(name), Answer(
        f"The capital of {name} is {city}.", city))]
    for _ in range(t.rng.choice([1, 1, 2])):
        if t.chance(0.4):
            out.append(t.pick((t.pick("Which continent is that on?", "Where is that country?", "On which continent is it?", "which continent?"),
                              Answer(f"{name[0].upper() + name[1:]} {verb(name)} in {CONTINENT[name]}.", CONTINENT[name])),
                              (t.pick("Of which country is that the capital?", "Which country was that again?", "What country is it in?"), Answer(
                              f"{city} is the capital of {COUNTRY_OF[city]}.", COUNTRY_OF[city]))))
        else:
            q = t.pick("How many people live there?", "How big is it?", "When was it founded?", "Who is the mayor?", "Is it beautiful?",
                       "What can I see there?", "How is the weather there?", "How do I get there?", "Is it expensive?", "What is it known for?",
                       "Have you been there?",
                       "What do people eat there?", "how old is it", "What is the history of it?", "Which river flows through it?")
            out.append((q, refusal(t, t.pick("I do not know that.", "I only know that it is the capital.", "I do not know more about it."))))
    return out


def which_more(t):
    """Bigger, smaller, faster, slower of two animals."""
    row, words = t.pick((BIGGER, ("bigger", "smaller")), (FASTER, ("faster", "slower")))
    x, y = t.rng.sample(row, 2)
    up = t.chance(0.6)
    word = words[0] if up else words[1]
    best = max(x, y, key=row.index) if up else min(x, y, key=row.index)
    other = y if best is x else x
    if t.chance(0.35):
        yes = best is x
        truth = f"{a(best)} is {word} than {a(other)}"
        return [(f"Is {a(x)} {word} than {a(y)}?", verdict(yes, truth))]
    q = t.pick("Which is {w}, {x} or {y}?", "What is {w}: {x} or {y}?", "Who is {w}, {x} or {y}?", "{w}: {x} or {y}?").format(w=word, x=a(x), y=a(y))
    return [(q, Answer(f"{a(best)} is {word} than {a(other)}.", best))]


def statement(t):
    """The user only tells something."""
    q = t.pick("The weather is nice today.", "It is raining here.", "I like pizza.", "Yesterday I went to the park.",
               "My brother is coming tomorrow.", "I bought a new {y}.", "I am learning to play the guitar.", "We have a test at school.",
               "It's late.", "I am at work.", "I had {f} for lunch.", "My {y} is broken.",
               "I am writing a book.", "I just woke up.", "It is my birthday today!", "I love music.", "I am going on holiday.",
               "I live with my family.", "I am a bit nervous.", "Today is a good day.", "I am cooking.", "I am new here.",
               "This is my first time using this.", "I am just testing this.", "I want to try something.",
               "Let's talk.", "Let us chat a bit.", "I want to talk with you.", "Let's play a game.", "You know what?", "I have an idea.",
               "I saw {a} today.")
    x = t.rng.choice("bike chair lamp bird cat rainbow fox car clock boat".split())
    y, f = t.rng.choice("bike computer chair lamp phone car clock".split()), t.rng.choice("soup pizza rice a~sandwich a~salad pasta fish".split()).replace("~", " ")
    birthday = "birthday" in q
    chat = q.startswith(("Let", "I want to talk", "You know", "I have an idea", "This is my first", "I am new", "I am just testing", "I want to try"))
    full = "Happy birthday!" if birthday else "I am sorry to hear that." if "broken" in q else "I hope it goes well!" if "nervous" in q else t.pick("Good! What would you like to talk about?", "All right! What would you like to know?") if chat else t.pick(
        "I see! Can I help you with something?", "Thank you for telling me. What can I do for you?")
    return [(q.format(y=y, f=f, a=a(x)), Answer(full, "Nice", "hello"))]
