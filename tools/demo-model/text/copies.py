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


def copies(rng):
    """A document of both kinds: {"kind", "parts": [(text, how much it counts)]}."""
    parts = rng.choice([phrases, pairs])(rng)
    return {"kind": "copies", "parts": [*parts, (END, NOTHING)]}
