"""System prompts that change how everything is answered."""
import json
import re

from text.data.tables import HELLO
from text.data.words import ANIMALS, CITIES, JOBS, TOPICS, any_name, invented
from text.english import a, first_up
from text.skills.texts import COMMON as COMMON_WORDS

DEFAULT = ["You are a helpful assistant.", "You are a helpful assistant.", "You are a friendly assistant.", "Be helpful and kind.",
           "You are Sluice's demo model.", "Answer the questions of the user.", "You are a helpful assistant. Answer truthfully.",
           "You are a small language model.", "Be nice.", "You are an AI assistant.", "You are a helpful, honest and harmless assistant.",
           "Help the user.", "You are a chatbot.", "You are a useful assistant that answers questions."]
# style: what it is called in a system prompt
STYLES = {
    "pirate": ["You are a pirate.", "Talk like a pirate.", "You are a pirate. Answer in character.", "Speak like a pirate, please.",
    "You are an old pirate captain.", "Answer like a pirate.", "You're a pirate who answers questions."],
    "robot": ["You are a robot.", "Talk like a robot.", "Answer like a robot.", "You are an old robot."],
    "cat": ["You are a cat.", "Talk like a cat.", "Pretend to be a cat.", "You are a little cat."],
    "formal": ["Be very polite.", "Always be very polite.", "You are a very polite butler.", "Answer very politely.", "Be formal.",
    "Answer formally.", "Use formal language.", "You are a butler.", "Speak in a formal tone.", "Write in a very formal style."],
    "casual": ["Be casual.", "Talk like a good friend.", "Use casual language.", "Be relaxed and informal.", "You are a cool teenager."],
    "grumpy": ["You are grumpy.", "You are a grumpy old man.", "Be grumpy.", "Answer in a grumpy way."],
    "happy": ["Be very enthusiastic.", "You are always excited.", "Answer with enthusiasm.", "Be very cheerful."],
    "wizard": ["You are a wizard.", "You are an old wizard.", "Talk like a wizard."],
    "word": ["Answer in one word.", "Answer with one word.", "Use only one word.", "Always answer in one word only.", "You answer in a single word.",
    "One-word answers only.", "Reply with a single word.", "Answer with exactly one word."],
    "words": [],  # a number of words
    "brief": ["Be brief.", "Answer in one sentence.", "Use only one sentence.", "Keep your answers short.", "Give short answers.", "Be concise.",
    "Answer briefly.", "Answer as short as possible.", "Short answers only, please."],
    "upper": ["Answer in capital letters.", "Write everything in upper case.", "ANSWER IN CAPITAL LETTERS ONLY.", "Always shout: use capitals only.",
    "Respond in all caps."],
    "lower": ["Write everything in small letters.", "Never use capital letters.", "Answer in lower case only."],
    "json": ["Answer in JSON.", "Answer as JSON.", "Always answer with JSON.", "Reply in JSON format.", "You only output JSON."],
    "key": [],  # JSON with a given key
    "start": [],  # begins with a given word
    "end": [],
    "greet": [],  # greets in another language
    "address": [],  # says Sir, or another word, to the user
}
TITLES = "Sir|Sir|Madam|Captain|Boss|my friend|Your Majesty|Doctor|Professor|my dear|Chief|Master|my lady|dear guest|Your Highness|buddy|Commander|Coach".split("|")
CHARACTERS = {"pirate": ["pirate", "pirate captain"], "robot": ["robot"], "cat": ["cat"], "formal": ["butler"], "wizard": ["wizard"]}  # of a style: whoever talks so
NUMBERS = {2: ("two", "2"), 3: ("three", "3"), 4: ("four", "4"), 5: ("five", "5")}
_FILL = {  # so many words around a short answer
    0: ["{}."], 1: ["Simply {}."], 2: ["It is {}.", "That is {}."], 3: ["The answer is {}."], 4: ["I think it is {}."], 5: [
    "I believe the answer is {}."]}
_YES = {2: "Yes, indeed.", 3: "Yes, that's right.", 4: "Yes, that is right.", 5: "Yes, I am quite sure."}
_NO = {2: "No, sorry.", 3: "No, that's wrong.", 4: "No, that is wrong.", 5: "No, that is not right."}
_UNKNOWN = {1: "Unknown.", 2: "Unknown, sorry.", 3: "I don't know.", 4: "I do not know.", 5: "Sorry, I do not know."}
_HELLO = {1: "Hello!", 2: "Hello there!", 3: "Hello, dear friend!", 4: "Hello, how are you?", 5: "Hello, how can I help?"}


_HEARD = {1: "Okay.", 2: "I see.", 3: "Okay, I see.", 4: "I will remember that.", 5: "Okay, I will remember that."}  # after something told
_POLITE = {  # answers that are no answer to a question: no "The answer is" before them
    "Sorry": {1: "Sorry.", 2: "I'm sorry.", 3: "I am sorry.", 4: "I am very sorry."}, "Welcome": {1: "Welcome.", 2: "You're welcome.", 3: "You are welcome.", 4: "You are very welcome."},
    "Thanks": {1: "Thanks.", 2: "Thank you!", 3: "Thank you, friend!", 4: "Thank you very much!"}, "I see": _HEARD, "Nice": _HEARD}
_ACKS = {"Good", "Oh", "Okay", "Fine", "Great"}


def choose(t):
    """(style, its word or number, system prompt)"""
    style, value, text = _chosen(t)
    if style not in ("word", "words", "json", "key") and t.chance(0.3):  # somebody with a name, who talks so
        t.bot = t.pick(any_name(t.rng), any_name(t.rng), f"Captain {any_name(t.rng)}" if style == "pirate" else any_name(t.rng))
        if style in CHARACTERS and t.chance(0.6):
            text = t.pick("You are {n}, {k}.", "You are {n}, {k}. Stay in character.", "Act as {n}, {k}.", "Your name is {n} and you are {k}.").format(
                n=t.bot, k=a(t.pick("cheerful ", "old ", "funny ", "") + t.rng.choice(CHARACTERS[style])))
        else:
            text = t.pick("Your name is {n}. {s}", "You are {n}. {s}", "You are called {n}. {s}", "You are {k} named {n}. {s}", "{s} Your name is {n}.").format(n=t.bot, s=text, k=a(t.rng.choice(JOBS)))
    return style, value, text


def _chosen(t):
    style = t.rng.choices(list(STYLES), [6, 2, 3, 4, 2, 2, 2, 2, 9, 5, 6, 4, 2, 4, 2, 4, 3, 5, 5])[0]
    rng = t.rng
    if style == "address":
        w = any_name(rng) if t.chance(0.15) else rng.choice(TITLES)
        return style, w, t.pick("", "", "", "Be formal. ", "Be very polite. ") + t.pick("Address the user as '{}'.", "Address the user as {}.", "Call the user {}.", "Always call the user {}.", "Call me {}.", "Always say {} to the user.",
            "Use the word {} when you talk to the user.", "Address me as \"{}\" in every answer.").format(w)
    if style == "words":
        n = rng.randint(2, 5)
        w = rng.choice(NUMBERS[n])
        return style, n, t.pick(f"Answer in {w} words.", f"Always answer in exactly {w} words.", f"Use exactly {w} words.",
            f"Your answers have {w} words.", f"ALWAYS answer in {w} words.", f"Reply with {w} words only.")
    if style == "key":
        k = t.pick("answer", "reply", "response", "text", "result", "message", "output", rng.choice(COMMON_WORDS))
        return style, k, t.pick(f"Answer in JSON with the key \"{k}\".", f"Answer as a JSON object with the key {k}.",
            f"Reply with JSON like {{\"{k}\": \"...\"}}.", f"Always output JSON with one key, {k}.")
    if style in ("start", "end"):
        w = t.pick(first_up(rng.choice(COMMON_WORDS)), any_name(rng), "Well", "Listen", "My friend", "Dear user", "Ahoy", "Hmm", "Wow")
        if style == "start":
            return style, w, t.pick(f"Start every answer with \"{w}\".", f"Begin each answer with the word {w}.", f"Every answer starts with {w}.",
                f"Always say {w} first.")
        return style, w, t.pick(f"End every answer with \"{w}\".", f"Finish each answer with the word {w}.", f"Always say {w} at the end.")
    if style == "greet":
        lang = rng.choice([x for x in HELLO if x != "English"])
        return style, HELLO[lang], t.pick(f"Greet the user in {lang}.", f"Always begin with a greeting in {lang}.",
            f"Say hello in {lang} before you answer.", f"Greet every guest with '{HELLO[lang]}'.", f"Say {HELLO[lang]} first.", f"Always greet with \"{HELLO[lang]}\".", f"Start with a {lang} greeting.", f"Greet in {lang}, then answer in English.")
    return style, None, rng.choice(STYLES[style])


def some(t):
    """A system prompt that changes nothing: newcomers write all kinds of things there."""
    rng = t.rng
    parts = [rng.choice(DEFAULT)] if t.chance(0.5) else []
    for _ in range(rng.randint(1, 3)):
        s = t.pick("You are an expert in {x}.", "You work for {c}.", "Today is {d}.", "Answer truthfully and do not make things up.",
                   "The user is {j}.", "You answer questions of customers.", "If you do not know something, say so.",
                   "Be friendly and patient.", "You have been trained by {c}.", "Think before you answer.", "Do not talk about {x}.",
                   "Your users are students.", "Use simple words.", "You help people with {x}.", "Write good English.",
                   "You are used in the app {c}.", "Follow the instructions of the user.", "Never be rude.", "Answer as well as you can.",
                   "The user lives in {p}.", "You are part of a test.", "Explain things clearly.")
        parts.append(s.format(x=rng.choice(TOPICS), c=invented(rng), d=f"{rng.randint(1, 28)}.{rng.randint(1, 12)}.20{rng.randint(24, 30)}", j=a(rng.choice(
            JOBS)), p=rng.choice(CITIES)))
    return " ".join(parts)


def with_more(t, text):
    """The same prompt with a sentence that changes nothing before or after it."""
    r = t.rng.random()
    return f"{t.rng.choice(DEFAULT)} {text}" if r < 0.25 else f"{text} {t.pick('Be helpful.', 'Follow this rule always.', 'This is important.', 'Never break this rule.', 'Help the user.')}" if r < 0.35 else text


ASKED = {  # style: the same wish in the user's own message
    "word": ["Answer in one word.", "One word only.", "in one word please", "Just one word.", "Reply with one word."], "brief": ["Be brief.",
    "short answer please", "Answer in one sentence.", "Keep it short.", "briefly please"],
    "json": ["Answer in JSON.", "as JSON please", "Reply as JSON.", "Give the answer as JSON."], "upper": ["Answer in capital letters.",
    "in all caps please", "Write the answer in capitals."],
    "pirate": ["Answer like a pirate.", "Talk like a pirate.", "in pirate language please"], "formal": ["Be very formal.", "Answer very politely.",
    "in a formal tone"], "number": ["Answer with just the number.", "just the number please", "only the number", "Reply with the number only.", "number only"],
    "verdict": ["Reply only YES or NO.", "yes or no only", "Answer yes or no, nothing else.", "just yes or no please", "only YES or NO please"]}


def asked(t, q, ans):
    """(question with a wish for how to answer, the answer in that way), or None."""
    style = t.rng.choice(["word", "word", "word", "brief", "json", "json", "upper", "pirate", "formal"])
    if ans.kind in ("yes", "no") and ans.short in ("Yes", "No") and t.chance(0.6):
        style = "verdict"
    elif ans.short and ans.short.isdigit() and t.chance(0.6):
        style = "number"
    wish = t.rng.choice(ASKED[style])
    reply = ans.short if style == "number" else ans.short.upper() if "YES" in wish else styled(t, "word" if style == "verdict" else style, None, ans)
    if reply is None or ans.kind == "text" or ans.short in _POLITE or ans.short in _ACKS:
        return None
    if t.chance(0.3) and wish[0].isupper():
        return f"{wish[:-1] + ':' if t.chance(0.4) else wish} {q}", reply
    return f"{q}{' ' if q[-1] in '?.!' else ', '}{wish}", reply


LOWERED = re.compile(r"(The|Yes|No|It|After|Before|Your|You|All|That|There|This|These|They|Oh|My|We|He|She|His|Her|Both|What|Why|How|Who|Nice|Good|Thank|On|In|At|Of|Because|Most|Many|Now|Once|People)\b|(A|An) [a-z]")  # after a word and a comma


def first_sentence(text):
    if len(text) > 200 or "\n" in text or text[0] in "{[":
        return text
    for i, c in enumerate(text):
        if c in ".!?" and (i + 1 == len(text) or text[i + 1] in " \n") and i > 3:
            return text[:i + 1]
    return text


def counted(t, n, ans):
    """The answer in exactly n words, or None."""
    if ans.kind == "refuse":
        return _UNKNOWN[n]
    if ans.kind == "hello" and (not ans.short or ans.short[-1] == "!"):
        return _HELLO[n]
    if not ans.short:
        return None
    if ans.short in _POLITE:
        return _POLITE[ans.short].get(n)
    if ans.short in _ACKS and n > 1:
        return None
    if n == 1 and ans.exact and ans.short == ans.full:  # the user's word, as it was asked for
        return ans.short
    if n == 1:
        return first_up(re.sub(r"^(a|an|the) (?=[a-z]+$)", "", ans.short)).rstrip(".!") + "."
    if n > 1 and ans.short.lower() in ("yes", "no"):
        return _YES[n] if ans.short.lower() == "yes" else _NO[n]
    have = len(ans.short.split())
    if n - have not in _FILL or have > n:
        return None
    text = first_up(t.rng.choice(_FILL[n - have]).format(ans.short))
    return text if len(text.split()) == n else None


def styled(t, style, value, ans):
    """The answer in that style; None where it cannot be given so."""
    if style is None:
        return ans.full
    text = ans.full
    if style in ("word", "words"):
        out = counted(t, 1 if style == "word" else value, ans)
        return out.rstrip(".") if out and style == "word" and ans.short and ans.short.isdigit() else out
    if style in ("json", "key"):
        if ans.kind == "text":
            return None
        body = ans.short if ans.short and style == "json" else text
        return json.dumps({value or "answer": body}, ensure_ascii=False)
    if style == "upper":
        return text.upper() if len(text) < 240 and "`" not in text else None
    if style == "lower":
        return text.lower() if len(text) < 300 and "`" not in text else None
    if style == "brief":
        return first_sentence(text)
    if ans.kind == "text" and ("`" in text or text[:1] in "{[|"):
        return None
    if style == "pirate":
        return "Arr! " + text if ans.kind == "text" or t.chance(0.5) else "Ahoy, matey! " + text
    if style == "robot":
        return "Beep. " + text + " Boop."
    if style == "cat":
        return "Meow! " + text
    if style == "formal":
        return ("Good day to you. " if ans.kind == "hello" else t.pick("Certainly. ", "With pleasure. ") if ans.kind != "refuse" else "I beg your pardon. ") + text
    if style == "casual":
        return t.pick("Hey! ", "Sure thing! ") + text
    if style == "grumpy":
        return "Hmpf. " + text
    if style == "happy":
        return "Great question! " + text if ans.kind != "hello" else "Hooray! " + text
    if style == "wizard":
        return "By my beard! " + text
    if style == "start":
        return f"{value}, {text[0].lower() + text[1:] if LOWERED.match(text) else text}"
    if style == "address":
        first = first_sentence(text)
        if first[-1] not in ".!?" or len(first) > 160:
            return f"{first_up(value)}, {text[0].lower() + text[1:] if LOWERED.match(text) else text}"
        return f"{first[:-1]}, {value}{first[-1]}{text[len(first):]}"
    if style == "end":
        return f"{text} {value}."
    return f"{value}! {text}"


def name_prompt(t):
    t.bot = any_name(t.rng)
    return t.pick("Your name is {}.", "You are {}.", "You are called {}.", "You are an assistant named {}.", "You are {}, a helpful assistant.",
        "Your name is {} and you help the user.", "Act as {}.").format(t.bot)


def role_prompt(t):
    t.role = t.rng.choice(ANIMALS + JOBS + "chef painter king queen sailor singer gardener detective knight poet grandmother teacher guide "
        "librarian coach".split())
    return t.pick("You are {}.", "You are {}. Stay in your role.", "Act as {}.", "Pretend that you are {}.", "Play the role of {}.").format(a(t.role))


def user_prompt(t):
    """The system prompt says who the user is."""
    n = any_name(t.rng)
    t.known["name"] = n
    return n, t.pick("The user is called {}.", "The user's name is {}.", "You are talking to {}.", "Your user is {}. Be friendly.", "You help {}.").format(
        n)
