"""Conversations in which tools are offered: called, called twice, asked back for, not needed, not there, failed.

The format is that of Qwen 2.5 and Hermes; chat_format.py writes it. A message may have "tool_calls", a document "tools".
"""
import json
import re

from text.english import joined
from text.held_out import is_held
from text.tools.everyday import EVERYDAY
from text.tools.listed import LISTS
from text.tools.results import told
from text.tools.toolset import COMMON, made_family, value

FAMILIES = [*COMMON, *EVERYDAY, *(f for some in LISTS.values() for f in some)]

ERRORS = ["not found", "timeout", "permission denied", "invalid argument", "service unavailable", "rate limit exceeded", "unknown city",
    "no such user", "network error", "internal error", "out of stock", "wrong format"]


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
        """The values of the params that the wording has places for."""
        out = []
        for i, p in enumerate(self.family.params):
            if "{%d}" % i not in ask:
                out.append(None)
            elif p.enum:
                out.append(rng.choice(p.enum))
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
    if r < 0.27:
        return made_family(t.rng), None
    some = COMMON if r < 0.35 else EVERYDAY if r < 0.5 else LISTS["classics"] if r < 0.66 else t.rng.choice(list(LISTS.values()))
    return t.rng.choice(some), some if some not in (COMMON, EVERYDAY) and t.chance(0.5) else None


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
        extra = rng.choice([("request_id", value(rng, "id")), ("source", "api"), ("cached", False), ("version", 2), ("timestamp",
            f"20{rng.randint(24, 30)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}T10:00:00Z"), *([] if "error" in result.values() or "error" in result else [("ok", True)])])
        result = dict([extra, *result.items()]) if rng.random() < 0.4 else {**result, extra[0]: extra[1]}
    return json.dumps(result, ensure_ascii=False, separators=(",", ":") if rng.random() < 0.45 else None)


def shown(v):
    """A value as the user writes it."""
    if isinstance(v, bool):
        return "on" if v else "off"
    return joined(v) if isinstance(v, list) else getattr(v, "said", v)


UNDATED = re.compile(r"(today|tomorrow|tonight|next)\b")


def fill(ask, values):
    for i, v in enumerate(values):  # not "on tomorrow"
        if isinstance(v, str) and UNDATED.match(v):
            ask = re.sub(r"\b[Oo]n (?=\{%d\})" % i, "", ask)
    return ask.format(*["" if v is None else shown(v) for v in values])


OPEN = {"text", "message", "topic", "subject", "sentence", "word", "question", "song", "event"}  # may have any words in them


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
            if self.rng.random() < 0.12:
                e = self.rng.choice(ERRORS)
                self.result(written(self.rng, self.rng.choice([{"error": e}, {"error": e}, f"Error: {e}", {"status": "error", "message": e}])))
                texts.append(f"That did not work: {e}.")
            else:
                result, text = tool.family.reply(self.rng, v)
                text = told(result) if text is None else re.sub(r"\bon (?=(today|tomorrow|tonight|next (week|Monday|month))\b)", "", text)
                self.result(written(self.rng, result))
                texts.append(tool.done(v) if text == "Done." else text)
        self.say(" ".join(texts))


def conversation(t, rough, plain_turns, refusal):
    """(messages, tool specs). plain_turns(t) gives turns that need no tool; refusal(t) what no tool is there for."""
    rng, s = t.rng, Script(t, rough)
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
        elif r < 0.52 and f.again and f.params[0].type != "array":  # the same tool twice at once, or three times
            ask = rng.choice([x for x in f.asks if "{1}" not in x] or f.asks)
            v, w = tool.values(rng, ask), tool.values(rng, ask)
            every = [v, w] + [tool.values(rng, ask) for _ in range(rng.choice([0, 0, 1]))]
            every = [x for i, x in enumerate(every) if x[0] not in [y[0] for y in every[:i]]]
            s.user(fill(ask, [joined([str(shown(x[0])) for x in every])] + v[1:]))
            s.run([(tool, x) for x in every])
        elif r < 0.60 and len(tools) > 1:  # two tools at once
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
