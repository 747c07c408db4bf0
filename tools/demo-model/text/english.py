"""English phrasing: the indefinite article, a list in words, a capital letter at the beginning, the plural."""
from text.data.tables import PLURAL


def a(word):
    """The word with its indefinite article."""
    vowel = word[0].lower() in "aeiou" and not word.lower().startswith(("uni", "use", "eu", "one"))
    return ("an " if vowel or word.lower().startswith(("hour", "honest")) else "a ") + word


def joined(words, last="and"):
    words = list(words)
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + f" {last} " + words[-1]


def first_up(text):
    return text[:1].upper() + text[1:]


def plural(word):
    if word in PLURAL:
        return PLURAL[word]
    if word.endswith("man") and word not in ("human", "German", "Roman", "shaman"):
        return word[:-2] + "en"
    if word.endswith("y") and word[-2] not in "aeiou":
        return word[:-1] + "ies"
    return word + ("es" if word.endswith(("s", "x", "ch", "sh")) else "s")
