"""Tables of simple facts: common knowledge, written down for this project."""


def pairs(text, sep="-"):
    return dict(p.replace("_", " ").split(sep) for p in text.split())


COLOUR_OF = dict(p.split(":") for p in (
    "grass:green|the sky:blue|snow:white|a lemon:yellow|a banana:yellow|a tomato:red|a strawberry:red|coal:black|milk:white|"
    "an orange:orange|a carrot:orange|a frog:green|the sun:yellow|blood:red|chocolate:brown|a leaf:green|the sea:blue|the ocean:blue|"
    "a raven:black|a crow:black|a pig:pink|a plum:purple|a cherry:red|a swan:white|an elephant:grey|honey:golden|a fire engine:red|"
    "the night:black|a cucumber:green|wood:brown|a pea:green|salt:white|sugar:white|a flamingo:pink|a polar bear:white|a pumpkin:orange|"
    "an emerald:green|a ruby:red|a sapphire:blue|gold:golden|silver:silver|broccoli:green|spinach:green|an eggplant:purple|"
    "rice:white|coffee:brown|paper:white|a mouse:grey|a canary:yellow|a sunflower:yellow|a stop sign:red|Mars:red|cotton:white|"
    "ketchup:red|mustard:yellow|a blueberry:blue|lavender:purple|a kiwi inside:green|an egg yolk:yellow|a cloud:white|soil:brown"
).split("|"))
OPPOSITE = pairs(
    "big-small hot-cold up-down day-night happy-sad fast-slow old-young open-closed full-empty high-low wet-dry good-bad "
    "hard-soft long-short left-right near-far rich-poor loud-quiet early-late clean-dirty strong-weak thick-thin first-last in-out "
    "yes-no black-white inside-outside love-hate win-lose sweet-sour front-back awake-asleep brave-afraid wide-narrow "
    "tall-short true-false begin-end buy-sell come-go give-take push-pull always-never everything-nothing above-below "
    "before-after alive-dead beautiful-ugly cheap-expensive deep-shallow dangerous-safe easy-difficult friend-enemy "
    "heaven-hell laugh-cry many-few more-less north-south east-west peace-war polite-rude possible-impossible "
    "right-wrong rough-smooth same-different simple-complicated smart-stupid start-stop summer-winter tight-loose top-bottom "
    "visible-invisible with-without female-male mother-father king-queen boy-girl on-off teach-learn remember-forget "
    "present-absent public-private question-answer sharp-blunt asleep-awake lucky-unlucky correct-incorrect kind-cruel "
    "arrive-leave borrow-lend build-destroy calm-nervous curly-straight float-sink generous-selfish guilty-innocent import-export "
    "increase-decrease lazy-hardworking maximum-minimum noisy-quiet optimist-pessimist lost-found ancient-modern")
OPPOSITE = {**{v: k for k, v in OPPOSITE.items()}, **OPPOSITE, "heavy": "light", "light": "dark", "dark": "light", "short": "long",
            "quiet": "loud", "night": "day"}
SOUND = pairs("dog-woof cat-meow cow-moo sheep-baa duck-quack pig-oink horse-neigh hen-cluck frog-ribbit owl-hoot lion-roar bee-buzz "
              "mouse-squeak donkey-heehaw rooster-cockadoodledoo snake-hiss wolf-howl crow-caw turkey-gobble bird-tweet")
LEGS = {k: int(v) for k, v in pairs(
    "dog-4 cat-4 bird-2 spider-8 ant-6 bee-6 horse-4 snake-0 fish-0 duck-2 cow-4 human-2 person-2 beetle-6 hen-2 chair-4 table-4 "
    "frog-4 worm-0 butterfly-6 elephant-4 goat-4 mouse-4 lion-4 tiger-4 chicken-2 fly-6 mosquito-6 scorpion-8 crab-10 lizard-4 "
    "snail-0 penguin-2 kangaroo-4 giraffe-4 whale-0 tripod-3 insect-6 bear-4 crocodile-4 zebra-4").items()}
YOUNG = pairs("dog-puppy cat-kitten cow-calf sheep-lamb horse-foal hen-chick duck-duckling pig-piglet frog-tadpole goose-gosling goat-kid "
              "bear-cub lion-cub deer-fawn owl-owlet kangaroo-joey elephant-calf whale-calf fox-cub wolf-pup seal-pup rabbit-kit "
              "swan-cygnet tiger-cub eagle-eaglet butterfly-caterpillar human-baby")
HOME = pairs("bird-nest bee-hive dog-kennel horse-stable fox-den spider-web rabbit-burrow cow-barn pig-sty fish-water lion-den "
             "chicken-coop ant-anthill bear-den mole-molehill king-palace monk-monastery nun-convent")
EATS = dict(p.split(":") for p in ("a cow:grass|a rabbit:grass and carrots|a panda:bamboo|a koala:eucalyptus leaves|a lion:meat|"
            "a squirrel:nuts|a bee:nectar and pollen|a spider:insects|a horse:grass and hay|a monkey:fruit and leaves|a cat:meat and fish|"
            "a shark:fish|a frog:insects|a giraffe:leaves|a polar bear:seals|a penguin:fish|an anteater:ants|an owl:mice|a sheep:grass|"
            "a mouse:grain and seeds|a wolf:meat|a deer:grass and leaves|a caterpillar:leaves|an elephant:grass and leaves").split("|"))
PLURAL = {**pairs(
    "mouse-mice child-children foot-feet tooth-teeth man-men woman-women goose-geese sheep-sheep fish-fish ox-oxen person-people "
    "leaf-leaves knife-knives wolf-wolves wife-wives life-lives loaf-loaves thief-thieves half-halves shelf-shelves baby-babies "
    "city-cities lady-ladies party-parties story-stories cherry-cherries fly-flies box-boxes fox-foxes bus-buses dish-dishes "
    "watch-watches potato-potatoes tomato-tomatoes hero-heroes cactus-cacti deer-deer louse-lice scarf-scarves goldfish-goldfish salmon-salmon trout-trout calf-calves"),
    **{w: w + "s" for w in ("cat dog book car house tree apple table chair boy girl day key toy ball bird cow pen cup hat lamp "
                            "road river star song window door flower friend egg stone letter computer").split()}}
PAST = pairs("go-went eat-ate see-saw run-ran come-came take-took give-gave write-wrote sing-sang swim-swam drink-drank buy-bought "
             "think-thought bring-brought teach-taught catch-caught sleep-slept make-made have-had be-was do-did say-said find-found "
             "know-knew fly-flew drive-drove speak-spoke break-broke begin-began sit-sat stand-stood win-won lose-lost tell-told "
             "play-played walk-walked jump-jumped laugh-laughed cook-cooked look-looked want-wanted work-worked love-loved")
COMPARE = pairs("big-bigger good-better bad-worse small-smaller fast-faster tall-taller happy-happier far-farther hot-hotter old-older "
                "easy-easier strong-stronger nice-nicer long-longer cold-colder many-more")
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
MONTHS = "January February March April May June July August September October November December".split()
MONTH_DAYS = dict(zip(MONTHS, (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)))
SEASONS = "spring summer autumn winter".split()
PLANETS = "Mercury Venus Earth Mars Jupiter Saturn Uranus Neptune".split()
NUMBER = ("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen "
          "nineteen twenty").split()
TENS = {20: "twenty", 30: "thirty", 40: "forty", 50: "fifty", 60: "sixty", 70: "seventy", 80: "eighty", 90: "ninety", 100: "one hundred"}
ORDINAL = ("zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth").split()
ROMAN = pairs("1-I 2-II 3-III 4-IV 5-V 6-VI 7-VII 8-VIII 9-IX 10-X 11-XI 12-XII 15-XV 20-XX 40-XL 50-L 90-XC 100-C 500-D 1000-M")
SYMBOL = dict(p.split(":") for p in (
    "water:H2O|carbon dioxide:CO2|salt:NaCl|gold:Au|silver:Ag|iron:Fe|oxygen:O|hydrogen:H|carbon:C|nitrogen:N|helium:He|sodium:Na|"
    "copper:Cu|lead:Pb|calcium:Ca|chlorine:Cl|tin:Sn|mercury:Hg|potassium:K|zinc:Zn|methane:CH4|ammonia:NH3|ozone:O3|neon:Ne|"
    "sulfur:S|uranium:U|aluminium:Al|silicon:Si").split("|"))
UNITS = [  # (one of this, has so many, of these)
    ("minute", 60, "seconds"), ("hour", 60, "minutes"), ("day", 24, "hours"), ("week", 7, "days"), ("year", 12, "months"),
    ("year", 52, "weeks"), ("year", 365, "days"), ("leap year", 366, "days"), ("decade", 10, "years"), ("century", 100, "years"),
    ("millennium", 1000, "years"), ("metre", 100, "centimetres"), ("kilometre", 1000, "metres"), ("centimetre", 10, "millimetres"),
    ("kilogram", 1000, "grams"), ("ton", 1000, "kilograms"), ("litre", 1000, "millilitres"), ("dozen", 12, "things"), ("foot", 12, "inches"),
    ("yard", 3, "feet"), ("pound", 16, "ounces"), ("euro", 100, "cents"), ("dollar", 100, "cents"), ("byte", 8, "bits"),
    ("kilobyte", 1000, "bytes"), ("hour", 3600, "seconds"), ("circle", 360, "degrees"), ("right angle", 90, "degrees"), ("pair", 2, "things"),
    ("gallon", 4, "quarts"), ("fortnight", 14, "days"), ("quarter of an hour", 15, "minutes"), ("half an hour", 30, "minutes"),
]
SIDES = {"triangle": 3, "square": 4, "rectangle": 4, "pentagon": 5, "hexagon": 6, "heptagon": 7, "octagon": 8}
HAVE = [("a week", 7, "days"), ("a hand", 5, "fingers"), ("a person", 10, "fingers"), ("a foot", 5, "toes"), ("a human", 2, "eyes"),
        ("a car", 4, "wheels"), ("a bicycle", 2, "wheels"), ("a tricycle", 3, "wheels"), ("an octopus", 8, "arms"), ("a cube", 6, "sides"),
        ("a dice", 6, "sides"), ("a bird", 2, "wings"), ("the alphabet", 26, "letters"), ("a piano", 88, "keys"), ("a guitar", 6, "strings"),
        ("a violin", 4, "strings"), ("a chessboard", 64, "squares"), ("a football team", 11, "players"), ("the rainbow", 7, "colours"),
        ("our solar system", 8, "planets"), ("an adult", 32, "teeth"), ("the human body", 206, "bones"), ("a butterfly", 4, "wings"),
        ("a deck of cards", 52, "cards"), ("a basketball team", 5, "players"), ("the English alphabet", 5, "vowels"), ("a human", 2, "lungs"),
        ("a human", 1, "heart"), ("the olympic logo", 5, "rings"), ("a cat", 1, "tail"), ("the earth", 7, "continents"), ("the earth", 5, "oceans")]
LISTS = {
    "animals": "cat dog horse cow sheep goat rabbit duck hen frog owl mouse fox bear deer wolf lion pig tiger elephant".split(),
    "fruits": "apple pear plum cherry banana lemon orange grape peach strawberry melon kiwi mango pineapple".split(),
    "vegetables": "carrot potato onion pea bean cabbage pumpkin cucumber spinach broccoli leek radish".split(),
    "colours": "red blue green yellow orange purple pink brown black white grey".split(),
    "birds": "owl duck hen swan raven robin sparrow eagle parrot goose penguin stork".split(),
    "toys": "ball kite doll puzzle train robot top teddy blocks yo-yo".split(),
    "trees": "oak pine birch willow maple ash beech elm fir chestnut".split(),
    "tools": "hammer saw spade rake axe screwdriver drill pliers ladder broom".split(),
    "shapes": "circle square triangle rectangle star heart oval hexagon".split(),
    "planets": PLANETS,
    "drinks": "water milk tea juice coffee lemonade cocoa".split(),
    "clothes": "hat coat shirt sock shoe scarf glove dress jacket boot".split(),
    "instruments": "violin drum flute piano guitar trumpet harp cello".split(),
    "insects": "ant bee butterfly beetle fly mosquito moth ladybird".split(),
    "flowers": "rose tulip daisy sunflower lily violet poppy orchid".split(),
    "sports": "football tennis swimming basketball hockey golf rugby volleyball cycling skiing".split(),
    "jobs": "baker doctor teacher farmer painter cook driver nurse pilot singer".split(),
    "languages": "English Spanish French German Chinese Arabic Portuguese Russian Japanese Italian".split(),
    "metals": "iron gold silver copper tin lead zinc".split(),
    "continents": "Africa Antarctica Asia Australia Europe".split() + ["North America", "South America"],
    "oceans": "the Pacific|the Atlantic|the Indian Ocean|the Arctic|the Southern Ocean".split("|"),
    "rooms": "kitchen bedroom bathroom hall cellar attic".split() + ["living room"],
    "body parts": "head arm leg hand foot nose ear eye mouth knee".split(),
    "vehicles": "car bus train bicycle boat ship plane truck tram".split(),
    "days of the week": DAYS, "months": MONTHS, "seasons": SEASONS,
    "European countries": "France Germany Italy Spain Portugal Poland Sweden Norway Greece Austria".split(),
    "programming languages": "Python JavaScript TypeScript Java Rust Go C Ruby".split(),
    "pets": "dog cat hamster rabbit parrot goldfish turtle".split(),
    "numbers": NUMBER[1:11],
}
NARROW = [  # narrower lists: (how they are called, what is in them)
    (row.split(" = ")[0].split("|"), row.split(" = ")[1].split(", ")) for row in """
red fruits|fruits that are red|fruits with a red skin = cherry, strawberry, raspberry, apple, cranberry
yellow fruits|fruits that are yellow = banana, lemon, pineapple, mango, grapefruit
green vegetables|vegetables that are green|green veggies = cucumber, spinach, broccoli, pea, bean, leek
orange vegetables|vegetables that are orange = carrot, pumpkin, sweet potato
green fruits|fruits that are green = lime, kiwi, pear, grape
farm animals|animals on a farm|animals you'd find on a farm|animals that live on a farm|animals from a farm = cow, pig, sheep, goat, horse, hen, duck, donkey
zoo animals|animals in a zoo|animals you see in a zoo|animals at the zoo = lion, tiger, elephant, monkey, giraffe, zebra, penguin, bear
wild animals|animals that live in the wild = lion, wolf, bear, fox, deer, tiger, elephant
sea animals|animals that live in the sea|animals in the ocean|sea creatures|ocean animals = whale, shark, dolphin, octopus, crab, seal, jellyfish, starfish
forest animals|animals that live in the forest|animals in a forest|animals of the woods = fox, deer, owl, squirrel, bear, wolf, hedgehog, badger
animals that can fly|flying animals|animals with wings = owl, bee, bat, eagle, butterfly, duck, fly
animals that can swim|animals that swim|swimming animals = fish, duck, frog, whale, otter, penguin, seal
animals with four legs|four-legged animals = dog, cat, horse, cow, sheep, pig, goat
small animals|little animals|tiny animals = mouse, ant, bee, snail, frog, hamster, spider
big animals|large animals|huge animals = elephant, whale, giraffe, hippo, bear, rhino, camel
animals with stripes|striped animals = zebra, tiger, bee, wasp, skunk
animals from Africa|African animals|animals that live in Africa = lion, elephant, giraffe, zebra, hippo, rhino
animals that lay eggs|egg-laying animals = hen, duck, turtle, snake, frog, penguin, crocodile
animals that live in cold places|arctic animals|animals that like the cold = penguin, polar bear, seal, reindeer, walrus
things that are red|red things = blood, a tomato, a strawberry, a fire engine, a stop sign
things that are blue|blue things = the sky, the sea, a blueberry, jeans
things that are green|green things = grass, a leaf, a frog, a cucumber, a lime
things that are yellow|yellow things = the sun, a banana, a lemon, a duckling, butter
things that are white|white things = snow, milk, salt, a swan, paper
things that are black|black things = coal, the night sky, a raven, tar
things that are round|round things = a ball, a coin, a wheel, the sun, an orange, a plate
things that are cold|cold things = ice, snow, a fridge, winter, ice cream
things that are hot|hot things = fire, the sun, an oven, lava, boiling water
things that fly|things that can fly = a plane, a kite, a bird, a balloon, a rocket
things with wheels|things that have wheels = a car, a bus, a bicycle, a train, a skateboard
things that are soft|soft things = a pillow, a blanket, wool, a feather, a kitten
things in a kitchen|kitchen things|things you find in a kitchen|things in the kitchen = a pot, a pan, a spoon, a knife, a plate, an oven, a fridge
things in a school bag|things you need for school|school things = a pen, a book, a ruler, a pencil, an eraser, a notebook
things in a bathroom|bathroom things = a toothbrush, soap, a towel, a mirror, a shower
things you take to the beach|things for the beach = a towel, sunscreen, a ball, a swimsuit, an umbrella
things to pack for a trip|things to take on a trip = a toothbrush, clothes, a phone charger, shoes, a jacket
things you can read|things to read = a book, a newspaper, a letter, a sign, a map
things you can drink|things to drink = water, milk, tea, juice, coffee, lemonade
things to eat for breakfast|breakfast foods|foods for breakfast|breakfast ideas = bread, eggs, cereal, yoghurt, pancakes, fruit
desserts|sweet foods|sweets = cake, ice cream, pie, pudding, chocolate, cookies
Italian foods|Italian dishes|foods from Italy = pizza, pasta, lasagne, risotto
pizza toppings|toppings for a pizza|things on a pizza = cheese, tomato, mushrooms, ham, olives, onions
ice cream flavours|flavours of ice cream|ice cream flavors = vanilla, chocolate, strawberry, lemon, mint
spices = pepper, cinnamon, ginger, curry, paprika, nutmeg
herbs = basil, mint, parsley, thyme, rosemary
berries|kinds of berries = strawberry, raspberry, blueberry, blackberry, cranberry
nuts|kinds of nuts = walnut, hazelnut, almond, peanut, cashew
hot drinks|warm drinks = tea, coffee, cocoa
cold drinks = water, juice, lemonade, milk
winter sports|sports for winter|sports in the snow = skiing, ice skating, snowboarding, ice hockey, sledding
water sports|sports in the water = swimming, sailing, rowing, surfing, diving
team sports|sports that are played in a team = football, basketball, hockey, volleyball, rugby
ball sports|sports with a ball|sports that need a ball = football, tennis, basketball, golf, volleyball, rugby
board games|games to play at home = chess, checkers, ludo, dominoes
hobbies|things to do at the weekend|hobbies for a rainy day = reading, cooking, painting, swimming, gardening, chess
winter clothes|warm clothes|clothes for winter|clothes for cold days = coat, hat, scarf, gloves, boots, sweater
summer clothes|clothes for summer|clothes for hot days = T-shirt, shorts, sandals, dress, sun hat
winter months|months in winter = December, January, February
summer months|months in summer = June, July, August
spring months|months in spring = March, April, May
autumn months|months in autumn = September, October, November
weekend days|days of the weekend = Saturday, Sunday
months with 30 days = April, June, September, November
cities in Italy|Italian cities = Rome, Milan, Naples, Venice, Florence
cities in Germany|German cities = Berlin, Hamburg, Munich, Cologne, Leipzig
cities in France|French cities = Paris, Lyon, Marseille, Nice, Bordeaux
cities in Spain|Spanish cities = Madrid, Barcelona, Seville, Valencia, Bilbao
big cities|cities|large cities = Tokyo, London, Paris, New York, Cairo, Berlin
capital cities|capitals|capitals of Europe|European capitals = Paris, Rome, Berlin, Madrid, Vienna, Lisbon
African countries|countries in Africa = Egypt, Kenya, Nigeria, Morocco, Ghana, Ethiopia
Asian countries|countries in Asia = Japan, China, India, Thailand, Vietnam, Nepal
countries in South America|South American countries = Brazil, Argentina, Chile, Peru, Colombia
countries|countries of the world = France, Japan, Brazil, Egypt, Canada, India
rivers = the Nile, the Amazon, the Rhine, the Danube, the Thames
mountains = Mount Everest, Mont Blanc, Kilimanjaro, Mount Fuji
dog breeds|breeds of dogs|kinds of dogs = poodle, beagle, bulldog, collie, boxer
girls' names|names for girls|girl names = Anna, Mia, Emma, Lucy, Sara
boys' names|names for boys|boy names = Tom, Leo, Max, Ben, Paul
names for a cat|cat names = Luna, Milo, Tiger, Coco, Felix
names for a dog|dog names = Max, Bella, Rocky, Buddy, Luna
string instruments|instruments with strings = violin, guitar, harp, cello
wind instruments|instruments you blow = flute, trumpet, clarinet, saxophone
musical instruments = violin, drum, flute, piano, guitar, trumpet
even numbers = 2, 4, 6, 8, 10
odd numbers = 1, 3, 5, 7, 9
prime numbers|primes = 2, 3, 5, 7, 11
vowels = a, e, i, o, u
primary colours|primary colors = red, yellow, blue
warm colours|warm colors = red, orange, yellow
colours of the rainbow|rainbow colors = red, orange, yellow, green, blue, indigo, violet
family members|members of a family = mother, father, sister, brother, aunt, uncle
feelings|emotions = joy, anger, fear, sadness, surprise
adjectives|describing words = big, small, happy, old, fast
verbs|action words = run, eat, sleep, jump, read
pets|animals people keep at home|animals to keep as a pet = dog, cat, hamster, rabbit, parrot
animals that start with b|animals with b = bear, bee, bird, butterfly
animals that start with c|animals with c = cat, cow, camel, crab
fruits that start with p|fruits with p = pear, plum, peach, pineapple
planets near the sun|planets closest to the sun = Mercury, Venus, Earth, Mars
big planets|large planets = Jupiter, Saturn, Uranus, Neptune
parts of a tree = root, trunk, branch, leaf
parts of a car = wheel, engine, door, seat, window
parts of a face|parts of the face = eye, nose, mouth, ear, chin
furniture|pieces of furniture = table, chair, bed, sofa, shelf
things in an office|office things = a desk, a computer, a chair, a printer, a pen
buildings|kinds of buildings = house, school, church, hospital, museum
fairy tale figures|characters from fairy tales = princess, dragon, witch, king, giant
""".strip().split("\n")]
PART_OF = {k: v for k, v in (("animals", "animal"), ("fruits", "fruit"), ("vegetables", "vegetable"), ("colours", "colour"), ("birds", "bird"),
           ("trees", "tree"), ("tools", "tool"), ("planets", "planet"), ("drinks", "drink"), ("instruments", "instrument"),
           ("insects", "insect"), ("flowers", "flower"), ("metals", "metal"), ("sports", "sport"), ("vehicles", "vehicle"))}
HELLO = dict(p.split(":") for p in (
    "French:Bonjour|German:Guten Tag|Spanish:Hola|Italian:Ciao|Portuguese:Olá|Dutch:Hallo|Swedish:Hej|Polish:Cześć|Russian:Привет|"
    "Japanese:こんにちは|Chinese:你好|Turkish:Merhaba|Arabic:مرحبا|Greek:Γειά σου|Finnish:Hei|Hindi:नमस्ते|Korean:안녕하세요|Latin:Salve|"
    "Hawaiian:Aloha|Czech:Ahoj|English:Hello").split("|"))
THANKS = dict(p.split(":") for p in (
    "French:Merci|German:Danke|Spanish:Gracias|Italian:Grazie|Portuguese:Obrigado|Dutch:Dank je|Swedish:Tack|Polish:Dziękuję|"
    "Japanese:ありがとう|Russian:Спасибо|Turkish:Teşekkürler").split("|"))
WHAT_IS = {k: v for k, v in (line.split(": ", 1) for line in """
a dog: A dog is an animal with four legs. It barks, and many people keep one as a pet.
a cat: A cat is a small furry animal. It says meow, catches mice and is a popular pet.
a horse: A horse is a big animal with four legs. People ride it.
a bird: A bird is an animal with feathers and wings. Most birds can fly.
a fish: A fish is an animal that lives in water and breathes with gills.
a whale: A whale is a very big animal that lives in the sea. It is a mammal, not a fish.
an insect: An insect is a small animal with six legs.
a spider: A spider is a small animal with eight legs. It catches insects in a web.
a mammal: A mammal is an animal that feeds its young with milk. Dogs, whales and people are mammals.
a reptile: A reptile is an animal with scales and cold blood, such as a snake or a lizard.
a dinosaur: A dinosaur was a reptile that lived millions of years ago. Dinosaurs died out long ago.
the sun: The sun is a star. It gives us light and warmth.
the moon: The moon is a ball of rock that goes around the earth. It shines because the sun lights it.
the earth: The earth is the planet that we live on. It goes around the sun once a year.
a planet: A planet is a big round body that goes around a star. The earth is a planet.
a star: A star is a huge ball of hot gas that shines. The sun is a star.
a galaxy: A galaxy is a very large group of stars. Ours is called the Milky Way.
gravity: Gravity is the force that pulls things together. It keeps us on the ground.
light: Light is what makes things visible. It moves faster than anything else.
energy: Energy is what is needed to move, heat or light something.
electricity: Electricity is a form of energy that flows through wires. It makes lamps and machines work.
an atom: An atom is the smallest piece of a chemical element. Everything around us is made of atoms.
a molecule: A molecule is a group of atoms that hold together. Water is made of molecules.
oxygen: Oxygen is a gas in the air. We need it to breathe.
water: Water is a clear liquid that every living thing needs. Its formula is H2O.
ice: Ice is frozen water.
steam: Steam is water that has become a gas because it is hot.
fire: Fire is what we see when something burns. It gives light and heat.
air: Air is the mix of gases around us. It is mostly nitrogen and oxygen.
wind: Wind is moving air.
rain: Rain is water that falls from the clouds in drops.
snow: Snow is frozen water that falls from the clouds in small white flakes.
a cloud: A cloud is many tiny drops of water that float in the air.
a rainbow: A rainbow is an arc of colours in the sky. It appears when the sun shines through rain.
thunder: Thunder is the sound that lightning makes.
lightning: Lightning is a big electric spark between clouds or between a cloud and the ground.
an earthquake: An earthquake is a shaking of the ground, made by moving rock deep below.
a volcano: A volcano is a mountain from which hot melted rock can come.
a desert: A desert is a very dry land where it hardly ever rains.
an island: An island is land with water all around it.
a river: A river is water that flows over the land to a lake or to the sea.
a lake: A lake is a large body of water with land around it.
the ocean: The ocean is the salt water that covers most of the earth.
a mountain: A mountain is a very high hill of rock.
a forest: A forest is a large place with many trees.
a tree: A tree is a tall plant with a trunk, branches and leaves.
a flower: A flower is the part of a plant that makes seeds. Many flowers are colourful.
a plant: A plant is a living thing that grows in the ground and makes its food from light.
photosynthesis: Photosynthesis is how plants make food and oxygen from light, water and carbon dioxide.
evolution: Evolution is the slow change of living things over many generations.
DNA: DNA is a long molecule in our cells. It holds the plan of a living thing.
a cell: A cell is the smallest living part of a plant or an animal.
the heart: The heart is the muscle that pumps blood through the body.
the brain: The brain is the part of the body that thinks. It sits in the head.
blood: Blood is the red liquid that carries oxygen through the body.
a vaccine: A vaccine is a medicine that teaches the body to fight an illness before it comes.
a virus: A virus is a tiny thing that can make living things ill. A computer virus is a harmful program.
a vitamin: A vitamin is something in food that the body needs in small amounts.
sleep: Sleep is the rest that body and mind need every night.
a dream: A dream is a story that the mind makes up while we sleep.
honey: Honey is sweet and golden. Bees make it from flowers.
bread: Bread is food made from flour and water. It is baked in an oven.
cheese: Cheese is food made from milk.
chocolate: Chocolate is a sweet food made from cocoa beans.
pizza: Pizza is a flat bread with tomato sauce and cheese, baked in a hot oven. It comes from Italy.
a school: A school is a place where children learn.
a library: A library is a place where one can read and borrow books.
a hospital: A hospital is a place where sick people are cared for.
a bakery: A bakery is a shop where bread and cakes are made.
a museum: A museum is a place where old or beautiful things are shown.
a bank: A bank is a place that keeps and lends money.
a doctor: A doctor is a person who helps sick people.
a teacher: A teacher is a person who helps others to learn.
a friend: A friend is someone who likes you and helps you.
love: Love is a warm feeling for someone you like very much.
happiness: Happiness is the good feeling when all is well.
music: Music is made of sounds that are nice to hear.
a poem: A poem is a short text with rhythm, and often with rhymes.
a haiku: A haiku is a short poem of three lines with five, seven and five syllables.
a noun: A noun is a word for a person, a place or a thing, such as "house".
a verb: A verb is a word for what someone does, such as "run".
an adjective: An adjective is a word that says how something is, such as "small".
a vowel: The vowels are the letters a, e, i, o and u.
a prime number: A prime number can be divided only by one and by itself. 2, 3, 5 and 7 are prime numbers.
an even number: An even number can be divided by two. 2, 4 and 6 are even.
a triangle: A triangle is a shape with three sides.
a circle: A circle is a round shape. All its points are equally far from the middle.
pi: Pi is the length around a circle divided by the length across. It is about 3.14.
money: Money is what we pay with.
a clock: A clock is a thing that shows the time.
a bicycle: A bicycle is a vehicle with two wheels and pedals.
a car: A car is a vehicle with four wheels and a motor.
a computer: A computer is a machine that follows programs. It counts and remembers very fast.
a program: A program is a list of instructions for a computer.
an algorithm: An algorithm is a list of clear steps that solves a problem.
the internet: The internet is a network that connects computers all over the world.
a website: A website is a group of pages that one can open in a browser.
a browser: A browser is a program that shows web pages.
a database: A database is a program that keeps data in order and finds it again.
a server: A server is a program or a computer that answers the requests of others.
an API: An API is the way in which one program asks another for something.
an API key: An API key is a secret that says who is calling. Sluice wants one with every request.
JSON: JSON is a text format for data. It looks like {"name": "Ada", "age": 36}.
HTTP: HTTP is the language in which browsers and servers talk.
Linux: Linux is a free operating system.
Python: Python is a programming language. It is also the name of a snake.
JavaScript: JavaScript is the programming language of web pages.
TypeScript: TypeScript is JavaScript with types. Sluice is written in it.
Node.js: Node.js is a program that runs JavaScript outside of a browser. Sluice runs on it.
open source: Open source means that everybody may read the code of a program and use it.
machine learning: Machine learning means that a program learns from examples.
artificial intelligence: Artificial intelligence is when machines do what seems to need a mind. I am a very small example.
AI: AI means artificial intelligence: machines that do what seems to need a mind.
a neural network: A neural network is a program that learns from examples. It is made of many simple units that pass on numbers.
a language model: A language model is a program that writes text, one token after another. I am a small one.
an LLM: LLM means large language model: a program that writes text, one token after another. I am a very small one.
a token: A token is a small piece of text. A language model reads and writes tokens.
a tokenizer: A tokenizer cuts text into tokens.
a prompt: A prompt is the text that you give to a language model.
a transformer: A transformer is a kind of neural network. Most language models are transformers, and so am I.
a GPU: A GPU is a chip that does many calculations at once. It makes language models fast.
a parameter: A parameter is a number that a model has learned. I have about 20 million.
llama.cpp: llama.cpp is a library that runs language models. Sluice uses it.
GGUF: GGUF is the file format of llama.cpp for models.
quantization: Quantization stores the weights of a model with fewer bits. The model gets smaller and often faster.
streaming: Streaming means that an answer is sent piece by piece while it is written.
a context window: The context window is how many tokens a model can look at. Mine is 4,096 tokens.
temperature: The temperature says how freely a model picks its words. With 0 it always takes the likeliest one.
democracy: Democracy means that the people choose who governs.
a vegetarian: A vegetarian is a person who does not eat meat.
a leap year: A leap year has 366 days. It comes every four years.
a continent: A continent is a very large piece of land. There are seven.
the equator: The equator is the line around the middle of the earth.
a compass: A compass shows where north is.
a magnet: A magnet pulls things made of iron.
a telescope: A telescope makes far things look near.
a microscope: A microscope makes small things look big.
a battery: A battery stores electricity.
a fossil: A fossil is what is left of a living thing from long ago, turned to stone.
a mirage: A mirage is something that seems to be there, but is only bent light.
a synonym: A synonym is a word that means the same as another word.
an antonym: An antonym is a word that means the opposite of another word.
a palindrome: A palindrome is a word that reads the same from both sides, such as "level".
a unicorn: A unicorn is a horse with one horn in fairy tales. It does not exist.
a dragon: A dragon is a big animal in fairy tales that breathes fire. It does not exist.
""".strip().split("\n"))}
