"""More small skills: synonyms, rhymes, kinds of animals, first letters, chance, primes, several units, sums that may be wrong."""
import json

from text.conversation import Answer, verdict
from text.data.countries import CAPITAL, CONTINENT, FAMOUS, verb
from text.data.tables import LISTS, NUMBER, UNITS, pairs
from text.english import a, first_up, joined, plural
from text.skills.texts import FIELDS

SYNONYM = {k: v.split(",") for k, v in pairs(
    "happy-glad,cheerful big-large,huge small-little,tiny fast-quick,rapid smart-clever,bright sad-unhappy,sorrowful beautiful-pretty,lovely "
    "angry-mad,furious begin-start,commence end-finish,stop rich-wealthy easy-simple "
    "hard-difficult,tough cold-chilly,icy hot-warm,boiling old-ancient,aged new-fresh,modern good-fine,great bad-poor,awful quiet-silent,calm "
    "loud-noisy brave-bold,courageous tired-sleepy,weary funny-amusing,comical strange-odd,weird "
    "help-aid,assist look-watch,see speak-talk,say buy-purchase house-home road-street,way car-vehicle job-work,occupation gift-present child-kid "
    "friend-pal,mate answer-reply mistake-error forest-wood sea-ocean stone-rock "
    "boat-ship garden-yard doctor-physician lucky-fortunate kind-nice,friendly important-essential right-correct wrong-false,incorrect").items()}
RHYMES = [row.split() for row in (
    "cat hat bat mat rat|dog frog log fog|house mouse blouse|tree bee sea tea free key knee three|sun fun run one son|moon spoon soon noon June|"
    "star car far bar jar|night light right bright kite white|day play way say grey today|rain train plane brain chain|snow go slow show low toe|"
    "cake lake snake make bake|book cook look hook|ball wall tall small fall call|king ring sing thing string|fish dish wish|bear chair hair air pair|"
    "fox box socks rocks|hand sand land band|bed red head bread said|blue shoe two true you new zoo|green queen bean seen|boat goat coat note|"
    "cold gold old told|time rhyme lime climb|love dove glove above|heart start part art|dream stream cream team|sky fly high pie eye why|"
    "rose nose toes grows|clock rock sock lock|hill mill still bill|pen ten men hen|wine line mine nine|town brown down crown|ship trip lip|"
    "door floor four more|hot pot not spot|good wood could|hear near year deer beer|ice nice rice mice|cup up pup|feet street meet sweet|gate late "
    "plate wait eight|mother brother another|money honey funny sunny|table able|flower tower power hour|fast last past|big pig dig wig|"
    "wet pet net jet|sad mad bad dad glad|duck truck luck|storm warm form|bell well smell tell shell|nest best rest west test|sleep deep keep sheep|"
    "friend end send bend|lamp camp stamp|clocks knocks|road load toad|night flight fight sight height|game name same fame flame|face place race space lace|"
    "stone bone phone alone|cheese please freeze knees|park dark bark shark|lane pain again|bread head thread spread|school cool pool fool|"
    "kitten mitten written|water daughter|summer drummer|winter printer|butter flutter mutter|candle handle|"
    "letter better sweater|stable fable cable|jump lump pump bump|drink think pink sink|swim him limb|rock knock shock|bag flag rag tag|"
    "soap hope rope|leaf beef thief|wave cave brave save|voice choice|cloud loud proud crowd|smile mile while file|kiss miss this|mind find kind behind").split("|")]
KIND = {x: kind for kind, row in (("mammal", "dog cat horse cow sheep goat pig lion tiger elephant bear wolf fox rabbit mouse whale dolphin bat "
                                   "monkey human kangaroo giraffe deer camel seal"), ("bird", "owl duck hen swan raven eagle parrot goose penguin "
                                   "ostrich robin stork"),
                                   ("fish", "shark salmon trout tuna goldfish herring carp"), ("reptile",
                                   "snake lizard crocodile turtle alligator iguana"), ("insect", "ant bee butterfly beetle fly mosquito moth"), (
                                   "amphibian", "frog toad newt")) for x in row.split()}
OBJECTS = {"a person": ("name", "age", "city"), "a user": ("id", "name", "email"), "a product": ("product", "price", "quantity"), "a book": ("title",
           "year", "language"), "a customer": ("first_name", "last_name", "email"), "an animal": ("animal", "name", "age"),
           "an employee": ("name", "job", "city"), "an order": ("id", "product", "quantity"), "a car": ("colour", "year", "price"), "a pet": ("pet",
           "name", "age")}


def synonym(t):
    x, ys = t.rng.choice(list(SYNONYM.items()))
    q = t.pick("What is a synonym for {}?", "Synonym of {}?", "Give me another word for {}.", "What is another word for \"{}\"?", "synonym for {}",
        "Which word means the same as {}?", "a different word for {}?").format(x)
    return [(q, Answer(f"{'Synonyms' if len(ys) > 1 else 'A synonym'} for {x} {'are' if len(ys) > 1 else 'is'} {joined(ys)}.", ys[0]))]


def rhyme(t):
    words = t.rng.choice(RHYMES)
    x = t.rng.choice(words)
    y = words[words.index(x) - 1]
    q = t.pick("What rhymes with {}?", "Give me a word that rhymes with {}.", "rhyme for {}", "Find a rhyme for \"{}\".",
        "Which word rhymes with {}?", "rhymes with {}", "What is a rhyme for {}?", "Tell me a word that rhymes with {}.", "Does anything rhyme with {}?",
        "I need a rhyme for {}.", "{} rhymes with what?", "a word rhyming with {} please", "give me a word that rhymes with \"{}\"", "name a word that rhymes with {}", "what word rhymes with {}?",
        "tell me something that rhymes with {}", "which words rhyme with {}?").format(x)
    return [(q, Answer(f"{y} rhymes with {x}.", y))]


def animal_kind(t):
    x = t.rng.choice(list(KIND))
    if t.chance(0.4):
        q = t.pick("What kind of animal is {}?", "What type of animal is {}?", "Is {} a mammal, a bird or a fish?", "what class of animal is {}").format(
            a(x))
        return [(q, Answer(f"{a(x)} is {a(KIND[x])}.", KIND[x]))]
    other = KIND[x] if t.chance(0.5) else t.rng.choice(list(KIND.values()))
    yes = other == KIND[x]
    q = t.pick("Is {a} {o}?", "Are {x} {o}?", "Is {a} {p} or not?").format(a=a(x), x=plural(x), o=plural(other), p=a(other))
    return [(q, verdict(yes, f"{a(x)} is {a(KIND[x])}"))]


def with_letter(t):
    """An animal, fruit, country ... that begins with a letter."""
    groups = {"animal": LISTS["animals"] + list(KIND), "fruit": LISTS["fruits"], "vegetable": LISTS["vegetables"], "country": [c for c in CAPITAL if not c.startswith(
        "the ")], "colour": LISTS["colours"], "city": [c for c in CAPITAL.values() if " " not in c], "month": LISTS["months"]}
    what = t.rng.choice(list(groups))
    letter = t.rng.choice(groups[what])[0].upper()
    have = [x for x in groups[what] if x[0].upper() == letter][:2]
    q = t.pick("Name {w} that starts with {l}.", "{w} with {l}?", "Give me {w} beginning with {l}.", "Which {p} starts with the letter {l}?",
        "Tell me {w} with the letter {l}", "{w} starting with {l}").format(w=a(what), p=what, l=letter)
    return [(q, Answer(first_up(t.rng.choice(have)) + "."))]


def chance(t):
    """A coin, a die, a choice: anything goes."""
    r = t.rng.random()
    if r < 0.25:
        return [(t.pick("Flip a coin.", "Heads or tails?", "Toss a coin for me.", "coin flip"), Answer(t.pick("Heads.", "Tails.")))]
    if r < 0.45:
        n = str(t.rng.randint(1, 6))
        return [(t.pick("Roll a dice.", "Throw a die.", "roll the dice please"), Answer(f"{n}.", n))]
    if r < 0.75:
        top = t.rng.choice([5, 10, 10, 20, 100])
        n = str(t.rng.randint(1, top))
        return [(t.pick("Pick a number between 1 and {}.", "Give me a random number from 1 to {}.", "random number between 1 and {}",
            "Choose a number between one and {}.", "Think of a number up to {}.").format(top), Answer(f"{n}.", n))]
    x, y = t.rng.sample(LISTS[t.pick("animals", "colours", "fruits", "sports", "drinks")], 2)
    z = t.pick(x, y)
    return [(t.pick("Choose: {} or {}?", "Pick one: {} or {}.", "{} or {}? You decide.").format(x, y), Answer(f"{z}.", z))]


def primes(t):
    n = t.rng.randint(1, 60)
    yes = n > 1 and all(n % k for k in range(2, n))
    by = next((k for k in range(2, n) if n % k == 0), 1)
    why = f"{n} can be divided only by one and by itself" if yes else f"{n} can be divided by {by}" if n > 1 else "the smallest prime number is 2"
    return [(t.pick("Is {} a prime number?", "Is {} prime?", "is {} a prime", "{}: prime or not?").format(n), verdict(yes, why))]


def several(t):
    """How many minutes are in three hours."""
    one, n, of = t.rng.choice([u for u in UNITS if " " not in u[0] and u[1] in (7, 12, 24, 60, 100, 1000, 10, 2, 3)])
    k = t.rng.randint(2, 10)
    more = {"foot": "feet", "century": "centuries", "millennium": "millennia", "dozen": "dozen"}.get(one, one + "s")
    q = t.pick("How many {of} are in {k} {m}?", "How many {of} are {k} {m}?", "{k} {m} in {of}?", "Convert {k} {m} to {of}.",
        "How many {of} do {k} {m} have?").format(of=of, k=t.pick(k, NUMBER[k]), m=more)
    return [(q, Answer(f"{k} {more} are {k * n:,} {of}.", f"{k * n:,}"))]


def equation(t):
    """Is 2 + 2 = 5?"""
    x, y = t.rng.randint(0, 20), t.rng.randint(0, 20)
    op = t.rng.choice("++-*")
    x, y = (max(x, y), min(x, y)) if op == "-" else (x % 11, y % 11) if op == "*" else (x, y)
    r = {"+": x + y, "-": x - y, "*": x * y}[op]
    z = r if t.chance(0.5) else r + t.pick(-2, -1, 1, 2, 10)
    if z < 0:
        return equation(t)
    q = t.pick("Is {x} {o} {y} = {z}?", "Is it true that {x} {o} {y} is {z}?", "{x} {o} {y} = {z}, right?", "{x} {o} {y} = {z}. Correct?",
        "Does {x} {o} {y} make {z}?", "{x}{o}{y}={z}?").format(x=x, y=y, z=z, o=op)
    return [(q, verdict(z == r, f"{x} {op} {y} = {r}", f"Because {x} {op} {y} makes {r}."))]


def about_country(t):
    name = t.rng.choice(FAMOUS) if t.chance(0.5) else t.rng.choice(list(CAPITAL))
    if t.chance(0.3):
        city = CAPITAL[name]
        return [(t.pick("Tell me about {}.", "What is {}?", "What do you know about {}?", "{}?", "Do you know {}?").format(city), Answer(
            f"{city} is the capital of {name}.", "capital"))] if city != name else about_country(t)
    q = t.pick("Tell me about {}.", "What is {}?", "What do you know about {}?", "Do you know {}?", "Tell me something about {}.",
        "Give me facts about {}.", "{}").format(name)
    return [(q, Answer(f"{first_up(name)} {verb(name)} a country in {CONTINENT[name]}. The capital is {CAPITAL[name]}.", "country"))]


def blank(t):
    """The sky is ..."""
    name = t.rng.choice(FAMOUS)
    q = t.pick("The capital of {} is ...", "Complete the sentence: The capital of {} is", "Fill in: The capital of {} is ___.",
        "the capital of {} is called").format(name)
    return [(q, Answer(f"The capital of {name} is {CAPITAL[name]}.", CAPITAL[name]))]


def json_object(t):
    what, keys = t.rng.choice(list(OBJECTS.items()))
    q = t.pick("Give me JSON for {}.", "Write an example JSON object for {}.", "JSON of {}, please.", "Make up {} as JSON.",
        "Generate {} in JSON format.", "What could {} look like as JSON?", "json example of {}", "Show me {} as a JSON object.").format(what)
    return [(q, Answer(json.dumps({k: FIELDS[k](t) for k in keys}, ensure_ascii=False), kind="text"))]


SKILLS = [(1.2, synonym, True), (4, rhyme, False), (1.6, animal_kind, True), (1.2, with_letter, True), (1, chance, False), (0.8, primes, True), (
    1.2, several, True), (1.5, equation, True), (2.5, about_country, True), (0.7, blank, True), (1.2, json_object, False)]
