"""What people tell of: verbs with what may follow them, feelings with their reasons, things and where they lie."""

# base past ing # what follows, {o} a thing and {p} a person # things # places # how it is taken: good, bad, plain
EVENTS = [tuple(x.strip() for x in line.split("#")) for line in """
buy bought buying # {o} # a coat|a lamp|a new bike|a red car|a house|three books|a cake|some flowers|a guitar|a ticket|two chairs|a phone|new shoes|a tent|a big sofa # at the market|in town|in a small shop|online # good
sell sold selling # {o} # the old car|a house|the boat|my bike|some books|the piano|a painting|the farm # at the market|online|in town # plain
lose lost losing # {o} # my keys|the umbrella|a wallet|the phone|my glasses|a ring|the ticket|the remote|a glove|my passport # in the park|on the bus|at the station|at work|at school # bad
find found finding # {o} # an old coin|a wallet|the keys|a kitten|a nice flat|a shell|a map|the letter|ten euros|a ring # in the park|on the beach|under the bed|in the attic|on the street # good
break broke breaking # {o} # my cup|the window|a plate|the vase|my phone|a chair|the lamp|my glasses|the toy # in the kitchen|at home|at school # bad
steal stole stealing # {o} # my bike|a wallet|my lunch|the ball|some money|my bag # at the station|at work|in town # bad
forget forgot forgetting # {o} # my birthday|the keys|the appointment|the password|the milk|my name|the meeting|the bread # - # bad
make made making # {o} # a cake|soup|pancakes|a paper boat|a birdhouse|a salad|a scarf|a big mess|jam|a pizza # in the kitchen|at home|at school # good
cook cooked cooking # {o} # spaghetti|rice with beans|fish|a stew|dinner for six|curry|noodles # at home|on the balcony # good
bake baked baking # {o} # bread|cookies|an apple pie|a birthday cake|muffins # in the kitchen|at home # good
eat ate eating # {o} # a pear|two burgers|the last cookie|sushi|my sandwich|ice cream|a whole pizza|soup # at the beach|in the garden|at a restaurant # plain
drink drank drinking # {o} # tea|too much coffee|a glass of milk|lemonade|hot chocolate # at work|in a cafe|in the garden # plain
paint painted painting # {o} # the door green|the fence white|a picture of the sea|the kitchen yellow|a portrait|the wall blue # - # good
repair repaired repairing # {o} # the roof|my bike|the washing machine|the door|an old radio|the car # in the garage|at home # good
clean cleaned cleaning # {o} # the kitchen|the windows|the whole house|my room|the car|the oven # - # good
read read reading # {o} # a book about whales|the newspaper|a long letter|a poem|a book about stars|my email # in the garden|on the train|in bed # good
watch watched watching # {o} # a film about pirates|the game|a concert|the news|a show about bears|the sunset # at home|at the cinema|on the beach # good
learn learned learning # {o} # Spanish|how to swim|chess|the violin|a poem|how to juggle|Italian|the drums # at school|at home # good
win won winning # {o} # a prize|the race|the game|a medal|a teddy bear|the chess match|fifty euros # at school|at the fair # good
miss missed missing # {o} # the bus|the train|the meeting|the party|a call|the flight # - # bad
fail failed failing # {o} # the exam|the driving test|a maths test|the interview # - # bad
pass passed passing # {o} # the exam|the driving test|a maths test|the interview # - # good
plant planted planting # {o} # a tree|tomatoes|roses|an apple tree|sunflowers|carrots # in the garden|on the balcony|behind the house # good
build built building # {o} # a treehouse|a shed|a sandcastle|a kite|a snowman|a shelf # in the garden|on the beach|behind the house # good
write wrote writing # {o} # a letter|a song|a long email|a book|a poem|a postcard # on the train|in the garden # good
order ordered ordering # {o} # a pizza|two coffees|a new chair|a salad|a blue shirt|a cake # online|at the cafe # plain
see saw seeing # {o} # a fox|a rainbow|a shooting star|an owl|a deer|two squirrels|an old friend|a whale # in the forest|in the garden|on the way home|at the zoo # good
hear heard hearing # {o} # a strange noise|an owl|a song|good news|thunder|someone sing # in the night|in the kitchen|in the forest # plain
give gave giving # {p} {o} # a book|flowers|a puppy|ten euros|a scarf|some advice|a red pen|a gift|a map|a watch # at the party|at work # good
send sent sending # {p} {o} # a postcard|a photo|a parcel|a letter|a cake|flowers|a message # from Italy|from the sea # good
show showed showing # {p} {o} # a card trick|the new house|some photos|the garden|a dance|the way # in town|at home # good
teach taught teaching # {p} {o} # chess|how to cook|a song|some Spanish|how to swim|a card trick # at school|at home # good
lend lent lending # {p} {o} # a book|some money|the car|an umbrella|a bike|a pen # at work # good
bring brought bringing # {p} {o} # soup|breakfast|flowers|a present|some tea|the newspaper # in bed|at work # good
tell told telling # {p} {o} # a joke|a secret|a story|some good news|the truth|a lie # at lunch|on the phone # plain
visit visited visiting # {p} # - # in Paris|in the hospital|at work|in Berlin # good
call called calling # {p} # - # from Rome|from work|from the airport # plain
help helped helping # {p} # - # in the garden|at work|in the kitchen|with the homework|with the move # good
meet met meeting # {p} # - # in town|at the station|in a cafe|at the gym|in the park # good
invite invited inviting # {p} to {o} # a party|a wedding|dinner|the cinema|a picnic|a concert # - # good
yell yelled yelling # at {p} # - # at work|at school|on the phone|in the street # bad
shout shouted shouting # at {p} # - # at work|at home|in the street # bad
laugh laughed laughing # at {p} # - # at school|at work # bad
lie lied lying # to {p} # - # - # bad
bite bit biting # {p} # - # in the park|in the garden # bad
hug hugged hugging # {p} # - # at the station|at home # good
thank thanked thanking # {p} # - # at work # good
talk talked talking # about {o} # work|the weather|football|the holidays|money|the new school|old times # at dinner|on the phone # plain
go went going # to {o} # the dentist|the beach|the zoo|a concert|the doctor|the museum|the market|a wedding|school|the gym|the library|a birthday party # - # plain
travel travelled travelling # to {o} # @city # - # good
fly flew flying # to {o} # @city # - # good
drive drove driving # to {o} # @city # - # plain
move moved moving # to {o} # @city # - # plain
walk walked walking # to {o} # the lake|the station|work|the park|school|the river # - # plain
fall fell falling # off {o} # the bike|a ladder|a horse|the bed|a chair # - # bad
wait waited waiting # for {o} # the bus|an hour|a letter|the doctor|a taxi|the train # at the station|in the rain # plain
play played playing # {o} # football|the piano|cards|tennis|chess|a board game|hide and seek # in the garden|at school|in the park # good
spill spilled spilling # {o} # the milk|coffee|red wine|some juice # on the sofa|on the carpet|on my shirt # bad
catch caught catching # {o} # a big fish|two fish|a trout # at the lake|at the river # good
catch caught catching # {o} # a cold|the flu # at school|at work # bad
cancel cancelled cancelling # {o} # the meeting|the trip|the party|the order|the concert # - # bad
start started starting # {o} # a new job|a diet|a course|yoga|a band # - # good
finish finished finishing # {o} # the report|the puzzle|a long book|school|the homework # at home|at work # good
adopt adopted adopting # {o} # a dog|a kitten|two rabbits|an old cat # - # good
""".strip().splitlines()]

HABITS = [tuple(x.strip() for x in line.split("#")) for line in """
play # {o} # the piano|football|chess|the drums|tennis|the violin|cards|the flute|hockey # good
drink # {o} # tea|black coffee|oat milk|apple juice|only water|green tea # plain
collect # {o} # stamps|old coins|shells|comics|stones|postcards|toy cars # good
study # {o} # maths|history|medicine|biology|law|music|art # good
speak # {o} # French|Spanish|three languages|Turkish|German|Greek # good
live # in {o} # @city # plain
work # in {o} # a bank|a bakery|a hospital|a school|a big office|a garden centre|a cafe|a bookshop|a zoo # good
work # as {o} # @job # good
drive # {o} # a red car|an old van|a taxi|a bus|a blue truck|a motorbike # plain
own # {o} # a bakery|two cars|a boat|a small shop|a farm|three cats # good
wear # {o} # glasses|a green hat|a blue coat|red shoes|a watch # plain
read # {o} # comics|crime stories|old letters|books about space # good
get up # at {o} # six|seven|half past five|eight|nine # plain
sleep # in {o} # the attic|the blue room|a tent|the living room # plain
need # {o} # a new bike|more sleep|a haircut|help|new glasses|a bigger flat # plain
want # {o} # a dog|a new phone|a red bike|peace and quiet|a bigger garden # plain
have # {o} # a red car|a big garden|a cold|two brothers|three cats|a twin sister|a boat|a headache|a new job|four children # plain
like # {o} # @food # good
love # {o} # @hobby # good
hate # {o} # @food # plain
sell # {o} # flowers|bread|old books|cheese|fish # good
bake # {o} # bread|cakes|cookies # good
""".strip().splitlines()]

PAST_TIMES = "yesterday|last week|last Monday|last Friday|this morning|last summer|two days ago|last night|on Sunday|on Saturday|an hour ago|last year|today|in March|last month".split("|")
NEXT_TIMES = "tomorrow|next week|on Monday|on Friday|on Saturday|tonight|next month|this weekend|in two weeks|in May|in August|next year|this evening|at three o'clock|after lunch".split("|")

# a feeling, whether it is a good one, and its reasons
FEELINGS = [(row[0].strip(), row[1].strip() == "good", row[2].strip().split("|")) for row in (line.split("#") for line in """
happy # good # {S} visits me tomorrow|I passed the test|I got a new bike|it is my birthday|the holidays begin|we won the game|I have a new puppy|my back is better|I got the job
excited # good # I fly to {city} next week|{S} gets married|we get a kitten|I start a new job|I move to {city}|my favourite band plays tonight
proud # good # {S} won a medal|I finished my book|I can swim now|I baked my first bread|{S} passed the exam
relieved # good # the exam is over|I found my keys|{S} is well again|the pain is gone|the car works again
glad # good # it is Friday|the rain has stopped|{S} called me|the work is done|my fever is gone
sad # bad # my cat is ill|{S} moved away|I lost my ring|nobody came to my party|my friend is angry with me|the trip was cancelled|my plant died|the holidays are over
tired # bad # I slept badly|the baby cried all night|I worked until midnight|the neighbours were loud|I ran ten miles|I got up at four
angry # bad # {S} broke my phone|the train was late|someone took my bike|{S} lied to me|the shop was closed|my computer is slow
nervous # bad # I have an exam tomorrow|I must give a speech|I meet {S} tonight|I go to the dentist on Monday|I have a job interview
worried # bad # my dog does not eat|{S} is in hospital|I lost my job|the car makes a strange noise|I cannot sleep
bored # bad # it rains all day|nobody is at home|the film is so slow|the internet is down
hungry # bad # I had no breakfast|the fridge is empty|I forgot my lunch|dinner is late
late # bad # I missed the bus|my alarm did not ring|the traffic was bad|I could not find my shoes
lonely # bad # {S} moved to {city}|I am new in town|my friends are away
""".strip().splitlines())]

LYING = "my keys|my glasses|my phone|the map|the scissors|the tickets|my wallet|the umbrella|the remote|my passport|the spare key|the dog's ball|my red scarf|the letter|the torch|the cookies|my notebook|the charger|the hammer|my hat".split("|")
SPOTS = ("in the drawer|under the bed|on the kitchen table|in the car|behind the sofa|in the blue box|on the shelf|in my bag|on the window sill|in the fridge|next to the lamp|in the garage|"
    "under the stairs|in my coat|on top of the cupboard|at the office|in the attic|by the door|in the bathroom|on the piano").split("|")
APPOINTMENTS = "a dentist appointment|a meeting|a piano lesson|a job interview|a yoga class|a doctor's appointment|football practice|a haircut|an exam|a date|a swimming lesson|a call with {S}|dinner with {S}|a parent meeting|choir practice|a driving lesson".split("|")
HOURS = "at nine|at ten|at half past two|at three|at four o'clock|at noon|at six|at 5 pm|at 8:30|at 7 in the evening".split("|")
KINDS = {  # what one may have several of: (adjectives in pairs that exclude each other, whether they have names)
    "dogs": True, "cats": True, "kids": True, "sons": True, "daughters": True, "sisters": True, "brothers": True, "rabbits": True, "horses": True, "parrots": True, "goats": True,
    "friends": True, "hamsters": True, "ponies": True, "roommates": True, "cousins": True}
PAIRS = "small big|old young|black white|loud quiet|fast slow|shy brave|brown grey|fat thin|tall short|lazy busy|funny serious|friendly grumpy|clever silly|blond dark-haired|left-handed right-handed|calm wild".split("|")
WARES = "coat|bike|car|lamp|hat|sofa|shirt|bag|tent|chair|phone|cake|book|ticket|house|room|cup|umbrella|box|pen".split("|")
