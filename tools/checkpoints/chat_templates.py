"""Writes what Jinja, set up as transformers does, makes of the chat templates in `templates`."""

import json
from datetime import datetime
from pathlib import Path

import jinja2
from jinja2.ext import Extension, loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment

HERE = Path(__file__).parent
OUTPUT = HERE / "../../test/model/reference/chat-templates.json"
DATE = datetime(2026, 1, 5, 7, 8, 9)

CONVERSATIONS = [
    [("user", "  Hi there \n")],
    [("system", "Be brief. "), ("user", "Who?")],
    [("user", "One"), ("assistant", " Two "), ("user", 'Three "<3" ünï\n\n')],
    [
        ("system", "S"),
        ("user", "a"),
        ("assistant", "<think>\nhm\n</think>\n\nb"),
        ("user", "c"),
        ("assistant", "d"),
        ("user", "e"),
    ],
    [("user", "a"), ("assistant", "<think>\nhm\n</think>\n\nb")],
    [("user", "a"), ("user", "b")],
]
SPECIAL = {"bos_token": "<s>", "eos_token": "</s>"}


class Generation(Extension):
    """The block that marks what an assistant wrote; for rendering it is its content."""

    tags = {"generation"}

    def parse(self, parser):
        next(parser.stream)
        return parser.parse_statements(["name:endgeneration"], drop_needle=True)


def raise_exception(message):
    raise jinja2.exceptions.TemplateError(message)


def tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def environment():
    made = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[Generation, loopcontrols])
    made.filters["tojson"] = tojson
    made.globals["raise_exception"] = raise_exception
    made.globals["strftime_now"] = lambda text: DATE.strftime(text)
    return made


def render(template, turns):
    messages = [{"role": role, "content": content} for role, content in turns]
    try:
        text = template.render(messages=messages, tools=None, documents=None, add_generation_prompt=True, **SPECIAL)
        return {"messages": messages, "text": text}
    except jinja2.exceptions.TemplateError as error:
        return {"messages": messages, "refusal": str(error)}


def main():
    templates = []
    for path in sorted((HERE / "templates").glob("*.jinja")):
        source = path.read_text()
        compiled = environment().from_string(source)
        cases = [render(compiled, turns) for turns in CONVERSATIONS]
        templates.append({"name": path.stem, "template": source, "cases": cases})
    OUTPUT.write_text(json.dumps({"date": DATE.isoformat(), **SPECIAL, "templates": templates}, indent=1, ensure_ascii=False) + "\n")


main()
