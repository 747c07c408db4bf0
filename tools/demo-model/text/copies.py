"""Text that says again what it said before: a model that has seen some of it finds and copies what stands in a prompt much earlier.

What is new in it cannot be foretold and counts nothing in training (Olsson et al. 2022, "In-context Learning and Induction Heads",
is about the heads that such text forms).
"""
from text.chat_format import END, LEARN, NOTHING
from text.data.words import any_name, invented
from text.skills.texts import COMMON


def some_word(rng):
    r = rng.random()
    if r < 0.55:
        return rng.choice(COMMON)
    if r < 0.75:
        return invented(rng, rng.random() < 0.5)
    if r < 0.85:
        return any_name(rng)
    return str(rng.randint(0, 10 ** rng.randint(1, 5)))


def phrases(rng):
    """A few phrases, each several times, in any order."""
    seen, parts, link = [], [], rng.choice(["\n", ". ", ", ", "; ", " "])
    kinds = rng.randint(1, 6)
    for _ in range(kinds * rng.randint(2, 5)):
        if len(seen) < kinds and (not seen or rng.random() < 0.4):
            seen.append(" ".join(some_word(rng) for _ in range(rng.randint(2, 12))))
            parts.append((seen[-1] + link, NOTHING))
        else:
            parts.append((rng.choice(seen) + link, LEARN))
    return parts


def pairs(rng):
    """Keys with their values, and the same keys again."""
    mark, link = rng.choice([(": ", "\n"), (" = ", "\n"), (" is ", ". "), (" -> ", "\n"), (": ", ", "), (" has ", ". ")])
    values = {some_word(rng): " ".join(some_word(rng) for _ in range(rng.choice([1, 1, 1, 2, 3]))) for _ in range(rng.randint(2, 10))}
    keys = list(values)
    parts = [(f"{k}{mark}{v}{link}", NOTHING) for k, v in values.items()]
    for k in (rng.choice(keys) for _ in range(rng.randint(4, 16))):
        parts += [(k + mark.rstrip(), NOTHING), (" " + values[k] + link, LEARN)]
    return parts


# Ways to write a phrase. A word has another token where a space stands before it, and another again in capitals.
DRESSES = ["{}", "{}", '"{}"', "'{}'", '{{"text": "{}"}}', '["{}"]', "**{}**", "- {}", "({})", "Is it {}?", "It is {}.", "<{}>", "`{}`"]
CASES = [str, str, str, str, str.upper, str.lower, str.capitalize, str.title]


def rewritten(rng):
    """Phrases, each again in another dress: all lines of a document change it in the same way."""
    before, after, case = rng.choice(DRESSES), rng.choice(DRESSES), rng.choice(CASES)
    mark, few = rng.choice([" -> ", ": ", " = ", "\n", " | "]), rng.choice([1, 2, 4])
    parts = []
    for _ in range(rng.randint(4, 20)):
        phrase = " ".join(some_word(rng) for _ in range(rng.randint(1, few)))
        parts += [(before.format(phrase) + mark.rstrip(" "), NOTHING), (" " * mark.endswith(" ") + after.format(case(phrase)) + "\n", LEARN)]
    return parts


def parted(rng):
    """Lists, each again with other marks between its words, or one of its words."""
    before, after = rng.sample([("", ", ", ""), ("", "; ", ""), ("", " and ", ""), ("[", ", ", "]"), ('["', '", "', '"]'), ("- ", "\n- ", ""),
                                ("", " ", ""), ("", "\n", ""), ("", " / ", "")], 2)
    which, parts = rng.choice([None, None, 0, -1, 1, "reversed", "sorted"]), []
    for _ in range(rng.randint(3, 12)):
        words = list(dict.fromkeys(some_word(rng) for _ in range(rng.randint(2, 6))))
        said = before[0] + before[1].join(words) + before[2]
        words = {"reversed": words[::-1], "sorted": sorted(words, key=str.lower), None: words}[which] if which is None or isinstance(which, str) else [
            words[which % len(words)]]
        parts += [(said + "\n=", NOTHING), (" " + after[0] + after[1].join(words) + after[2] + "\n", LEARN)]
    return parts


def copies(rng):
    """A document of one of these kinds: {"kind", "parts": [(text, how much it counts)]}."""
    parts = rng.choice([phrases, pairs, rewritten, rewritten, parted])(rng)
    return {"kind": "copies", "parts": [*parts, (END, NOTHING)]}
