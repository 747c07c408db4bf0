"""The chat format: the added tokens, the template in Jinja, and the same in Python.

turns() gives training the text of a conversation piece by piece, each with how much it counts; evaluation/check_template.py
checks that the pieces together are what the Jinja template renders.
"""
import json
import re

END, START, STOP = "<|endoftext|>", "<|im_start|>", "<|im_end|>"
# As in Qwen 2.5 and 3 the marks of tool calls are added tokens, but not special ones: they stay in the text.
TOOL_MARKS = ["<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>"]
SPECIALS = [END, START, STOP] + [f"<|reserved_{i}|>" for i in range(9)]
ADDED = SPECIALS[:3] + TOOL_MARKS + SPECIALS[3:]
TOOLS_BEFORE = ("# Tools\n\nYou may call one or more functions to assist with the user query.\n\n"
                "You are provided with function signatures within <tools></tools> XML tags:\n<tools>")
TOOLS_AFTER = ("\n</tools>\n\nFor each function call, return a json object with function name and arguments within "
               "<tool_call></tool_call> XML tags:\n<tool_call>\n{\"name\": <function-name>, \"arguments\": <args-json-object>}\n</tool_call>")
# The template that Qwen 2.5 publishes, without a system prompt of its own where none is given.
CHAT_TEMPLATE = """{%- if tools %}
    {{- '<|im_start|>system\\n' }}
    {%- if messages[0]['role'] == 'system' %}
        {{- messages[0]['content'] + '\\n\\n' }}
    {%- endif %}
    {{- "BEFORE" }}
    {%- for tool in tools %}
        {{- "\\n" }}
        {{- tool | tojson }}
    {%- endfor %}
    {{- "AFTER<|im_end|>\\n" }}
{%- elif messages[0]['role'] == 'system' %}
    {{- '<|im_start|>system\\n' + messages[0]['content'] + '<|im_end|>\\n' }}
{%- endif %}
{%- for message in messages %}
    {%- if message.role == 'user' or (message.role == 'system' and not loop.first) or (message.role == 'assistant' and not message.tool_calls) %}
        {{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}
    {%- elif message.role == 'assistant' %}
        {{- '<|im_start|>' + message.role }}
        {%- if message.content %}
            {{- '\\n' + message.content }}
        {%- endif %}
        {%- for tool_call in message.tool_calls %}
            {%- if tool_call.function is defined %}
                {%- set tool_call = tool_call.function %}
            {%- endif %}
            {{- '\\n<tool_call>\\n{"name": "' }}
            {{- tool_call.name }}
            {{- '", "arguments": ' }}
            {{- tool_call.arguments if tool_call.arguments is string else tool_call.arguments | tojson }}
            {{- '}\\n</tool_call>' }}
        {%- endfor %}
        {{- '<|im_end|>\\n' }}
    {%- elif message.role == 'tool' %}
        {%- if loop.index0 == 0 or messages[loop.index0 - 1].role != 'tool' %}
            {{- '<|im_start|>user' }}
        {%- endif %}
        {{- '\\n<tool_response>\\n' }}
        {{- message.content }}
        {{- '\\n</tool_response>' }}
        {%- if loop.last or messages[loop.index0 + 1].role != 'tool' %}
            {{- '<|im_end|>\\n' }}
        {%- endif %}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
{%- endif %}
"""


def _quoted(text):
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')


CHAT_TEMPLATE = CHAT_TEMPLATE.replace("BEFORE", _quoted(TOOLS_BEFORE)).replace("AFTER", _quoted(TOOLS_AFTER))
# How much a token counts in training, in tenths. Calls are few of the tokens and hard to get right, most of all which tool is meant.
NAME, CALL, LEARN, LITTLE, NOTHING = 40, 20, 10, 1, 0


def system_text(messages, tools):
    """What stands in the system turn, or None."""
    system = messages[0]["content"] if messages and messages[0]["role"] == "system" else None
    if not tools:
        return system
    lines = "".join("\n" + json.dumps(t, ensure_ascii=False) for t in tools)
    return ("" if system is None else system + "\n\n") + TOOLS_BEFORE + lines + TOOLS_AFTER


def called(message):
    """An assistant's text with its calls, as the template writes them."""
    parts = [message["content"]] if message.get("content") else []
    for c in message.get("tool_calls") or []:
        c = c.get("function", c)
        given = c["arguments"] if isinstance(c["arguments"], str) else json.dumps(c["arguments"], ensure_ascii=False)
        parts.append(f'<tool_call>\n{{"name": "{c["name"]}", "arguments": {given}}}\n</tool_call>')
    return "\n".join(parts)


def said(message):
    """[(text, how much it counts)] of `called`."""
    if not message.get("tool_calls"):
        return [(called(message), LEARN)]
    lead, *calls = re.split(r'(?<=<tool_call>\n\{"name": ")([^"]+)', called(message))
    return [(lead, CALL)] + [(text, CALL if i % 2 else NAME) for i, text in enumerate(calls)]


def turns(messages, tools=None):
    """[(text, how much it counts)] of a conversation; the texts together are what the chat template gives."""
    system = system_text(messages, tools)
    out = [] if system is None else [(f"{START}system\n{system}{STOP}\n", NOTHING if tools else LITTLE)]
    for i, m in enumerate(messages):
        if m["role"] == "system" and i == 0:
            continue
        if m["role"] == "assistant":
            out += [(f"{START}assistant\n", NOTHING), *said(m), (STOP, LEARN), ("\n", NOTHING)]
        elif m["role"] == "tool":
            first = i == 0 or messages[i - 1]["role"] != "tool"
            last = i + 1 == len(messages) or messages[i + 1]["role"] != "tool"
            out.append(((f"{START}user" if first else "") + f"\n<tool_response>\n{m['content']}\n</tool_response>" + (f"{STOP}\n" if last else ""),
                NOTHING))
        else:
            out.append((f"{START}{m['role']}\n{m['content']}{STOP}\n", LITTLE))
    return out


def parts_of(doc):
    """[(text, how much it counts)] of a document."""
    if "messages" in doc:
        return turns(doc["messages"], doc.get("tools"))
    return doc["parts"] if "parts" in doc else [(doc["text"] + END, LEARN)]
