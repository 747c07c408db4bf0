"""What every skill uses: an answer, and the state of a conversation in the making.

A skill is a function (t) -> list of (what the user says, Answer), t being a Talk. Skills never look
at style, typos or upper case: generate.py does that for all of them.
"""
from text.english import first_up


class Answer:
    """A full answer; the same in a word or two, where that exists; and how it may be changed.

    kind: "fact" (any style may be put around it), "yes"/"no", "refuse", "hello", "text" (a story, a list,
    code: no style changes it), "ask" (a question back).
    exact: the user's text is quoted in the answer, so no typo may be put into it.
    key: what the held-out rule looks at in place of the question.
    why: what "Why?" is answered.
    """

    def __init__(self, full, short=None, kind="fact", exact=False, key=None, why=None):
        self.full = first_up(full) if kind != "text" else full
        self.short = short
        self.kind = kind
        self.exact = exact
        self.key = key
        self.why = why


def verdict(yes, truth, why=None, words=("yes", "no")):
    """The fact first and then whether it is so: a small model tells a fact it knows more surely than it foretells what follows from it."""
    word = words[0 if yes else 1]
    return Answer(f"{truth}, so {word}.", first_up(word), "yes" if yes else "no", why=why or f"Because {truth}.")


class Talk:
    """The state of one conversation while it is made."""

    def __init__(self, rng, held):
        self.rng, self.held = rng, held
        self.known = {}  # what the user told: "name", "colour", ...
        self.said = []  # (question, Answer) so far
        self.later = []  # functions that make a question about something said before
        self.bot = None  # a name that the system prompt gives the assistant
        self.role = None  # "pirate", "chef": what the system prompt makes of it

    def pick(self, *options):
        return self.rng.choice(options)

    def chance(self, share):
        return self.rng.random() < share
