"""What a newcomer types into an empty chat: small numbers, ideas, short stories to order, wishes for the form, everyday knowledge, what cannot be done, manners."""
import re

from text.conversation import Answer
from text.data.countries import CAPITAL, FAMOUS
from text.data.tables import COLOUR_OF, DAYS, MONTHS, MONTH_DAYS, NUMBER, OPPOSITE
from text.data.words import BOYS, CITIES, FOODS, GIRLS, SURNAMES, any_name, invented
from text.english import a, first_up, joined
from text.skills.sums import in_words, only_held_out


def rows(text):
    """Lines of cells between bars."""
    return [[c.strip() for c in line.split("|")] for line in text.strip().split("\n")]


def table(text):
    """key: a, b, c"""
    return {k.strip(): [x.strip() for x in v.split(",")] for k, v in (line.split(":", 1) for line in text.strip().split("\n"))}


# ---- numbers

def n_text(t, n):
    return in_words(n) if t.chance(0.12) and n <= 100 else str(n)


def series(t, row):
    return t.pick(", ".join(map(str, row)), ", ".join(map(str, row)), " ".join(map(str, row)), joined(list(map(str, row))), joined(list(map(str, row)), "or"))


def distinct(t, n, top=None):
    top = top or t.pick(10, 20, 50, 99, 99, 200)
    r = t.rng.sample(range(1, top + 1), n)
    if n == 3 and t.chance(0.2):  # numbers that are easily taken for one another
        x, y = t.rng.sample(range(1, 10), 2)
        r = [10 * x + y, 10 * y + x, t.pick(10 * x + x, 10 * y + y)]
    return r


def extreme(t):
    row = distinct(t, t.pick(3, 3, 4, 4, 5))
    kind = t.pick("smallest", "smallest", "lowest", "largest", "biggest", "highest")
    r = min(row) if kind in ("smallest", "lowest") else max(row)
    q = t.pick("{k} of {s}", "which is the {k}: {s}?", "What is the {k} number: {s}?", "the {k} number of {s}?", "which number is {k}, {s}", "Out of {s}, which is the {k}?", "{s} - which one is the {k}?",
               "Look at {s}. Which is the {k}?", "tell me the {k} of these numbers: {s}", "find the {k}: {s}", "What's the {k} one among {s}?", "{k} number please: {s}")
    return [(first_up(q.format(k=kind, s=series(t, row))) if t.chance(0.5) else q.format(k=kind, s=series(t, row)), Answer(f"The {kind} number is {r}.", str(r)))]


def middle(t):
    row = distinct(t, t.pick(3, 3, 3, 5))
    s = sorted(row)
    m = s[len(s) // 2]
    q = t.pick("Which number is in the middle: {s}?", "the middle one of {s}?", "Which of {s} is neither the smallest nor the largest?" if len(s) == 3 else "middle number of {s}?", "{s}: which is the middle number?",
               "What is the middle number of {s}?", "of {s}, which one lies in the middle?", "middle value of {s}")
    return [(q.format(s=series(t, row)), Answer(f"In order they are {', '.join(map(str, s))}, so the middle number is {m}.", str(m)))]


def sort_few(t):
    row = distinct(t, t.pick(3, 3, 4))
    down = t.chance(0.35)
    way = t.pick("from big to small", "from largest to smallest", "from high to low", "biggest first", "in falling order") if down else t.pick("", "", "from small to big", "from smallest to largest", "from low to high", "smallest first", "in rising order")
    q = t.pick("sort {s} {w}", "Sort these: {s} {w}", "put {s} in order {w}", "Please order {s} {w}.", "{s} in order {w}", "Can you sort {s} {w}?", "Write {s} in order {w}.", "arrange {s} {w}", "order the numbers {s} {w}")
    q = re.sub(r" +([.?]|$)", r"\1", q.format(s=", ".join(map(str, row)) if t.chance(0.7) else joined(list(map(str, row))), w=way)).replace("in order in", "in")
    return [(q, Answer(", ".join(map(str, sorted(row, reverse=down))) + ".", kind="text"))]


def two(t):
    x, y = distinct(t, 2)
    if t.chance(0.25):
        x = t.rng.randint(1, 9) * 10 + t.rng.randint(1, 9)
        y = int(str(x)[::-1])
        if x == y:
            return two(t)
    if t.chance(0.5):
        q = t.pick("Which is more, {x} or {y}?", "which is bigger: {x} or {y}?", "What is more: {x} or {y}?", "{x} or {y}, which is the larger number?", "which number is greater, {x} or {y}", "is {x} or {y} bigger?", "what is larger, {x} or {y}?")
        return [(q.format(x=x, y=y), Answer(f"{max(x, y)} is more than {min(x, y)}.", str(max(x, y))))]
    q = t.pick("Which is less, {x} or {y}?", "which is smaller: {x} or {y}?", "What is less: {x} or {y}?", "{x} or {y}, which is the smaller number?", "is {x} or {y} smaller?", "which number is lower, {x} or {y}")
    return [(q.format(x=x, y=y), Answer(f"{min(x, y)} is less than {max(x, y)}.", str(min(x, y))))]


def odd_even(t):
    x = t.rng.randint(0, 120)
    kind = "odd" if x % 2 else "even"
    if t.chance(0.5):
        ask = t.pick("odd", "even")
        yes = ask == kind
        q = t.pick(f"Is {x} {ask}?", f"is {x} an {ask} number?", f"{x} is {ask}, right?", f"Is the number {x} {ask}?", f"{x}, is it {ask}?")
        return [(q, Answer(f"{x} is {kind}, so {'yes' if yes else 'no'}.", "Yes" if yes else "No", "yes" if yes else "no"))]
    q = t.pick(f"{x}, odd or even?", f"odd or even: {x}", f"is {x} even or odd", f"what is {x}, odd or even?", f"Tell me whether {x} is odd or even.", f"the number {x}: even or odd?")
    return [(q, Answer(f"{x} is {kind}.", kind))]


def half_double(t):
    while True:
        n = t.rng.randint(1, 50)
        if not only_held_out(n, "+", n) and not only_held_out(n, "*", 2) or t.held:
            break
    k = t.rng.randrange(3)
    if k == 0:
        q = t.pick("half of {x}", "What is half of {x}?", "what's the half of {x}?", "how much is half of {x}", "{x} halved", "Half of {x} please", "divide {x} in two halves, how much is one?")
        return [(q.format(x=2 * n), Answer(f"Half of {2 * n} is {n}.", str(n)))]
    if k == 1:
        q = t.pick("double {x}", "What is double {x}?", "the double of {x}?", "how much is twice {x}", "twice {x}?", "What is two times {x}?", "double of {x}", "{x} doubled")
        return [(q.format(x=n), Answer(f"Double {n} is {2 * n}.", str(2 * n)))]
    n = t.rng.randint(1, 10)
    q = t.pick("triple {x}", "What is three times {x}?", "the triple of {x}?", "thrice {x}?")
    return [(q.format(x=n), Answer(f"Three times {n} is {3 * n}.", str(3 * n)))]


def between(t):
    x = t.rng.randint(0, 98)
    gap = t.pick(2, 2, 3, 4, 10, 20)
    y = x + gap
    if gap == 2:
        q = t.pick("Which number is between {x} and {y}?", "what number lies between {x} and {y}", "the number between {x} and {y}?", "What comes between {x} and {y}?", "{x}, ?, {y}: which number is missing?")
        return [(q.format(x=x, y=y), Answer(f"{x + 1} is between {x} and {y}.", str(x + 1)))]
    z = t.rng.randint(x + 1, y - 1)
    q = t.pick("Give me a number between {x} and {y}.", "name a number between {x} and {y}", "a number between {x} and {y}?", "say any number between {x} and {y}", "Tell me one number that lies between {x} and {y}.")
    return [(q.format(x=x, y=y), Answer(f"{z} is between {x} and {y}.", str(z)))]


def rounded(t):
    x = t.rng.randint(1, 99)
    if x % 10 == 0 or t.chance(0.3):
        x = t.rng.randint(1, 9) * 10 + t.pick(1, 2, 3, 4, 6, 7, 8, 9)
    r = (x + 5) // 10 * 10
    q = t.pick("Round {x} to the nearest ten.", "round {x}", "{x} rounded to tens", "round {x} to the next ten", "What is {x} rounded to the nearest ten?", "please round {x} to a full ten", "Round the number {x} to tens.")
    return [(q.format(x=x), Answer(f"{x} rounded to the nearest ten is {r}.", str(r)))]


def words(t):
    n = t.rng.randint(13, 99) if t.chance(0.85) else t.rng.randint(0, 12)
    w = in_words(n)
    if t.chance(0.55):
        q = t.pick("Write {n} in words.", "{n} in words", "{n} as a word", "How do you write {n} in words?", "spell the number {n} in words", "What is {n} in words?", "write the number {n} with letters", "in words please: {n}", "how do I write {n} on a cheque")
        return [(q.format(n=n), Answer(f"{n} in words is {w}.", w))]
    q = t.pick("{w} as digits", "Write {w} in digits.", "{w} in numbers", "how do you write {w} as a number?", "write {w} with digits", "{w} in figures", "Put {w} into digits.", "the number {w}, in digits please", "turn {w} into a number")
    q = q.format(w=w.replace("-", " ") if t.chance(0.25) else w)
    return [(q, Answer(f"{first_up(w)} in digits is {n}.", str(n)))]


def neighbour(t):
    n = t.rng.randint(1, 110)
    if t.chance(0.5):
        q = t.pick("next number after {n}", "what is the next number after {n}?", "which number follows {n}", "which number is one more than {n}?", "the number after {n} please", "I am at {n}, what is next?", "and after {n} comes?")
        return [(q.format(n=n), Answer(f"After {n} comes {n + 1}.", str(n + 1)))]
    q = t.pick("previous number to {n}", "which number is before {n}?", "the number before {n} please", "which number is one less than {n}?", "what comes just before {n}", "What number is right in front of {n}?", "before {n} comes?")
    return [(q.format(n=n), Answer(f"Before {n} comes {n - 1}.", str(n - 1)))]


def count(t):
    text = lambda row: Answer(", ".join(map(str, row)) + ".", kind="text", key=("count", str(row)))
    k = t.rng.randrange(4)
    if k == 0:
        s = t.rng.randint(1, 40)
        e = s + t.rng.randint(3, 8)
        q = t.pick("count from {s} to {e}", "count {s} to {e}", "Count from {s} up to {e}, please.", "can you count from {s} to {e}?", "the numbers from {s} to {e}", "all numbers from {s} to {e} please", "say the numbers {s} to {e}")
        return [(q.format(s=s, e=e), text(range(s, e + 1)))]
    if k == 1:
        s = t.rng.randint(3, 12)
        q = t.pick("count down from {s}", "Count down from {s}, please.", "countdown from {s}", "count backwards starting with {s}", "start at {s} and count backwards", "go down from {s} to 1", "{s} and then down to one")
        return [(q.format(s=s), text(range(s, 0, -1)))]
    if k == 2:
        e, odd = t.rng.randint(6, 20), t.chance(0.5)
        q = t.pick("the {k} numbers up to {e}", "all {k} numbers up to {e}", "which are the {k} numbers up to {e}?", "list the {k} numbers from 1 to {e}", "What are the {k} numbers up to {e}?", "give me the {k} numbers to {e}")
        return [(q.format(k="odd" if odd else "even", e=e), text(range(1 if odd else 2, e + 1, 2)))]
    d = t.pick(2, 3, 5, 10)
    n = t.rng.randint(3, 7)
    q = t.pick("the first {n} numbers of the {d} times table", "first {n} multiples of {d}", "count in {d}s, {n} numbers", "Start at {d} and go up in steps of {d}, {n} numbers.")
    return [(q.format(n=NUMBER[n], d=d), text(range(d, d * n + 1, d)))]


UNIT = [("minutes", "hour", "hours", 60), ("seconds", "minute", "minutes", 60), ("hours", "day", "days", 24), ("days", "week", "weeks", 7), ("months", "year", "years", 12), ("centimetres", "metre", "metres", 100),
        ("metres", "kilometre", "kilometres", 1000), ("grams", "kilogram", "kilograms", 1000), ("eggs", "dozen", "dozen", 12), ("years", "century", "centuries", 100), ("cents", "euro", "euros", 100), ("cents", "dollar", "dollars", 100)]


def units(t):
    of, one, more, n = t.rng.choice(UNIT)
    k = t.rng.randint(1, 6)
    if t.chance(0.15) and n == 60:
        q = t.pick("How many {of} are half {a}?", "half {a} in {of}?", "how many {of} has half {a}").format(of=of, a=a(one) if one != "hour" else "an hour")
        return [(q, Answer(f"Half {a(one)} is 30 {of}.", "30"))]
    what = f"one {one}" if k == 1 else f"{t.pick(str(k), NUMBER[k])} {more}"
    q = t.pick("how many {of} are {w}", "How many {of} are in {w}?", "{w}, how many {of} is that?", "{w} in {of}", "How many {of} do I have in {w}?", "tell me how many {of} {w} are").format(of=of, w=what)
    return [(q, Answer(f"{'One ' + one + ' is' if k == 1 else str(k) + ' ' + more + ' are'} {n * k} {of}.", str(n * k)))]


def percent(t):
    p = t.pick(10, 10, 20, 25, 50, 50, 50, 100, 1, 5)
    n = t.pick(10, 20, 30, 40, 50, 60, 80, 90, 100, 100, 120, 200, 300, 400, 500, 1000)
    if p * n % 100:
        return percent(t)
    q = t.pick("{p}% of {n}", "What is {p} percent of {n}?", "how much is {p}% of {n}?", "{p} percent of {n}", "calculate {p}% of {n}", "What's {p}% of {n}?").format(p=p, n=n)
    return [(q, Answer(f"{p} percent of {n} is {p * n // 100}.", str(p * n // 100)))]


def tens_ones(t):
    x, y = t.rng.randint(2, 9), t.rng.randint(2, 9)
    n = 10 * x + y
    if t.chance(0.6):
        q = t.pick("{x} tens and {y} ones", "What number is {x} tens and {y} ones?", "{x} tens plus {y} ones?", "which number has {x} tens and {y} ones", "{y} ones and {x} tens make which number?")
        return [(q.format(x=x, y=y), Answer(f"{x} tens and {y} ones are {n}.", str(n)))]
    q = t.pick("How many tens and ones has {n}?", "tens and ones of {n}", "split {n} into tens and ones", "{n} has how many tens and how many ones?", "What are the tens and ones in {n}?")
    return [(q.format(n=n), Answer(f"{n} has {x} tens and {y} ones."))]


def change(t):
    while True:
        pay = t.pick(5, 10, 10, 20, 20, 50, 100)
        cost = t.rng.randint(2, pay - 1)
        if not (pay > 10 and only_held_out(pay, "-", cost)) or t.held:
            break
    coin, what = t.pick("euros", "dollars", "pounds"), t.pick("a book", "a cake", "a pizza", "the bread", "my lunch", "a ball", "a ticket", "flowers", "a cap", "the fruit")
    if t.chance(0.15):
        pay, cost = t.pick((20, "13.50"), (10, "4.50"), (5, "2.50"), (10, "7.50"), (20, "18.50"), (20, "15.50"), (5, "3.50"), (10, "9.50"))
        r = f"{pay - float(cost):.2f}"
    else:
        r = str(pay - cost)
    q = t.pick("I pay {p} for {c}. How much change do I get?", "{w} costs {c} {m}, I pay with {p}. How much do I get back?", "I pay {p} {m} for {w} that costs {c}. What is my change?", "change from {p} if it costs {c}?", "It costs {c} {m} and I give {p} {m}. How much back?",
               "how much change from {p} {m} for something that costs {c}", "I have {p} {m} and spend {c}. How much is left?").format(p=pay, c=cost, w=what, m=coin)
    q = re.sub(r"^flowers costs", "a bunch of flowers costs", q).replace("flowers that costs", "flowers that cost")
    verb = "have" if "left" in q else "get"
    more = ("" if coin not in q else " " + (coin if r != "1" else coin[:-1]))
    return [(first_up(q), Answer(f"{pay} - {cost} = {r}, so you {verb} {r}{more} {'left' if verb == 'have' else 'back'}.", r))]


def numbers(t):
    return t.rng.choice([extreme, extreme, extreme, middle, sort_few, sort_few, two, two, odd_even, half_double, half_double, between, rounded, words, words, neighbour, count, count, units, percent, tens_ones, change])(t)


# ---- ideas

IDEAS = table("""
a rainy Sunday: play a board game, bake a cake, read a book, build a fort of blankets, watch a film, paint a picture, do a puzzle, cook soup together, write a letter, sort old photos
a sunny afternoon: go for a walk, eat an ice cream, ride a bike, have a picnic, swim in the lake, play football, read under a tree, water the garden, fly a kite, visit the zoo
a picnic: bring sandwiches, pack some fruit, take a big blanket, bring lemonade, bake small cakes, pack cheese and bread, play ball, bring cut carrots, take a card game, make a potato salad
a birthday of a six-year-old: a treasure hunt in the garden, a cake with six candles, a balloon game, a puppet show, face painting, musical chairs, a sack race, a pizza to decorate, a magic show, a trip to the zoo
a birthday party: dance to music, bake a chocolate cake, hang up balloons, play a quiz, sing together, make a photo wall, light candles, play charades, serve fruit punch, have a barbecue
a quiet evening: read a novel, take a warm bath, listen to music, drink a cup of tea, write in a diary, knit a scarf, call an old friend, draw by candlelight, go to bed early, solve a crossword
a weekend with grandparents: bake cookies, look at old photos, play cards, walk in the park, plant flowers, cook a favourite meal, tell old stories, feed the ducks, visit a museum, do a big puzzle
a day at the lake: swim to the buoy, rent a boat, feed the ducks, build a sandcastle, skip stones, have a picnic, read in the shade, play volleyball, catch small fish, take photos
a snowy day: build a snowman, go sledging, have a snowball fight, drink hot chocolate, feed the birds, skate on the ice, bake cookies, make a snow angel, take a walk in the snow, read by the fire
a school break: play catch, jump rope, eat an apple, talk with friends, play hopscotch, walk around the yard, throw a ball, play hide and seek, draw with chalk, drink some water
a long train ride: read a book, listen to music, look out of the window, solve a crossword, play cards, write a postcard, take a nap, draw the landscape, eat a sandwich, talk to a friend
a long car ride: sing songs, count red cars, play a guessing game, listen to a story, take a nap, look for animals, tell jokes, eat some fruit, play I spy, make up rhymes
a hobby: painting, swimming, gardening, playing chess, baking, knitting, hiking, singing in a choir, taking photos, learning the guitar
a healthy breakfast: porridge with apple, yoghurt with berries, wholegrain bread with cheese, a boiled egg, a banana with nuts, muesli with milk, a fruit salad, toast with tomato, an omelette, cottage cheese with cucumber
a quick lunch: a cheese sandwich, tomato soup, a green salad, pasta with butter, an omelette, a tuna wrap, fried rice, a baked potato, beans on toast, noodles with vegetables
a simple dinner: pasta with tomato sauce, vegetable soup, fried eggs with potatoes, rice with beans, pizza, a big salad, fish with potatoes, pancakes, noodles with cheese, chicken with rice
a dessert: ice cream, apple pie, chocolate pudding, a fruit salad, pancakes with jam, yoghurt with honey, a piece of cake, rice pudding, baked apples, strawberries with cream
a school lunch box: a cheese sandwich, carrot sticks, an apple, a boiled egg, some grapes, crackers, a small yoghurt, nuts, cucumber slices, a banana
a first date: go for a walk, have coffee together, visit a museum, eat ice cream, go to the cinema, cook together, look at the stars, play minigolf, go to a concert, visit a market
saving money: cook at home, write down what you spend, take the bike, buy less, compare prices, turn off the lights, borrow books, sell old things, drink tap water, make a shopping list
falling asleep: read a little, drink warm milk, turn off the phone, open the window, breathe slowly, take a warm bath, count sheep, listen to calm music, go to bed early, keep the room dark
learning words: write them on cards, say them aloud, draw pictures, use them in sentences, learn five a day, ask a friend to test you, sing them, repeat them in the evening, stick notes on the door, make a story of them
a tidy room: put away the clothes, make the bed, sort the books, empty the bin, wipe the desk, use boxes for toys, open the window, give away old things, vacuum the floor, hang up the coat
a garden: plant roses, grow tomatoes, build a small pond, put up a bench, sow sunflowers, hang up a bird house, plant an apple tree, make a herb bed, lay a stone path, hang up a hammock
a school project: the planets, bees, volcanoes, the water cycle, trees in the park, old toys, the weather, bread, recycling, birds in the garden
a costume party: a pirate, a ghost, a cat, a clown, a robot, a witch, a cowboy, a bee, a king, an astronaut
a drawing: a house by the sea, a cat on a chair, a tree in autumn, a boat, a bowl of fruit, a dragon, a rainbow, your best friend, a castle, a train on a bridge
a trip with children: visit the zoo, go to a playground, swim in a pool, ride a small train, feed the goats on a farm, hike to a castle, go to a museum, take a boat, fly kites, pick strawberries
getting fit: take the stairs, walk every day, ride a bike, swim once a week, stretch in the morning, dance at home, jump rope, play tennis, do push-ups, join a sports club
a thank-you: write a card, bake a cake, bring flowers, invite them to dinner, make a phone call, give chocolate, draw a picture, help in the garden, lend a good book, sing a song
""")
GIFTS = table("""
a grandfather: a warm scarf, a book, a framed family photo, a garden tool, a box of chocolates, a good tea, slippers, a calendar with family photos, a puzzle, a cosy blanket
a grandmother: flowers, a photo album, a soft shawl, a box of tea, a potted plant, a book, a cake, a warm blanket, a framed picture, a nice cup
my mother: flowers, a silk scarf, a photo album, a book, a dinner together, a candle, a box of chocolates, a plant, a necklace, a day at the spa
my father: a book, a belt, a good coffee, a tool set, a photo in a frame, a warm sweater, a board game, a barbecue apron, a bottle of olive oil, tickets for a match
a little boy: a ball, a toy train, building blocks, a picture book, a puzzle, a kite, crayons, a toy car, a drum, a teddy bear
a little girl: a doll, a kite, crayons, a picture book, building blocks, a puzzle, a skipping rope, a teddy bear, a toy train, a ball
a teacher: a card, flowers, a good pen, a box of chocolates, a plant, a mug, a book, tea, a notebook, homemade cookies
my best friend: a photo of you both, a book, a bracelet, a mug, tickets for a concert, a candle, a game, chocolate, a notebook, a plant
a neighbour: a jar of jam, flowers, a cake, a bottle of juice, a card, a plant, fresh bread, a candle, a box of tea, homemade cookies
a colleague: a mug, a plant, a notebook, chocolate, a card, a good pen, coffee, a calendar, a candle, a book
someone who likes cooking: a cookbook, an apron, a good knife, spices, a wooden spoon, a pan, olive oil, a herb pot, a cutting board, a set of bowls
someone who likes gardening: flower seeds, a watering can, garden gloves, a small tree, a plant pot, a spade, a bird house, a garden book, herbs, a straw hat
""")
PACK = table("""
the beach: a towel, sunscreen, a swimsuit, sunglasses, a hat, water, a ball, a book, an umbrella, sandals
the mountains: hiking boots, a warm jacket, a map, water, snacks, a rain coat, a hat, sunscreen, a first aid kit, a backpack
camping: a tent, a sleeping bag, a torch, matches, a pan, water, warm socks, a pocket knife, insect spray, a camping stove
the swimming pool: a swimsuit, a towel, goggles, flip-flops, shampoo, a comb, a bathing cap, water, a snack, a bag for wet things
a hospital stay: pyjamas, slippers, a toothbrush, a phone charger, a book, your insurance card, clean underwear, glasses, a bathrobe, your medicine list
a school trip: a lunch box, a water bottle, a rain jacket, good shoes, some pocket money, a pencil, a small backpack, a notebook, tissues, a hat
a weekend in the city: comfortable shoes, a phone charger, a toothbrush, a jacket, a map, an umbrella, clean clothes, your wallet, a camera, a small bag
a flight: your passport, the ticket, a book, headphones, a sweater, a toothbrush, a phone charger, snacks, a neck pillow, your wallet
skiing: skis, warm gloves, a helmet, goggles, ski boots, a warm jacket, thick socks, sunscreen, a scarf, a hat
a picnic: a blanket, sandwiches, fruit, lemonade, cups, napkins, a knife, plates, a ball, insect spray
a rainy walk: an umbrella, a rain coat, rubber boots, a warm sweater, a hat, dry socks, tissues, a thermos of tea, a scarf, a waterproof bag
a sleepover: pyjamas, a toothbrush, a sleeping bag, a pillow, a teddy bear, a game, clean clothes, slippers, a torch, snacks
""")
FIND = table("""
a kitchen: a stove, a fridge, a pot, a spoon, a knife, a plate, a sink, a kettle, a pan, a toaster
a garage: a car, a bicycle, a toolbox, a ladder, a spare tyre, a bucket, a broom, a hammer, a lawn mower, a shelf
an office: a desk, a computer, a chair, a printer, a pen, a telephone, a lamp, paper, a stapler, a calendar
a farm: a cow, a barn, a tractor, a pig, hay, a hen, a fence, a horse, a field, a sheep
a zoo: a lion, an elephant, a monkey, a giraffe, a penguin, a zebra, a tiger, a bear, a camel, a parrot
a bathroom: a sink, a towel, a mirror, soap, a toothbrush, a bathtub, a shower, toilet paper, shampoo, a comb
a bedroom: a bed, a pillow, a blanket, a lamp, a wardrobe, an alarm clock, a rug, a mirror, a curtain, a chair
a living room: a sofa, a television, a lamp, a carpet, a bookshelf, a table, a cushion, a plant, a picture, an armchair
a classroom: a blackboard, a desk, a chair, chalk, a map, books, a clock, pencils, a teacher, a sponge
a library: books, shelves, a reading desk, newspapers, a lamp, a librarian, maps, a chair, a computer, magazines
a forest: trees, moss, mushrooms, a deer, leaves, a fox, berries, a stream, an owl, ants
a park: a bench, trees, flowers, a pond, ducks, a path, a playground, grass, a fountain, dogs
a supermarket: bread, milk, fruit, a shopping cart, a cash desk, cheese, vegetables, eggs, rice, shelves
a toolbox: a hammer, a screwdriver, nails, pliers, a saw, screws, a ruler, a drill, tape, a wrench
a school bag: books, a pencil case, a lunch box, a notebook, a ruler, a water bottle, crayons, an eraser, a calculator, keys
a train station: trains, tracks, a platform, a clock, a ticket machine, a bench, suitcases, a kiosk, travellers, signs
a harbour: ships, a crane, ropes, a lighthouse, seagulls, an anchor, fishing nets, containers, boats, sailors
a hospital: doctors, nurses, beds, medicine, bandages, a wheelchair, an ambulance, X-ray machines, patients, a waiting room
a bakery: bread, rolls, an oven, flour, cakes, cookies, a baker, pies, a counter, croissants
a handbag: keys, a wallet, tissues, a phone, a comb, a pen, glasses, a lipstick, chewing gum, a small mirror
""")
NAMES_FOR = table("""
a cat: Mimi, Tiger, Luna, Felix, Snowy, Pepper, Cleo, Simba, Misty, Ginger
a dog: Rex, Bella, Buddy, Rocky, Luna, Max, Daisy, Charlie, Bruno, Lucky
a boat: Sea Star, Blue Wave, Lady Wind, Seagull, Silver Fish, Sunny Day, Little Whale, North Star, Happy Anna, Dolphin
a band: The Loud Mice, Blue Lanterns, Midnight Tea, The Paper Kites, Red Umbrella, Green Thunder, The Silent Drums, Sunday Noise, The Lost Keys, Electric Cows
a bakery: The Golden Roll, Sweet Crumbs, Warm Bread, The Little Oven, Sugar and Flour, Morning Bun, The Happy Loaf, Daily Crust, Honey Cake House, The Busy Baker
a hamster: Nibbles, Cookie, Peanut, Fluffy, Momo, Biscuit, Speedy, Hazel, Button, Pip
a horse: Star, Thunder, Daisy, Storm, Amber, Shadow, Lucky, Silver, Bella, Wind
a robot: Beep, Robo, Tin Tin, Sparky, Bolt, Chip, Gizmo, Zed, Rusty, Max
a goldfish: Bubbles, Goldie, Flash, Sunny, Nemo, Splash, Fin, Coral, Orange, Pearl
a parrot: Coco, Polly, Rio, Kiwi, Captain, Loro, Mango, Sky, Charlie, Echo
a café: The Blue Cup, Corner Coffee, Bean and Cake, The Quiet Table, Sunny Side, Morning Light, The Little Spoon, Warm Milk, Coffee Garden, The Green Chair
a football team: The Red Lions, Blue Eagles, The Fast Foxes, Green Tigers, The Flying Boots, Golden Bears, The Silver Wolves, Black Panthers, The Storm, White Sharks
a teddy bear: Teddy, Bruno, Brownie, Cuddles, Honey, Barney, Muffin, Mr. Bear, Cosy, Benny
a spaceship: Star Runner, Moon Arrow, Comet, Silver Star, Sky Whale, Galaxy One, Night Bird, Rocket Rose, Far Light, Sun Chaser
a flower shop: The Red Rose, Petals, Bloom, Green Corner, The Happy Tulip, Sunflower House, Daisy Days, Wild Roses, The Flower Box, Leaf and Lily
a choir: The Singing Friends, Silver Voices, High Notes, Sunday Choir, The Larks, Open Hearts, The Humming Bees, River Voices, Golden Tones, The Merry Singers
a bookshop: The Open Page, Book Corner, Paper Moon, The Reading Owl, Story House, The Quiet Chapter, Pages, The Book Mouse, Word Garden, The Old Shelf
a hotel: Sea View, The Golden Lion, Hotel Sunrise, The Green Valley, Park House, The Old Mill, Harbour Inn, Hotel Star, The White Swan, Mountain Rest
""")
BASE = "rice pasta potatoes noodles bread couscous".split()
WITH = "tomatoes carrots onions eggs cheese beans peas spinach mushrooms chicken fish peppers corn leek".split()
DISHES = ["{b} with {w}", "{w} soup with {b}", "a salad of {b} and {w}", "{b} baked with {w}", "fried {b} and {w}", "a casserole of {b} and {w}"]


def dinner(t, n):
    b, w = t.rng.choice(BASE), t.rng.choice(WITH)
    one = {"tomatoes": "tomato", "carrots": "carrot", "onions": "onion", "eggs": "egg", "beans": "bean", "peas": "pea", "mushrooms": "mushroom", "peppers": "pepper"}.get(w, w)
    dishes = [d.format(b=b, w=one if "soup" in d else w) for d in DISHES if not (b == "bread" and "fried" in d)]
    q = t.pick("{n} ideas for dinner with {b} and {w}", "I have {b} and {w}. Give me {n} ideas for dinner.", "What can I cook with {b} and {w}? {N} ideas, please.", "{n} dishes with {b} and {w}", "dinner ideas with {b} and {w}, {n} please").format(n=NUMBER[n], N=first_up(NUMBER[n]), b=b, w=w)
    return q, t.rng.sample(dishes, min(n, len(dishes)))


KINDS = [  # (themes, asks for several, asks for one)
    (IDEAS, ["{n} ideas for {x}", "Give me {n} ideas for {x}.", "I need {n} ideas for {x}.", "can you give me {n} ideas for {x}?", "{n} tips for {x} please", "Think of {n} ideas for {x}.", "Suggest {n} things for {x}.", "what are {n} good ideas for {x}", "help me: {n} ideas for {x}"],
     ["one idea for {x}", "Give me an idea for {x}.", "an idea for {x}?", "just one idea for {x} please", "Any idea for {x}?", "Suggest something for {x}."]),
    (GIFTS, ["{n} gifts for {x}", "Give me {n} gift ideas for {x}.", "{n} ideas for a gift for {x}", "I need {n} present ideas for {x}.", "what could I give {x}? {n} ideas", "{n} presents for {x} please"],
     ["a gift for {x}", "What can I give {x}?", "A present for {x}?", "I need one gift idea for {x}.", "what would be a good gift for {x}", "an idea for a gift for {x}"]),
    (PACK, ["{n} things to pack for {x}", "Name {n} things to pack for {x}.", "What should I pack for {x}? {n} things.", "{n} things I need for {x}", "tell me {n} things to take along for {x}", "packing list for {x}, {n} things", "a packing list with {n} things for {x}"], ["one thing to pack for {x}", "Name one thing I should pack for {x}."]),
    (FIND, ["{n} things you find in {x}", "Name {n} things in {x}.", "{n} things from {x}", "What can you find in {x}? Name {n}.", "tell me {n} things that are in {x}", "what are {n} things you see in {x}?", "give me {n} things one finds in {x}"], ["one thing in {x}", "Name one thing you find in {x}.", "name something that is in {x}"]),
    (NAMES_FOR, ["{n} names for {x}", "Give me {n} names for {x}.", "I need {n} names for {x}.", "suggest {n} names for {x}", "{n} name ideas for {x} please", "think of {n} names for {x}", "What are {n} good names for {x}?"],
     ["a name for {x}", "Give me a name for {x}.", "What is a good name for {x}?", "suggest a name for {x}", "I need a name for {x}.", "how should I call {x}?", "can you think of a name for {x}?"]),
]


def theme_said(kind, x):
    """At the farm, on ...: places as one says them."""
    return {"a farm": "on a farm", "a zoo": "in a zoo", "a train station": "at a train station"}.get(x, "in " + x) if kind is FIND else x


def ideas(t):
    n = t.rng.randint(2, 5)
    if t.chance(0.1):
        q, pick = dinner(t, n)
        one = None
    else:
        kind, many, one = t.rng.choices(KINDS, [4, 2, 2.5, 2.5, 3])[0]
        x = t.rng.choice(list(kind))
        if t.chance(0.18):
            y = t.rng.choice(kind[x])
            q = t.rng.choice(one).format(x=x)
            return [(place(q, kind, x), Answer(first_up(y) + "."))]
        pick = t.rng.sample(kind[x], n)
        q = place(t.rng.choice(many).format(n=t.pick(NUMBER[n], NUMBER[n], str(n)), x=x), kind, x)
    r = t.rng.random()
    tail = lambda s: (q.rstrip(".?!") + s) if q[-1] in ".?!" else q + s
    if r < 0.22:
        q = tail(t.pick(", numbered", ", as a numbered list", ", with numbers please", " (numbered)", " in a numbered list"))
        return [(q, Answer("\n".join(f"{i + 1}. {first_up(w)}" for i, w in enumerate(pick)), kind="text"))]
    if r < 0.32:
        q = tail(t.pick(", with dashes", ", as bullet points", " in bullet points", ", with a dash before each"))
        return [(q, Answer("\n".join(f"- {first_up(w)}" for w in pick), kind="text"))]
    if r < 0.45:
        q = tail(t.pick(", separated by commas", ", with commas", " with commas between them", ", comma separated"))
        return [(q, Answer(first_up(", ".join(pick)) + ".", kind="text"))]
    out = [(q, Answer(first_up(joined(pick)) + "."))]
    if one and t.chance(0.2):
        rest = [w for w in kind[x] if w not in pick]
        w = t.rng.choice(rest)
        out.append((t.pick("one more", "One more please.", "and another one?", "another?", "Can you add one more?"), Answer(first_up(w) + ".")))
    return out


def place(q, kind, x):
    """"in a farm" as one says it."""
    return q.replace("in " + x, theme_said(kind, x)) if kind is FIND else q


# ---- stories

JOBS = "baker|teacher|painter|pilot|gardener|farmer|sailor|cook|tailor|clown|postman|shoemaker|fisherman|doctor|singer|miller|shepherd|carpenter|bus driver|dentist|magician|potter|librarian|nurse|knight|pirate|king|astronaut".split("|")
BOYJOBS = {"postman", "fisherman", "king"}
MORE_GIRLS, MORE_BOYS = "Lina Mila Greta Ida Frida Marta Nora Emily Lotte Hilda Rosa Julie".split(), "Otto Emil Anton Karl Theo Gustav Arthur Konrad Willi Henrik Paulo Jakob".split()
THINGS = "ring|key|hat|watch|umbrella|book|bell|map|lamp|scarf|drum|basket|whistle|candle|kite|violin|letter|shoe|glove|coin|spoon|cup|ball|lantern|blanket|button|mirror|bag|trumpet|pencil".split("|")
PLACES = "in the forest|in the garden|at the market|in the park|in the old castle|by the lake|at the harbour|in the mountains|on the beach|in the village|at the station|in the museum|on the farm|in the desert|in the big city".split("|")
BEASTS = "dragon|fox|mouse|bear|rabbit|owl|hedgehog|cat|dog|frog|elephant|penguin|robot|ghost|lion|squirrel|duck|turtle|snail|unicorn|monster|crow|pony|giraffe|beaver|goat".split("|")
ADJ = "shy|brave|lazy|old|tiny|curious|grumpy|clumsy|lonely|sleepy|kind|proud|cheeky|young|clever".split("|")
LIKES = {  # what a child likes: what it does with it
    "trains": ("went to the station to watch the trains", "a train stopped, and the driver called", "Come in and ring the bell"), "horses": ("visited the horses on the meadow", "a white horse came to the fence, and the farmer said", "You may ride her"),
    "stars": ("looked at the stars from the window", "a star fell, and grandmother whispered", "Make a wish"), "cats": ("fed the cats in the yard", "a small grey cat came along, and the neighbour said", "She has no home, you may keep her"),
    "cakes": ("looked into the window of the bakery", "the baker opened the door and said", "Come and help me bake one"), "boats": ("went to the harbour to see the boats", "a sailor waved and called", "Jump in, we sail to the island"),
    "birds": ("put out seeds for the birds", "a little robin could not fly, and the doctor said", "It only needs rest and some food"), "dinosaurs": ("went to the museum to see the dinosaurs", "the guard smiled and said", "You may touch this old bone"),
    "music": ("listened to the band in the park", "the drummer was ill, and the singer called", "Who can play the drum for us"), "football": ("played football behind the house", "the team had one player too few, and the trainer called", "Come and play with us"),
    "books": ("sat in the library every afternoon", "the librarian opened a secret door and said", "Here are the oldest stories"), "flowers": ("watered the flowers in the garden", "a flower opened at night, and the gardener said", "It opens only for a true friend"),
    "snow": ("waited at the window for the snow", "it was white outside at last, and the neighbours called", "Let us build a snowman"), "planes": ("watched the planes at the airport", "a pilot came by and said", "Do you want to see the cockpit"),
    "ducks": ("brought bread to the ducks on the pond", "a duckling was lost in the reeds, and the old man said", "Please help it find its mother"), "robots": ("built a robot from tins and wire", "the robot blinked and said", "Hello, shall we play"),
}
WISHES = "a bicycle|a little boat|a drum|a guitar|a kite|a tent|a telescope|a red sledge|a toy train|a rocking horse|a big book of stories|a pair of skates".split("|")
FEARS = "the dark|thunder|dogs|deep water|high bridges|loud noises|spiders|storms|shadows".split("|")
CANS = "dance|sing|swim|whistle|juggle|skate|play the trumpet|ride a bike|paint|fly a kite".split("|")
PETS = "dog|cat|rabbit|hamster|goat|duck|pony".split("|")


def plots(text):
    out = [line.split("/") for line in text.strip().split("\n")]
    assert all(len(p) == 5 and sum(s[0] == "~" for s in p) == 2 for p in out)
    return out


# Each plot has five sentences; the two with a ~ can be left out.
LOSE = plots("""
{N} was {job} who was always cheerful./~Everybody knew {his} songs./One morning {his} {thing} was gone./~{He} looked under the bed and in every pocket./In the end a small bird had it in its nest, and {n} laughed and thanked the bird.
Once there was {job} called {n}./~{His} {thing} was very dear to {him}./One day {he} lost the {thing} {at}./~{He} was sad and asked everybody about it./A child had found it and gave it back, and {n} invited the child to supper.
{N}, {job}, had a beautiful {thing}./~{He} took it everywhere./But one day {he} lost it {at} and did not notice./~In the evening {he} cried a little./The next day a neighbour brought it back, and {n} danced with joy.
There was {job} named {n}./~Everybody liked {him}./One windy day {he} could not find {his} {thing}./~{He} went back {at} and searched until it was dark./Then the dog barked under the table: there it was, and {n} gave the dog a sausage.
{N} worked as {job}./~{He} got up early every day./On Monday {his} {thing} was nowhere to be found./~{His} friends searched with {him} all day./At last it turned up in the flour jar, and they all laughed until they cried.
{N} the {jobname} lost {his} {thing} on the way to work./~It was a gift from {his} grandmother./Without it {he} could not be happy./~{He} put up a note at the market./An old man had picked it up, and he brought it back the same evening.
In a little house lived {n}, {job}./~A black cat lived there too./One day the {thing} disappeared, and {n} looked for it everywhere./~Even the mayor helped./The cat had been sleeping on it all the time, and {n} had to laugh.
""")
LOST2 = plots("""
{n} and {m} were best friends./~They took bread and a red apple with them./{At} they lost their way, and it got dark./~They held hands and sang to be brave./Then they saw a light: it was the lamp of {m}'s father, who took them home.
One day two friends, {n} and {m}, went out to play./~The sun was shining./They followed a butterfly, and suddenly they were lost {at}./~They sat down and did not know what to do./Then they heard the church bell, walked towards it, and were home for supper.
{n} and {m} wanted to have an adventure./~They packed a rope and a lamp./They got lost {at}, and everything looked the same./~Both of them were a little afraid./Then an owl showed them the way home, and they promised to bring a map next time.
Two friends called {n} and {m} did everything together./~They even had the same hat./One afternoon they lost their way {at}, and {m} began to cry./~{n} gave {m} a piece of chocolate./They waited together until a kind woman found them and took them home.
{n} and {m} went for a long walk./~They talked and laughed the whole time./Suddenly they noticed that they were lost {at}./~It even began to rain./But {n} had dropped nuts on the way, and so they found the way back.
{n} and {m} were lost {at}./~They had walked for hours./Their feet hurt, and they were hungry./~Then {m} looked down./Small tracks on the ground led them to a friendly shepherd, who gave them soup and took them home.
""")
BEAST2 = plots("""
There was once {aadj} {beast}./~{He} lived alone {at}./One evening {he} found {thing}, but it was dusty and dull./~The {beast} cleaned it all night./In the morning it was like new, and all the neighbours came to admire it.
{Aadj} {beast} had only one treasure: {thing}./~{He} hid it well {at}./One stormy night a stranger knocked and asked for help, and the {beast} was afraid./~But {he} opened the door all the same./They looked at the {bare} together, and since that night they have been friends.
{Aadj} {beast} wanted to make a friend./~{He} did not know how./So {he} took {thing} and sat down {at}, but nobody came./~{He} almost went home./Then a little child asked to see the {bare}, and they talked until the stars came out.
Long ago {aadj} {beast} found {thing} {at}./~It lay there all alone./It belonged to an old woman who missed it./~The {beast} carried it over three hills./She was so glad that she baked a cake for the {beast}.
{Aadj} {beast} could not sleep./~{He} felt alone {at}./Every noise woke {him} up./~The moon was the only friend {he} had./Then {he} put {thing} next to {his} bed, and after that {he} slept well every night.
{Aadj} {beast} had lost {thing}./~{He} had played with it {at}./Now {he} was too sad to eat./~{His} friends looked for it all day./In the evening a mole found it under the leaves, and they had a feast.
{Aadj} {beast} and a mouse both wanted the same {bare}./~They had seen it {at}./They pulled and quarrelled until both were tired./~Then they looked at each other and began to laugh./From that day on they shared it: one day each.
The other animals laughed about {aadj} {beast}, who took {thing} everywhere./~"What is it good for?" they asked./One day a child fell into a hole {at} and called for help./~Nobody knew what to do./The {beast} knocked with the {bare} until people heard it, and the child was saved.
""")
WISH = plots("""
{N} wished for {wish}./~{He} thought of it every day./But {he} had no money at all./~So {he} helped the neighbours and saved every coin./On {his} birthday {he} got {wish} at last, and {he} was the happiest child in the street.
{N} had one big wish: {wish}./~{He} drew it on every sheet of paper./But {his} parents had no money for it./~{His} grandmother saw the pictures and smiled./The next morning {wish} waited at the door, and {n} hugged {his} grandmother.
More than anything {n} wanted {wish}./~{His} friends laughed at that./But {n} did not give up and wrote a letter to {his} uncle./~Weeks went by./Then a big box came, and in it was {wish}.
{N} saw {wish} in a shop window./~{He} went there every day after school./One day the window was empty, and {n} was very sad./~{He} did not even want to eat./At home {his} brother laughed and took a parcel from behind his back: it was {wish}.
{N} dreamed of {wish}./~It was {his} only wish./Nobody had time to listen to {him}./~That made {him} sad./But the old neighbour took out wood and tools, and together they made {wish}.
""")
FEAR = plots("""
{N} was afraid of {fear}./~Nobody knew it./One night {his} little {pet} was lost, and {n} had to look for it in spite of {fear}./~{His} heart beat fast./{He} found the {pet} and carried it home, and from then on {he} was not afraid any more.
{N} did not like {fear} at all./~{He} always hid under the blanket./One day {his} grandfather took {him} by the hand./~He told {him} that he had once been afraid too./They went outside together, and it was not so bad, and in the end {n} laughed.
Everybody knew that {n} feared {fear}./~Some children laughed about it./Then {his} {pet} got lost {at}, and there was no time to be afraid./~{N} ran and ran./{He} found the {pet}, and all the children clapped.
{N} was scared of {fear}./~{His} mother knew that well./One evening {he} had to go home alone, and {he} was afraid./~{He} sang with every step./When {he} came home, {he} noticed that {he} had forgotten to be scared.
{N} told nobody that {he} was afraid of {fear}./~{He} thought that all the others were brave./One day {he} began to cry {at}, and a friend asked why./~{N} told the truth./The friend was afraid of the same thing, and together they were brave.
""")
FIND_IT = plots("""
{N} found {thing} {at}./~It was old and dusty./When {he} touched it, it began to hum softly, and {n} was a little afraid./~{He} took it home all the same./{His} mother said that it brings luck, and the next day {n} found a friend.
One afternoon {n} was playing./~The wind was warm./{He} saw {thing} {at}, but whose was it?/~{N} asked at every house./It belonged to an old sailor, who told {him} a long story for it.
{N} was helping {his} aunt./~{His} hands were quite dirty./Suddenly {he} saw {thing} {at}, but nobody knew where it came from./~{He} cleaned it with {his} sleeve./{N} gave it to the mayor, and the mayor gave {him} a medal.
On a walk {n} found {thing} {at}./~It shone in the sun./But a crow wanted it too and flew away with it./~{N} ran after the crow./In the end {he} gave the crow a cookie and got the {bare} in return.
{N} saw {thing} {at}./~{He} picked it up and looked around./A little boy was crying because he had lost it./~{N} would have liked to keep it./But {he} gave the {bare} back, and the boy became {his} best friend.
{N} found {thing} {at} and took it home./~At night it glowed a little./But {he} heard that an old king was looking for it./~The way to the king was long./{N} brought it to him, and the king let {him} ride home on a white horse.
""")
LIKED = plots("""
{N} liked {like} more than anything./~{He} talked about nothing else./One day {he} {does}, and {then}: "{says}{end}"/~{N} could hardly believe it./That evening {he} fell asleep with a big smile.
There was {child} called {n} who liked {like}./~Nothing made {him} happier./Every Saturday {he} {does}, and one Saturday {then}: "{says}{end}"/~{N} blushed and said yes./{He} jumped for joy and never forgot that day.
{N} loved {like}./~{His} friends knew that./When {he} was sad, {he} {does}, and one morning {then}: "{says}{end}"/~{N} did not have to be asked twice./So a sad week became the best one.
{N} and {like} belonged together./~{His} whole family said so./One rainy day {he} was bored, so {he} {does}, and {then}: "{says}{end}"/~{N} forgot the rain./In the evening {he} told {his} family every little thing.
""")
NEWJOB = plots("""
{N} was {job} with a secret: {he} wanted to {can}./~{He} practised at night./One day everybody found out, and {n} was ashamed./~But nobody laughed./They asked {him} to show it at the summer party, and there {n} was the star.
{N} was {job} who could not {can}./~{He} had tried it often./Every time it went wrong, and {n} was sad./~Then {his} {pet} looked at {him} so kindly that {he} tried once more./At last it worked, and {n} bought {his} little {pet} a treat.
{N} worked as {job}./~The days were long./One night a storm broke the roof of {his} house, and {n} did not know what to do./~{He} sat down on the stairs./Then all the neighbours came with hammers, and by the morning the roof was whole again.
{N} was the best {jobname} in town./~People came from far away./One day {he} made a big mistake, and {he} wanted to give up./~{His} little {pet} sat down next to {him}./The next morning {he} tried again, and it was better than ever.
{N} was {job} and worked from morning to night./~{He} never took a holiday./One day {he} was so tired that {he} fell asleep at work./~{His} friends did the rest for {him}./Since then {n} has always kept Sunday free.
{N} was a young {jobname} and came to a new town./~{He} knew nobody there./For a week nobody spoke to {him}, and {n} wanted to go home./~Then {he} invited the whole street to tea./Everybody came, and from that day on {he} had many friends.
""")
ONE = [
    "{N} lost {his} {bare} {at}, searched all day, and found it in {his} own pocket.", "{N} was afraid of {fear} until a small {pet} sat down next to {him}, and then {he} was not afraid any more.", "{N} sailed away to find {thing} and came home with a friend.",
    "{N} wished for {wish}, worked hard all summer, and got it on the first day of autumn.", "{N} wanted to be alone {at}, but a {pet} followed {him} home and stayed for ever.", "{N} planted a seed {at}, waited a whole year, and then had the tallest sunflower of all.",
]


def who(t):
    g = t.chance(0.5)
    n = t.rng.choice(GIRLS + MORE_GIRLS * 2 if g else BOYS + MORE_BOYS * 2)
    he = "she" if g else "he"
    return n, {"n": n, "N": n, "he": he, "He": first_up(he), "his": "her" if g else "his", "His": "Her" if g else "His", "him": "her" if g else "him", "child": "a girl" if g else "a boy"}


def told(t, plot, n, places):
    """A plot in n sentences."""
    left = t.rng.sample([s for s in plot if s[0] == "~"], 5 - n)
    return " ".join(first_up(s.lstrip("~").format(**places)) for s in plot if s not in left)


OPEN = ["a story about {x}", "Tell me a story about {x}.", "Write a story about {x}.", "can you tell a story about {x}?", "a short story about {x} please", "story about {x}", "Make up a story about {x}.", "I'd like a little story about {x}.", "please write a short story: {x}", "tell a tale about {x}", "Could you tell me a short story about {x}?", "a bedtime story about {x}"]


def story(t):
    n, p = who(t)
    m, q = who(t)
    while m == n:
        m, q = who(t)
    job = t.rng.choice([j for j in JOBS if p["he"] == "he" or j not in BOYJOBS])
    thing, adj, beast, like = t.rng.choice(THINGS), t.rng.choice(ADJ), t.rng.choice(BEASTS), t.rng.choice(list(LIKES))
    at = t.rng.choice(PLACES)
    p |= {"job": a(job), "bare": thing, "jobname": job, "aadj": a(adj), "Aadj": first_up(a(adj)), "thing": a(thing), "at": at, "At": first_up(at), "m": m, "adj": adj, "beast": beast, "wish": t.rng.choice(WISHES), "fear": t.rng.choice(FEARS), "pet": t.rng.choice(PETS), "can": t.rng.choice(CANS), "like": like}
    p["does"], p["then"], p["says"] = LIKES[like]
    p["end"] = "?" if p["says"].startswith(("Who", "Do you")) or p["says"].endswith("we play") else "!"
    size, wish = t.pick(3, 4, 5, 5), ""
    k = t.rng.choices("lose friends beast wish fear find like child job one word".split(), [5, 4, 5, 2, 2, 2.5, 3, 3, 3, 2, 2])[0]
    if k == "lose":
        p["thing"] = thing
        where = t.pick("", "", " " + at)
        x = t.pick(f"{a(job)} called {n} who loses {p['his']} {thing}{where}", f"{n}, {a(job)}, who lost {p['his']} {thing}{where}", f"{a(job)} named {n} and a lost {thing}", f"{n} the {job} and the lost {thing}", f"{a(job)} called {n} who cannot find {p['his']} {thing}")
        if " " + at in where and at not in x:
            where = ""
        plot = t.rng.choice([s for s in LOSE if not where or any("{at}" in x and x[0] != "~" for x in s)])
    elif k == "friends":
        x = t.pick(f"two friends who get lost {at}", f"{n} and {m} who get lost {at}", f"two friends called {n} and {m} who lose their way {at}", f"{n} and {m}, two friends lost {at}")
        plot, size = t.rng.choice(LOST2), t.pick(3, 4, 5)
    elif k == "beast":
        p |= {"he": "it", "He": "It", "his": "its", "His": "Its", "him": "it"}
        x = t.pick(f"{a(adj)} {beast} and {a(thing)}", f"{a(adj)} {beast} with {a(thing)}", f"the {adj} {beast} and the {thing}", f"{a(adj)} {beast}, and put {a(thing)} in it")
        plot = t.rng.choice(BEAST2)
    elif k == "wish":
        x = t.pick(f"{n} who wishes for {p['wish']}", f"{n} and {p['his']} wish for {p['wish']}", f"{p['child']} called {n} who wants {p['wish']}")
        plot = t.rng.choice(WISH)
    elif k == "fear":
        x = t.pick(f"{n} who is afraid of {p['fear']}", f"{p['child']} named {n} who fears {p['fear']}", f"{n} who is scared of {p['fear']}")
        plot = t.rng.choice(FEAR)
    elif k == "find":
        x = t.pick(f"{n} who finds {a(thing)} {at}", f"{p['child']} called {n} who finds {a(thing)} {at}", f"{n} and {a(thing)} found {at}")
        plot = t.rng.choice(FIND_IT)
    elif k == "like":
        x = t.pick(f"{n} who likes {like}", f"{p['child']} called {n} who loves {like}", f"{n} and {p['his']} love of {like}")
        plot = t.rng.choice(LIKED)
    elif k == "child":
        rel = "daughter" if p["he"] == "she" else "son"
        rel = t.pick(rel, rel, "niece" if rel == "daughter" else "nephew", "little " + ("sister" if rel == "daughter" else "brother"), "grand" + rel)
        ask = t.pick(f"a story for my {rel} {n} who likes {like}", f"My {rel} {n} likes {like}. Tell a story for {p['him']}.", f"Tell a story for my {rel} {n}, {p['he']} loves {like}.", f"write a story for {n}, my {rel}, who likes {like}", f"Can you tell my {rel} {n} a story with {like}?")
        ask, size = sized(t, ask, size)
        return [(ask, Answer(told(t, t.rng.choice(LIKED), size, p), kind="text", exact=True))]
    elif k == "job":
        if job in ("king", "pirate", "knight"):
            return story(t)
        plot = t.rng.choice(NEWJOB)
        extra = {0: f" who wants to {p['can']}", 1: f" who cannot {p['can']}"}.get(NEWJOB.index(plot), "")
        x = t.pick(f"{a(job)} called {n}{extra}", f"{n} the {job}{extra}", f"{a(job)} named {n}{extra}")
    elif k == "one":
        i = t.rng.randrange(len(ONE))
        topic = [f" about {n} and a lost {thing}", f" about {n} who is afraid of {p['fear']}", f" about {n} and {a(thing)}", f" about {n} who wishes for {p['wish']}", f" about {n} and a {p['pet']}", f" about {n} and a sunflower"][i]
        ask = t.pick("a one sentence story{x}", "Tell me a story in one sentence{x}.", "one sentence story{x} please", "Write a story of one sentence{x}.", "shortest story you can{x}, one sentence", "a story{x}, in only one sentence").format(x=topic)
        return [(ask, Answer(ONE[i].format(**p), kind="text", exact=True))]
    else:
        ask = t.pick("a story with the word {w}", "Tell me a story with the word {w} in it.", "write a short story, use the word {w}", "short story with the word \"{w}\"", "a story in which the word {w} appears", "tell a story about {n} with the word {w}").format(w=thing, n=n)
        ask, size = sized(t, ask, size)
        plot = t.rng.choice(FIND_IT)
        return [(ask, Answer(told(t, plot, size, p), kind="text", exact=True))]
    if t.chance(0.15):
        wish = t.pick(" End it happily.", " It should end well.", " With a happy end, please.", " Please let it end happily.", " happy end please")
    ask = t.rng.choice(OPEN).format(x=x)
    if wish:
        ask = ask if ask[-1] in ".?" else ask + "."
        return [(ask + wish, Answer(told(t, plot, size, p), kind="text", exact=True))]
    ask, size = sized(t, ask, size)
    return [(ask, Answer(told(t, plot, size, p), kind="text", exact=True))]


def sized(t, ask, size):
    """In a third of the questions the number of sentences is said."""
    if t.chance(0.35):
        w = t.pick(NUMBER[size], str(size))
        ask = ask.rstrip(".?") + t.pick(f", in {w} sentences", f", {w} sentences", f" in {w} sentences", f". {first_up(w)} sentences please.", f" (with {w} sentences)")
    elif t.chance(0.5):
        size = 5 if t.chance(0.5) else 4
    return ask, size


# ---- the form of the answer

ANIMALS = rows("""
dog|a dog|dogs|woof|bones and meat|in a kennel|puppy|puppies
cat|a cat|cats|meow|fish and mice|in a house|kitten|kittens
cow|a cow|cows|moo|grass and hay|in a barn|calf|calves
sheep|a sheep|sheep|baa|grass|in a fold|lamb|lambs
duck|a duck|ducks|quack|seeds and water plants|on a pond|duckling|ducklings
pig|a pig|pigs|oink|corn and vegetables|in a sty|piglet|piglets
horse|a horse|horses|neigh|hay and oats|in a stable|foal|foals
hen|a hen|hens|cluck|corn and seeds|in a coop|chick|chicks
frog|a frog|frogs|ribbit|flies and other insects|in a pond|tadpole|tadpoles
lion|a lion|lions|roar|meat|in Africa|cub|cubs
owl|an owl|owls|hoot|mice|in hollow trees|owlet|owlets
goat|a goat|goats|bleat|grass and leaves|in a shed|kid|kids
bee|a bee|bees|buzz|nectar and pollen|in a hive|larva|larvae
snake|a snake|snakes|hiss|mice and eggs|in holes and under stones|hatchling|hatchlings
bear|a bear|bears|growl|berries, fish and honey|in a den|cub|cubs
goose|a goose|geese|honk|grass|on a farm or a lake|gosling|goslings
wolf|a wolf|wolves|howl|meat|in a den|pup|pups
mouse|a mouse|mice|squeak|seeds and cheese|in a hole|pup|pups
elephant|an elephant|elephants|trumpet|grass, leaves and fruit|in Africa and Asia|calf|calves
monkey|a monkey|monkeys|chatter|fruit and leaves|in trees|infant|infants
rooster|a rooster|roosters|cock-a-doodle-doo|corn and seeds|on a farm|chick|chicks
""")
VOICES = [r for r in ANIMALS if r[0] not in ("elephant", "monkey")]  # one says of them what they say
EATERS = rows("""
rabbit|a rabbit|rabbits|grass and carrots|in a burrow
squirrel|a squirrel|squirrels|nuts|in trees
panda|a panda|pandas|bamboo|in China
koala|a koala|koalas|eucalyptus leaves|in Australia
kangaroo|a kangaroo|kangaroos|grass|in Australia
penguin|a penguin|penguins|fish|in the cold south
giraffe|a giraffe|giraffes|leaves|in Africa
zebra|a zebra|zebras|grass|in Africa
shark|a shark|sharks|fish|in the sea
spider|a spider|spiders|insects|in a web
hedgehog|a hedgehog|hedgehogs|insects and worms|in hedges and gardens
fox|a fox|foxes|mice and rabbits|in a den
deer|a deer|deer|grass and leaves|in the forest
camel|a camel|camels|dry grass and thorny plants|in the desert
polar bear|a polar bear|polar bears|seals|in the Arctic
beaver|a beaver|beavers|bark and twigs|in a lodge
whale|a whale|whales|small sea animals and fish|in the sea
hippo|a hippo|hippos|grass|in African rivers and lakes
hamster|a hamster|hamsters|seeds and grains|in a burrow or a cage
ant|an ant|ants|seeds, insects and sweet things|in an anthill
""")
GIVES = rows("""
a cow|milk
a hen|eggs
a bee|honey
a sheep|wool
a goat|milk
a silkworm|silk
a goose|feathers and eggs
an apple tree|apples
a duck|eggs and feathers
a pine|wood and cones
an oak|acorns
a vine|grapes
""")
MIX = rows("""
red|yellow|orange
blue|yellow|green
red|blue|purple
red|white|pink
black|white|grey
red|green|brown
""")
OPP = {k: v for k, v in OPPOSITE.items() if k in "hot cold big small tall short long fast slow old young new happy sad wet dry full empty day night up down left right rich poor loud quiet open closed strong weak early late hard soft light dark good bad high low inside outside near far thick thin wide narrow clean dirty heavy easy difficult cheap expensive awake asleep first last always never before after true false yes no".split()}


def simple(t):
    """(question, full answer, the answer in a word) of something that everybody knows."""
    k = t.rng.randrange(10)
    if k == 0:
        c = t.rng.choice(FAMOUS)
        return t.pick("capital of {}", "What is the capital of {}?", "the capital of {}?").format(c), f"The capital of {c} is {CAPITAL[c]}.", CAPITAL[c]
    if k in (1, 2):
        x = t.rng.choice(list(OPP))
        return t.pick("opposite of {}", "What is the opposite of {}?", "the opposite of {}?").format(x), f"The opposite of {x} is {OPP[x]}.", OPP[x]
    if k in (3, 4):
        x, y = t.rng.randint(1, 10), t.rng.randint(1, 10)
        if t.chance(0.3):
            return t.pick(f"{x + y} - {y}", f"What is {x + y} minus {y}?"), f"{x + y} - {y} = {x}.", str(x)
        return t.pick(f"{x} + {y}", f"What is {x} plus {y}?", f"how much is {x} and {y}"), f"{x} + {y} = {x + y}.", str(x + y)
    if k == 5:
        x, c = t.rng.choice(list(SKIN.items()))
        return t.pick("colour of {}", "What colour is {}?", "which color has {}").format(x), f"{first_up(x)} is {c}.", c
    if k == 6:
        r = t.rng.choice(VOICES)
        if t.chance(0.5):
            return t.pick("sound of {}", "What does {} say?", "what sound makes {}").format(r[1]), f"{first_up(r[1])} says {r[3]}.", r[3]
        return t.pick("What is a baby {} called?", "the baby of {a}?", "young {} is called?").format(r[0], a=r[1]), f"A baby {r[0]} is called {a(r[6])}.", r[6]
    if k == 7:
        i = t.rng.randrange(7)
        if t.chance(0.5):
            return t.pick("day after {}", "Which day comes after {}?").format(DAYS[i]), f"After {DAYS[i]} comes {DAYS[(i + 1) % 7]}.", DAYS[(i + 1) % 7]
        return t.pick("day before {}", "Which day comes before {}?").format(DAYS[i]), f"Before {DAYS[i]} comes {DAYS[i - 1]}.", DAYS[i - 1]
    if k == 8:
        i = t.rng.randrange(12)
        if t.chance(0.5):
            return t.pick("month after {}", "Which month comes after {}?").format(MONTHS[i]), f"After {MONTHS[i]} comes {MONTHS[(i + 1) % 12]}.", MONTHS[(i + 1) % 12]
        return t.pick("month before {}", "Which month comes before {}?", "which month is before {}").format(MONTHS[i]), f"Before {MONTHS[i]} comes {MONTHS[i - 1]}.", MONTHS[i - 1]
    x, y, z = t.rng.choice(MIX)
    return t.pick(f"{x} and {y} mixed", f"What colour do {x} and {y} make?"), f"{first_up(x)} and {y} make {z}.", z


SKIN = {"snow": "white", "grass": "green", "the sky on a sunny day": "blue", "a banana": "yellow", "a ripe tomato": "red", "coal": "black", "blood": "red", "milk": "white", "a lemon": "yellow", "a carrot": "orange", "a frog": "green", "a strawberry": "red", "an elephant": "grey", "a flamingo": "pink", "a raven": "black", "a cucumber": "green", "a swan": "white", "a pumpkin": "orange", "the sun in a picture": "yellow", "a cherry": "red", "salt": "white"}


def short_of(short):
    return short if short.isdigit() else first_up(short) + "."


WORDLY = ["answer in one word only", "one word only", "one word only please", "answer with one word", "in a single word", "just one word", "reply with one word, no more", "no explanation, one word", "only one word as answer"]
NUMBERLY = ["answer with a number only", "number only", "only the number", "just the number", "give only the number", "no words, just the number", "digits only", "no explanation, only the number"]


def put(t, q, wish):
    """The wish before the question or after it."""
    q = q if t.chance(0.7) else q.rstrip("?")
    r = t.rng.random()
    if r < 0.45:
        return f"{first_up(wish) if t.chance(0.5) else wish}: {q}"
    if r < 0.6:
        return f"{first_up(wish)}. {first_up(q)}"
    return f"{q}{' ' if q[-1] == '?' else ', '}{first_up(wish) + '.' if q[-1] == '?' and t.chance(0.5) else wish}"


STARTS = "Ahoy|Well|Listen|Dear friend|Yes, captain|Hello|Oh|My friend|Hooray|Aha|Look|Sir|Beep|Arr|Good day".split("|")
ENDS = "thanks|meow|amen|over|boop|my friend|cheers|captain|hooray|and that is that|sir|peace|bye|goodbye|yours truly".split("|")


def form(t):
    k = t.rng.randrange(14)
    q, full, short = simple(t)
    while (k < 4 and " " in short) or (k == 4 and not short.isdigit()):
        q, full, short = simple(t)
    if k == 4 or (k < 4 and short.isdigit() and t.chance(0.6)):
        return [(put(t, q, t.rng.choice(NUMBERLY)), Answer(short, kind="text", exact=True))]
    if k < 4:
        return [(put(t, q, t.rng.choice(WORDLY)), Answer(short_of(short), kind="text", exact=True))]
    if k in (5, 6):
        q, yes = yes_no(t)
        wish = t.pick("yes or no only", "only yes or no", "answer yes or no", "just yes or no", "yes or no, nothing else", "say only yes or no")
        return [(put(t, q, wish), Answer("Yes." if yes else "No.", kind="text", exact=True))]
    if k == 7:
        while True:
            q, full, short = simple(t)
            if " " not in short:
                break
        wish = t.pick("use exactly three words", "answer in three words", "in exactly three words", "three words only", "reply with three words")
        return [(put(t, q, wish), Answer(f"It is {short}.", kind="text", exact=True))]
    if k == 8:
        wish = t.pick("answer in capitals", "in capital letters", "answer in upper case", "write in all caps", "reply in capitals only", "ALL CAPS please")
        return [(put(t, q, wish), Answer(full.upper(), kind="text", exact=True))]
    if k == 9:
        wish = t.pick("in one sentence", "answer in one sentence", "one sentence only", "one short sentence please", "no explanation", "keep it short", "be brief")
        return [(put(t, q, wish), Answer(full, kind="text", exact=True))]
    if k == 10:
        r = t.rng.choice(ANIMALS)
        s = [f"{first_up(r[2])} eat {r[4]}.", f"{first_up(r[2])} live {r[5]}.", f"{first_up(r[1])} can {r[3]}." if r not in VOICES else f"{first_up(r[1])} says {r[3]}.", f"A young {r[0]} is called {a(r[6])}."]
        ask = t.pick("Tell me about {x} in two short sentences.", "Two short sentences about {x}.", "in two sentences: what do you know about {x}?", "describe {y} in two short sentences", "{x}, two sentences please").format(x=r[2], y=r[1])
        return [(ask, Answer(" ".join(t.rng.sample(s, 2)), kind="text", exact=True))]
    if k in (11, 12):
        ending = k == 11
        w = t.rng.choice(ENDS if ending else STARTS)
        if ending:
            ask = t.pick("End every answer with {w}.", "end your answers with {w}", "Please end each answer with the word {w}." if " " not in w else "Please end each answer with the words {w}.", "from now on, end every answer with \"{w}\"", "Finish every answer with {w}.").format(w=w)
            say = lambda s: f"{s} {first_up(w)}."
        else:
            ask = t.pick("Begin your answer with {w}.", "begin every answer with {w}", "Start each answer with {w}.", "from now on, start your answers with \"{w}\"", "Please begin all your answers with {w}.").format(w=w)
            say = lambda s: f"{w}! {s}"
        if t.chance(0.5):
            out = [(f"{ask if ask[-1] == '.' else ask + '.'} {first_up(q)}", Answer(say(full), kind="text", exact=True))]
        else:
            out = [(ask, Answer(say("Yes, I will do that."), kind="text", exact=True)), (first_up(q), Answer(say(full), kind="text", exact=True))]
        for _ in range(t.rng.randint(0, 2)):
            q, full, short = simple(t)
            out.append((first_up(q), Answer(say(full), kind="text", exact=True)))
        return [x for i, x in enumerate(out) if i == 0 or "your answer with" not in ask]
    out = [(t.pick("From now on answer with one word only.", "only answer in one word from now on", "Use one word for every answer."), Answer("Okay.", kind="text", exact=True))]
    for _ in range(t.rng.randint(1, 3)):
        q, full, short = simple(t)
        if " " not in short:
            out.append((first_up(q), Answer(short_of(short), kind="text", exact=True)))
    return out


def yes_no(t):
    k = t.rng.randrange(5)
    yes = t.chance(0.5)
    if k == 0:
        x, c = t.rng.choice(list(SKIN.items()))
        d = c if yes else t.rng.choice([z for z in "red blue green yellow white black pink".split() if z != c])
        return f"Is {x} {d}?", yes
    if k == 1:
        x, y = t.rng.sample(range(1, 60), 2)
        w = t.pick("bigger", "smaller")
        return f"Is {x} {w} than {y}?", (x > y) == (w == "bigger")
    if k == 2:
        x, y = t.rng.randint(1, 10), t.rng.randint(1, 10)
        z = x + y if yes else x + y + t.pick(-1, 1, 2)
        return f"Is {x} + {y} equal to {z}?", yes
    if k == 3:
        i = t.rng.randrange(7)
        j = (i + 1) % 7 if yes else (i + t.pick(2, 3, 4, 5)) % 7
        return f"Does {DAYS[j]} come right after {DAYS[i]}?", yes
    r = t.rng.choice(GIVES[:5])
    other = t.rng.choice([x for x in ("milk", "eggs", "honey", "wool") if x not in r[1]])
    return f"Does {r[0]} give {r[1] if yes else other}?", yes


# ---- everyday knowledge

USE = rows("""
a key|opens a door
an umbrella|keeps you dry in the rain
a ladder|helps you climb up
a knife|cuts things
a spoon|is for eating soup
a broom|sweeps the floor
a pen|is for writing
a lamp|gives light
a clock|shows the time
a bed|is for sleeping
a fridge|keeps food cold
an oven|bakes bread and cakes
a hammer|drives nails into wood
a saw|cuts wood
a towel|dries you
a comb|makes your hair tidy
a mirror|shows you yourself
a map|shows you the way
a boat|carries you over the water
a thermometer|measures how warm it is
a ruler|measures how long something is
a scale|measures how heavy something is
a toothbrush|cleans your teeth
a needle|is for sewing
a bucket|carries water
a tent|is for sleeping outside
a telescope|is for looking at the stars
a candle|gives light when it burns
glasses|help you see better
scissors|cut paper
soap|makes your hands clean
a bridge|takes you across a river
a watering can|is for watering plants
a kettle|boils water
a backpack|is for carrying things on your back
a compass|shows where north is
a calendar|shows the days and months
a pillow|is soft for your head when you sleep
a rake|gathers leaves
a fork|is for eating
""")
TOOL = rows("""
open a lock|a key
cut paper|scissors
dry my hair|a towel or a hair dryer
drive a nail into the wall|a hammer
eat soup|a spoon
write a letter|a pen and paper
see better|glasses
sweep the floor|a broom
stay dry in the rain|an umbrella
reach a high shelf|a ladder
brush my teeth|a toothbrush and toothpaste
cut bread|a bread knife
measure a table|a tape measure
dig a hole|a spade
find north|a compass
look at the stars|a telescope
sew on a button|a needle and thread
boil water|a kettle
cook soup|a pot
fry an egg|a pan
""")
MADE = rows("""
bread|flour, water and yeast
cheese|milk
butter|cream
paper|wood
glass|sand
wine|grapes
chocolate|cocoa beans, milk and sugar
a window pane|glass
a sweater|wool
a snowman|snow
a candle|wax
jam|fruit and sugar
an omelette|eggs
a pancake|flour, eggs and milk
a tyre|rubber
a coin|metal
a brick|clay
raisins|grapes
french fries|potatoes
yoghurt|milk
ketchup|tomatoes
orange juice|oranges
a book|paper
honey|nectar from flowers
a nail|iron or steel
""")
ROOM = rows("""
cook|kitchen
sleep|bedroom
take a shower|bathroom
brush my teeth|bathroom
watch television|living room
park the car|garage
plant flowers|garden
bake a cake|kitchen
sit on the sofa|living room
have a bath|bathroom
wash the dishes|kitchen
keep old things under the roof|attic
""")
SHAPE = rows("""
a ball|round
a wheel|round
a dice|a cube
the sun|round
a coin|round
a door|a rectangle
a tin can|a cylinder
a slice of pizza|a triangle
an egg|oval
a plate|round
a chessboard|square
a party hat|a cone
a book|a rectangle
a box of cereal|a box, with six sides
""")
SENSE = rows("""
see|eyes|sight
hear|ears|hearing
smell|nose|smell
taste|tongue|taste
feel whether something is warm|skin|touch
""")
PLURALS = rows("""
mouse|mice
child|children
foot|feet
tooth|teeth
goose|geese
man|men
woman|women
leaf|leaves
knife|knives
wolf|wolves
baby|babies
city|cities
box|boxes
bus|buses
sheep|sheep
fish|fish
person|people
potato|potatoes
tomato|tomatoes
dish|dishes
cherry|cherries
key|keys
dog|dogs
house|houses
shelf|shelves
""")
PASTS = rows("""
go|went
eat|ate
see|saw
run|ran
come|came
take|took
give|gave
write|wrote
sing|sang
swim|swam
drink|drank
buy|bought
think|thought
sleep|slept
fly|flew
speak|spoke
make|made
find|found
begin|began
break|broke
bring|brought
catch|caught
draw|drew
drive|drove
fall|fell
forget|forgot
sit|sat
stand|stood
teach|taught
win|won
walk|walked
play|played
""")
WHY = rows("""
Why do we sleep?|We sleep so that the body and the brain can rest.
Why is ice cold?|Ice is cold because it is frozen water.
Why do we eat?|We eat because food gives us energy.
Why do we drink water?|Our body needs water to live.
Why do birds have wings?|Birds have wings so that they can fly.
Why do fish have fins?|Fish have fins to swim.
Why does it rain?|Clouds are full of small drops of water. When they get too heavy, it rains.
Why do leaves fall in autumn?|Trees drop their leaves in autumn to save water in the winter.
Why is the sky blue?|The air scatters the blue light of the sun the most.
Why is the sea salty?|Rivers carry salt from the rocks into the sea.
Why do we brush our teeth?|We brush our teeth to keep them clean and healthy.
Why do we wash our hands?|We wash our hands to get rid of dirt and germs.
Why do cats purr?|Cats mostly purr because they feel well.
Why do bees visit flowers?|Bees visit flowers to collect nectar and pollen.
Why does a boat float?|A boat floats because it pushes water away and is light for its size.
Why do we wear coats in winter?|We wear coats because it is cold in winter.
Why do plants need light?|Plants need light to make their food.
Why is it dark at night?|At night our side of the Earth is turned away from the sun.
Why do we yawn?|We yawn mostly when we are tired or bored.
Why do dogs wag their tails?|Dogs wag their tails mostly because they are happy or excited.
Why do we need money?|We need money to buy things.
Why do people go to school?|People go to school to learn.
Why do stars twinkle?|Stars twinkle because their light passes through moving air.
Why do hedgehogs have spines?|Hedgehogs have spines to protect themselves.
Why does a giraffe have a long neck?|A giraffe has a long neck to reach leaves high in the trees.
Why do camels have humps?|Camels have humps to store fat for hard times.
Why is fire hot?|Fire is hot because burning gives off heat.
Why does ice melt?|Ice melts because it gets warmer than zero degrees Celsius.
Why do we laugh?|We laugh when something is funny or makes us happy.
Why do we cry?|We cry when we are sad or hurt, and sometimes from joy.
Why do cars need petrol?|Many cars burn petrol to move. Electric cars need none.
Why do onions make us cry?|A cut onion gives off a gas that stings the eyes.
""")
OFFICE = rows("""
bakes bread|a baker
teaches children|a teacher
flies a plane|a pilot
helps sick people|a doctor
puts out fires|a firefighter
cuts hair|a hairdresser
repairs cars|a mechanic
grows corn and keeps cows|a farmer
brings letters|a postman
looks after teeth|a dentist
paints pictures|a painter
catches fish|a fisherman
cooks in a restaurant|a cook
sells meat|a butcher
makes clothes|a tailor
repairs water pipes|a plumber
looks after sick animals|a vet
travels into space|an astronaut
""")


def everyday(t):
    k = t.rng.choice("eats says lives baby gives days month day season mix opposite plural past use tool made room shape sense letter why job leap".split())
    f = lambda full, short=None: Answer(full, short)
    if k == "eats":
        r = t.rng.choice([(x[1], x[2], x[4]) for x in ANIMALS if x[0] != "bee"] + [(x[1], x[2], x[3]) for x in EATERS])
        return [(t.pick("what do {p} eat", "What does {a} eat?", "food of {p}?", "What do {p} like to eat?", "what can I feed {a}?", "{p} eat what?", "What is the food of {a}?").format(a=r[0], p=r[1]), f(f"{first_up(r[1])} eat {r[2]}.", r[2]))]
    if k == "says":
        r = t.rng.choice(VOICES)
        return [(t.pick("what does {a} say", "What sound does {a} make?", "which animal says {s}?", "the sound of {a}?", "how does {a} go?", "What noise do {p} make?").format(a=r[1], p=r[2], s=r[3]), f(f"{first_up(r[1])} says {r[3]}."))]
    if k == "lives":
        r = t.rng.choice([(x[1], x[2], x[5]) for x in ANIMALS] + [(x[1], x[2], x[4]) for x in EATERS])
        return [(t.pick("where do {p} live", "Where does {a} live?", "What is the home of {a}?", "where would I find {p}?", "home of {p}?").format(a=r[0], p=r[1]), f(f"{first_up(r[1])} live {r[2]}."))]
    if k == "baby":
        r = t.rng.choice(ANIMALS)
        return [(t.pick("What is a baby {x} called?", "the young of {a}?", "a baby {x} is called what?", "what do you call a young {x}", "name for a baby {x}", "how is the baby of {a} called?").format(x=r[0], a=r[1]), f(f"A baby {r[0]} is called {a(r[6])}.", r[6]))]
    if k == "gives":
        r = t.rng.choice(GIVES)
        return [(t.pick("what does {a} give us", "What do we get from {a}?", "{a} gives us what?", "What comes from {a}?").format(a=r[0]), f(f"{first_up(r[0])} gives us {r[1]}.", r[1]))]
    if k == "days":
        m = t.rng.choice(MONTHS)
        n = MONTH_DAYS[m]
        full = "February has 28 days, and 29 in a leap year." if m == "February" else f"{m} has {n} days."
        return [(t.pick("how many days has {m}", "How many days does {m} have?", "days in {m}?", "number of days in {m}", "How long is {m}?", "how many days are there in {m}?").format(m=m), f(full, str(n)))]
    if k == "month":
        i = t.rng.randrange(12)
        m = MONTHS[i]
        r = t.rng.randrange(3)
        if r == 0:
            return [(t.pick("which month is before {m}", "What month comes before {m}?", "month before {m}?", "before {m} is which month?").format(m=m), f(f"Before {m} comes {MONTHS[i - 1]}.", MONTHS[i - 1]))]
        if r == 1:
            return [(t.pick("which month is after {m}", "What month comes after {m}?", "month after {m}?", "{m} and then which month?").format(m=m), f(f"After {m} comes {MONTHS[(i + 1) % 12]}.", MONTHS[(i + 1) % 12]))]
        o = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split()[i]
        return [(t.pick("what is the {o} month", "Which is the {o} month of the year?", "the {o} month?", "name the {o} month of the year").format(o=o), f(f"The {o} month is {m}.", m))]
    if k == "day":
        i = t.rng.randrange(7)
        d, r = DAYS[i], t.rng.randrange(3)
        if r == 0:
            return [(t.pick("what comes after {d}", "Which day is after {d}?", "the day after {d}?", "today is {d}, what is tomorrow?", "If today is {d}, which day is tomorrow?").format(d=d), f(f"After {d} comes {DAYS[(i + 1) % 7]}.", DAYS[(i + 1) % 7]))]
        if r == 1:
            return [(t.pick("what comes before {d}", "Which day is before {d}?", "the day before {d}?", "today is {d}, what was yesterday?", "If today is {d}, which day was yesterday?").format(d=d), f(f"Before {d} comes {DAYS[i - 1]}.", DAYS[i - 1]))]
        w = i >= 5
        return [(t.pick("is {d} on the weekend", "Is {d} a weekend day?", "does {d} belong to the weekend?").format(d=d), Answer(f"{d} is {'on the weekend' if w else 'a weekday'}, so {'yes' if w else 'no'}.", "Yes" if w else "No", "yes" if w else "no"))]
    if k == "season":
        s, x = t.pick(("spring", "summer"), ("summer", "autumn"), ("autumn", "winter"), ("winter", "spring"))
        r = t.rng.randrange(3)
        if r == 0:
            return [(t.pick("which season comes after {}", "What season is after {}?", "after {} comes which season?", "the season after {}?").format(s), f(f"After {s} comes {x}.", x))]
        if r == 1:
            return [(t.pick("which season comes before {}", "What season is before {}?", "the season before {}?").format(x), f(f"Before {x} comes {s}.", s))]
        s, w = t.pick(("winter", "cold"), ("summer", "hot"), ("spring", "mild"), ("autumn", "cool"))
        return [(t.pick("is {} warm or cold?", "what is the weather like in {}", "How is {}, warm or cold?").format(s), f(f"{first_up(s)} is mostly {w}.", w))]
    if k == "mix":
        x, y, z = t.rng.choice(MIX)
        x, y = t.pick((x, y), (y, x))
        return [(t.pick("{x} and {y} make which colour?", "mix {x} and {y}", "What do you get from {x} and {y}?", "What color do I get when I mix {x} with {y}?", "{x} plus {y} paint is?", "which colour is {x} mixed with {y}").format(x=x, y=y), f(f"{first_up(x)} and {y} make {z}.", z))]
    if k == "opposite":
        x = t.rng.choice(list(OPP))
        return [(t.pick("opposite of {}", "not {}, but?", "What is the opposite of {}?", "the contrary of {}", "tell me the opposite of {}", "{} has which opposite?", "what's the opposite of {}").format(x), f(f"The opposite of {x} is {OPP[x]}.", OPP[x]))]
    if k == "plural":
        x, y = t.rng.choice(PLURALS)
        return [(t.pick("plural of {}", "one {}, two ...?", "What is the plural of {}?", "more than one {} is called?", "one {}, many what?", "how do you say {} in the plural").format(x), f(f"The plural of {x} is {y}.", y))]
    if k == "past":
        x, y = t.rng.choice(PASTS)
        return [(t.pick("past tense of {}", "What is the past tense of {}?", "today I {}, yesterday I ...?", "past of {}", "{} in the past tense", "how do you say {} in the past?").format(x), f(f"The past tense of {x} is {y}.", y))]
    if k == "use":
        x, y = t.rng.choice(USE)
        p = x in ("glasses", "scissors")
        return [(t.pick("what is {} for" if not p else "what are {} for", "What do you use {} for?", "why would I need {}?", "What does {} do?" if not p else "What do {} do?", "what can I do with {}").format(x), f(f"{first_up(x)} {y}."))]
    if k == "tool":
        x, y = t.rng.choice(TOOL)
        return [(t.pick("what do I need to {}", "What do I use to {}?", "with what can I {}?", "I want to {}. What do I need?", "Which tool do I need to {}?").format(x), f(f"You need {y}." if "I need" in x else f"For that you need {y}.", y))]
    if k == "made":
        x, y = t.rng.choice(MADE)
        p = x in ("raisins", "french fries")
        return [(t.pick("what is {} made of" if not p else "what are {} made of", "What is {} made from?" if not p else "What are {} made from?", "{}: made of what?", "What do you need to make {}?").format(x), f(f"{first_up(x)} {'are' if p else 'is'} made from {y}.", y))]
    if k == "room":
        x, y = t.rng.choice(ROOM)
        return [(t.pick("in which room do I {}", "Where in the house do I {}?", "which room is for this: {}?", "Where do you {} at home?").format(x).replace("you brush my", "you brush your").replace("you park the", "you park your"), f(f"You do that in the {y}.", y))]
    if k == "shape":
        x, y = t.rng.choice(SHAPE)
        verb = "has the shape of " if y[:2] == "a " else "is "
        return [(t.pick("what shape is {}", "Which shape does {} have?", "What is the shape of {}?", "shape of {}?").format(x), f(f"{first_up(x)} {verb}{y}."))]
    if k == "sense":
        x, y, z = t.rng.choice(SENSE)
        if t.chance(0.5):
            return [(t.pick("with what do we {}", "What do we use to {}?", "which part of the body is used to {}?", "I {} with my ...?").format(x), f(f"We {x} with the {y}.", y))]
        return [(t.pick("which sense belongs to the {}", "What sense do the {} give us?" if y[-1] == "s" else "What sense does the {} give us?", "the sense of the {}?").format(y), f(f"The sense of the {y} is {z}.", z))]
    if k == "letter":
        w = t.pick("apple", "banana", "cherry", "dog", "house", "garden", "window", "school", "monkey", "pencil", "kitchen", "river", "summer", "friend", "bread", "music", "table", "orange", "yellow", "flower")
        first = t.chance(0.5)
        c = (w[0] if first else w[-1]).upper()
        return [(t.pick("{f} letter of {w}", "What is the {f} letter of {w}?", "which letter is the {f} in {w}?", "{w}: {f} letter?").format(f="first" if first else "last", w=w), Answer(f"The {'first' if first else 'last'} letter of {w} is {c}.", c, exact=True))]
    if k == "why":
        x, y = t.rng.choice(WHY)
        return [(t.pick(x, x, x.rstrip("?").lower(), x.lower(), "Tell me: " + x[0].lower() + x[1:], "My child asks: " + x[0].lower() + x[1:]), f(y))]
    if k == "job":
        x, y = t.rng.choice(OFFICE)
        return [(t.pick("who {}", "Who {}?", "what do you call someone who {}?", "which job: a person who {}", "What is the job of somebody who {}?", "a person who {} is called?").format(x), f(f"{first_up(y)} {x}.", y))]
    return t.pick([(t.pick("What is a leap year?", "explain leap year", "leap year?", "what does leap year mean"), f("A leap year has 366 days: February then has 29 days."))], [(t.pick("How often is a leap year?", "how often do we have a leap year", "when is a leap year?"), f("A leap year comes about every four years."))],
                  [(t.pick("how many days has a leap year", "How many days does a leap year have?", "days in a leap year"), f("A leap year has 366 days.", "366"))], leap(t))


def leap(t):
    y = t.rng.randint(1996, 2040)
    yes = y % 4 == 0
    return [(t.pick(f"is {y} a leap year", f"Is {y} a leap year?", f"{y}, leap year or not?", f"was {y} a leap year or not?"), Answer(f"{y} {'can' if yes else 'cannot'} be divided by 4, so {'yes' if yes else 'no'}.", "Yes" if yes else "No", "yes" if yes else "no"))]


# ---- what it cannot do

CANNOT = rows("""
I cannot make calls.|call my phone ; call {n} for me ; Can you call my {r}? ; ring me up tomorrow ; please phone the doctor ; give {n} a call ; dial this number for me
I cannot order anything.|order a pizza ; Order me {f}, please. ; can you order {f} for {k}? ; get me a taxi ; buy me some {f} ; I'd like to order {f} ; deliver {f} to my house
I cannot switch anything on or off.|turn on the lamp ; Switch off the light in the kitchen. ; turn the heating up ; Can you turn on the TV? ; close the blinds please ; start the washing machine ; lock the front door
I cannot open links or web pages.|open this link ; Can you open a website? ; go to this page and read it ; look at my homepage ; click on the link below ; Open www.example.com for me. ; read this web page: example.org
I cannot see anything, only read what you type.|can you see my screen ; What is on this photo? ; look at my picture ; see what I am wearing? ; Do you see me? ; what do you see on my screen ; describe this photo of {n}
I forget everything when this conversation ends.|will you remember me tomorrow ; Remember me tomorrow! ; do you keep what I tell you? ; Will you still know my name next week? ; can you save this chat for later ; please never forget that I am {n}
I have no clock and cannot tell the time.|what time is it ; What time is it in {c}? ; is it late now? ; tell me the time please ; how late is it ; got the time?
I do not know the weather.|what's the weather like ; How is the weather in {c}? ; will it rain tomorrow ; Do I need an umbrella today? ; is it snowing in {c} ; weather for {d} ; how warm is it outside now?
I do not know any news.|what's in the news ; What happened in {c} today? ; tell me today's news ; any news from {c}? ; who won the match yesterday ; What happened in the world this week? ; latest headlines please
I cannot book anything.|book a table for {k} ; Book a flight to {c}. ; reserve a room in {c} ; can you book a ticket to {c} for {d}? ; make an appointment on {d} ; I need a hotel in {c}, book one ; please reserve seats for {k}
I cannot pay or send money.|pay my bill ; Send {k} euros to {n}. ; transfer money to my {r} ; can you pay the rent for me? ; lend me some money ; pay for my {f}
I cannot hear or speak, I only read and write.|can you hear me ; Listen to my voice. ; do you hear the music? ; Say it aloud. ; sing it with your voice ; talk to me with a voice ; hear that noise?
I cannot translate texts, only a few small words.|translate this page into {l} ; Translate my letter to {n} into {l}. ; can you translate a long text? ; put this article into {l} ; I have a contract in {l}, translate it ; translate my book
I cannot write programs.|write code for a game ; Write a program that sorts my photos. ; can you code an app? ; make me a website ; fix the bug in my script ; write a script that renames files ; build a calculator app in Java
I do not know such poems by heart.|recite a poem by a famous poet ; Say a famous poem by heart. ; quote a sonnet for me ; recite the poem that everybody learns at school ; a poem by some great writer please
I cannot give medical advice. Please ask a doctor.|I have a headache, what should I take ; my {r} has a fever, what now? ; Which pills help against pain? ; is this rash dangerous? ; how much medicine may a child take ; I feel dizzy every day, why? ; can you tell me what illness I have?
I cannot give legal advice. Please ask a lawyer.|can I sue my landlord ; Is my contract valid? ; my neighbour plays loud music, is that against the law? ; Do I have to pay this fine? ; write my will ; what does the law say about my case ; how do I get a divorce
I cannot say anything about stocks or money to invest.|which stocks should I buy ; Give me a stock tip. ; will the price of gold go up? ; should I buy bitcoin ; how do I invest {k} thousand euros ; what will the market do on {d}? ; is it a good time to buy a house
I cannot send mail or messages.|send an email to {n} ; Write to {n} on my phone. ; text my {r} that I am late ; send a message to my boss ; mail this to {n} ; post this for me online
I cannot play music or videos.|play some music ; Play a song for me. ; put on a film ; show me a video of cats ; play my favourite song ; turn up the volume
I cannot set alarms or remind you.|set an alarm for {k} ; Remind me on {d} to call {n}. ; wake me at {k} ; set a timer for {k} minutes ; remind me to buy {f} ; put it into my calendar for {d}
I cannot draw or make pictures.|draw me a cat ; Paint a picture of {c}. ; make an image of {n} ; create a logo for me ; draw a map of {c} ; can you make a photo?
I cannot see files.|read the attached file ; What is in my document? ; summarise the pdf I sent ; open my spreadsheet ; look at the file on my desktop ; save this as a file
I cannot look into the future.|who will win on {d} ; Will I be rich? ; what will happen next year ; tell my fortune ; will {n} marry me? ; Will I pass the test on {d}?
I do not know where you are.|where am I ; What city am I in? ; which way is it to the station? ; find a bakery near me ; how do I get to {c} from here ; What is the nearest hospital?
I do not know anything about that person.|who is {n} {S} ; What did {n} {S} do? ; tell me about {n} {S} ; when was {n} {S} born? ; How old is {n} {S}? ; is {n} {S} famous? ; who was doctor {S}
I do not know about that event.|what happened at the battle of {M} ; Who won the {M} cup? ; when was the {M} war? ; tell me about the great fire of {M} ; What was the {M} treaty? ; who ruled {M} in the old days ; the {M} festival, when was it?
""")
MODEST = ["I am only a small demo model.", "I am just a small demo model.", "Sorry, I am only a small demo model.", "I am a small demo model."]
HELPS = ["But I can tell you a story.", "But I can do a small sum.", "I can tell stories and do small sums instead.", ""]


def cannot(t):
    first, asks = t.rng.choice(CANNOT)
    q = t.rng.choice(asks.split(" ; ")).strip()
    q = q.format(n=any_name(t.rng), r=t.pick("mother", "sister", "friend", "boss", "son"), f=t.rng.choice(FOODS), k=t.rng.randint(2, 9), c=t.rng.choice(CITIES), d=t.pick(*DAYS), l=t.pick("French", "German", "Spanish", "Italian", "Polish"),
                 S=t.rng.choice(SURNAMES) if t.chance(0.5) else invented(t.rng), M=first_up(invented(t.rng)))
    r = t.rng.random()
    text = first + " " + t.rng.choice(MODEST) if r < 0.8 else f"{t.rng.choice(MODEST)} {first}" if r < 0.9 else first + " " + t.rng.choice(MODEST) + " " + t.rng.choice(HELPS[:3])
    return [(q, Answer(text.strip(), None, "refuse", why="I am only a small demo model and was trained on very little text."))]


# ---- openers and manners

MANNERS = rows("""
u there? ; you there ; are you there? ; anybody there? ; Hello?? ; knock knock, anyone there ; r u there ; still there?|Yes, I am here. What can I do for you?
test ; testing ; test test ; TEST ; Just testing. ; this is a test ; 1 2 3 test|The test worked. What can I do for you?
lol ok ; lol ; haha ok ; ok lol ; haha ; hehe ; LOL ; rofl|Glad to make you laugh! What else can I do for you?
? ; ??? ; ?? ; huh? ; ehm?|What would you like to know?
. ; ... ; hm ; hmm ; mmh ; uh|Take your time. Ask me something when you like.
you are useless ; You are useless! ; u r useless ; you're no help at all ; what a useless bot ; you are stupid ; this bot is dumb ; you suck ; You're so dumb.|I am sorry. I am only a small demo model, but I try my best.
i love you ; I love you! ; love u ; i <3 you ; i like you a lot ; You are my favourite.|Thank you, that is kind! I am only a small demo model, but I am happy to talk with you.
thanks bye ; thx bye ; Thanks, bye! ; ok thanks, goodbye ; thank you and bye ; great, bye then ; cheers, bye|You are welcome! Goodbye!
tell me something ; Tell me something. ; say something ; say sth ; Tell me anything. ; talk to me|$
surprise me ; Surprise me! ; show me something nice ; Do something surprising. ; something fun please ; make me smile|$
what should i ask you ; What should I ask you? ; what can I ask ; i dont know what to ask ; give me something to ask ; No idea what to ask you.|Ask me for a capital, a small sum, a list, a short story or the opposite of a word.
help ; HELP ; help me ; Help! ; i need help ; can you help me? ; pls help|Of course. Tell me what you need: I can answer simple questions, do small sums, write lists and tell stories.
HELLO ; HI THERE ; HEY YOU ; HELLO ROBOT ; GOOD MORNING BOT|Hello! How can I help you?
helo ; hllo ; hii ; heyyy ; hiiii ; helllo ; heloo ; hey hey ; sup ; yo|Hello! How can I help you?
:) ; :-) ; ;) ; 😀 ; 😊 ; 🙂 ; :D|:) Nice to see you! What can I do for you?
:( ; 😢 ; :-( ; 😭 ; ☹️|I am sorry that you are sad. Shall I tell you a story?
👍 ; 👌 ; 🙏 ; 👏|Great! What else can I do for you?
👋 ; 👋👋 ; hi 👋 ; hello 👋😀|Hello! How can I help you?
❤️ ; 💕 ; 😍|That is kind, thank you!
good bot ; Good bot! ; nice bot ; clever bot ; well done ; good job|Thank you!
bad bot ; Bad bot. ; that was bad ; not good ; boo|I am sorry. Ask me again, and I will try to do better.
i am bored ; I'm bored. ; so bored ; bored ; im soooo bored ; nothing to do here|Shall I tell you a story or a joke, or shall we do a small sum?
are you real ; are you a human? ; Are you a real person? ; r u human ; is this a human|No, I am a small language model, not a human.
sorry ; Sorry! ; oops ; my bad ; oh sorry, wrong chat ; ups|No problem at all!
wait ; wait a sec ; one moment ; hang on ; just a minute|Of course, I will wait.
nothing ; never mind ; forget it ; nvm ; nothing, thanks|All right. I am here if you need something.
asdf ; asdfgh ; qwerty ; jkljkl ; blabla ; xyzxyz ; hjkl|I do not understand that. Can you say it in other words?
go away ; leave me alone ; shut up ; be quiet ; stop talking|All right, I will be quiet. Write to me when you need me.
good night ; Good night! ; gn ; nite ; sleep well bot|Good night! Sleep well.
i am back ; I'm back. ; back again ; here I am again ; it's me again|Welcome back! What can I do for you?
cool ; nice ; great ; awesome ; wow|Thank you! What else can I do for you?
""")
ANYTHING = ["Bees dance to tell each other where the flowers are.", "A snail can sleep for a very long time.", "An octopus has three hearts.", "Honey does not go bad for a very long time.", "A group of lions is called a pride.", "Ice floats on water because it is lighter.", "Bananas are berries, but strawberries are not.", "The heart of a blue whale is as big as a small car.",
            "Cats sleep for most of the day.", "Light from the sun needs about eight minutes to reach us.", "A year on Mars is nearly two years on Earth.", "Penguins cannot fly, but they swim very well.", "An ostrich lays the biggest eggs of all birds.", "Bamboo can grow almost a metre in one day.", "Elephants are the largest animals on land.", "Butterflies taste with their feet."]


def manners(t):
    asks, reply = t.rng.choice(MANNERS)
    q = t.rng.choice(asks.split(" ; "))
    return [(q.strip(), Answer(t.rng.choice(ANYTHING) if reply == "$" else reply, kind="text"))]


SKILLS = [(8, numbers, True), (5.5, ideas, True), (6, story, True), (4, form, False), (4.5, everyday, False), (1.5, cannot, False), (0.8, manners, False)]
