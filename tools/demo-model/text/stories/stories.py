"""Short stories: each plot is a list of beats, each beat a list of wordings."""
from text.data.words import ANIMALS, BOYS, GIRLS, THINGS
from text.english import a
from text.held_out import is_held
from text.stories.plots import ABOUT_PLOT, MORE, SHORT
from text.stories.world import ADJ, ANIMAL_NAMES, BY_NAME, COLOURS, PEOPLE, STORY_PLACES, TOWN, TREATS, WEATHER

OPEN_CHILD = [
    "Once upon a time, there was {a_adj} {kid} named {N}.",
    "Once upon a time there lived {a_adj} {kid} called {N} in {TOWN}.",
    "There once was {a_adj} {kid} named {N}.",
    "In the town of {TOWN} lived {a_adj} {kid} named {N}.",
    "{N} was {a_adj} {kid} who lived near the {place}.",
]
OPEN_ANIMAL = [
    "Once upon a time, there was {a_adj} {kid} named {N}.",
    "Once upon a time, {a_adj} {kid} named {N} lived near the {place}.",
    "There once was {a_adj} {kid} called {N}.",
    "Near the {place} lived {a_adj} {kid} named {N}.",
]
PLOTS = {
    "lost": [
        ["{He} had a {col} {thing} and loved it very much.", "{His} favourite thing was a {col} {thing}."],
        ["One {weather} day, the {thing} was gone.", "One {weather} morning, {N} could not find the {thing}."],
        ["{N} looked under the bed and behind the door, but it was not there.",
         "{He} looked everywhere, but {he} could not find it.", "{N} was very sad and began to cry."],
        ["{F} said, \"Do not cry. I will help you look.\"", "Then {F} came and asked, \"What is wrong? I can help you.\""],
        ["Together they walked to the {place}.", "They went to the {place} and looked there."],
        ["There was the {col} {thing}, under a bush!", "And there, beside a big stone, lay the {thing}!"],
        ["{N} laughed and gave {F} a big hug.", "{N} was so happy that {he} danced."],
        ["From that day on, {he} always put the {thing} in its place.", "\"Thank you, {F},\" said {N}. \"You are a good friend.\""],
    ],
    "found": [
        ["One {weather} day, {he} went for a walk to the {place}.", "On a {weather} morning, {N} walked to the {place}."],
        ["There {he} found a {col} {thing} in the grass.", "Something was shining in the grass. It was a {col} {thing}."],
        ["\"Who has lost this {thing}?\" {he} thought.", "{N} wanted to keep it, but {he} knew that it was not {hers}."],
        ["{He} asked everyone in the town.", "{He} went from door to door and asked."],
        ["At last {F} said, \"That is my {thing}! I looked for it all day.\"",
         "Then {he} met {F}, who was looking for a {col} {thing}."],
        ["{N} gave it back.", "{N} gave the {thing} to {F}."],
        ["{F} was so happy that {fhe} gave {N} a {treat}.", "To say thank you, {F} shared a {treat} with {N}."],
        ["It is good to be honest.", "And so they became friends.", "They ate it together in the sun."],
    ],
    "rain": [
        ["One day, {N} and {F} played near the {place}.", "{N} and {F} were on the way to the {place}."],
        ["Suddenly it began to rain.", "Then dark clouds came and it began to rain."],
        ["They had no umbrella and got very wet.", "\"Oh no, we will get wet!\" said {F}."],
        ["{N} saw a big tree and said, \"Let us wait there.\"", "{N} had an idea. \"Let us run to the old barn!\""],
        ["They sat close together and told each other jokes.", "There they sang songs and waited."],
        ["Soon the sun came out again.", "After a while the rain stopped."],
        ["They saw a big rainbow over the {place}.", "A beautiful rainbow stood over the river."],
        ["\"Rain can be nice too,\" said {N}.", "{N} and {F} jumped into every puddle on the way home."],
    ],
    "share": [
        ["One day, {he} got a big {treat}.", "One {weather} day, {N} had a {treat}."],
        ["\"It is all mine,\" {he} said.", "{He} wanted to eat it all alone."],
        ["Then {F} came by and looked very hungry.", "But then {he} saw {F}, who had nothing to eat."],
        ["{N} thought for a moment.", "{N} looked at {F} and thought."],
        ["Then {he} said, \"Come, let us share.\"", "\"Here, you can have half of it,\" {he} said."],
        ["They sat down by the {place} and ate together.", "They ate together and talked for a long time."],
        ["It tasted much better with a friend.", "\"Thank you, {N}. You are very kind,\" said {F}."],
    ],
    "learn": [
        ["{He} wanted to learn how to {skill}.", "All {his} friends could {skill}, but {N} could not."],
        ["{He} tried it once, but it did not work.", "The first time, {he} fell down."],
        ["\"I will never learn it,\" {he} said sadly.", "{N} was sad and wanted to stop."],
        ["\"Try again,\" said {F}. \"I will show you how.\"", "But {F} said, \"Do not give up. You can do it!\""],
        ["So {N} tried again every day.", "Every day after lunch they went to the {place} and tried again."],
        ["On the seventh day, {he} could {skill}!", "And one {weather} day it worked. {N} could {skill}!"],
        ["{N} was very proud.", "Everyone clapped, and {N} was proud."],
        ["Now {he} helps others who want to learn.", "\"You see,\" said {F}, \"you only have to try.\""],
    ],
    "broken": [
        ["{He} played with a {col} {thing} all day.", "For {his} birthday {he} got a {col} {thing}."],
        ["But one day it fell on the floor and broke.", "One {weather} day, the {thing} fell down and broke."],
        ["{N} was sad. \"Now I have nothing to play with,\" {he} said.", "{N} cried and cried."],
        ["{He} took it to {F}.", "Then {he} had an idea and went to {F}."],
        ["{F} had glue and a good pair of glasses.", "\"I can fix that,\" said {F}."],
        ["They worked on it all afternoon.", "{F} worked carefully for an hour."],
        ["In the evening the {thing} was as good as new.", "At the end the {thing} looked even better than before."],
        ["{N} made {F} a {treat} to say thank you.", "\"Thank you!\" said {N} and smiled."],
    ],
    "dark": [
        ["{N} was afraid of the dark.", "Every night {he} was afraid, because it was so dark."],
        ["One night {he} heard a strange sound.", "One night there was a noise outside."],
        ["\"Is it a monster?\" {he} thought and hid under the blanket.", "{His} heart beat fast. \"Who is there?\" {he} asked."],
        ["But then {he} was brave and took a lamp.", "{N} took a deep breath and opened the door."],
        ["It was only {F}, who could not sleep.", "Outside stood {F}, who was afraid too."],
        ["They both laughed.", "\"You scared me!\" said {N}, and they laughed."],
        ["They looked at the moon and the stars together.", "Together they counted the stars over the {place}."],
        ["After that night, {N} was not afraid of the dark any more.", "Now {N} knew that the dark is not so bad."],
    ],
    "race": [
        ["One day there was a race from the {place} to the old bridge.", "Every summer there was a big race in the town."],
        ["{N} wanted to win, and {F} wanted to win too.", "{N} ran as fast as {he} could, and {F} was right behind."],
        ["Suddenly {F} fell and hurt a leg.", "Just before the end, {F} fell over a stone."],
        ["{N} stopped.", "{N} heard a cry and turned around."],
        ["\"Are you all right?\" {he} asked and helped {F} up.", "{He} ran back and helped {F} to stand up."],
        ["They walked over the line together, hand in hand.", "Together they came in last."],
        ["Everyone clapped for them.", "But the people clapped more for them than for the winner."],
        ["A friend is better than a prize.", "\"You are the real winner,\" said {F}."],
    ],
    "garden": [
        ["One spring day, {he} planted a small seed near the {place}.", "{N} had one little seed and put it into the ground."],
        ["Every day {he} gave it water.", "{He} gave it water and sang a song for it."],
        ["But nothing happened.", "Days went by, but nothing came up."],
        ["\"You must wait,\" said {F}. \"Good things take time.\"", "{F} said, \"Be patient. It needs sun and time.\""],
        ["So {N} waited.", "{N} waited and waited."],
        ["Then one {weather} morning, there was a green leaf!", "One morning {he} saw a tiny green leaf."],
        ["By summer it was a big {col} flower.", "In autumn it was the biggest pumpkin in {TOWN}."],
        ["{N} and {F} had a party in the garden.", "{N} gave a piece of it to everyone."],
    ],
    "newfriend": [
        ["{He} was often alone and wanted a friend.", "{N} was new in {TOWN} and did not know anyone."],
        ["One {weather} day, {he} went to the {place}.", "So {he} took a {thing} and went to the {place}."],
        ["There sat {F}, who was alone too.", "At the {place} {he} saw {F}."],
        ["\"Hello,\" said {N}. \"Do you want to play with me?\"", "{N} was shy, but {he} said, \"Hello, I am {N}.\""],
        ["\"Yes!\" said {F} with a big smile.", "\"I would love to,\" said {F}."],
        ["They played with the {thing} until the evening.", "They played all day and laughed a lot."],
        ["From that day on, they met every afternoon.", "Now {N} was not alone any more.", "And they are still friends today."],
    ],
    "boat": [
        ["One {weather} day, {he} built a small boat out of wood.", "{N} and {F} found an old boat at the harbour."],
        ["\"Let us sail down the river!\" said {F}.", "They wanted to sail to the sea."],
        ["They took a {treat} and a {col} {thing} with them.", "They packed a {treat} and went on board."],
        ["But the water was fast, and the boat hit a stone.", "Soon a strong wind came, and the boat began to turn."],
        ["Water came in! \"Help!\" cried {F}.", "\"What shall we do?\" cried {F}."],
        ["{N} was calm and used a {thing} to get the water out.", "{N} threw a rope around a tree and pulled."],
        ["At last they were safe on the land.", "Slowly the boat came back to the shore."],
        ["They ate and laughed. What an adventure!", "\"Next time we will stay near the {place},\" said {N}."],
    ],
    "help": [
        ["One {weather} morning, {N} met {F} near the {place}.", "On the way to the {place}, {he} met {F}."],
        ["{F} had a heavy bag and was very tired.", "{F} was tired and could not carry the big basket."],
        ["\"Can I help you?\" asked {N}.", "\"Let me carry that,\" said {N}."],
        ["They walked slowly and talked about the old days.", "It was a long way, but {N} did not complain."],
        ["At the house, {F} opened the bag. It was full of plums.", "At home {F} made tea for both of them."],
        ["\"These are for you, because you are so kind,\" said {F}.", "\"You are a good {kid},\" said {F} and gave {N} a {thing}."],
        ["{N} went home with a warm heart.", "{N} smiled all the way home.", "Helping others makes us happy."],
    ],
}
PLOTS.update(MORE)
SKILLS = "swim|ride a horse|bake bread|play the drum|read|fly a kite|climb a tree|whistle|dance|count to a hundred".split("|")
END = ["The end.", "The end.", "", ""]


def make_story(rng, held=False, hero=None, animal=None, thing=None, place=None, short=False, he=None, end=True, friend=None):
    """A story as a dict: text, and the slots that later questions may ask about. friend: a name, or an animal with its article."""
    given_he, given_friend = he, friend
    while True:
        kind = "animal" if animal or (hero is None and rng.random() < 0.4) else "child"
        he = given_he or rng.choice(["she", "he"])
        if kind == "animal":
            kid, name = animal or rng.choice(ANIMALS), hero or rng.choice(ANIMAL_NAMES)
            he = given_he or ("she" if name in GIRLS else "he" if name in BOYS else he)
        else:
            name = hero or (rng.choice(PEOPLE[:6]).name if rng.random() < 0.3 else rng.choice(GIRLS if he == "she" else BOYS))
            if name in BY_NAME:
                he = BY_NAME[name].he
            elif name in GIRLS:
                he = "she"
            elif name in BOYS:
                he = "he"
            kid = ("woman" if he == "she" else "man") if name in BY_NAME and not BY_NAME[name].child else \
                ("girl" if he == "she" else "boy")
        f_he = rng.choice(["she", "he"])
        if given_friend:
            friend = given_friend
        elif name in BY_NAME and rng.random() < 0.6:
            friend = BY_NAME[name].friend
            f_he = BY_NAME[friend].he
        elif rng.random() < 0.3:
            friend, f_he = "the old " + rng.choice(["owl", "turtle", "bear", "fox", "cat"]), "he"
        else:
            friend = rng.choice([n for n in (GIRLS if f_he == "she" else BOYS) if n != name])
        plot = rng.choice(["lost", "found", "broken", "newfriend", "boat", "wish", "letter", "secret"] if thing else list(PLOTS))
        s = {
            "N": name, "F": friend, "he": he, "He": he.capitalize(), "fhe": f_he, "kid": kid, "TOWN": TOWN,
            "him": "her" if he == "she" else "him", "his": "her" if he == "she" else "his",
            "hers": "hers" if he == "she" else "his",
            "thing": thing or rng.choice(THINGS), "col": rng.choice(COLOURS), "treat": rng.choice(TREATS),
            "place": place or rng.choice(STORY_PLACES), "weather": rng.choice(WEATHER), "adj": rng.choice(ADJ),
            "skill": rng.choice(SKILLS), "plot": plot, "kind": kind,
        }
        if is_held("story", plot, s["thing"], s["place"]) == held:
            break
    s["His"] = s["his"].capitalize()
    s["a_adj"] = a(s["adj"])
    s["F_him"] = "her" if f_he == "she" else "him"
    beats = [[line] for line in SHORT[plot]] if short else PLOTS[plot]
    lines = [rng.choice(OPEN_ANIMAL if kind == "animal" else OPEN_CHILD)] + [rng.choice(b) for b in beats]
    text = []
    for line in lines:
        line = line.format(**s).replace(" a orange", " an orange").replace(" a apple", " an apple")
        line = line.replace(" a umbrella", " an umbrella")
        line = line.replace('"Thank you, the old', '"Thank you, old')
        text.append(line[0].upper() + line[1:])
    end = rng.choice(END) if end else ""
    if end:
        text.append(end)
    s["summary"], s["lesson"] = (t.format(**s) for t in ABOUT_PLOT[plot])
    s["summary"] = s["summary"].replace(" a orange", " an orange").replace(" a apple", " an apple")
    s["sentences"] = text
    s["text"] = " ".join(text)
    if rng.random() < 0.3 and len(text) > 5:  # two paragraphs
        cut = rng.randint(2, len(text) - 3)
        s["text"] = " ".join(text[:cut]) + "\n\n" + " ".join(text[cut:])
    if any(x and x.lower() not in s["text"].lower() for x in (thing, place, friend if given_friend else None)):  # what was asked for is to come in it
        return make_story(rng, held, hero, animal, thing, place, short, given_he, bool(end), given_friend)
    s["last"] = beats and text[-2 if end else -1]
    return s
