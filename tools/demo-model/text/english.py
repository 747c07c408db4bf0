"""English phrasing: the indefinite article, a list in words, a capital letter at the beginning."""


def a(word):
    """The word with its indefinite article."""
    vowel = word[0].lower() in "aeiou" and not word.lower().startswith(("uni", "use", "eu", "one"))
    return ("an " if vowel or word.lower().startswith(("hour", "honest")) else "a ") + word


def joined(words, last="and"):
    words = list(words)
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + f" {last} " + words[-1]


def first_up(text):
    return text[:1].upper() + text[1:]
