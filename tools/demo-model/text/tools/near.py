"""Whether one of the tools that are offered might be meant by a question: where one might, it is no example of a question without a tool."""
import re

NEAR = {"wake": "alarm", "remind": "reminder", "hot": "weather temperature", "warm": "weather temperature", "cold": "weather temperature", "raining": "weather forecast", "rain": "weather forecast",
    "umbrella": "weather", "jacket": "weather", "temperature": "weather thermostat", "weather": "temperature forecast", "forecast": "weather", "dollar": "currency exchange rate", "euros": "currency exchange rate",
    "bitcoin": "crypto coin", "play": "song music playlist artist band movie video", "music": "song play artist band", "song": "music play", "light": "lamp lights", "lamp": "light", "degrees": "thermostat heating temperature",
    "heat": "thermostat heating temperature", "call": "phone contact", "ring": "phone call contact", "mail": "email", "email": "mail", "message": "sms text", "text": "sms message", "table": "restaurant reservation",
    "restaurant": "table place food", "pizza": "food order delivery", "food": "restaurant dish recipe", "hungry": "food order", "buy": "order shop cart purchase", "bus": "departure transport", "train": "departure transport",
    "flight": "fly airline", "fly": "flight", "calendar": "event appointment meeting agenda", "appointment": "calendar event booking", "won": "score match game result", "game": "score match", "window": "blind", "news": "headline",
    "happened": "news headline", "trending": "news headline", "parcel": "package order delivery track", "package": "parcel order delivery track", "time": "clock timezone", "late": "time", "nearest": "nearby place",
    "translate": "translation", "file": "document", "website": "url page fetch http", "open": "url browser", "page": "print", "president": "wiki", "died": "wiki", "who": "wiki"}
COMMON_WORDS = set("""what when where which with from that this have does your there please could would like name about number user list code info data item returns whether given tool status current one text date
    find look show tell give send make create start check cancel book read open close update delete move print count fetch stop""".split())


def could_serve(q, families):
    """Whether a word of the question, or one near to it, stands in a name of a tool or in what it does."""
    said = [w for w in re.findall(r"[a-z]+", q.lower())]
    said = [x for w in said for x in [w, *NEAR.get(w, "").split()] if (len(x) > 3 or x in ("bus", "sms", "fly", "url")) and x not in COMMON_WORDS or x in ("open", "light", "page")]
    there = {w for f in families for w in [*f.things, *(x for text in f.about for x in re.findall(r"[a-z]+", text.lower()))] if (len(w) > 3 or w in ("bus", "sms", "fly", "url")) and w not in COMMON_WORDS}
    return any(w.startswith(x) or x.startswith(w) for w in said for x in there)
