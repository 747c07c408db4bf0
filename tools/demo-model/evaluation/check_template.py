"""Compares the chat template in Jinja with the text that training uses, on generated conversations.

    python3 -m evaluation.check_template    # needs the package jinja2
"""
import json
import random

import jinja2

from text.chat_format import CHAT_TEMPLATE, START, turns
from text.generate import documents


def main():
    env = jinja2.Environment(trim_blocks=True, lstrip_blocks=True)
    env.filters["tojson"] = lambda x: json.dumps(x, ensure_ascii=False)
    template = env.from_string(CHAT_TEMPLATE)
    source, done, tools = documents(random.Random(5)), 0, 0
    while done < 2000:
        doc = next(source)
        if "messages" not in doc:
            continue
        messages = [{**m, "tool_calls": [{"type": "function", "function": c} for c in m["tool_calls"]]} if m.get("tool_calls") else m for m in doc[
            "messages"]]
        got = template.render(messages=messages, tools=doc.get("tools"), add_generation_prompt=True)
        want = "".join(text for text, _ in turns(doc["messages"], doc.get("tools"))) + f"{START}assistant\n"
        assert got == want, (got, want)
        done += 1
        tools += "tools" in doc
    print(f"{done} conversations, {tools} with tools: the same text")


if __name__ == "__main__":
    main()
