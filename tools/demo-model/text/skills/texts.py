"""What can be done with the text that the user gives: repeating, reversing, spelling, lists, JSON, tables."""
import json

from text.conversation import Answer, verdict
from text.data.countries import CAPITAL, CONTINENT, FAMOUS, LANGUAGE
from text.data.tables import LISTS, NARROW, NUMBER, ORDINAL
from text.data.words import (ADJECTIVES, ANIMALS, BOYS, CITIES, COLOURS, EVERYDAY, FOODS, GIRLS, HOBBIES, JOBS, NAMES, NOUNS, SURNAMES, THINGS, VERBS, any_name, invented)
from text.english import a, first_up, joined

COMMON = sorted(set(NOUNS + ADJECTIVES + VERBS + THINGS + ANIMALS + COLOURS + FOODS + EVERYDAY + [w for v in LISTS.values() for w in v if " " not in w]))
PHRASES = (
    "hello world|good morning|I like stories|the cat is on the table|one two three|yes and no|this is a test|to be or not to be|"
    "the quick brown fox jumps over the lazy dog|I love you|never give up|time flies|less is more|Sluice is running|the model works|"
    "have a nice day|see you later|knowledge is power|practice makes perfect|all is well that ends well|better late than never|"
    "no pain no gain|the early bird catches the worm|it works on my machine|an apple a day|ok|OK|yes|no|hi|test|hello|done|thanks|ready").split("|")


def word(t):
    return invented(t.rng, False) if t.chance(0.25) else t.rng.choice(COMMON)


def phrase(t):
    if t.chance(0.15):
        return t.rng.choice(PHRASES)
    words = [t.rng.choice(NAMES) if t.chance(0.08) else str(t.rng.randint(0, 99)) if t.chance(0.06) else word(t) for _ in range(t.rng.randint(1, 8))]
    if len(words) > 3 and t.chance(0.4):
        words = [t.pick("the", "my", "a", "every"), t.rng.choice(ADJECTIVES), t.rng.choice(ANIMALS), t.pick("likes", "sees", "wants", "takes",
            "finds"), "the", t.rng.choice(THINGS)]
    return " ".join(words)


def repeat(t):
    s = phrase(t)
    if t.chance(0.15):
        s = first_up(s) + t.pick(".", "!", "")
    k = t.rng.randrange(10)
    if k == 0:
        n, w = t.rng.randint(2, 6), word(t)
        q = t.pick("Say {w} {n} times.", "Repeat the word {w} {n} times.", "Write \"{w}\" {n} times.", "{w}, {n} times please", "say {w} {n} times",
                   "Repeat {w} {n} times.", "print {w} {n} times", "the word {w} {n} times").format(w=w, n=t.pick(n, NUMBER[n]))
        return [(q, Answer(" ".join([w] * n), kind="text", exact=True))]
    q = t.pick("Say \"{}\".", "Repeat: {}", "Say: {}", "Repeat after me: {}", "Please say \"{}\".", "Write \"{}\".", "repeat the following: {}",
               "Repeat this sentence: {}", "Echo: {}", "say {}",
               "Repeat exactly: \"{}\"", "Just answer with: {}", "Print {}", "Can you say \"{}\"?", "Copy this: {}",
               "Please repeat after me: \"{}\"", "Reply with exactly: {}",
               "Answer only with the words: {}", "Output the text '{}' and nothing else.", "please say {}", "Please repeat: {}", "repeat {}", "just say {}",
               "repeat this: {}", "Say this: {}", "Say only {}.", "Only say: {}", "Repeat this after me: {}", "Can you repeat \"{}\"?", "write {}",
               "Repeat what I say: {}", "please repeat \"{}\" exactly", "reply with {}", "answer with \"{}\"", "say the words {}", "Repeat word for word: {}",
               "parrot this: {}", "Type {}", "respond with {}")
    out = [(q.format(s), Answer(s, s if " " not in s else None, "text", exact=True))]
    if t.chance(0.25):
        s = phrase(t)
        out.append((t.pick("Now say {}.", "And now: {}", "now repeat {}").format(s).replace("..", "."), Answer(s.rstrip("."), kind="text", exact=True)))
    return out


def spelled(w):
    return " ".join(w.upper())


def backwards(w):
    """Spelled first: letters of which each is a token can be read from the end, a token of several letters cannot."""
    return f"{spelled(w)} backwards is {spelled(w[::-1])}."


def letters(t):
    rng, w = t.rng, t.rng.choice(NAMES + CITIES[:60]) if t.chance(0.15) else word(t)
    w = w.split(" ")[0]
    k = rng.randrange(14)
    say = lambda q, full, short=None: [(q, Answer(full, short, "text" if k in (6, 7, 9) else "fact", exact=True, key=("letters", k, w)))]
    if k < 3:
        q = t.pick("Spell {}.", "How do you spell {}?", "Spell the word {}.", "Can you spell \"{}\"?", "spell {}", "Please spell {}.", "spell '{}'",
                   "How do I spell {}?", "How is {} written?", "Spell out {}.", "Spell {} for me.", "Spell {} letter by letter.", "spelling of {}",
                   "What is the spelling of {}?", "Which letters does {} have?", "The letters of {}, please.", "how to spell {}", "{}: spell it",
                   "How is \"{}\" spelled?", "spell: {}", "I want to spell {}.", "Could you spell the word '{}'?").format(w)
        return say(q, spelled(w), spelled(w))
    if k == 3:
        return say(t.pick("What is the first letter of {}?", "First letter of \"{}\"?", "Which letter does {} start with?",
            "With what letter does {} begin?").format(w), f"The first letter of {w} is {w[0].upper()}.", w[0].upper())
    if k == 4:
        return say(t.pick("What is the last letter of {}?", "Last letter of \"{}\"?", "Which letter does {} end with?").format(w),
            f"The last letter of {w} is {w[-1].upper()}.", w[-1].upper())
    if k == 5:
        return say(t.pick("How many letters does {} have?", "How many letters are in \"{}\"?", "How long is the word {}?",
                   "Count the letters of {}.", "How many letters are there in '{}'?", "number of letters in {}", "{}: how many letters?").format(w),
                   f"{spelled(w)}: {len(w)} letters.", str(len(w)))
    if k in (6, 7):
        q = t.pick("Reverse the word {}.", "Write {} backwards.", "Spell {} backwards.", "What is {} backwards?", "reverse {}",
            "Turn the word \"{}\" around.", "Write the word {} backwards.", "{} backwards", "reverse the word '{}'", "Say {} backwards.", "reverse: {}",
            "What do you get when you reverse {}?", "{} in reverse", "Reverse the letters of {}.", "How is {} written backwards?", "Can you reverse {}?",
            "Read {} from right to left.", "Flip the word {}.", "please reverse \"{}\"", "What is the reverse of {}?", "spell {} in reverse").format(w)
        return say(q, backwards(w), spelled(w[::-1]))
    if k == 8:
        return say(t.pick("Write {} in capital letters.", "Write \"{}\" in upper case.", "{} in capitals", "uppercase {}", "Make {} upper case.").format(
            w), w.upper(), w.upper())
    if k == 9:
        return say(t.pick("Write {} in small letters.", "Write \"{}\" in lower case.", "lowercase {}").format(w.upper()), w.lower(), w.lower())
    if k == 10:
        if len(w) < 3:
            return letters(t)
        i = rng.randint(2, min(5, len(w)))
        return say(t.pick("What is the {} letter of {}?", "{} letter of {}?").format(ORDINAL[i], w),
            f"The {ORDINAL[i]} letter of {w} is {w[i - 1].upper()}.", w[i - 1].upper())
    if k == 11:
        x = rng.choice(w if t.chance(0.8) else "aeiourst").lower()
        n = w.lower().count(x)
        q = t.pick("How many {x}'s are in {w}?", "How many {x} are in {w}?", "How many letters {x} does {w} have?", "count the {x}'s in {w}", "How often is the letter {x} in {w}?", "How many times does the letter {x} occur in \"{w}\"?",
            "how many {x} in {w}").format(x=x, w=w)
        return say(q, f"{spelled(w)}: the letter {x.upper()} is there {'once' if n == 1 else 'twice' if n == 2 else NUMBER[n] + ' times'}." if n else
            f"{spelled(w)}: there is no letter {x.upper()}.", str(n))
    if k == 12:
        x = rng.choice("abcdefghilmnoprstw")
        options = [c for c in COMMON if c.startswith(x)]
        pick = options[:3]
        return [(t.pick("Name a word that starts with {}.", "Give me a word with {}.", "A word that begins with {}?", "Which word starts with {}?").format(
            x.upper()), Answer(f"{rng.choice(pick)}.", exact=True))]
    yes = t.chance(0.5)
    x = w[0].lower() if yes else rng.choice("abcdefgmnprst")
    yes = w.lower().startswith(x)
    ans = verdict(yes, f"{w} starts with {w[0].upper()}")
    ans.exact = True
    return [(f"Does {w} start with {x.upper()}?", ans)]


def sentence(t):
    """Questions about words in a sentence that the user gives; sorting words; joining them."""
    words = t.rng.sample(COMMON, t.rng.randint(2, 6))
    s, k = " ".join(words), t.rng.randrange(9)
    if k == 0:
        q = t.pick("What is the first word of \"{}\"?", "First word of: {}").format(s)
        return [(q, Answer(f"The first word is \"{words[0]}\".", words[0], exact=True))]
    if k == 1:
        q = t.pick("What is the last word of \"{}\"?", "Last word of: {}").format(s)
        return [(q, Answer(f"The last word is \"{words[-1]}\".", words[-1], exact=True))]
    if k == 2:
        q = t.pick("Sort these words: {}", "Put these words in alphabetical order: {}", "Sort alphabetically: {}").format(", ".join(words))
        return [(q, Answer(", ".join(sorted(words)), kind="text", exact=True))]
    if k == 3:
        q = t.pick("Reverse the order of these words: {}", "Write these words in reverse order: {}", "say it backwards, word by word: {}").format(s)
        return [(q, Answer(" ".join(words[::-1]), kind="text", exact=True))]
    if k == 4:
        q = t.pick("Write this in capital letters: {}", "Put this in upper case: {}", "capitalize everything: {}").format(s)
        return [(q, Answer(s.upper(), kind="text", exact=True))]
    if k == 5:
        q = t.pick("How many words are in \"{}\"?", "Count the words: {}").format(s)
        return [(q, Answer(f"There are {NUMBER[len(words)]} words.", NUMBER[len(words)], exact=True))]
    if k == 6:
        q = t.pick("Make a list of these words: {}", "Write this as a list: {}", "Turn this into bullet points: {}").format(", ".join(words))
        return [(q, Answer("\n".join("- " + w for w in words), kind="text", exact=True))]
    if k == 7:
        w = t.rng.choice(words)
        new = t.rng.choice(COMMON)
        q = t.pick("Replace {w} by {n} in \"{s}\".", "In \"{s}\", replace {w} with {n}.").format(w=w, n=new, s=s)
        return [(q, Answer(" ".join(new if x == w else x for x in words), kind="text", exact=True))]
    w = t.rng.choice(words if t.chance(0.5) else COMMON)
    q = t.pick("Is the word {w} in \"{s}\"?", "Does \"{s}\" contain the word {w}?").format(w=w, s=s)
    return [(q, Answer("Yes, it is." if w in words else "No, it is not.", "Yes" if w in words else "No", "yes" if w in words else "no", exact=True))]


WHOLE = ["days of the week", "months", "seasons", "planets", "continents", "oceans"]  # of LISTS, those that leave nothing out


def whole_list(t):
    """All of something of which there are few, in its order."""
    k = t.pick(*WHOLE)
    words = LISTS[k]
    q = t.pick("Name all {k}.", "List all {k}.", "Tell me all {k}.", "What are the {k}?", "Which {k} are there?", "all {k}", "the {n} {k}", "all {n} {k}",
               "The {k} in order, please.", "{k} in order", "I need all {k}.", "Can you list all the {k}?", "Say the {k}.", "Recite the {k}.",
               "Give me all the {k}.", "names of the {k}", "enumerate the {k}").format(k=k, n=t.pick(NUMBER[len(words)], len(words)))
    form = t.rng.random()
    if form < 0.6:
        return [(q, Answer(f"The {k} are {joined(list(words))}."))]
    as_what, row = t.pick((" One in each line.", "{}"), (" With dashes.", "- {}"), (" As bullet points.", "- {}"), (" As a numbered list.", "{n}. {}"),
                          (" as json", None))
    text = json.dumps(list(words)) if row is None else "\n".join(row.format(first_up(w), n=i + 1) for i, w in enumerate(words))
    return [(q + as_what if q[-1] in ".?" else q + as_what.rstrip(".").lower(), Answer(text, kind="text"))]


def lists(t):
    if t.chance(0.15):
        return whole_list(t)
    if t.chance(0.45):
        names, words = t.rng.choice(NARROW)
        k = t.rng.choice(names)
    else:
        k, words = t.rng.choice(list(LISTS.items()))
    n = t.rng.randint(2, min(10, len(words)))
    pick = list(words[:n]) if t.chance(0.8) else t.rng.sample(list(words), n)
    num = NUMBER[n] if t.chance(0.6) else str(n)
    shape = t.rng.random()
    more = []
    if n < len(words) and pick == list(words[:n]) and t.chance(0.25):
        more = [(t.pick("One more?", "Another one?", "and another one", "one more please", "Name one more."), Answer(words[n] + ".", words[n]))]
    if shape < 0.5:
        q = t.pick("Name {n} {k}.", "Tell me {n} {k}.", "Can you name {n} {k}?", "Give me {n} {k}.", "{n} {k}", "{n} {k} please", "Say {n} {k}.",
            "I need {n} {k}.", "which {k} do you know? name {n}", "can you list {n} {k}", "what are {n} {k}?", "give me {n} examples of {k}", "please name {n} {k}")
        return [(q.format(n=num, k=k), Answer(joined(pick) + "."))] + more
    if shape < 0.75:
        q = t.pick("Make a list of {n} {k}.", "List {n} {k}.", "Write a list of {n} {k}.", "Give me a numbered list of {n} {k}.",
            "A list with {n} {k}, please.", "list {n} {k} please", "give me a list of {n} {k}", "I'd like a list of {n} {k}.")
        return [(q.format(n=num, k=k), Answer("\n".join(f"{i + 1}. {first_up(w)}" for i, w in enumerate(pick)), kind="text"))] + more
    if shape < 0.87:
        q = t.pick("Write {n} {k} as bullet points.", "Bullet list of {n} {k}", "List {n} {k} with dashes.", "{n} {k} in bullet points", "name {n} {k} as a bullet list", "Give me a bulleted list of {n} {k}.", "{n} {k} as bullets please")
        return [(q.format(n=num, k=k), Answer("\n".join(f"- {first_up(w)}" for w in pick), kind="text"))]
    if shape < 0.95:
        q = t.pick("Give me {n} {k} as a JSON array.", "{n} {k} as JSON.", "Return a JSON array of {n} {k}.", "List {n} {k} in JSON.",
            "Output {n} {k} as a JSON list.")
        pick = [NUMBER.index(w) if w in NUMBER else int(w) if w.isdigit() else w for w in pick]
        return [(q.format(n=num, k=k), Answer(json.dumps(pick, ensure_ascii=False), kind="text"))]
    q = t.pick("{n} {k}, separated by commas, nothing else.", "Only {n} {k}, comma separated.")
    return [(q.format(n=num, k=k), Answer(", ".join(pick), kind="text"))]


FIELDS = {  # key: what may stand there
    "name": lambda t: any_name(t.rng), "age": lambda t: t.rng.randint(3, 90), "city": lambda t: t.rng.choice(CITIES), "job": lambda t: t.rng.choice(
    JOBS),
    "colour": lambda t: t.rng.choice(COLOURS), "color": lambda t: t.rng.choice(COLOURS), "hobby": lambda t: t.rng.choice(HOBBIES), "pet": lambda t: t.rng.choice(
    LISTS["pets"]),
    "food": lambda t: t.rng.choice(FOODS), "country": lambda t: t.rng.choice([c for c in FAMOUS if not c.startswith("the ")]), "email": lambda t: f"{t.rng.choice(NAMES).lower()}@example.com",
    "price": lambda t: t.rng.randint(1, 500), "title": lambda t: "The " + first_up(t.rng.choice(ADJECTIVES)) + " " + first_up(t.rng.choice(THINGS)),
    "id": lambda t: t.rng.randint(1, 9999), "year": lambda t: t.rng.randint(1900, 2030), "size": lambda t: t.pick("small", "medium", "large"),
    "active": lambda t: t.chance(0.5),
    "surname": lambda t: t.rng.choice(SURNAMES), "animal": lambda t: t.rng.choice(ANIMALS[:30]), "quantity": lambda t: t.rng.randint(1, 50),
    "product": lambda t: t.rng.choice(THINGS),
    "language": lambda t: t.rng.choice(LISTS["languages"]), "first_name": lambda t: t.rng.choice(GIRLS + BOYS), "last_name": lambda t: t.rng.choice(
    SURNAMES), "status": lambda t: t.pick("open", "closed", "done"),
    "author": lambda t: _full_name(t), "artist": lambda t: _full_name(t), "teacher": lambda t: _full_name(t), "owner": lambda t: _full_name(t),
    "genre": lambda t: t.pick("fantasy", "comedy", "drama", "mystery", "adventure"), "pages": lambda t: t.rng.randint(40, 900), "rating": lambda t: t.rng.randint(1, 5),
    "song": lambda t: first_up(t.rng.choice(ADJECTIVES)) + " " + first_up(t.rng.choice(THINGS)), "phone": lambda t: f"555-{t.rng.randint(0, 9999):04}",
    "street": lambda t: first_up(t.rng.choice(NOUNS)) + " Street", "zip": lambda t: f"{t.rng.randint(10000, 99999)}", "number": lambda t: t.rng.randint(1, 100),
    "day": lambda t: t.pick(*LISTS["days of the week"]), "month": lambda t: t.pick(*LISTS["months"]), "time": lambda t: f"{t.rng.randint(6, 22)}:{t.pick('00', '15', '30', '45')}",
    "date": lambda t: f"20{t.rng.randint(24, 30)}-{t.rng.randint(1, 12):02}-{t.rng.randint(1, 28):02}", "weight": lambda t: t.rng.randint(1, 90), "height": lambda t: t.rng.randint(1, 200),
    "brand": lambda t: invented(t.rng), "model": lambda t: invented(t.rng), "category": lambda t: t.rng.choice(NOUNS), "fruit": lambda t: t.rng.choice(LISTS["fruits"]),
    "sport": lambda t: t.rng.choice(LISTS["sports"]), "instrument": lambda t: t.rng.choice(LISTS["instruments"]), "drink": lambda t: t.rng.choice(LISTS["drinks"]),
    "score": lambda t: t.rng.randint(0, 100), "level": lambda t: t.rng.randint(1, 10), "team": lambda t: "The " + first_up(t.rng.choice(ANIMALS[:30])) + "s", "role": lambda t: t.pick("admin", "user", "guest"),
    "username": lambda t: t.rng.choice(NAMES).lower() + str(t.rng.randint(1, 99)), "breed": lambda t: t.pick("poodle", "beagle", "collie", "boxer"), "message": lambda t: t.rng.choice(PHRASES[:5]),
    "word": lambda t: t.rng.choice(NOUNS), "opposite": lambda t: t.rng.choice(ADJECTIVES), "count": lambda t: t.rng.randint(1, 20), "total": lambda t: t.rng.randint(1, 500),
    "married": lambda t: t.chance(0.5), "available": lambda t: t.chance(0.5), "done": lambda t: t.chance(0.5), "tags": lambda t: t.rng.sample(NOUNS, 2),
}
FOR_WHAT = ("a book|a made up book|a fictional person|a person|a customer|a pet|a cat|a dog|a car|an order|a movie|a song|a city|a user|an imaginary user|a student|a product|a fruit|a house|a recipe|"
            "a friend|a planet|a game|a teacher|an animal|a toy|a company|a restaurant|a hotel|a hero").split("|")


def _full_name(t):
    return t.rng.choice(NAMES) + " " + t.rng.choice(SURNAMES)


def _some_fields(t):
    """Keys with values: known ones, and now and then a word that stands in no list."""
    keys = t.rng.sample(list(FIELDS), t.rng.randint(1, 4))
    if t.chance(0.15):
        keys[t.rng.randrange(len(keys))] = t.pick(*NOUNS)
    return {k: FIELDS[k](t) if k in FIELDS else t.rng.choice(COMMON) for k in keys}


def json_made(t):
    """An object with the keys that are asked for; the values come from the text, or are made up."""
    obj = _some_fields(t)
    keys = list(obj)
    told = ", ".join(f"{k} {str(v).lower() if isinstance(v, bool) else joined(v) if isinstance(v, list) else v}" for k, v in obj.items())
    names = joined(keys) if t.chance(0.6) else ", ".join(f'"{k}"' for k in keys)
    k = t.rng.randrange(8)
    if k < 4:
        q = t.pick("Write a JSON object with {t}.", "Give me JSON with {t}.", "Make a JSON object: {t}", "Convert to JSON: {t}", "JSON for {t}",
                   "Turn this into JSON: {t}",
                   "Return {t} as JSON.", "as json: {t}", "Please write {t} as a JSON object.").format(t=told)
    elif k < 7:
        q = t.pick("Give me a JSON object with the keys {n}.", "Write JSON with the fields {n}.", "Return JSON with the keys {n}.",
                   "Make an example JSON object with {n}.", "I need a JSON with keys {n}.",
                   "Answer with a JSON object that has the keys {n}.", "Generate a JSON example with {n}",
                   "Output a JSON object with {n} and nothing else.", "Give me a JSON object with the keys {n} for {w}", "JSON with {n} for {w}", "Make up {w} as JSON with the keys {n}.",
                   "write {w} as json, keys: {n}", "only json, please: {w} with {n}", "return only json: {f}", "Fill in this JSON for {w}: {f}", "complete the json: {f}").format(
                       n=names, w=t.pick(*FOR_WHAT), f="{" + ", ".join(f'"{k}": ...' for k in keys) + "}")
        if t.chance(0.3):
            n = t.rng.randint(2, 3)
            rows = [{k: FIELDS[k](t) if k in FIELDS else t.rng.choice(COMMON) for k in keys} for _ in range(n)]
            q = t.pick("Give me a JSON array of {c} objects with the keys {n}.", "Write {c} JSON records with {n}.", "a json list of {c} people with {n}", "an array of {c} objects, each with {n}, as JSON").format(c=NUMBER[n], n=names)
            return [(q, Answer(json.dumps(rows, ensure_ascii=False), kind="text", exact=True))]
    else:
        n, age, city = any_name(t.rng), t.rng.randint(3, 90), t.rng.choice(CITIES)
        obj = {"name": n, "age": age, "city": city}
        q = t.pick("{n} is {a} years old and lives in {c}. Write that as JSON with name, age and city.", "Extract name, age and city as JSON: {n} "
                   "is {a} and lives in {c}.",
                   "My name is {n}, I am {a} and I live in {c}. Give me that as JSON with the keys name, age, city.").format(n=n, a=age, c=city)
    out = [(q, Answer(json.dumps(obj, ensure_ascii=False), kind="text", exact=True))]
    if t.chance(0.15):
        key = t.rng.choice([x for x in FIELDS if x not in obj])
        obj = {**obj, key: FIELDS[key](t)}
        v = obj[key]
        out.append((t.pick("Add the key {k} with {v}.", "Now add {k}: {v}", "and add a field {k} with the value {v}").format(k=key, v=str(v).lower() if isinstance(
            v, bool) else joined(v) if isinstance(v, list) else v), Answer(json.dumps(obj, ensure_ascii=False), kind="text", exact=True)))
    elif t.chance(0.1):
        key = t.rng.choice(list(obj))
        out.append((f"What is the {key} in it?", Answer(f"The {key} is {str(obj[key]).lower() if isinstance(obj[key], bool) else joined(obj[key]) if isinstance(obj[key], list) else obj[key]}.", str(
            obj[key]), exact=True)))
    return out


def json_facts(t):
    names = t.rng.sample([c for c in FAMOUS if not c.startswith("the ")], t.rng.randint(1, 3))
    if len(names) == 1:
        q = t.pick("Give me the capital of {} as JSON with the keys country and capital.", "JSON with country and capital for {}.",
            "Return the capital of {} as JSON: country, capital.").format(names[0])
        return [(q, Answer(json.dumps({"country": names[0], "capital": CAPITAL[names[0]]}, ensure_ascii=False), kind="text"))]
    if t.chance(0.4):
        return [_asked_of(t)]
    q = t.pick("Write the capitals of {} as JSON.", "JSON object with the capitals of {}.", "capitals of {} as json").format(joined(names))
    return [(q, Answer(json.dumps({n: CAPITAL[n] for n in names}, ensure_ascii=False), kind="text"))]


def _asked_of(t):
    """What is known of a country, or of the city that is its capital, under the keys that are asked for."""
    country = t.rng.choice([c for c in FAMOUS if not c.startswith("the ") and c in LANGUAGE])
    known = {"country": country, "capital": CAPITAL[country], "continent": CONTINENT[country], "language": LANGUAGE[country]}
    of, keys = country, ["country", *t.rng.sample(["capital", "continent", "language"], t.rng.randint(1, 3))]
    if t.chance(0.4):
        of, known["city"] = CAPITAL[country], CAPITAL[country]
        keys = ["city", *t.rng.sample(["country", "continent", "language"], t.rng.randint(1, 2))]
    form = "{" + ", ".join(f'"{k}": ...' for k in keys) + "}"
    q = t.pick("return only json: {f} for {o}", "JSON with {n} for {o}", "Give me a JSON object for {o} with the keys {n}.", "{o} as json with {n}", "Fill in for {o}: {f}",
               "{f}, please fill it in for {o}", "Write {n} of {o} as JSON.").format(f=form, n=joined(keys), o=of)
    return q, Answer(json.dumps({k: known[k] for k in keys}, ensure_ascii=False), kind="text", exact=True)


def table(t):
    """A Markdown table of what the user gives, or of countries."""
    if t.chance(0.5):
        names = t.rng.sample([c for c in FAMOUS if not c.startswith("the ")], t.rng.randint(2, 5))
        q = t.pick("Make a table of {} with their capitals.", "Table with the capitals of {}.", "Write a Markdown table of {} and their capitals.").format(
            joined(names))
        return [(q, Answer("| Country | Capital |\n|---|---|\n" + "\n".join(f"| {n} | {CAPITAL[n]} |" for n in names), kind="text"))]
    people = [(n, t.rng.randint(5, 90)) for n in t.rng.sample(NAMES, t.rng.randint(2, 4))]
    q = t.pick("Make a table: {}", "Put this into a table: {}", "Write a table with name and age: {}").format(", ".join(f"{n} is {x}" for n, x in people))
    return [(q, Answer("| Name | Age |\n|---|---|\n" + "\n".join(f"| {n} | {x} |" for n, x in people), kind="text", exact=True))]


def make_sentence(t):
    x, y, z = t.rng.choice(ADJECTIVES), t.rng.choice(ANIMALS[:60]), t.rng.choice(THINGS)
    k = t.rng.randrange(3)
    if k == 0:
        q = t.pick("Write a sentence with the word {}.", "Make a sentence with {}.", "Use {} in a sentence.", "A sentence with \"{}\", please.").format(
            z)
        return [(q, Answer(t.pick(f"The {x} {y} found {a(z)}.", f"There is {a(z)} in my room.", f"I have {a(z)} at home."), exact=True))]
    if k == 1:
        q = t.pick("Write a sentence about {}.", "One sentence about {}, please.", "Say something about {}.").format(a(y))
        return [(q, Answer(t.pick(f"The {y} is {x} and likes to play.", f"{first_up(a(x))} {y} sits near the river.",
            f"Every morning the {y} looks for food.")))]
    q = t.pick("Make a sentence with {} and {}.", "Use the words {} and {} in one sentence.").format(y, z)
    return [(q, Answer(t.pick(f"The {y} has {a(x)} {z}.", f"The {y} found the {z} in the garden."), exact=True))]


