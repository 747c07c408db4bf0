"""The checks of eval-prompts.jsonl. A check is an object; all of its parts must hold:

    has        each of these occurs (a list; "a|b" means one of the two), whatever the case; a number as a whole number
    not        none of these occurs
    is         the answer is one of these, whatever the case, quotes, and marks at its ends
    starts     it begins with one of these
    pattern    a regular expression finds something
    numbers    the whole numbers in the answer are these, in this order
    words      so many words;  max_words: at most
    lines      so many lines that are not empty
    json       the answer is JSON (a code fence around it is fine) with just these keys; for a list "array": n
    values     what some of the keys hold
    refuses    says that it does not know or cannot (true), or does not say so (false)
    calls      tool calls: [{"name", "arguments"}], in any order; [] for none
"""
import json
import re

REFUSAL = re.compile(r"do not know|don't know|not know|cannot|can't|can not|unable|too small|too hard|too big|only (speak|understand|do small|a small|a toy|know|remember|read)|no opinion|small (demo )?model|never heard|"
                     r"will not help|do not help|does not say|not told|sorry|know (nothing|no|too little)|no tool|none of my tools|not for me|i have no |do not understand|did not understand|--checkpoint|please ask a doctor",
                     re.I)
CALL = re.compile(r"<tool_call>\s*(\{.*?\})\s*</tool_call>", re.S)


def bare(text):
    return text.strip().strip("\"'`.!?* \n").lower()


def parsed(text):
    text = re.sub(r"^```\w*\n|\n```$", "", text.strip())
    try:
        return json.loads(text)
    except ValueError:
        return None


def tool_calls(text):
    """The calls in an answer; None where one cannot be read."""
    out = []
    for body in CALL.findall(text):
        try:
            call = json.loads(body)
            out.append({"name": call["name"], "arguments": call["arguments"]})
        except (ValueError, KeyError, TypeError):
            return None
    return None if len(out) != text.count("<tool_call>") else out


def same(x, y):
    """Equal, whatever the case of strings; 5 is "5"."""
    if isinstance(x, dict) and isinstance(y, dict):
        return x.keys() == y.keys() and all(same(x[k], y[k]) for k in x)
    if isinstance(x, list) and isinstance(y, list):
        return len(x) == len(y) and all(map(same, x, y))
    return str(x).strip().lower() == str(y).strip().lower()


def occurs(word, low):
    if word.isdigit():
        return re.search(rf"(?<![\d.,]){word}(?!\d|[.,]\d)", low) is not None
    return word.lower() in low


def passes(check, text):
    low = text.lower()
    for kind, want in check.items():
        if kind == "has":
            ok = all(any(occurs(option, low) for option in w.split("|")) for w in want)
        elif kind == "not":
            ok = not any(w.lower() in low for w in want)
        elif kind == "is":
            ok = bare(text) in [bare(w) for w in want]
        elif kind == "starts":
            ok = any(low.lstrip("\"'` ").startswith(w.lower()) for w in want)
        elif kind == "pattern":
            ok = re.search(want, text, re.I | re.S) is not None
        elif kind == "numbers":
            ok = [int(x) for x in re.findall(r"\d+", text)] == want
        elif kind == "words":
            ok = len(text.split()) == want
        elif kind == "max_words":
            ok = len(text.split()) <= want
        elif kind == "lines":
            ok = len([x for x in text.split("\n") if x.strip()]) == want
        elif kind == "json":
            data = parsed(text)
            ok = isinstance(data, dict) and set(data) == set(want)
        elif kind == "array":
            data = parsed(text)
            ok = isinstance(data, list) and len(data) == want
        elif kind == "values":
            data = parsed(text)
            ok = isinstance(data, dict) and all(k in data and same(data[k], v) for k, v in want.items())
        elif kind == "refuses":
            ok = (REFUSAL.search(text) is not None) == want
        elif kind == "calls":
            calls = tool_calls(text)
            ok = calls is not None and len(calls) == len(want) and all(any(same(c, w) for c in calls) for w in want)
        else:
            raise ValueError(f"no such check: {kind}")
        if not ok:
            return False
    return True
