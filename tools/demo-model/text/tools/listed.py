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

The names; what it does; the parameters with their names, kind (of values.py and toolset.py) or choices, ? where it may be left
out, and a description; how one asks for it, {0} the first parameter; what comes back: choices, a range (0.50-9.90 with decimals),
a kind or an argument; and after =, where it stands, how the result above is told, {status} a field of it and {0} an argument.
"""
import os
import random
import re
import sys

from text.data.values import VALUES
from text.english import joined
from text.tools.toolset import Family, P, value

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lists")
NUMBERS = {"int", "small", "money"}
KINDS = {*NUMBERS, *VALUES, "city", "name", "full", "email", "code", "flight", "message", "time", "date", "day", "word", "topic", "subject", "text", "expr", "language", "currency", "symbol",
    "room", "path", "food", "song", "thing", "job", "unitname", "goods", "flag", "decimal", "people"}
PARAM = re.compile(r"- ([\w. ]+): (?:\[([^\]]+)\]|(\w+))( \?)?(?: = (.+))?$")
RANGE = re.compile(r"(-?\d+)-(\d+)$")
DECIMALS = re.compile(r"(\d+\.(\d+))-(\d+\.\d+)$")
TYPES = {**dict.fromkeys(NUMBERS, "integer"), "decimal": "number", "flag": "boolean", "goods": "array", "people": "array"}


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
    if how in ("true", "false"):
        return key, lambda rng, v: how == "true"
    if how in KINDS:
        return key, lambda rng, v: value(rng, how)
    if "{" in how:
        raise ValueError(f"an argument stands alone: {text!r}")
    return key, lambda rng, v: rng.choice(options(how))


def family(block):
    lines = block.strip().split("\n")
    params = [param(x) for x in lines if x.startswith("- ")]
    asks = [a for x in lines if x.startswith("> ") for a in options(x[2:])]
    results = [([field(f, params) for f in x[2:].split(";")], options(after[2:]) if after.startswith("= ") else [])
        for x, after in zip(lines, [*lines[1:], ""]) if x.startswith("< ")]
    strange = [x for x, front in zip(lines[2:], lines[1:]) if x[:2] not in ("- ", "> ", "< ") and not (x[:2] == "= " and front[:2] == "< ")]
    if strange or not asks or not results:
        raise ValueError(f"in {lines[0]!r}: " + (f"what is {strange[0]!r}?" if strange else "a line with > and one with < are needed"))
    for ask in asks:
        missing = [p.names[0] for i, p in enumerate(params) if p.required and "{%d}" % i not in ask]
        if missing or any(int(n) >= len(params) for n in re.findall(r"\{(\d+)\}", ask)):
            raise ValueError(f"in {lines[0]!r}: {ask!r} lacks {missing or 'a parameter'}")
        ask.format(*params)

    for fields, texts in results:
        for name in (n for text in texts for n in re.findall(r"\{(\w+)\}", text)):
            if name not in dict(fields) and not (name.isdigit() and int(name) < len(params) and params[int(name)].required):
                raise ValueError(f"in {lines[0]!r}: an answer tells of {name!r}, which is not in the result")

    def reply(rng, v):
        fields, texts = rng.choice(results)
        result = {key: how(rng, v) for key, how in fields}
        if not texts:
            return result, None
        said = {**{str(i): x for i, x in enumerate(v)}, **result}
        return result, re.sub(r"\{(\w+)\}", lambda m: joined(said[m[1]]) if isinstance(said[m[1]], list) else str(said[m[1]]), rng.choice(texts))
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
