"""What the stories are made of: a small town, its people, and the things that may happen to be in it."""

TOWN = "Pebbleford"


class Person:
    def __init__(self, name, he, child, friend):
        self.name, self.he, self.child, self.friend = name, he, child, friend


PEOPLE = [Person(*row) for row in (
    ("Mira", "she", True, "Otto"), ("Otto", "he", True, "Mira"), ("Lena", "she", True, "Finn"), ("Finn", "he", True, "Lena"), ("Nora", "she", True,
    "Tilo"),
    ("Tilo", "he", True, "Nora"), ("Greta", "she", False, "Rosa"), ("Hugo", "he", False, "Oskar"), ("Rosa", "she", False, "Greta"), ("Oskar", "he",
    False, "Hugo"),
    ("Ida", "she", False, "Paul"), ("Paul", "he", False, "Ida"), ("Wanda", "she", False, "Emil"), ("Emil", "he", False, "Wanda"))]
BY_NAME = {p.name: p for p in PEOPLE}
COLOURS = "red blue green yellow orange purple pink brown black white grey golden silver".split()
ANIMAL_NAMES = (
    "Rex Bobo Lulu Felix Shadow Sunny Olli Mimi Koko Zip Milo Bella Coco Fluffy Tiny Max Molly Buddy Toffee Nibbles Rusty Snowy "
    "Biscuit Pepper Ginger").split()
TREATS = "cake|apple pie|bowl of soup|loaf of bread|plate of cookies|jar of honey|cup of cocoa|bag of plums|plate of pancakes|basket of cherries".split(
    "|")
STORY_PLACES = (
    "river|forest|pond|garden|market|old bridge|windmill|harbour|station|school|library|meadow|hill|bakery|park|beach|castle|island|"
    "mountain|cave|lake|farm|sea|zoo").split("|")
ADJ = "little kind brave curious happy clever shy cheerful gentle funny".split()
WEATHER = "sunny rainy windy cold warm foggy snowy bright cloudy".split()
