"""Tools written down as text, many with few wordings each: lists/*.txt, read into families.

    python3 -m text.tools.listed text/tools/lists/FILE.txt   # checks a file and prints calls of each of its tools

A tool is a block of lines, and a blank line ends it:

    get_flight_status flight_status flightInfo
    Look up the status of a flight. | Check whether a flight is on time
    - flight_number flight number: flight = The flight number
    - date day: date ? = The day of the flight
    - class: [economy|business] ?
    > Is flight {0} on time? | what about {0}, is it late on {1}
    < status: on time|delayed|boarding; delay_minutes: 5-90; gate: code
    < flight: {0}; status: landed
    = {flight} has {status}.

    get_lock_state isLocked
    Whether a lock is locked.
    - lock: [front door|back door]
    > state of the {0} lock
    >+ Is the {0} locked?
    >- Is the {0} unlocked?
    < locked: false; battery: 5-99
    = The {0} is not locked.
    =+ No, the {0} is not locked.
    =- Yes, the {0} is not locked.

The names; what it does; the parameters with their names, kind (of values.py and toolset.py) or choices, ? where it may be left
out, and a description; how one asks for it, {0} the first parameter; what comes back: choices, a range (0.50-9.90 with decimals),
a kind or an argument; and after =, where it stands, how the result above is told, {status} a field of it and {0} an argument.
{0=true} in a wording gives the argument a value that the user does not say in this form ("roll a die{0=1}"). >+ and >- are questions
for yes or no, the one and its contrary, =+ and =- what is said to them. A result may hold lists: 2-4*item are two to four of a kind,
1-3*(title title, price price) so many objects, told with {events:title for price}; and < !null is a result as it stands there.
"""
import json
import os
import random
import re
import sys

from text.data.values import VALUES
from text.english import joined
from text.tools.madeup import MADE, MADE_TYPES
from text.tools.toolset import Family, P, value

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lists")
NUMBERS = {"int", "small", "money"}
KINDS = {*NUMBERS, *VALUES, *MADE, "city", "name", "full", "email", "code", "flight", "message", "time", "date", "day", "word", "topic", "subject", "text", "expr", "language", "currency", "symbol",
    "room", "path", "food", "song", "thing", "job", "unitname", "goods", "flag", "decimal", "people"}
PARAM = re.compile(r"- ([\w. ]+): (?:\[([^\]]+)\]|(\w+))( \?)?(?: = (.+))?$")
RANGE = re.compile(r"(-?\d+)-(\d+)$")
DECIMALS = re.compile(r"(-?\d+\.(\d+))-(-?\d+\.\d+)$")
TYPES = {**dict.fromkeys(NUMBERS, "integer"), "decimal": "number", "flag": "boolean", "goods": "array", "people": "array", **MADE_TYPES}
GIVEN = re.compile(r"\{(\d)=([^}]*)\}")
MANY = re.compile(r"(\d)-(\d)\*(?:\((.+)\)|(.+))$")
TELL = re.compile(r"\{(\w+)(?::([^}]+))?\}")


class Ask(str):
    """A wording. fixed: what it gives without saying it; side: + or - for a question of yes or no."""

    def __new__(cls, text, side=""):
        out = str.__new__(cls, GIVEN.sub("", text))
        out.side, out.fixed = side, {int(i): literal(x) for i, x in GIVEN.findall(text)}
        return out


def literal(text):
    """true, 1, 2.5 or a word."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def options(text):
    return [x.strip() for x in text.split("|") if x.strip()]


def param(line):
    found = PARAM.match(line)
    if not found:
        raise ValueError(f"no parameter: {line!r}")
    names, enum, kind, optional, about = found.groups()
    if kind and kind not in KINDS:
        raise ValueError(f"no such kind: {kind} in {line!r}")
    kind = kind or "any"
    return P(names, TYPES.get(kind, "string"), about or "", kind, not optional, options(enum) if enum else None)


def field(text, params):
    """(key, a function of (rng, values) that gives what stands there)"""
    key, _, how = (x.strip() for x in text.partition(":"))
    if not how or " " in key:
        raise ValueError(f"no field of a result: {text!r}")
    if how.startswith("{") and how.endswith("}"):
        at = int(how[1:-1])
        if params[at].kind == "any" and not params[at].enum or not params[at].required:
            raise ValueError(f"{how} may be left out: {text!r}")
        return key, lambda rng, v: v[at]
    span = RANGE.match(how)
    if span:
        low, high = int(span[1]), int(span[2])
        return key, lambda rng, v: rng.randint(low, high)
    span = DECIMALS.match(how)
    if span:
        return key, lambda rng, v: round(rng.uniform(float(span[1]), float(span[3])), len(span[2]))
    many = MANY.match(how)
    if many and many[3]:
        parts = [x.split(None, 1) for x in many[3].split(",")]
        inner = [field(f"{k}: {x}", params) for k, x in parts]
        return key, lambda rng, v: [{k: get(rng, v) for k, get in inner} for _ in range(rng.randint(int(many[1]), int(many[2])))]
    if many:
        one = field(f"x: {many[4]}", params)[1]
        return key, lambda rng, v: list(dict.fromkeys(one(rng, v) for _ in range(rng.randint(int(many[1]), int(many[2])))))
    if how in ("true", "false"):
        return key, lambda rng, v: how == "true"
    if how in KINDS:
        return key, lambda rng, v: value(rng, how)
    if "{" in how:
        raise ValueError(f"an argument stands alone: {text!r}")
    return key, lambda rng, v: rng.choice(options(how))


def shown(x, form):
    """A value in an answer; a list of objects in the form "title for price"."""
    if isinstance(x, list):
        return joined([re.sub(r"\w+", lambda m: str(y.get(m[0], m[0])), form) if form else str(y) for y in x])
    return str(x)


def family(block):
    lines = block.strip().split("\n")
    params = [param(x) for x in lines if x.startswith("- ")]
    asks = [Ask(a, x[1].strip()) for x in lines if re.match(r">[+-]? ", x) for a in options(x[2:])]
    results = []
    for i, x in enumerate(lines):
        if x.startswith("< "):
            raw = x[2:].strip()
            texts = {}
            for after in lines[i + 1:]:
                if after[0] != "=":
                    break
                texts[after[1].strip()] = options(after[2:])
            results.append((json.loads(raw[1:]) if raw[0] == "!" else [field(f, params) for f in raw.split(";")], raw[0] == "!", texts))
    strange = [x for x, front in zip(lines[2:], lines[1:]) if not re.match(r"[-<] |[>=][+-]? ", x) or x[0] == "=" and front[0] not in "<="]
    if strange or not asks or not results:
        raise ValueError(f"in {lines[0]!r}: " + (f"what is {strange[0]!r}?" if strange else "a line with > and one with < are needed"))
    for ask in asks:
        missing = [p.names[0] for i, p in enumerate(params) if p.required and "{%d}" % i not in ask and i not in ask.fixed]
        if missing or any(int(n) >= len(params) for n in re.findall(r"\{(\d+)\}", ask)):
            raise ValueError(f"in {lines[0]!r}: {ask!r} lacks {missing or 'a parameter'}")
        ask.format(*params)

    for fields, raw, texts in results:
        for name in (n for some in texts.values() for text in some for n, _ in TELL.findall(text)):
            if (raw or name not in dict(fields)) and not (name.isdigit() and int(name) < len(params) and params[int(name)].required):
                raise ValueError(f"in {lines[0]!r}: an answer tells of {name!r}, which is not in the result")
    sides = {a.side for a in asks if a.side}
    if any(texts and not sides <= set(texts) for _, _, texts in results if set(texts) - {""}):
        raise ValueError(f"in {lines[0]!r}: a question of yes or no without its answer")

    weights = [1 if raw else 2.5 for _, raw, _ in results]  # most of those that stand there as they are tell of nothing or of a failure

    def reply(rng, v):
        fields, raw, texts = rng.choices(results, weights)[0]
        result = fields if raw else {key: how(rng, v) for key, how in fields}
        texts = texts.get(getattr(v, "side", ""), texts.get("", []))
        if not texts:
            return result, None
        said = {**{str(i): x for i, x in enumerate(v)}, **({} if raw else result)}
        return result, TELL.sub(lambda m: shown(said[m[1]], m[2]), rng.choice(texts))
    return Family(lines[0], options(lines[1]), params, asks, reply)


def read(path):
    with open(path, encoding="utf-8") as f:
        return [family(block) for block in re.split(r"\n\s*\n", f.read().strip())]


LISTS = {name[:-4]: read(os.path.join(FOLDER, name)) for name in sorted(os.listdir(FOLDER)) if name.endswith(".txt")}


def main():
    from text.tools.results import told
    from text.tools.toolcalls import Tool, fill
    rng = random.Random()
    families = read(sys.argv[1])
    for f in families:
        tool = Tool(rng, f, [], False)
        for ask in f.asks:
            v = tool.values(rng, ask)
            result, text = f.reply(rng, v)
            print(f"{fill(ask, v)}\n    {tool.call(v)} => {result} => {text or told(result)}")
    print(f"{len(families)} tools, {sum(len(f.asks) for f in families)} wordings")


if __name__ == "__main__":
    main()
