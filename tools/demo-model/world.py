"""The small world of the demo model: the town of Pebbleford, its people, and simple facts.

Everything here is invented for this project or is common knowledge.
"""
import zlib

TOWN, RIVER = "Pebbleford", "Lin"

# name, pronoun, age, pet kind, pet name, pet colour, house colour, street, work, food, hobby, friend
_ROWS = """
Mira|she|9|cat|Pip|grey|blue|Mill Lane|goes to school|pancakes|drawing|Otto
Otto|he|10|dog|Bruno|brown|red|Bridge Street|goes to school|cheese|football|Mira
Lena|she|8|rabbit|Clover|white|yellow|Apple Road|goes to school|carrots|singing|Finn
Finn|he|9|frog|Hopper|green|green|River Walk|goes to school|noodles|fishing|Lena
Nora|she|11|horse|Star|black|white|Hill Road|goes to school|apples|riding|Tilo
Tilo|he|7|duck|Waddle|yellow|orange|Pond Lane|goes to school|cookies|swimming|Nora
Greta|she|34|hen|Henny|red|pink|Market Square|is a baker|bread|baking|Rosa
Hugo|he|41|parrot|Captain|blue|grey|Harbour Street|is a boatman|fish|sailing|Oskar
Rosa|she|29|goat|Daisy|white|purple|Garden Lane|is a gardener|soup|planting flowers|Greta
Oskar|he|52|donkey|Muffin|grey|brown|Station Road|is a train driver|potatoes|whistling|Hugo
Ida|she|45|owl|Luna|brown|black|School Street|is a teacher|tea and cake|reading|Paul
Paul|he|38|turtle|Speedy|green|silver|Church Street|is a doctor|rice|chess|Ida
Wanda|she|67|sheep|Cotton|black|golden|Windmill Hill|is a miller|honey|knitting|Emil
Emil|he|70|mouse|Crumb|white|turquoise|Clock Street|is a clockmaker|plums|playing the violin|Wanda
"""


class Person:
    def __init__(self, row):
        (self.name, self.he, age, self.pet, self.pet_name, self.pet_colour, self.house, self.street,
         self.work, self.food, self.hobby, self.friend) = row.split("|")
        self.age = int(age)
        self.child = self.age < 18
        self.him = {"she": "her", "he": "him"}[self.he]
        self.his = {"she": "her", "he": "his"}[self.he]
        self.He = self.he.capitalize()
        self.job = "pupil" if self.child else self.work.split(" ", 2)[2]


PEOPLE = [Person(r) for r in _ROWS.strip().split("\n")]
BY_NAME = {p.name: p for p in PEOPLE}

# place: (where it is, what one can do or find there)
PLACES = {
    "bakery": ("on Market Square", "Greta bakes bread there every morning"),
    "school": ("on School Street", "Ida teaches the children there"),
    "harbour": ("at the end of Harbour Street", "Hugo keeps his boat there"),
    "station": ("on Station Road", "Oskar's green train stops there at nine"),
    "windmill": ("on Windmill Hill", "Wanda grinds the flour there"),
    "clock tower": ("on Clock Street", "Emil winds the big clock there every Sunday"),
    "old bridge": ("over the river Lin", "Otto and Mira meet there after school"),
    "pond": ("at the end of Pond Lane", "the ducks and frogs swim there"),
    "garden": ("on Garden Lane", "Rosa grows flowers and pumpkins there"),
    "library": ("beside the school", "you can borrow books there"),
    "market": ("on Market Square", "people buy fruit and cheese there on Saturdays"),
    "forest": ("behind Windmill Hill", "you can find mushrooms and deer there"),
    "doctor's house": ("on Church Street", "Paul helps sick people there"),
}

COLOUR_OF = {
    "grass": "green", "the sky": "blue", "snow": "white", "a lemon": "yellow", "a banana": "yellow",
    "a tomato": "red", "a strawberry": "red", "coal": "black", "milk": "white", "an orange": "orange",
    "a carrot": "orange", "a frog": "green", "the sun": "yellow", "blood": "red", "chocolate": "brown",
    "a leaf": "green", "the sea": "blue", "a raven": "black", "a pig": "pink", "a plum": "purple",
    "a cherry": "red", "a swan": "white", "an elephant": "grey", "honey": "golden", "a fire engine": "red",
    "the night": "black", "a cucumber": "green", "wood": "brown", "a pea": "green", "salt": "white",
}
OPPOSITE = dict(p.split("-") for p in (
    "big-small hot-cold up-down day-night happy-sad fast-slow old-young open-closed full-empty light-dark "
    "high-low wet-dry good-bad hard-soft long-short left-right near-far rich-poor loud-quiet early-late "
    "clean-dirty strong-weak thick-thin first-last in-out yes-no black-white inside-outside love-hate "
    "win-lose begin-end sweet-sour heavy-easy front-back awake-asleep brave-afraid").split())
OPPOSITE.pop("heavy")
OPPOSITE.update({v: k for k, v in OPPOSITE.items()})
OPPOSITE["heavy"] = "light"
SOUND = dict(p.split("-") for p in (
    "dog-woof cat-meow cow-moo sheep-baa duck-quack pig-oink horse-neigh hen-cluck frog-ribbit "
    "owl-hoot lion-roar bee-buzz mouse-squeak donkey-hee-haw rooster-cock-a-doodle-doo snake-hiss wolf-howl"
).replace("hee-haw", "heehaw").replace("cock-a-doodle-doo", "cockadoodledoo").split())
LEGS = {"dog": 4, "cat": 4, "bird": 2, "spider": 8, "ant": 6, "bee": 6, "horse": 4, "snake": 0, "fish": 0,
        "duck": 2, "cow": 4, "person": 2, "beetle": 6, "hen": 2, "octopus": 8, "chair": 4, "frog": 4,
        "worm": 0, "butterfly": 6, "elephant": 4, "goat": 4, "mouse": 4}
YOUNG = dict(p.split("-") for p in (
    "dog-puppy cat-kitten cow-calf sheep-lamb horse-foal hen-chick duck-duckling pig-piglet frog-tadpole "
    "goose-gosling goat-kid bear-cub lion-cub deer-fawn owl-owlet").split())
CAPITAL = dict(p.split("-") for p in (
    "France-Paris Germany-Berlin Italy-Rome Spain-Madrid England-London Japan-Tokyo China-Beijing "
    "Austria-Vienna Portugal-Lisbon Greece-Athens Poland-Warsaw Sweden-Stockholm Norway-Oslo Egypt-Cairo "
    "Russia-Moscow Canada-Ottawa Ireland-Dublin Finland-Helsinki Denmark-Copenhagen Hungary-Budapest "
    "Belgium-Brussels Turkey-Ankara India-Delhi Kenya-Nairobi Peru-Lima Cuba-Havana").split())
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
MONTHS = ("January February March April May June July August September October November December").split()
SEASONS = "spring summer autumn winter".split()
NUMBER = ("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
          "sixteen seventeen eighteen nineteen twenty").split()
LISTS = {
    "animals": "cat dog horse cow sheep goat rabbit duck hen frog owl mouse fox bear deer wolf lion pig".split(),
    "fruits": "apple pear plum cherry banana lemon orange grape peach strawberry melon".split(),
    "vegetables": "carrot potato onion pea bean cabbage pumpkin tomato cucumber spinach".split(),
    "colours": "red blue green yellow orange purple pink brown black white grey".split(),
    "birds": "owl duck hen swan raven robin sparrow eagle parrot goose".split(),
    "toys": "ball kite doll drum puzzle train robot top teddy boat".split(),
    "trees": "oak apple pine birch willow maple ash beech cherry elm".split(),
    "tools": "hammer saw spade rake axe brush needle ladder rope broom".split(),
    "shapes": "circle square triangle star heart oval cube ball".split(),
    "planets": "Mercury Venus Earth Mars Jupiter Saturn Uranus Neptune".split(),
    "drinks": "water milk tea juice coffee lemonade cocoa".split(),
    "clothes": "hat coat shirt sock shoe scarf glove dress jacket boot".split(),
    "instruments": "violin drum flute piano guitar trumpet harp bell".split(),
}
WHAT_IS = {
    "a dog": "A dog is an animal with four legs. It barks and likes to play.",
    "a cat": "A cat is a soft animal with four legs. It says meow and catches mice.",
    "the sun": "The sun is a big, hot star. It gives us light and warmth.",
    "the moon": "The moon is a round rock in the sky. It shines at night.",
    "rain": "Rain is water that falls from the clouds.",
    "snow": "Snow is frozen water. It falls in winter and it is white and cold.",
    "a river": "A river is water that flows to the sea.",
    "a bakery": "A bakery is a shop where bread and cakes are made.",
    "a school": "A school is a place where children learn to read and count.",
    "a friend": "A friend is someone who likes you and helps you.",
    "a bee": "A bee is a small insect that makes honey.",
    "honey": "Honey is sweet and golden. Bees make it from flowers.",
    "bread": "Bread is food made from flour and water. It is baked in an oven.",
    "a clock": "A clock is a thing that shows the time.",
    "a windmill": "A windmill is a building that uses the wind to grind flour.",
    "a boat": "A boat is a thing that carries people over the water.",
    "a book": "A book is many pages with words and pictures. You can read it.",
    "a tree": "A tree is a tall plant with a trunk, branches and leaves.",
    "a star": "A star is a bright light in the night sky. The sun is a star.",
    "a doctor": "A doctor is a person who helps sick people.",
    "a teacher": "A teacher is a person who helps others to learn.",
    "winter": "Winter is the cold season. It comes after autumn.",
    "summer": "Summer is the warm season. It comes after spring.",
    "a computer": "A computer is a machine that can count very fast.",
    "a language model": "A language model is a program that writes one word after another.",
    "a token": "A token is a small piece of text. A language model reads and writes tokens.",
    "water": "Water is clear and wet. All people and animals drink it.",
    "love": "Love is a warm feeling for someone you like very much.",
    "music": "Music is made of sounds that are nice to hear.",
}

# Story material
GIRLS = "Anna Bella Clara Dora Ella Fay Hanna Ivy Jana Kira Lily Maya Nina Olga Ruby Sofia Tess Una Vera Zoe".split()
BOYS = "Adam Ben Carl David Elias Fred Gabe Henry Igor Jack Kai Leo Max Noah Oliver Peter Ron Sam Tom Victor".split()
USERS = GIRLS + BOYS + ("Alex Robin Kim Chris Maria John Sarah Lukas Emma Julia Daniel Laura Simon Eva Jonas "
                        "Amir Fatima Yuki Chen Priya Omar Elena Marco Ingrid Hassan Alice Bob").split()
ANIMALS = ("dog cat fox bear rabbit mouse frog duck owl horse hedgehog squirrel goat lamb pig turtle wolf "
           "lion elephant bird bee fish dragon robot snail donkey penguin monkey tiger cow princess prince king queen "
           "knight wizard witch pirate ghost giant unicorn dinosaur whale spider ant butterfly sheep hen swan deer "
           "baker farmer sailor teacher fairy monster clown").split()
ANIMAL_NAMES = "Rex Bobo Lulu Felix Shadow Sunny Olli Mimi Koko Zip Milo Bella Coco Fluffy Tiny Max Molly Buddy Toffee Nibbles Rusty Snowy Biscuit Pepper Ginger".split()
THINGS = ("ball kite hat boat book drum key lamp shoe bell basket doll scarf bucket spoon stone box map "
          "balloon ring coin cup umbrella whistle flower feather button train puzzle blanket rocket car bike sword "
          "crown violin clock guitar camera letter mirror chair pencil telescope").split()
TREATS = ("cake|apple pie|bowl of soup|loaf of bread|plate of cookies|jar of honey|cup of cocoa|bag of plums|"
          "plate of pancakes|basket of cherries").split("|")
STORY_PLACES = ("river|forest|pond|garden|market|old bridge|windmill|harbour|station|school|library|meadow|"
                "hill|bakery|park|beach|castle|island|mountain|cave|lake|farm|sea|zoo").split("|")
ADJ = "little kind brave curious happy clever shy cheerful gentle funny".split()
WEATHER = "sunny rainy windy cold warm foggy snowy bright cloudy".split()


def a(word):
    """The word with its indefinite article."""
    return ("an " if word[0].lower() in "aeiou" else "a ") + word


def is_held(*key):
    """True for the combinations that only the held-out text may contain (one in twelve)."""
    return zlib.crc32(repr(key).encode()) % 12 == 5
