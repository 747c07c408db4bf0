"""Values made up of many words: titles, notes, lists, numbers with a decimal point, quantities in words. MADE: kind -> function of rng."""
from text.data.values import VALUES
from text.data.words import ADJECTIVES, ANIMALS, CITIES, COLOURS, FOODS, GOODS, HOBBIES, NAMES, NOUNS, SURNAMES, THINGS, any_name, invented
from text.english import first_up, joined, plural


class Said(str):
    """An argument that the user says in other words."""

    def __new__(cls, text, said):
        out = str.__new__(cls, text)
        out.said = said
        return out


class SaidInt(int):
    """A number that the user says in words, or minutes that he says as a length of time."""

    def __new__(cls, n, said):
        out = int.__new__(cls, n)
        out.said = said
        return out


class SaidFloat(float):
    """A number with a decimal point that the user writes with a zero at the end."""

    def __new__(cls, x, said):
        out = float.__new__(cls, x)
        out.said = said
        return out


class SaidList(list):
    """A list as the user says it."""

    def __init__(self, xs, said):
        super().__init__(xs)
        self.said = said


def quoted(rng, text):
    """In a fifth of the sentences the user writes marks around it, which are no part of the value."""
    return Said(text, f'"{text}"') if rng.random() < 0.2 else text


def cased(rng, text):
    r = rng.random()
    return text.lower() if r < 0.25 else first_up(text) if r < 0.35 else " ".join(
        w if i and w in ("of", "the", "in", "and", "a", "for", "to", "on", "at", "with", "from") else first_up(w) for i, w in enumerate(text.split(" ")))


def _noun(rng):
    return rng.choice(rng.choice([NOUNS, THINGS, ANIMALS]))


def _place(rng):
    return rng.choice(CITIES) if rng.random() < 0.7 else invented(rng)


def title_words(rng):
    """The title of a book, a film, a song."""
    adj, noun, who = rng.choice(ADJECTIVES), _noun(rng), any_name(rng)
    other = rng.choice(NOUNS)
    return rng.choice([f"the {adj} {noun}", f"{adj} {plural(noun)}", f"the {noun} of {_place(rng)}", f"a {rng.choice(COLOURS)} {noun} in {_place(rng)}", f"{noun} and {other}",
        f"the {noun} and the {other}",
        f"{who} and the {adj} {noun}", f"{who}'s {noun}", f"letters from {_place(rng)}", f"the last {noun} in {_place(rng)}", f"how to draw {plural(noun)}",
        f"{other} for {who}", f"a {other} in the {noun}",
        f"one {noun} at a time", f"the {adj} {other} of {who} {rng.choice(SURNAMES)}", f"{invented(rng)}", f"the {noun} with no {other}",
        f"{rng.randint(2, 30)} {adj} {plural(noun)}", f"song of the {adj} {noun}",
        f"{adj} {noun} {rng.choice(['blues', 'nights', 'days', 'dreams', 'stories', 'returns'])}", f"my {adj} {noun}", f"under the {adj} {noun}", f"{_place(rng)} by night",
        f"the road to {_place(rng)}"])


def title(rng):
    return quoted(rng, cased(rng, title_words(rng)))


def note(rng):
    """The text of a note or a task: something to be done."""
    who, noun, adj = any_name(rng), _noun(rng), rng.choice(ADJECTIVES)
    text = rng.choice([f"call {who} about the {noun}", f"buy {rng.choice(GOODS)} and {rng.choice(GOODS)}", f"pick up the {adj} {noun}", f"bring the {noun} back to {who}",
        f"water the {rng.choice(VALUES['plant'])}",
        f"pay the {noun} bill", f"the {noun} is in the {adj} box", f"clean the {noun}", f"ask {who} for the {noun}", f"finish the {noun} report", f"book a {noun} for {who}",
        f"order {rng.randint(2, 20)} {plural(noun)}",
        f"feed the {rng.choice(ANIMALS)}", f"return the {noun} to the library", f"{who} likes {plural(noun)}", f"the code of the {noun} is {rng.randint(100, 9999)}",
        f"fix the {adj} {noun}", f"send {who} the {noun}",
        f"pack the {noun} and the {rng.choice(NOUNS)}", f"meet {who} in {_place(rng)}", f"change the {rng.choice(NOUNS)} of the {noun}",
        f"wash the {rng.choice(COLOURS)} {noun}", f"the {noun} was {adj}"])
    return quoted(rng, text if rng.random() < 0.65 else first_up(text))


def name_of(rng):
    """What people call a playlist, a project, a folder, a list, an event."""
    noun, adj = _noun(rng), rng.choice(ADJECTIVES)
    text = rng.choice([f"{adj} {noun}", f"{rng.choice(HOBBIES).split(' ')[-1]} {rng.choice(['mix', 'list', 'club', 'plan', 'hour', 'night'])}",
        f"{noun} {rng.choice(['party', 'project', 'plan', 'team', 'review', 'trip', 'notes', 'ideas'])}",
        f"trip to {_place(rng)}", f"{any_name(rng)}'s {rng.choice(['birthday', 'wedding', 'favourites', 'list', 'project', 'party'])}",
        f"{adj} {rng.choice(['morning', 'evening', 'summer', 'winter', 'weekend'])}", invented(rng),
        f"{invented(rng)} {noun}", f"{noun} {rng.randint(2, 2030)}", f"{adj} {noun} {rng.choice(['launch', 'day', 'meeting', 'files', 'songs'])}",
        f"{rng.choice(COLOURS)} {noun} {rng.choice(NOUNS)}"])
    return quoted(rng, cased(rng, text))


def subject_line(rng):
    noun = _noun(rng)
    text = rng.choice([f"question about the {noun}", f"the {noun} for {_place(rng)}", f"{rng.choice(ADJECTIVES)} {noun}",
        f"meeting on {rng.choice('Monday Tuesday Wednesday Thursday Friday'.split())}", f"your {noun} and the {rng.choice(NOUNS)}",
        f"{noun} {rng.randint(2, 2030)}", f"news from {_place(rng)}", f"invitation to the {noun} {rng.choice(['party', 'dinner', 'show', 'meeting'])}", f"{noun} report",
        f"plans for {any_name(rng)}", f"change of the {noun}"])
    return quoted(rng, text if rng.random() < 0.4 else first_up(text))


def address(rng):
    street = rng.choice([f"{rng.choice(ADJECTIVES)} {rng.choice(THINGS)}", rng.choice(SURNAMES), rng.choice(NOUNS), invented(rng), rng.choice(COLOURS), rng.choice(ANIMALS)])
    text = f"{rng.randint(1, 240)}{rng.choice(['', '', '', 'a', 'b'])} {cased(rng, street + ' ' + rng.choice('street road lane avenue square drive court hill'.split()))}"
    return text + (f", {_place(rng)}" if rng.random() < 0.3 else "")


def spoken(rng, x, digits):
    """A number with a point; a zero at the end is said, but is not in the number."""
    x = round(x, digits) or 0.5
    if x == int(x) and rng.random() < 0.7:
        return int(x)
    text = f"{x:.{digits}f}"
    return SaidFloat(x, text) if text != str(x) else x


def price(rng):
    r = rng.random()
    if r < 0.15:
        return rng.randint(1, 900)
    return spoken(rng, rng.choice([rng.randint(0, 30) + rng.choice([.99, .49, .95, .5, .25, .75, .2, .8]), rng.uniform(0.05, 20), rng.uniform(1, 200), rng.uniform(100, 9000)]), 2)


def tenths(low, high):
    def made(rng):
        return spoken(rng, rng.choice([rng.randint(low, high - 1) + 0.5, rng.uniform(low, high), rng.uniform(low, high)]), 1)
    return made


def kilos(rng):
    return spoken(rng, rng.choice([rng.choice([0.5, 0.25, 0.75, 1.5, 2.5]), rng.uniform(0.1, 20), rng.uniform(30, 120)]), rng.choice([1, 1, 2]))


def measure(rng):
    """Any number, most with a point."""
    x = rng.choice([rng.uniform(0.1, 10), rng.uniform(0.1, 10), rng.uniform(1, 100), rng.uniform(100, 5000), rng.choice([0.5, 1.5, 2.5, 0.25, 0.75, 3.5]), rng.randint(2, 90)])
    return spoken(rng, x, rng.choice([1, 1, 2, 2, 3]))


def coordinate(width):
    return lambda rng: round(rng.uniform(-width, width), rng.choice([1, 2, 2, 3, 4]))


def amount_text(rng):
    """A number with its unit, as a string."""
    x = price(rng)
    said = getattr(x, "said", x)
    return rng.choice([f"${said}", f"{said} euros", f"{said} EUR", f"€{said}", f"£{said}", f"{said} dollars", f"{said} USD", str(said), str(said)])


def size_text(rng):
    x = measure(rng)
    return f"{getattr(x, 'said', x)}{rng.choice([' kg', ' g', ' cm', ' m', ' km', ' litres', ' ml', ' inches', ' miles', ' tons', 'kg', 'cm', 'm', 'km', ' degrees'])}"


IN_WORDS = {2: ["two", "two", "a couple of"], 3: ["three"], 4: ["four"], 5: ["five"], 6: ["six", "half a dozen"], 7: ["seven"], 8: ["eight"], 9: ["nine"], 10: ["ten"], 11: ["eleven"], 12: ["twelve", "a dozen", "a dozen"], 15: ["fifteen"],
    20: ["twenty"], 24: ["two dozen", "twenty-four"], 30: ["thirty"], 50: ["fifty"], 100: ["a hundred", "one hundred"]}


def quantity(rng):
    """How many of something: always more than one."""
    n = rng.choice([*range(2, 9), *range(2, 13), 12, 12, 15, 20, 24, 30, 50, 100])
    return SaidInt(n, rng.choice(IN_WORDS[n])) if n in IN_WORDS and rng.random() < 0.65 else n


def few(rng):
    """How many people."""
    n = rng.choice([2, 2, 3, 3, 4, 5, 6])
    return SaidInt(n, IN_WORDS[n][0]) if rng.random() < 0.5 else n


def handful(rng):
    """A small quantity before a noun: tickets, dice."""
    n = rng.choice([2, 2, 3, 3, 4, 5, 6, 12])
    return SaidInt(n, rng.choice(IN_WORDS[n])) if rng.random() < 0.6 else n


def number(rng):
    """A number without a thing after it: no "a dozen"."""
    n = rng.choice([*range(2, 13), 15, 20, 30])
    return SaidInt(n, IN_WORDS[n][0]) if rng.random() < 0.5 else n


LENGTHS = {15: ["a quarter of an hour", "fifteen minutes"], 30: ["half an hour", "half an hour", "thirty minutes"], 45: ["three quarters of an hour", "forty-five minutes"], 60: ["an hour", "one hour", "1 hour"], 90: ["an hour and a half", "one and a half hours", "1.5 hours"],
    120: ["two hours", "2 hours"], 150: ["two and a half hours"], 180: ["three hours", "3 hours"], 240: ["four hours"], 75: ["an hour and 15 minutes"], 5: ["five minutes"],
        10: ["ten minutes"], 20: ["twenty minutes"], 2: ["two minutes"], 3: ["three minutes"]}


def minutes(rng):
    """A length of time in minutes, which the user may give in hours."""
    n = rng.choice([*LENGTHS, 30, 30, 90, 60, 120, 0, 0, 0, 0, 0]) or rng.randint(2, 99)
    return SaidInt(n, rng.choice(LENGTHS[n]) if n in LENGTHS and rng.random() < 0.8 else f"{n} minutes")


def seconds(rng):
    n = rng.choice([30, 60, 60, 90, 120, 300, 0, 0]) or rng.randint(5, 99)
    said = {30: "half a minute", 60: "a minute", 90: "a minute and a half", 120: "two minutes", 300: "five minutes"}.get(n)
    return SaidInt(n, said if said and rng.random() < 0.6 else f"{n} seconds")


def listed(rng, xs):
    xs = list(dict.fromkeys(xs))
    usual = joined(xs)
    return SaidList(xs, rng.choice([usual, usual, ", ".join(xs), " and ".join(xs) if len(xs) < 4 else usual, usual.replace(" and ", ", and ") if len(xs) > 2 else usual]))


def _item(rng):
    return rng.choice([rng.choice(GOODS), rng.choice(VALUES["ingredient"]), rng.choice(FOODS), f"{rng.choice(COLOURS + ['fresh', 'frozen', 'small', 'big'])} {rng.choice(VALUES['ingredient'])}", rng.choice(VALUES["product"])])

def numbers(rng):
    """A list of numbers, half of them with a point."""
    xs = [rng.randint(1, 99) if rng.random() < 0.5 else rng.randint(0, 98) + rng.randint(1, 9) / 10 for _ in range(rng.randint(2, 5))]
    return SaidList(xs, joined([str(x) for x in xs]) if rng.random() < 0.6 else ", ".join(map(str, xs)))


MADE = {
    "title": title, "note": note, "named": name_of, "subjectline": subject_line, "address": address, "amounttext": amount_text, "sizetext": size_text, "item": _item,
    "price": price, "degrees": tenths(5, 38), "roomdegrees": tenths(15, 26), "kilos": kilos, "bodyweight": tenths(40, 120), "measure": measure, "kilometres": tenths(1, 60), "hours": tenths(1, 12),
    "litres": tenths(1, 80), "drunk": tenths(0, 3), "rating": tenths(1, 5), "rate": lambda rng: round(rng.uniform(0.1, 3), rng.choice([2, 3, 4])), "lat": coordinate(90), "lon": coordinate(180),
    "qty": quantity, "number": number, "minutes": minutes, "seconds": seconds, "numbers": numbers,
    "items": lambda rng: listed(rng, [_item(rng) for _ in range(rng.choice([2, 2, 3, 3, 4]))]),
    "names": lambda rng: listed(rng, [any_name(rng) for _ in range(rng.choice([2, 2, 3, 3, 4]))]),
    "tags": lambda rng: listed(rng, [rng.choice(NOUNS + ADJECTIVES) for _ in range(rng.choice([2, 2, 3]))]),
}
MADE.update({kind: lambda rng, some=text.split("|"): rng.choice(some) for kind, text in {
    "lockable": "front door|back door|garage door|garden gate|side door|office door|cellar door|car|bike|safe|shed|balcony door|main entrance|locker|mailbox",
    "openable": "front door|garage door|kitchen window|bedroom window|skylight|gate|living room window|bathroom window|garden gate|roof window|barn door|attic window",
    "switchable": "kitchen light|bedroom lamp|heater|fan|TV|coffee machine|hall light|garden light|radio|air conditioner|printer|oven|desk lamp|sprinkler|porch light|aquarium pump|router|humidifier|Christmas tree",
    "machine": "dishwasher|washing machine|dryer|robot vacuum|oven|printer|coffee machine|pump|server|heating|3D printer|conveyor|lawn mower|air conditioner",
    "gadget": "phone|laptop|tablet|e-bike|scooter|music box|camera|smart watch|car|speaker|drone|toothbrush|power bank",
    "countable": "eggs|apples|bananas|lemons|onions|potatoes|tomatoes|rolls|bottles of water|cans of beans|packets of rice|avocados|carrots|pears|candles|oranges|bags of flour|cups of yogurt|light bulbs|boxes of tea|muffins|cucumbers|jars of honey",
    "wares": "notebooks|pens|T-shirts|coffee mugs|USB cables|batteries|office chairs|water bottles|light bulbs|towels|plates|wine glasses|keyboards|phone cases|flower pots|blue folders|paper bags|picture frames|socks|AA batteries|red balloons|garden chairs",
    "article": "coffee maker|electric kettle|desk lamp|office chair|gaming mouse|yoga mat|backpack|winter jacket|power bank|smart watch|webcam|blender|toaster|frying pan|bike helmet|tent|chess set|suitcase|iPhone 15|Kindle|red scarf|wooden table|blue teapot|garden hose",
    "lengthunit": "miles|kilometres|metres|feet|inches|centimetres|yards|millimetres|km|cm|light years",
    "spot": "meeting room|parking space|guest room|tennis court|conference room|bathroom|laundry room|study room|music room|sauna|big table|football field",
    "shopname": "pharmacy|library|museum|bakery|post office|supermarket|swimming pool|gym|zoo|town hall|bank|barber shop|ice rink|book shop|flower shop|garden centre"}.items()})
MADE["dish"] = lambda rng: f"{rng.choice(['spicy ', 'creamy ', 'sweet ', 'cold ', '', '', '', 'baked ', 'quick '])}{rng.choice(VALUES['ingredient'])} {rng.choice('soup pie curry cake salad stew pasta tart bake risotto'.split())}"
MADE["level"] = lambda rng: rng.randint(1, 99)
MADE["upto"] = lambda rng: rng.choice([50, 60, 100, 1000, rng.randint(41, 999)])
MADE["few"], MADE["handful"] = few, handful
WORDED = {"title", "note", "named", "subjectline", "address", "dish"}  # may have any words in them
MADE_TYPES = {**dict.fromkeys("price degrees roomdegrees kilos measure kilometres hours litres drunk bodyweight rating lat lon".split(), "number"), **dict.fromkeys("qty few handful number level upto minutes seconds".split(), "integer"),
    **dict.fromkeys("items names tags numbers".split(), "array")}
