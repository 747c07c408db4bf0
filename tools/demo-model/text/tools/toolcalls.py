"""Conversations in which tools are offered: called, called twice, asked back for, not needed, not there, failed.

The format is that of Qwen 2.5 and Hermes; chat_format.py writes it. A message may have "tool_calls", a document "tools".
"""
import json
import re

from text.english import joined
from text.held_out import is_held
from text.tools.chained import PAIRS, chain
from text.tools.everyday import EVERYDAY
from text.tools.listed import LISTS
from text.tools.madeup import WORDED
from text.tools.results import empty, failure, told
from text.tools.toolset import COMMON, made_family, value

FAMILIES = [*COMMON, *EVERYDAY, *(f for some in LISTS.values() for f in some)]


class Values(list):
    """The values of a call. side: + or - where a question of yes or no asks for it."""
    side = ""


class Tool:
    """One tool as it stands in a request: a family with names chosen."""

    def __init__(self, rng, family, taken, held):
        self.family = family
        while True:
            self.name = rng.choice(family.names)
            if rng.random() < 0.08:
                self.name += rng.choice(["_v2", "2", "_tool", "_api", "_now"])
            if self.name not in taken and (is_held("tool", self.name) == held or len(family.names) > 1 and family in FAMILIES):
                break
            if len(family.names) == 1:
                self.name = None
                return
        self.keys = [rng.choice(p.names) for p in family.params]
        self.about = rng.choice(family.about)

    def spec(self, rng, plain):
        properties = {}
        for key, p in zip(self.keys, self.family.params):
            prop = {"type": p.type}
            if p.type == "array":
                prop["items"] = {"type": "string"}
            if p.about and not plain:
                prop["description"] = p.about
                if rng.random() < 0.2 and not p.enum and p.kind != "flag":  # an example that must not be taken for the value
                    prop["description"] += f", e.g. {shown(value(rng, p.kind))}"
            if p.enum:
                prop["enum"] = p.enum
            properties[key] = prop if rng.random() < 0.8 else dict(reversed(prop.items()))
        parameters = {"type": "object", "properties": properties}
        required = [k for k, p in zip(self.keys, self.family.params) if p.required]
        if rng.random() < 0.9:
            parameters["required"] = required
        if rng.random() < 0.12:
            parameters["additionalProperties"] = False
        about = self.about
        if rng.random() < 0.2:
            about += rng.choice([".", ". Returns JSON.", ". Use this when the user asks for it.", ". Only call it when all values are known.",
                " for the user", " (beta)"])
        function = {"name": self.name, "description": about, "parameters": parameters}
        if rng.random() < 0.06:
            del function["description"]
        if rng.random() < 0.05:
            function["strict"] = True
        return {"type": "function", "function": function}

    def values(self, rng, ask):
        """The values of the params that the wording has places for, or gives."""
        out, fixed = Values(), getattr(ask, "fixed", {})
        out.side = getattr(ask, "side", "")
        for i, p in enumerate(self.family.params):
            if i in fixed:
                out.append(fixed[i])
            elif "{%d}" % i not in ask:
                out.append(None)
            elif p.enum:
                out.append(rng.choice([x for x in p.enum if x not in out] or p.enum))
            else:
                x = value(rng, p.kind)
                while x in out and p.kind in ("city", "currency", "unitname", "language", "symbol", "airport", "station"):  # not from a city to itself
                    x = value(rng, p.kind)
                out.append(x)
        return out

    def signature(self):
        """In a line, as a reader of code would write it."""
        params = (key + (f": {' | '.join(map(str, p.enum))}" if p.enum else "") for key, p in zip(self.keys, self.family.params))
        return f"{self.name}({', '.join(params)}): {self.about}"

    def done(self, values):
        """What was done, in few words, where the result says no more than that it was."""
        given = [(key, shown(v), p) for key, v, p in zip(self.keys, values, self.family.params) if v is not None]
        said = ", ".join(f"{re.sub(r'(?<=[a-z])(?=[A-Z])', ' ', key).replace('_', ' ').lower()} {v}" for key, v, _ in given)
        return f"Done: {said}." if given and len(said) < 60 and all(p.kind not in OPEN for _, _, p in given) else "Done."

    def call(self, values):
        return {"name": self.name, "arguments": {k: v for k, v in zip(self.keys, values) if v is not None}}


def drawn(t):
    """A family, and those among which others are to be looked for: near ones, of the same list, or any."""
    r = t.rng.random()
    if r < 0.22:
        return made_family(t.rng), None
    some = COMMON if r < 0.29 else EVERYDAY if r < 0.40 else LISTS["classics"] if r < 0.52 else LISTS["daily"] if r < 0.76 else t.rng.choice(list(LISTS.values()))
    first = t.rng.choice(some)
    if some is LISTS["daily"] and t.chance(0.5):  # others about the same thing: set and get, create and delete; in this list no two of them do the same
        alike = [f for f in some if f is not first and f.resembles(first)]
        return first, alike * 4 + some
    return first, some if some not in (COMMON, EVERYDAY) and t.chance(0.5) else None


def offered(t, count=None):
    """The tools of a request; the first is the one that is asked for."""
    rng = t.rng
    count = count or rng.choice([1, 1, 2, 2, 2, 3, 3, 3, 4, 5])
    first, near = drawn(t)
    families, tools = [], []
    while len(tools) < count:
        f = first if not tools else rng.choice(near) if near else drawn(t)[0]
        if f in families or any(set(f.about) & set(g.about) or set(f.names) & set(g.names) or not near and f.resembles(g) for g in families):
            continue
        tool = Tool(rng, f, [x.name for x in tools], t.held)
        if tool.name:
            families.append(f)
            tools.append(tool)
        elif not tools:
            first, near = drawn(t)
    return tools


def written(rng, result):
    """A result as programs send it."""
    if isinstance(result, str):
        return result if rng.random() < 0.8 else json.dumps(result, ensure_ascii=False)
    if isinstance(result, dict) and rng.random() < 0.2:
        failed = {"error", "failed", False} & {x for x in result.values() if isinstance(x, (str, bool))} or "error" in result
        extra = rng.choice([("request_id", value(rng, "id")), ("source", "api"), ("cached", False), ("version", 2), ("timestamp",
            f"20{rng.randint(24, 30)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}T10:00:00Z"), *([] if failed else [("ok", True)])])
        extra = extra if extra[0] not in result else ("source", "api")
        result = dict([extra, *result.items()]) if rng.random() < 0.4 else {**result, extra[0]: extra[1]}
    return json.dumps(result, ensure_ascii=False, separators=(",", ":") if rng.random() < 0.45 else None)


def shown(v):
    """A value as the user writes it."""
    if isinstance(v, bool):
        return "on" if v else "off"
    return v.said if hasattr(v, "said") else joined(v) if isinstance(v, list) else v


UNDATED = re.compile(r"(today|tomorrow|tonight|next)\b")


def fill(ask, values):
    for i, v in enumerate(values):  # not "on tomorrow"
        if isinstance(v, str) and UNDATED.match(v):
            ask = re.sub(r"\b[Oo]n (?=\{%d\})" % i, "", ask)
    return re.sub(r"""["']("[^"]*")["']""", r"\1", ask.format(*["" if v is None else shown(v) for v in values]))  # no marks in marks


OPEN = {"text", "message", "topic", "subject", "sentence", "word", "question", "song", "event", "book", "movie", "album", "project", "item", *WORDED}  # may have any words in them


def later(rng, text, family):
    """Words that change nothing: today, now, please."""
    if rng.random() < 0.85 or len(text) < 12 or family.params and family.params[0].kind in OPEN:
        return text
    dated = any(p.kind in ("date", "day", "time", "weekday_time") for p in family.params)  # there "today" would be an argument
    mark = text[-1] if text[-1] in ".?!" else ""
    return text[:len(text) - len(mark)] + rng.choice([" please", ", please", " for me", ", thanks", *([] if dated else [" now", " right now", " quickly", " today" if mark == "?" else " now"])]) + mark


def before(rng, text):
    """A greeting, or a word about the question, which changes nothing either."""
    return text if rng.random() < 0.8 else rng.choice(["Hi, ", "Hi! ", "Hello, ", "Hey, ", "Please: ", "Good morning! ", "Quick question: ", "Hello! ", "ok, ", "Thanks! Now: ", "hi ", "so, "]) + text


class Script:
    """Writes the messages of one conversation with tools."""

    def __init__(self, t, rough):
        self.t, self.rng, self.rough, self.messages = t, t.rng, rough, []

    def user(self, text, exact=True):
        self.messages.append({"role": "user", "content": self.rough(self.rng, text, exact)})

    def say(self, text):
        self.messages.append({"role": "assistant", "content": text})

    def calls(self, calls):
        self.messages.append({"role": "assistant", "content": "", "tool_calls": calls})

    def result(self, content):
        self.messages.append({"role": "tool", "content": content})

    def run(self, jobs):
        """Calls, results and the answer for [(tool, values)]."""
        self.calls([tool.call(v) for tool, v in jobs])
        texts = []
        for tool, v in jobs:
            r = self.rng.random()
            if r < 0.1:
                result, text = failure(self.rng, next((str(x) for x in v if isinstance(x, str)), None))
            elif r < 0.2 and re.match(r"(search|find|list|look)", tool.name):
                result, text = empty(self.rng)
            else:
                result, text = tool.family.reply(self.rng, v)
                text = told(result) if text is None else re.sub(r"\bon (?=(today|tomorrow|tonight|next (week|Monday|month))\b)", "", text)
                text = tool.done(v) if text == "Done." else text
            self.result(written(self.rng, result))
            names = [str(x) for x in v if isinstance(x, str) and len(x) < 40]
            if names and any(t is tool and w is not v for t, w in jobs) and not any(x.lower() in text.lower() for x in names):  # which of the two it is about
                text = f"{names[0]}: {text}"
            texts.append(text)
        self.say(" ".join(texts))


NAMED = set("""city name full country symbol flight code word room place station airport company team artist product ingredient plant item language food sport thing lockable openable switchable
    machine gadget spot shopname article""".split())
ASKING = re.compile(r"(is|are|has|have|do|does|did|was|were|can|could|will|would|any|should|am|how|[^ ]*\{)\b|[^ ]*\{", re.I)


def twice(rng, tool):
    """(what the user says, the calls) for the same tool twice at once, or three times; None where it cannot be said so."""
    f = tool.family
    if f.params[0].type == "array":
        return None
    alone = [x for x in f.asks if re.findall(r"\{(\d)\}", x) == ["0"] and (f.again or f.params[0].kind in NAMED)]
    single = [x for x in alone if not (getattr(x, "side", "") and " is " in " " + x.lower() or "a {0}" in x or " it" in x)]
    if single and rng.random() < 0.6:  # in Rome and Paris
        ask = rng.choice(single)
        every = [tool.values(rng, ask) for _ in range(rng.choice([2, 2, 3]))]
        every = [x for i, x in enumerate(every) if x[0] not in [y[0] for y in every[:i]]]
        if len(every) < 2:
            return None
        between = " and in " if " in {0}" in ask and len(every) == 2 and rng.random() < 0.3 else " and "
        names = [str(shown(x[0])) for x in every]
        return fill(ask, [between.join(names) if len(names) == 2 else joined(names)] + every[0][1:]), [(tool, x) for x in every]
    ask = rng.choice(f.asks)
    places = re.findall(r"\{(\d)\}", ask)
    start = ask.find("{")
    if not places or any(f.params[int(i)].type == "array" for i in places):
        return None
    v = tool.values(rng, ask)
    tail = ask[ask.rindex("}"):]
    if start > 3 and not ASKING.match(ask) and len(tail) < 11 and "," not in tail and not any(f.params[int(i)].kind in OPEN for i in places) and rng.random() < 0.65:
        w = tool.values(rng, ask)  # convert 5 miles to km and 3 kg to pounds
        if w == v:
            return None
        bare = ask.rstrip(" ?.!")
        return fill(bare, v) + rng.choice([" and ", " and ", ", and ", " and also "]) + fill(bare[start - (bare[start - 1] in "$€£\"'(#"):], w) + ask[len(bare):], [(tool, v), (tool, w)]
    other = rng.choice(f.asks)
    w = tool.values(rng, other)
    if w == v or not re.search(r"\{", other):
        return None
    one, two = fill(ask, v), fill(other, w)
    return one + (rng.choice([" ", " Also: ", " And: "]) if one[-1] in ".?!" else rng.choice(["; ", ", and ", ". Then: ", ", also: "])) + two, [(tool, v), (tool, w)]


def chained(t, script):
    """A conversation whose questions take two calls, the second with what the first gave."""
    rng = t.rng
    pair = rng.choice(PAIRS)
    two = [Tool(rng, f, [], False) for f in pair[:2]]
    tools = two + [x for x in offered(t, rng.choice([1, 1, 2])) if not any(x.family.resembles(f) for f in pair[:2])]
    listed = rng.sample(tools, len(tools))
    specs = [x.spec(rng, rng.random() < 0.25) for x in listed]
    for _ in range(rng.choice([1, 2, 2, 3])):
        chain(t, script, two, pair, fill, written)
        if rng.random() < 0.15:
            script.user(rng.choice(["Thanks!", "Thank you.", "thx"]), False)
            script.say("You are welcome!")
    return script.messages, specs


def conversation(t, rough, plain_turns, refusal):
    """(messages, tool specs). plain_turns(t) gives turns that need no tool; refusal(t) what no tool is there for."""
    rng, s = t.rng, Script(t, rough)
    if rng.random() < 0.12:
        return chained(t, s)
    tools = offered(t)
    listed = tools[:]
    rng.shuffle(listed)
    plain = rng.random() < 0.25
    specs = [x.spec(rng, plain) for x in listed]
    for _ in range(rng.choice([1, 2, 3, 4, 6, 8])):  # the list of tools is long: few conversations of many calls say more
        tool, r = rng.choice(tools), rng.random()
        f = tool.family
        if r < 0.2:  # no tool is needed
            for q, ans in plain_turns(t, [x.family for x in tools]):
                s.user(q, ans.exact)
                s.say(ans.full)
        elif r < 0.27:  # no tool is there for it
            q, text = refusal(t, [x.family for x in tools])
            s.user(q)
            s.say(text)
        elif r < 0.30:
            s.user(rng.choice(["What can you do?", "Which tools do you have?", "What tools can you use?", "list your tools"]), False)
            s.say("I can use " + ("this tool: " if len(listed) == 1 else "these tools: ") + ", ".join(x.name for x in listed) + ".")
        elif r < 0.40 and f.missing:
            asks, question = f.missing
            s.user(rng.choice(asks), False)
            s.say(question)
            ask = max(f.asks, key=lambda x: len([i for i, p in enumerate(f.params) if p.required and "{%d}" % i in x]))
            v = [x if p.required else None for x, p in zip(tool.values(rng, ask), f.params)]
            given = [str(shown(x)) for x in v if x is not None]
            s.user(given[0] if len(given) == 1 else ", ".join(given[:-1]) + rng.choice([", ", " and "]) + given[-1])
            s.run([(tool, v)])
        elif r < 0.51 and f.params and (jobs := twice(rng, tool)):  # the same tool twice at once, or three times
            s.user(jobs[0])
            s.run(jobs[1])
        elif r < 0.59 and len(tools) > 1:  # two tools at once
            other = rng.choice([x for x in tools if x is not tool])
            jobs = []
            texts = []
            for x in (tool, other):
                ask = rng.choice(x.family.asks)
                v = x.values(rng, ask)
                jobs.append((x, v))
                texts.append(fill(ask, v))
            s.user(texts[0] + rng.choice([" ", " And: ", " Also: ", " Then: "]) + texts[1] if texts[0][-1] in ".?!" else texts[0] + ", and " + texts[
                1])
            s.run(jobs)
        else:
            ask = rng.choice(f.asks)
            v = tool.values(rng, ask)
            text = fill(ask, v)
            s.user(before(rng, later(rng, text, f) if "{0}" in ask[-5:] or not f.params else text))
            s.run([(tool, v)])
            if f.again and rng.random() < 0.35:
                v = [value(rng, f.params[0].kind)] + [None] * (len(f.params) - 1)
                s.user(fill(rng.choice(f.again), v))
                s.run([(tool, v)])
        if rng.random() < 0.12:
            s.user(rng.choice(["Thanks!", "Thank you.", "thx", "great, thanks"]), False)
            s.say("You are welcome!")
    return s.messages, specs


def call_drill(t):
    """A few tools, each in a line, and what is asked of them with the calls: [(what stands there, the call)], of which the first has no call."""
    rng, tools = t.rng, offered(t, t.rng.choice([1, 2, 2, 3, 3, 4, 5]))
    rows = [("\n".join(x.signature() for x in rng.sample(tools, len(tools))), None)]
    for _ in range(rng.randint(3, 10)):
        tool = rng.choice(tools)
        ask = rng.choice(tool.family.asks)
        values = tool.values(rng, ask)
        rows.append((before(rng, fill(ask, values)), tool.call(values)))
    return rows
