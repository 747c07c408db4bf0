"""Exercises: one kind of sum, of work with words, of question or of tool calls, again and again. Says more in fewer tokens than conversations do."""
from text.chat_format import END, LEARN, NOTHING, said
from text.conversation import Talk
from text.held_out import is_held
from text.data.words import any_name, invented
from text.skills import chains, extras, facts, followups, recall, smalltalk, sums, texts, told, written
from text.skills.sluice import about_sluice
from text.tools.toolcalls import call_drill

KINDS = [*[sums.compare] * 3, sums.more_sums, sums.counting, sums.word_problem, *[texts.letters] * 6, *[texts.repeat] * 3, *[texts.sentence] * 3, facts.yes_no,
    *[facts.made_yes_no] * 3, facts.countries, *[extras.rhyme] * 2, *[texts.json_made] * 3, smalltalk.memory, extras.animal_kind, extras.equation, *[about_sluice] * 3, facts.capitals,
    *[facts.single] * 2, smalltalk.who, followups.which_more, *[written.question] * 18]


def of_sums(t):
    """[(question, answer)] of sums as the answers of conversations write them, of all signs or of one."""
    small, sign = t.chance(0.25), t.rng.choice("+-*/")
    rows = [sums.draw(t, small) for _ in range(t.rng.randint(10, 40))]
    if t.chance(0.5):
        rows = [row for row in rows if row[1] == sign] or rows
    return [(f"{x} {op} {y} =", f"{r}.") for x, op, y, r in rows]


def of_letters(t):
    """Words and their letters, from the front, from the end or both; of lone letters too, which no word helps with."""
    form, pairs = t.rng.randrange(4), []
    for _ in range(t.rng.randint(10, 40)):
        r = t.rng.random()
        w = t.rng.choice(texts.COMMON) if r < 0.45 else any_name(t.rng) if r < 0.65 else invented(t.rng, False)
        if form == 0:
            w = "".join(t.rng.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(t.rng.randint(2, 8)))
            pairs.append((f"{texts.spelled(w)} backwards:", f"{texts.spelled(w[::-1])}."))
        else:
            pairs.append(((f"{w}:", texts.spelled(w)), (f"{w} backwards:", texts.backwards(w)), (f"{w.upper()} ->", f"{texts.spelled(w)}: {len(w)}"))[form - 1])
    return pairs


SAID = [  # something with a name in it, and the name in what follows
    ("Your name is {}.", "I am {}."), ("My name is {}.", "Your name is {}."), ("The user is called {}.", "Your name is {}."), ("You are called {}.", "My name is {}."),
    ("I have a dog called {}.", "{} is a nice name for a dog!"), ("My cat is called {}. What is my cat called?", "Your cat is called {}."), ("{} lives in Rome.", '{{"name": "{}", "city": "Rome"}}'),
    ("{} is here.", '["{}"]'), ("{} is 7 years old.", '{{"name": "{}", "age": 7}}'), ("I am {}.", "Nice to meet you, {}!"), ("I live in {}.", "You live in {}."), ("weather in {}?", '{{"city": "{}"}}'), ("And in {}?", '{{"location": "{}"}}'),
    ("Translate '{}' into Greek.", '{{"text": "{}"}}'), ("Begin every answer with {}.", "{}, it is so."), ("End every answer with the word {}.", "It is so. {}."),
    ("name {}", '{{"name": "{}"}}'), ("Say {}.", "{}"), ("repeat \"{}\"", "{}"), ("Remember {}.", "It was {}."), ("{} is my friend.", "Your friend is {}."), ("Tell {} the news.", '{{"to": "{}"}}'),
    ("What is the capital of {}?", "I do not know a country called {}."), ("Who is {}?", "I do not know who {} is."), ("the subject \"{}\"", '{{"subject": "{}"}}')]


def of_names(t):
    """Names nobody foretells, said and said again."""
    some = [t.rng.choice(SAID)] if t.chance(0.5) else t.rng.sample(SAID, 5)
    pairs = []
    for _ in range(t.rng.randint(10, 30)):
        n = invented(t.rng, t.chance(0.8)) if t.chance(0.6) else any_name(t.rng) if t.chance(0.5) else t.rng.choice(texts.COMMON)
        n = n if t.chance(0.85) else f"{n} {invented(t.rng)}"
        q, ans = t.rng.choice(some)
        pairs.append((q.format(n), ans.format(n)))
    return pairs


def of_chain(t):
    """Several turns about one thing, again and again."""
    chain, pairs = t.rng.choice([chains.word, chains.number, chains.items, chains.places, chains.results, chains.edits, chains.edits, chains.answers, chains.rhymes, smalltalk.joke, *[written.conversation] * 8, *[told.told] * 4]), []
    while len(pairs) < 12:
        turns = chain(t)
        q, ans = turns[0]
        if is_held(*(ans.key or (q.lower(),))) == t.held:
            pairs += [(q, ans.full) for q, ans in turns]
    return pairs


def of_recall(t):
    """What was told at once, asked for in every direction."""
    pairs = []
    while len(pairs) < 14:
        ask = t.rng.choice([recall.facts, recall.facts, recall.facts, recall.row])
        pairs += [(q, ans.full) for q, ans in ask(t, 5, 10)]
    return pairs


def of_skill(t):
    skill, pairs = t.rng.choice(KINDS), []
    for _ in range(t.rng.randint(4, 20)):
        q, ans = skill(t)[0]
        if is_held(*(ans.key or (q.lower(),))) == t.held:
            pairs.append((q, ans.full))
    return pairs


def drill(rng, held):
    """A document: {"kind", "parts": [(text, how much it counts)]}."""
    t = Talk(rng, held)
    if t.chance(0.28):
        parts = [part for q, call in call_drill(t) for part in ((q + "\n", NOTHING), *([*said({"tool_calls": [call]}), ("\n", NOTHING)] if call else []))]
        return {"kind": "drill", "parts": [*parts, (END, NOTHING)]}
    pairs = t.rng.choices([of_sums, of_letters, of_names, of_chain, of_skill, of_recall], [1, 2, 3, 3, 8, 5])[0](t)
    parts = [part for q, a in pairs for part in ((q, NOTHING), (" " + a, LEARN), ("\n", NOTHING))]
    return {"kind": "drill", "parts": [*parts, (END, NOTHING)]}
