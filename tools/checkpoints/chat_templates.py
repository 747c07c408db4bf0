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
FUNCTION = {
    "name": "get_weather",
    "description": "Weather of a city.",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string", "description": "Its \"name\""}, "days": {"type": "integer"}},
        "required": ["city"],
    },
}
TOOLS = [{"type": "function", "function": FUNCTION}]
CALL = {"id": "a1B2c3D4e", "type": "function", "function": {"name": "get_weather", "arguments": {"city": "Köln", "days": 2}}}
TOOL_CONVERSATIONS = [
    [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Weather?"}],
    [
        {"role": "user", "content": "Weather?"},
        {"role": "assistant", "content": "", "tool_calls": [CALL]},
        {"role": "tool", "content": "{\"sky\": \"grey\"}", "name": "get_weather", "tool_call_id": "a1B2c3D4e"},
    ],
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


def render(template, messages, tools=None):
    try:
        text = template.render(messages=messages, tools=tools, documents=None, add_generation_prompt=True, **SPECIAL)
        return {"messages": messages, "text": text}
    except jinja2.exceptions.TemplateError as error:
        return {"messages": messages, "refusal": str(error)}


WITH_TOOLS = {"gemma-4", "hermes-3-tools", "llama-3.2", "mistral-7b-v0.3", "qwen2.5", "qwen3", "qwen3-coder"}
# Calls and results, but no tools.
WITH_CALLS = {"deepseek-v3.1"}


def main():
    templates = []
    for path in sorted((HERE / "templates").glob("*.jinja")):
        source = path.read_text()
        compiled = environment().from_string(source)
        chats = [[{"role": role, "content": content} for role, content in turns] for turns in CONVERSATIONS]
        made = {"name": path.stem, "template": source, "cases": [render(compiled, chat) for chat in chats]}
        if path.stem in WITH_TOOLS:
            made["toolCases"] = [render(compiled, chat, TOOLS) for chat in TOOL_CONVERSATIONS]
        if path.stem in WITH_CALLS:
            made["callCases"] = [render(compiled, chat) for chat in TOOL_CONVERSATIONS]
        templates.append(made)
    OUTPUT.write_text(json.dumps({"date": DATE.isoformat(), **SPECIAL, "tools": TOOLS, "templates": templates}, indent=1, ensure_ascii=False) + "\n")


main()
