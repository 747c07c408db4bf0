"""What the result of a tool says, told in sentences where the tool has no answer of its own: field by field."""
import re

from text.english import joined

HAPPENED = set("""sent created saved added deleted removed booked started stopped cancelled scheduled updated ordered posted moved renamed archived confirmed completed submitted
    reported registered assigned requested reserved shared published filed returned forwarded copied restored issued granted revoked logged deployed merged resolved postponed rescheduled""".split())
DONE = {"ok", "done", "success", "True"}
MEASURES = {"minutes": "minutes", "seconds": "seconds", "hours": "hours", "days": "days", "weeks": "weeks", "months": "months", "years": "years", "nights": "nights",
    "percent": "%", "km": "km", "m": "m", "cm": "cm", "mm": "mm", "kg": "kg", "g": "g", "mg": "mg", "ml": "ml", "kb": "KB", "mb": "MB", "gb": "GB", "kwh": "kWh", "kw": "kW",
    "kmh": "km/h", "mbps": "Mbit/s", "mhz": "MHz", "watts": "watts", "litres": "litres", "liters": "liters", "c": "degrees", "cents": "cents", "millions": "million", "degrees": "degrees"}
NO_PLURAL = set("""status address news class access progress bus gas process business success canvas bonus campus atlas radius series loss pass mass excess brightness hardness stress thickness
    fitness happiness fee parts kilos postage""".split())
AS_LABEL = set("""when now then ahead born unread updated modified used seen informed chosen kept picked drawn refunded redeemed repeated paid covered passed failed reversed completed freed saved converted
    at on by in from to with of since effect parts""".split())
STATES = set("available valid safe online overdue locked open visible active enabled correct irregular working delayed free empty full running moving notified changed merged ready connected reachable paid charging armed on off closed unlocked occupied delivered playing recording active online offline muted private public occupied vacant booked cancelled late early wet dry".split())


def at(v):
    """A time or a day with the word before it."""
    v = str(v)
    if re.match(r"\d+(:\d+)? ?(am|pm|h)?$|(noon|midnight)$", v):
        return f"at {v}"
    return f"on {v}" if re.match(r"\d{4}-\d\d-\d\d$|[A-Z][a-z]+( \d+|day.*)$", v) else v


def single(word):
    """One of what the word names many of."""
    if not word.endswith("s") or word.endswith("ss"):
        return word
    if word.endswith("ies") and not word.endswith(("movies", "cookies", "series")):
        return word[:-3] + "y"
    return word[:-2] if word.endswith(("ches", "shes", "xes", "sses", "buses")) else word[:-1]


def field_told(k, x):
    """One field of a result in a sentence."""
    words = re.sub(r"([a-z])([A-Z])", r"\1_\2", k).lower().split("_")
    key, name, last, front = "_".join(words), " ".join(words), words[-1], " ".join(words[:-1])
    number = isinstance(x, (int, float)) and not isinstance(x, bool)
    if isinstance(x, bool) or str(x) in ("yes", "no"):
        yes = x is True or str(x) == "yes"
        bare = words[1:] if words[0] == "is" and len(words) > 1 else words
        if len(bare) == 1 and (bare[0] in STATES or bare[0].endswith("ed") and bare[0] not in ("need", "speed", "feed", "bed", "seed", "speed")):
            return f"It is {'' if yes else 'not '}{bare[0]}."
        if len(words) > 1 and last in ("required", "needed", "included", "allowed", "available", "expected", "open", "locked", "connected", "enabled") and words[0] not in ("is", "has"):
            return f"The {front} {'are' if front.endswith('s') and words[-2] not in NO_PLURAL else 'is'} {'' if yes else 'not '}{last}."
        if words[0] == "has" and len(words) > 1:
            what = " ".join(words[1:])
            return f"It has {('' if last.endswith('s') else 'a ') if yes else 'no '}{what}."
        if key in STATES or key in ("in_stock", "on_display", "sold_out", "in_fridge"):
            return f"It is {'' if yes else 'not '}{name.replace('in fridge', 'in the fridge')}."
        return f"The {name} is {'yes' if yes else 'no'}." if key in ("result", "answer") else f"{name[0].upper()}{name[1:]}: {'yes' if yes else 'no'}."
    if isinstance(x, list):
        return f"The {single(name) if len(x) == 1 else name} {'is' if len(x) == 1 else 'are'} {joined([str(y) for y in x])}." if x else f"The {name} are empty."
    if number and last == "left" and len(words) > 1:
        unit = MEASURES.get(front, front)
        return f"There is 1 {unit[:-1] if unit.endswith('s') else unit} left." if x == 1 else f"There are {x} {unit} left."
    if number and words[0] == "left" and last in MEASURES:
        return f"There are {x} {MEASURES[last]} left."
    if number and last in MEASURES and words[0] not in ("free", "open") and (len(words) == 1 or words[0] != "hours") and words[-2:-1] != ["per"]:
        unit = MEASURES[last]
        much = f"{x}%" if unit == "%" else f"{x} {unit[:-1] if x == 1 and len(unit) > 4 and unit.endswith('s') else unit}"
        if not front:
            return f"It {'takes' if last in ('seconds', 'minutes', 'hours') else 'is'} {much}."
        if words[-2:-1] and words[-2] in AS_LABEL and front != "ready in":
            return f"{front[0].upper()}{front[1:]}: {much}."
        return {"valid": f"It is valid for {much}.", "waiting": f"The wait is {much}.", "water every": f"Water it every {much}.", "ran": f"It ran for {much}.", "ready in": f"It is ready in {much}.", "difference": f"The difference is {much}."}.get(front, f"The {front} is {much}.")
    if key in ("since", "until", "from", "due", "ready", "free"):
        if key == "since":
            return f"It has been so since {x}."
        if key == "free" and number:
            return f"There {'is' if x == 1 else 'are'} {x} free."
        return f"It {'lasts' if key == 'until' else 'is'} {key} {at(x) if key in ('due', 'ready') else x}."
    if key == "when":
        return f"It is {at(x)}."
    if key == "each":
        return f"It is {x} each."
    if key == "kilos":
        return f"It is {x} kilos."
    if key == "free_gb":
        return f"There are {x} GB free."
    if key == "back_in_stock":
        return f"It is back in stock {at(x)}."
    if key in ("left", "more", "remaining", "on_hand", "unread") and number:
        return f"There {'is' if x == 1 else 'are'} {x} {name}."
    if key in ("valid_until", "open_until", "valid_from", "best_before"):
        return f"It is {name} {x}."
    if key == "to":
        return f"It goes to {x}."
    if key in ("starts", "ends", "opens", "closes", "expires", "departs", "arrives"):
        return f"It {key} {at(x)}."
    if key in ("starts_at", "ends_at", "rings_at", "rises_at", "sets_at", "stops_at", "relocks_at", "resets_on", "ends_on", "resumes_on", "gate_opens"):
        return f"It {words[0]} {at(x)}." if key != "gate_opens" else f"The gate opens {at(x)}."
    if key in ("stopped_at", "moved_at", "deleted_at", "measured_at", "paid_on", "printed_on"):
        return f"It was {words[0]} {at(x)}."
    if key in ("ready_at", "done_at", "back_at", "on_air_at"):
        return f"It is {' '.join(words[:-1])} {at(x)}."
    if key == "daily_at":
        return f"It is daily {at(x)}."
    if key == "days_late" and number:
        return f"It is {x} day{'' if x == 1 else 's'} late."
    if key in ("found", "removed", "working", "broken", "missing", "available", "delayed", "overdue", "notified") and number:
        return f"There {'is' if x == 1 else 'are'} {x} {name}."
    ends = [w for w in words if len(w) > 3 and w.endswith("s") and w not in NO_PLURAL]
    if last in ends and not number:
        return f"The {name} are {x}."
    if isinstance(x, int) and (last in ends or words[0] in ends) and last not in NO_PLURAL and "per" not in words and words[-2:-1] != ["since"]:
        return f"There is 1 {' '.join(single(w) if w in ends else w for w in words)}." if x == 1 else f"There are {x} {name}."
    if last in AS_LABEL or "per" in words and words[0] in ends or words[-2:-1] == ["since"]:
        return f"{name[0].upper()}{name[1:]}: {x}."
    return f"The {name} is {x}."


ERRORS = ["not found", "timeout", "permission denied", "invalid argument", "service unavailable", "rate limit exceeded", "unknown city", "no such user", "network error", "internal error", "out of stock",
    "wrong format", "connection refused", "no data available", "the server did not answer", "access denied", "device offline", "invalid date", "limit reached", "not supported", "already exists", "no free places",
    "insufficient funds", "payment declined", "the service is closed", "no results for this query", "unauthorized", "too many requests", "location not found", "item not found", "the device does not respond"]


def failure(rng, name):
    """A result that tells of a failure, and what is said of it. name: an argument of the call, which is named in some."""
    e = rng.choice(ERRORS)
    if name and len(name) < 30 and rng.random() < 0.25:
        e = rng.choice([f"{name} not found", f"unknown: {name}", f"no data for {name}", f"{name} is not available"])
    code = rng.choice([400, 401, 403, 404, 408, 429, 500, 503])
    result = rng.choice([{"error": e}, {"error": e}, {"error": e}, f"Error: {e}", {"status": "error", "message": e}, {"status": "failed", "reason": e}, {"success": False, "error": e}, {"ok": False, "reason": e},
        {"error": {"code": code, "message": e}}, {"error": e, "code": code}, {"success": False, "message": e}, {"status": "error", "error": e}, {"result": None, "error": e}])
    return result, rng.choice([f"Sorry, that did not work: {e}.", f"Sorry, that did not work: {e}.", f"That did not work: {e}.", f"I am sorry, that failed: {e}."])


def empty(rng):
    """A search without a result."""
    return rng.choice([[], [], {"results": []}, {"results": []}, "[]", None, {"items": []}, {"count": 0, "results": []}, {"total": 0, "items": []}, {"data": []}, {"data": None}, {"matches": []}, "null"]), "Nothing was found."


def told(result):
    """What a result says, field by field, where the tool has no answer of its own."""
    if str(result) in HAPPENED:
        return f"Done: it was {result}."
    if isinstance(result, list):
        return f"The result is {joined([str(x) for x in result])}."
    if not isinstance(result, dict):
        return "Done." if str(result) in ("ok", "done") else f"The result is {result}."
    inner = next((x for x in result.values() if isinstance(x, dict)), None) if len(result) == 1 else None
    if inner:
        return told(inner)
    thing = next((k for k in ("door", "device", "window", "lock", "light", "machine", "appliance", "gate") if isinstance(result.get(k), str)), None)
    state = next((k for k in ("state", "status", "power") if thing and isinstance(result.get(k), str) and (result[k] in STATES or k == "power")), None)
    if state:  # the door and that it is open in one sentence
        rest = {k: x for k, x in result.items() if k not in (thing, state)}
        return f"The {result[thing]} is {result[state]}." + (" " + told(rest) if rest else "")
    marks = {k: x for k, x in result.items() if k in ("status", "success", "ok", "result", "message", "done") and str(x) in DONE}
    fields = {k: x for k, x in result.items() if k not in marks}
    happened = [x for x in fields.values() if str(x) in HAPPENED] + [k for k, x in result.items() if x is True and k in HAPPENED]
    fields = {k: x for k, x in fields.items() if x not in happened and k not in happened}
    front = [f"Done: it was {x}." for x in happened] or (["Done."] if marks else [])
    return " ".join([*front, *(field_told(k, x) for k, x in fields.items())]) or "Done."
