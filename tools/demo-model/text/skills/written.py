"""Conversations written by hand, with places for names, words and numbers: text/written/**/*.txt.

    # a comment
    > Hi, I am <name>. | hello, my name is <name>     what the user says: wordings, of which one is taken
    Nice to meet you, <name>!                          the answer, of one line or of several
    > what is my name? | Who am I?                     the next turn
    Your name is <name>.
                                                       an empty line ends the conversation

A place holds an expression of Python over the POOLS and the functions below: <n + 2>, <reverse(word)>, <name2>
(another name than <name>). A line "= beasts: dog|cat|horse" above the first conversation names a list of that file: <beasts[n % 3]>. An answer "@unknown" is a refusal as refusals.py words it, "@unknown I cannot see." one that begins so.

    python3 -m text.skills.written text/written/things.txt     # checks a file, and prints each conversation once
"""
import glob
import json
import os
import random
import re
import sys

from text.conversation import Answer, Talk
from text.data.countries import CAPITAL
from text.data.tables import DAYS, MONTHS, NUMBER
from text.data.words import BOYS, CITIES, COLOURS, EVERYDAY, FOODS, GIRLS, GOODS, HOBBIES, JOBS, PETS, SURNAMES, THINGS, any_name, invented
from text.english import a, first_up, joined, plural
from text.skills import refusals, sums, texts

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "written")
BEASTS = ("dog cat fox bear rabbit mouse frog duck owl horse hedgehog squirrel goat pig turtle wolf lion elephant snail donkey penguin monkey tiger cow whale spider ant "
          "butterfly sheep hen swan deer koala panda giraffe zebra hamster dolphin shark parrot crow snake crocodile kangaroo camel otter").split()
FRUITS = "apple banana pear plum peach cherry orange lemon grape melon mango strawberry kiwi apricot".split()
VEGETABLES = "carrot potato onion tomato cucumber pepper leek bean pea radish pumpkin spinach celery beetroot".split()
ROOMS = "kitchen|bedroom|living room|bathroom|hall|office|garage|cellar|garden".split("|")
RELATIONS = "sister brother mother father aunt uncle cousin grandmother grandfather son daughter neighbour teacher boss friend".split()
NOT_DRAWN = 0.15  # share of names and words that stand in no list

POOLS = {  # name of a place: what may stand in it
    "name": any_name, "girl": lambda r: r.choice(GIRLS), "boy": lambda r: r.choice(BOYS), "surname": lambda r: r.choice(SURNAMES) if r.random() > NOT_DRAWN else invented(r),
    "city": lambda r: r.choice(CITIES) if r.random() > NOT_DRAWN else invented(r), "country": lambda r: r.choice(list(CAPITAL)), "made": invented,
    "animal": lambda r: r.choice(BEASTS), "pet": lambda r: r.choice("dog cat rabbit hamster parrot horse pony turtle goldfish mouse bird kitten puppy".split()),
    "petname": lambda r: r.choice(PETS) if r.random() < 0.6 else any_name(r), "food": lambda r: r.choice(FOODS), "fruit": lambda r: r.choice(FRUITS),
    "vegetable": lambda r: r.choice(VEGETABLES), "item": lambda r: r.choice(GOODS), "colour": lambda r: r.choice(COLOURS), "thing": lambda r: r.choice(THINGS),
    "word": lambda r: r.choice(EVERYDAY) if r.random() > NOT_DRAWN else invented(r, False), "room": lambda r: r.choice(ROOMS), "relation": lambda r: r.choice(RELATIONS),
    "job": lambda r: r.choice(JOBS), "hobby": lambda r: r.choice(HOBBIES), "day": lambda r: r.choice(DAYS), "month": lambda r: r.choice(MONTHS),
    "time": lambda r: f"{r.randint(7, 21)}:{r.choice(['00', '15', '30', '45'])}", "hour": lambda r: r.randint(1, 12), "date": lambda r: f"{r.randint(1, 28)} {r.choice(MONTHS)}",
    "n": lambda r: r.randint(20, 60), "m": lambda r: r.randint(2, 9), "big": lambda r: r.randint(61, 99), "age": lambda r: r.randint(18, 89), "young": lambda r: r.randint(2, 15),
    "price": lambda r: r.choice([r.randint(2, 30), 5 * r.randint(1, 40)]), "year": lambda r: r.randint(1950, 2030),
}
FUNCTIONS = {
    "a": a, "up": lambda x: str(x).upper(), "low": lambda x: str(x).lower(), "first_up": first_up, "reverse": lambda x: x[::-1], "spell": texts.spelled, "length": len,
    "plural": plural, "capital": CAPITAL.get, "joined": joined, "say": lambda x: NUMBER[x],
    "sort": lambda *xs: sorted(xs, key=str.lower), "js": lambda x: json.dumps(x, ensure_ascii=False), "max": max, "min": min,
}
SUM = re.compile(r"(\d+) ([-+*/]) (\d+) =")
PLACE = re.compile(r"<([a-z][^<>]*|\([^<>]*)>")


class Places(dict):
    """The values of one conversation, drawn when they are first asked for: <name>, <name2>, <name3> all differ; and the lists of its file."""

    def __init__(self, rng, lists):
        super().__init__()
        self.rng, self.lists = rng, lists

    def __missing__(self, key):
        pool = key.rstrip("0123456789")
        if pool not in POOLS:
            raise KeyError(key)
        taken = {v for k, v in self.items() if k.rstrip("0123456789") == pool}
        while (value := POOLS[pool](self.rng)) in taken:
            pass
        self[key] = value
        return value

    def fill(self, text):
        said = PLACE.sub(lambda m: str(eval(m.group(1), {"__builtins__": {}, **FUNCTIONS, **self.lists}, self)), text)
        return said.replace("D.C..", "D.C.")  # the capital of the United States at the end of a sentence


class Chat(list):
    """[(wordings, answer)] of one conversation, and the lists of its file."""

    def __init__(self, lists):
        super().__init__()
        self.lists = lists


def read(path):
    """The conversations of a file; throws a ValueError with the line that cannot be read."""
    lists, chats = {}, []
    chat = Chat(lists)
    for number, line in enumerate([*open(path, encoding="utf-8"), ""], 1):
        line = line.rstrip()
        if line.startswith("#"):
            continue
        if line.startswith("= ") and not chats and not chat:
            name, _, items = line[2:].partition(": ")
            if name in lists or name in POOLS or name in FUNCTIONS:
                raise ValueError(f"{path}:{number}: {name} has a meaning already")
            lists[name] = items.split("|")
        elif not line:
            if chat:
                chats.append(chat)
            chat = Chat(lists)
        elif line.startswith("> "):
            if chat and not chat[-1][1]:
                raise ValueError(f"{path}:{number}: the turn before has no answer")
            chat.append([line[2:].split(" | "), ""])
        elif not chat:
            raise ValueError(f"{path}:{number}: an answer without a question")
        else:
            chat[-1][1] += ("\n" if chat[-1][1] else "") + line
    for chat in chats:
        if not chat[-1][1]:
            raise ValueError(f"{path}: no answer to {chat[-1][0][0]!r}")
    return chats


def filled(t, chat):
    """The turns of one conversation; in the training text without sums that only the held-out text may contain."""
    while True:
        turns = drawn(t, chat)
        found = SUM.findall(" ".join(ans.full for _, ans in turns))
        if t.held or not any(sums.only_held_out(int(x), op, int(y)) for x, op, y in found):
            return turns


def drawn(t, chat):
    places, out = Places(t.rng, chat.lists), []
    for wordings, answer in chat:
        q = t.rng.choice(wordings)
        full, is_exact = places.fill(answer), "<" in q
        if answer.startswith("@unknown"):
            ans = refusals.refusal(t, full[len("@unknown "):] or t.rng.choice(refusals.UNKNOWN))
        else:
            ans = Answer(full, None, "text", exact=is_exact)
        out.append((places.fill(q), ans))
    return out


FILES = {os.path.basename(path)[:-4]: read(path) for path in sorted(glob.glob(os.path.join(FOLDER, "**", "*.txt"), recursive=True))}
CHATS = [chat for chats in FILES.values() for chat in chats]
PLOTS = [chat for name, chats in FILES.items() if name.endswith("plots") for chat in chats]
TURNS = FILES["turns"] + FILES["hold"]
SINGLE, SEVERAL = [c for c in CHATS if len(c) == 1], [c for c in CHATS if len(c) > 1]


def question(t):
    return filled(t, t.rng.choice(SINGLE))


def conversation(t):
    return filled(t, t.rng.choice(SEVERAL))


def plot(t):
    """A story whose plot the user gives."""
    return filled(t, t.rng.choice(PLOTS))


def turns(t):
    """A chat whose later turns need the earlier ones."""
    return filled(t, t.rng.choice(TURNS))


if __name__ == "__main__":
    talk = Talk(random.Random(1), False)
    for one in read(sys.argv[1]):
        print("\n".join(f"> {q}\n{ans.full}" for q, ans in filled(talk, one)) + "\n")
        for seed in range(30):
            filled(Talk(random.Random(seed), False), one)
