"""What people really type: small letters, no mark at the end, capitals, typos, please and thanks."""
import re

NEAR = {"a": "sq", "s": "ad", "d": "sf", "e": "wr", "r": "et", "t": "ry", "i": "uo", "o": "ip", "n": "bm", "m": "n", "l": "k", "c": "xv", "h": "gj",
    "u": "yi", "p": "o", "g": "fh", "y": "tu", "w": "qe", "f": "dg", "b": "vn", "v": "cb", "k": "jl"}
FIRST = ("Say", "Repeat", "Spell", "What", "How", "Write", "Reverse", "Give", "Make", "Count", "Name", "Which", "Who", "Where", "When", "Please",
         "Can", "Could", "Tell", "Is", "Does", "Do", "Are", "My", "Remember", "Put", "Sort", "Turn", "Convert", "Return", "Use",
         "Search", "Find", "Send", "Set", "Show", "Get", "Play", "Book", "Add", "And", "Hello", "Hi", "Translate", "Summarize", "Explain", "I")
BEFORE = ["Please tell me: ", "Hey, ", "So, ", "OK, ", "Hm, ", "Now: ", "Quick question: ", "Question: ", "Excuse me, ", "please ", "pls ",
    "Sorry, ", "Tell me, ", "One more thing: ", "btw ", "I wonder: "]
AFTER = [", please", " please", " pls", " thanks", ", thank you", " :)", " ok?", " plz"]


TAIL = re.compile(r"^What.*(, | or |: | (of|from|for|called|like|in|on|to|with|made|mean|known)\?$)")  # not to be turned into "Tell me ..."


def typo(rng, q):
    spots = [i for i in range(1, len(q) - 1) if q[i].isalpha() and q[i - 1].isalpha()]
    if not spots:
        return q
    i = rng.choice(spots)
    r, c = rng.random(), q[i].lower()
    if r < 0.3:
        return q[:i] + q[i + 1:]
    if r < 0.55 and q[i + 1].isalpha():
        return q[:i] + q[i + 1] + q[i] + q[i + 2:]
    if r < 0.75:
        return q[:i] + q[i] + q[i:]
    return q[:i] + rng.choice(NEAR.get(c, c)) + q[i + 1:]


def lead(q):
    """With a small first letter, where the first word is not a name."""
    return q[0].lower() + q[1:] if q.split(" ")[0].rstrip(",.!?'") in FIRST and not q.startswith("I ") else q


def indirect(rng, q):
    """What is ...? and How many ...? asked in a roundabout way."""
    for start, forms in ((("What is ", "What's "), ["Can you tell me what {} is?", "Do you know what {} is?", "Tell me {}.",
                                                    "I would like to know {}.", "what's {}", "{}?", "I want to know what {} is.",
                                                    "Could you please tell me {}?", "any idea what {} is?", "Would you tell me {}?",
                                                    "I was wondering what {} is.", "please name {}", "give me {}", "I have to find out {}."]),
                         (("How many ",), ["Tell me how many {}.", "Do you know how many {}?", "I want to know how many {}.", "what number of {}",
                         "Can you say how many {}?"]),
                         (("Who ",), ["Do you know who {}?", "Tell me who {}.", "can you tell me who {}"]), (("Where ",), ["Do you know where {}?",
                         "Tell me where {}.", "I'd like to know where {}."]),
                         (("Is ", "Does ", "Can ", "Do ", "Are "), ["I ask myself: {s}{}?", "Tell me: {s}{}?", "My question: {s}{}?", "so, {s}{}?",
                         "{s}{}, yes or no?"])):
        for s in start:
            if q.startswith(s) and q.endswith("?") and "your" not in q and not q.startswith(("Can you", "Do you", "Are you", "Is your")) and not TAIL.search(q) and q.count("?") == 1:
                return rng.choice(forms).format(q[len(s):-1], s=s.lower())
    return q


def rough(rng, q, exact=False):
    """exact: the words may be quoted in the answer, so only what stands around them changes."""
    if not q:
        return q
    if exact:
        if rng.random() < 0.25:
            q = lead(q)
        if rng.random() < 0.04:
            q = rng.choice(BEFORE) + lead(q)
        return q
    if rng.random() < 0.1:
        q = indirect(rng, q)
    r = rng.random()
    if r < 0.24:
        q = q.lower()
    elif r < 0.30:
        q = lead(q)
    if rng.random() < 0.25:
        q = q.rstrip("?.!") or q
    elif rng.random() < 0.04 and q[-1] in "?!":
        q += q[-1] * rng.randint(1, 2)
    r = rng.random()
    if r < 0.04:
        q = rng.choice(BEFORE) + lead(q)
    elif r < 0.08 and len(q) > 6:
        mark = q[-1] if q[-1] in "?." else ""
        q = q[:len(q) - len(mark)] + rng.choice(AFTER) + (mark if rng.random() < 0.5 else "")
    if rng.random() < 0.1 and len(q) > 8:
        q = typo(rng, q)
        while rng.random() < 0.35:
            q = typo(rng, q)
    elif rng.random() < 0.02:
        q = " ".join(typo(rng, w) if len(w) > 3 and rng.random() < 0.5 else w for w in q.split(" "))
    if rng.random() < 0.05:
        q = q.replace("'", "")
    if rng.random() < 0.09:
        q = q.upper()
    elif rng.random() < 0.01:
        q = q.title()
    if rng.random() < 0.01:
        q = " " + q if rng.random() < 0.5 else q + " "
    return q
