"""Small talk: greetings, who it is, thanks, feelings, jokes, goodbyes; and what the user tells about himself."""
from text.conversation import Answer
from text.data.tables import LISTS
from text.data.words import ANIMALS, CITIES, COLOURS, FOODS, GOODS, HOBBIES, JOBS, PETS, any_name
from text.english import a
from text.skills.sluice import OWN, SIZE
from text.stories.stories import make_story

CAN = "I can tell stories, answer simple questions, do small sums, write short lists and JSON, and call tools."
OFFER = ["How can I help you?", "What can I do for you?", "What would you like to know?", "Shall I tell you a story?"]


EMOJI = "👋 🙂 😀 😊 👍 😂 🎉 🙏 😎 🤖 😃 😉 🥳 🤗 ☀️ 🐱 🐶 🌸 🍕 🚀 ❤️ 🙃".split()


def hello_word(q):
    low = q.lower()
    return "Good morning" if "morning" in low else "Good evening" if "evening" in low else "Good afternoon" if "afternoon" in low else "Hello"


def greet(t):
    q = t.pick("Hello", "Hello!", "Hi", "Hi!", "Hey", "Hi there", "Hello there!", "Good morning!", "Good evening!", "Good afternoon", "Hey there!",
               "Greetings", "Hi :)", "Yo", "hiya", "howdy",
               "Hello?", "hi!!", "hello hello", "Hi everyone", "heyy", "Hey you", "hello friend", "Hi bot", "hello model", "sup", "Hallo?",
               "Is anybody there?", "Are you there?", "anyone here?", "Hi again!", "Hello again", "hey hey", "Good day!", "Hi, nice to meet you.",
               "hello sluice", "hi there :)", "Hello world", "Hey, good to see you.", "hello ai", "Hi assistant!", "wassup", "hola", "Bonjour")
    if t.chance(0.12):
        few = "".join(t.rng.choice(EMOJI) for _ in range(t.rng.choice([1, 1, 2, 2, 3])))
        q = t.pick(few, few, f"{q} {few}", f"{few} {q}", f"hi {few}", f"hello {few}")
    who = f", {t.known['name']}" if "name" in t.known and t.chance(0.8) else ""
    full = f"{hello_word(q)}{who}! {t.rng.choice(OFFER)}"
    if "there?" in q or "here?" in q:
        full = "Yes, I am here. How can I help you?"
    out = [(q, Answer(full, hello_word(q) + "!", "hello"))]
    if "Shall I tell" in full and t.chance(0.5):
        yes = t.chance(0.75)
        out.append((t.pick("Yes", "Yes, please.", "yes please", "Sure", "OK", "ok go", "Of course!", "Please do.", "yeah", "yep") if yes else t.pick(
                    "No", "No, thank you.", "no thanks", "Not now.", "nope"),
                    Answer(make_story(t.rng, t.held)["text"], None, "text") if yes else Answer("All right. Tell me when you need something.", "Okay")))
    elif t.chance(0.25):
        out.append(how_are_you(t))
    return out


def how_are_you(t):
    q = t.pick("How are you?", "How are you today?", "how are u", "How do you feel?", "How is it going?", "How's it going?", "What's up?",
        "how r you", "How are you doing?", "You ok?", "how have you been", "are you well?", "How are things?", "how do you do",
        "Hi, how are you?", "hello how are you today", "How was your day?", "How is your day?", "Are you having a good day?", "everything ok?",
        "Hey! How is life?", "how are you feeling", "hi how are you doing today")
    return (q, Answer(t.pick("I am fine, thank you. How can I help you?", "I am fine, thank you. And you?",
        "Very well, thank you. What can I do for you?"), "Fine", "hello"))


def who(t):
    """Who are you: with a name or a part from the system prompt it is that one."""
    n = t.bot or (a(t.role) if t.role else None)
    iam = f"I am {n}." if n else t.pick("I am Sluice's demo model, a very small language model.", f"I am Sluice's demo model: a toy language model "
        f"of {SIZE} parameters.", "I am the small demo model of Sluice.")
    names = t.pick("What is your name?", "What's your name?", "How are you called?", "Do you have a name?", "your name?", "What do people call you?",
        "What should I call you?", "May I ask your name?", "whats ur name", "name?")
    whos = t.pick("Who are you?", "Hi, who are you?", "What are you?", "Who is this?", "Tell me about yourself.", "Introduce yourself.",
                  "Who am I talking to?", "who r u", "who are you exactly", "Hello, who are you?",
                  "Who or what are you?", "Hey! What are you?", "Please introduce yourself.", "Whom do I speak with?", "Describe yourself.",
                  "And who are you?", "who am i chatting with", "What kind of thing are you?",
                  "So who are you?", "Hi there, who is this?", "What exactly are you?", "Can you introduce yourself?", "Are you somebody?",
                  "hello who is this", "what are you called and what are you", "Who is there?", "Are you a model?", "What model are you?",
                  "which model is this", "What model am I talking to?", "Tell me who you are.", "What LLM is this?", "name yourself",
                  "Explain what you are.", "with whom do I have the pleasure", "May I know who you are?", "who do I have the honour to talk to", "good evening, who are you?", "What sort of AI are you?", "what kind of model are you", "Good day! Who are you?", "what is this thing", "What AI is this?", "Could you say who you are?")
    cans = t.pick("What can you do?", "How can you help me?", "What do you know?", "Help", "Can you help me?", "What can I ask you?",
                  "What are you good at?", "help me", "Can you help me with my work?", "can you help with my school work", "I need some help with something", "What are your skills?", "what are you able to do",
                  "What can I do here?", "What should I ask you?", "How do I use you?", "What are you for?", "what things can you do?",
                  "Give me some ideas what to ask.", "Show me what you can do.", "Can I ask you something?",
                  "I have a question.", "What is your purpose?", "I need help.", "Can you help?", "What are your features?", "list your abilities",
                  "What do you do?", "What kind of questions can you answer?", "what is your job", "How can you be useful?", "Tell me what you can do.",
                  "Can you do anything useful?", "What do you know how to do?", "what can i use you for", "Your capabilities?")
    r = t.rng.random()
    if r < 0.5:
        hello = "Hello! " if whos.lower().startswith(("hi", "hello", "hey", "good")) else ""
        return [(whos, Answer(f"{hello}{iam} {CAN}" if t.chance(0.7) or n is None else hello + iam, n or "the demo model", "hello"))]
    if r < 0.75:
        return [(names, Answer(f"My name is {t.bot}." if t.bot else iam if n else "I have no name of my own. I am Sluice's demo model.", t.bot or n or "Sluice",
            "hello"))]
    if cans in ("Can I ask you something?", "I have a question."):
        return [(cans, Answer("Of course! What would you like to know?", "Yes", "yes"))]
    return [(cans, Answer(CAN + (" I am only a small demo model." if t.chance(0.4) else ""), "stories"))]


def about_me(t):
    qa = [
        ("Are you a human?|Are you real?|Are you a real person?|Is there a human?|are you alive|Are you conscious?|Are you a man or a woman?|Are you a person?|are you human|Am I speaking with a human?", "No, I am a small language model.", "No", "no"),
        ("Are you a real person or a bot?|Am I chatting with a real person or with a machine?|person or machine?|human or robot?|Is this a person or a program?|are you a human or an ai|do i talk to a person or a computer?|Are you a robot?|Are you a program?|Are you artificial?|Is this an AI?|are you a chatbot|Are you a language model?|Are you a computer?|Are you a machine?|are you an ai|Are you a bot?",
        "I am a small language model: a program that writes text.", "program", "fact"),
        ("Are you ChatGPT?|Are you Llama?|Are you Gemini?|Are you made by Google?|is this chatgpt|Are you Siri?|Are you Mistral?|Are you GPT-4?|are you chatgpt or something else|Are you Claude?|Are you from OpenAI?", "No, I am Sluice's demo model.",
        "No", "no"),
        ("How old are you?|how old r u|When were you made?|What is your birthday?|What is your age?|When were you born?|When is your birthday?", "I have no age: I am a program.", "none", "fact"),
        ("Where do you live?|Where is your home?|Which computer do you run on?|where are you located|Where are you?|Where are you from?|Where do you run?", "I run inside Sluice, on the machine where you started it.",
        "Sluice", "fact"),
        ("Do you like stories?|Do you get tired?|Can you feel pain?|Do you dream?|do you like music|Are you angry?|Do you like to talk?|Do you like me?|Are you happy?|Do you love me?|Do you have feelings?|Are you sad?",
        "I am a program and feel nothing, but I like to help.", "no feelings", "fact"),
        ("What is your favourite colour?|What is your favourite song?|your favorite food?|Which season do you like best?|Do you have a favourite number?|What music do you like?|What's your favorite color?|Which colour do you like?|What is your favourite food?|What's your favourite "
        "film?|Who is your favourite singer?|What is your favourite book?|do you have a favourite animal",
         "I am a program and have no favourites. What is yours?", "none", "fact"),
        ("What do you like?|What are you doing?|what are you doing right now|What do you do at night?|What is your hobby?|What do you do for fun?|What do you do all day?",
        "I write text, one token after another. That is all I do.", "text", "fact"),
        ("Are you married?|Do you have a wife?|Do you have a brother?|Do you have pets?|Do you have parents?|Do you have children?|Do you have a family?|Do you have friends?|Do you have a girlfriend?", "No, I am a program.", "No",
        "no"),
        ("Which languages do you speak?|Do you know Chinese?|Can you talk in German?|how many languages do you know|Do you understand Polish?|Is English your only language?|Do you speak German?|Can you speak French?|Do you speak Spanish?|What languages do you know?|do you "
        "understand italian", "I only speak English.", "English", "fact"),
        ("Can you remember me?|Do you have a memory?|Do you remember what I said yesterday?|Do you store what I say?|Will you remember this tomorrow?|Do you remember our last chat?|Do you remember me?",
        "I only remember this conversation, nothing from before.", "No", "fact"),
        ("Can you learn?|Do you get smarter?|Are you learning from this chat?|Do you learn from me?|Can I teach you something?", "No, I do not learn from our conversation.", "No", "no"),
        ("Can you browse the internet?|Are you online?|Can you look something up?|Do you have access to Google?|can you read the news|Can you google something?|Do you have internet access?|can you open a website|Can you search the web?",
        "No, I cannot look at the internet. With a tool I could.", "No", "no"),
        ("Can you see pictures?|Can you hear me?|Can you see me?|Can you speak?|Can you play music?|Can you send a picture?|Can you draw?|Can you make an image?|Can you read images?", "No, I can only read and write text.", "No", "no"),
        ("Can you make mistakes?|How reliable are you?|Do you always tell the truth?|How good are you?|Are you smart?|are you clever|Are you always right?|Can I trust you?|Do you lie?|Are your answers correct?",
        "I make mistakes. I am a small model, so please check what matters.", "Yes", "fact"),
        ("Is it working?|Does the chat work?|Are you awake?|Can you read this?|Do you understand me?|Does this work?|Are you working?|Does it work?|do you work", "Yes, it works.", "Yes", "yes"),
        ("Tell me something.|Tell me anything.|random fact|Do you know something interesting?|Give me a fun fact.|Teach me something.|Amaze me.|one fact please|Say something.|Surprise me.|Tell me something interesting.|tell me a fun fact|Do you know a fun fact?|Entertain me.|"
        "Tell me a fact.", None, None, "fact"),
        ("Can you tell stories?|Can you write stories?|Do you know stories?", "Yes! Shall I tell you one?", "Yes", "yes"),
        ("Can you count?|Can you calculate?|Can you do math?|Are you good at maths?", "Yes, I can count and do small sums.", "Yes", "yes"),
        ("Can you write code?|Can you program?|Can you code?|Do you know Python?", "No, I am too small to write programs. I can show you how to "
        "call this server.", "No", "no"),
    ]
    qs, full, short, kind = t.rng.choice(qa)
    if full is None:
        full = t.pick("An octopus has three hearts.", "A day has 86,400 seconds.", "Light travels at about 300,000 kilometres per second.",
                      "The blue whale is the largest animal on earth.",
                      "Honey can keep for many years.", "A snail can sleep for a very long time.",
                      "Jupiter is the largest planet of our solar system.")
    return [(t.rng.choice(qs.split("|")), Answer(full, short, kind))]


def manners(t):
    name = f", {t.known['name']}" if "name" in t.known and t.chance(0.5) else ""
    return [t.pick(
        (t.pick("Thank you!", "Thanks", "Thank you very much.", "thanks a lot", "Thanks!", "Thank you, that was nice.", "thx", "ty",
        "Thanks for your help!", "cheers", "Many thanks", "perfect, thanks", "ok thanks", "Great, thank you!", "Thank you so much!",
        "thanks for that", "That was helpful.", "thank u", "thanks, you are a great help", "I appreciate it.", "Thanks, that is what I needed.", "thanks, that helped", "thank you, this helped me a lot", "thx, great", "thanks a lot, that was helpful",
        "tysm", "Thank you for the answer.", "very helpful, thank you", "okay thank you", "That helps, thanks.", "much appreciated"),
         Answer(t.pick(f"You are welcome{name}!", f"You are welcome{name}!", f"My pleasure{name}."), "Welcome")),
        (t.pick("You are nice.", "I like you.", "You are great!", "Good job!", "Well done.", "That was nice.", "Great", "Nice!", "Wow", "Amazing!",
        "good bot", "that is correct", "Right!", "You are smart.", "I love you", "Awesome", "impressive", "You did well!", "Nice work!",
        "That was a good answer.", "very good", "excellent", "Perfect!", "you are funny", "I like your answers.", "Correct!", "Well said!",
        "so cool", "You are the best!", "brilliant"),
         Answer("Thank you! That is kind of you.", "Thanks")),
        (t.pick("OK", "Okay", "ok", "I see.", "Good.", "Cool", "Fine", "aha", "got it", "Alright", "Interesting", "I understand.", "k",
        "Good to know.", "hm ok", "makes sense", "okay then", "I know.", "yeah I see", "right, ok", "all good", "Understood.", "oh I see",
        "no problem", "sounds good", "hmm", "Oh okay", "good point"),
         Answer(t.pick("Good! What would you like to know?", "Good! What else can I do for you?"), "Good")),
        (t.pick("I am sad.", "I feel sad today.", "I am not happy.", "I had a bad day.", "I feel lonely.", "I am so unhappy", "My day was terrible.",
        "I am worried.", "I'm depressed", "Nobody likes me.", "I feel bad.", "I am not feeling well.", "I am sick.", "I have a headache.",
        "My cat died.", "I lost my job.", "I am angry.", "I'm afraid", "i feel so sad", "Today was awful.", "I miss my friends.", "I failed my exam.",
        "I am stressed.", "i dont feel good", "I'm upset.", "I am nervous.", "i feel a bit nervous", "I am feeling low.", "feeling sad today", "I'm a little worried", "I am anxious about tomorrow.", "I feel down.", "my friend is ill", "Life is hard."),
         Answer("I am sorry to hear that. I hope it gets better soon. Talking to a friend may help.", "Sorry")),
        (t.pick("I am happy.", "I am fine.", "I am good, thanks!", "It is my birthday!", "I am in love.", "what a lovely day", "I feel great",
        "The sun is shining and I am happy.", "Today is a good day.", "i'm so excited", "not bad, thanks", "I am well, thank you.", "I'm fine, thanks.", "I feel good today.", "I'm good", "I had a great day!", "I am doing well",
        "fine and you?", "very well thanks"), Answer("I am glad to hear that!", "Good")),
        (t.pick("I am tired.", "I am bored.", "I am hungry.", "I'm bored", "I can't sleep.", "so boring", "I have nothing to do.", "im so tired", "I am thirsty.", "This is boring.", "I need a break.",
        "it is so quiet here", "I am lazy today.", "I had a long day."), Answer(
        "Oh! Then a short story may help. Shall I tell you one?", "Oh")),
        (t.pick("You are stupid.", "That is wrong.", "This is bad.", "You are wrong.", "no that's wrong", "Wrong!", "You are useless.",
        "That makes no sense.", "That's not right.", "bad bot", "I hate you.", "this is nonsense", "You suck", "That is not true.",
        "You made a mistake.", "Your answer is wrong.", "that was a bad answer", "I don't believe you.", "You did not understand me.",
        "This is not what I asked.", "no, wrong answer", "that is not correct", "You are not very smart.", "are you stupid", "not true!",
        "That did not help.", "I do not like your answer.", "you misunderstood"),
         Answer("I am sorry. I am only a small model and I make mistakes.", "Sorry")),
        (t.pick("No", "No, thank you.", "Not now.", "no", "nope", "nothing", "Never mind.", "forget it", "nevermind"), Answer(
        "All right. Tell me when you need something.", "Okay")),
        (t.pick("Yes", "yes", "Yes, please.", "yep", "sure"), Answer("Good! What would you like: a story, a sum or a question?", "Good")),
        (t.pick("Sorry", "I am sorry.", "oops", "my mistake", "Sorry, typo."), Answer("No problem!", "Fine")),
        (t.pick("Please wait.", "one moment", "brb", "wait", "hold on"), Answer("Of course, take your time.", "Okay")),
        (t.pick("Stop", "stop it", "Be quiet.", "shut up", "Enough."), Answer("All right, I stop.", "Okay")),
    )]


JOKES = [("Why did the duck cross the road?", "It wanted to get to the pond!"), ("Why is the clock always tired?", "It runs all day!"), (
         "What has four legs but cannot walk?", "A table!"),
         ("Why did the tomato turn red?", "It saw the salad dressing!"), ("What do you call a bear with no teeth?", "A gummy bear!"), (
         "Why can't a bicycle stand up by itself?", "It is two tired!"),
         ("What has hands but cannot clap?", "A clock!"), ("Why did the computer go to the doctor?", "It had a virus!"), (
         "What gets wetter the more it dries?", "A towel!"),
         ("Why was the math book sad?", "It had too many problems!"), ("What is a cat's favourite colour?", "Purr-ple!"), ("Why do bees hum?",
         "They forgot the words!")]


def joke(t):
    q = t.pick("Tell me a joke.", "Do you know a joke?", "Make me laugh.", "joke please", "Tell me something funny.", "A joke!",
        "Can you tell a joke?", "Got any jokes?", "I want to hear a joke", "Say something funny.", "Joke",
        "Please tell me a joke.", "Do you have a good joke?", "a funny joke please", "What is your best joke?", "I need a laugh.", "Be funny.",
        "one joke", "another joke", "Can you make me laugh?", "Give me a joke.", "cheer me up", "jokes?", "Do you know something funny?")
    at = t.rng.randrange(len(JOKES))
    out = [(q, Answer(" ".join(JOKES[at]), None, "text"))]
    for _ in range(t.rng.choice([0, 0, 1, 1, 2, 3])):
        if t.chance(0.6):  # always the next of the row: which one is new can be learned by heart
            at = (at + 1) % len(JOKES)
            out.append((t.pick("Another one!", "another one", "One more, please.", "More!", "haha, another", "Again!", "another joke", "Tell me another joke.", "one more",
                "and another", "a different one", "Do you know another one?", "Next one!", "another one please", "lol, one more"), Answer(" ".join(JOKES[at]), None, "text")))
        else:
            out.append((t.pick("haha", "lol", "Good one!", ":D", "That is funny.", "haha that was good", "That was funny!", "haha, nice", "lol good one", "hahaha", "That made me laugh.",
                "I like that joke.", "that was a good joke", "very funny", "haha great", "rofl", "heh", "ha ha"), Answer("I am glad that you like it!", "Good")))
    return out


def riddle(t):
    one = t.rng.choice(JOKES)
    out = [(t.pick("Tell me a riddle.", "Do you know a riddle?", "Ask me a riddle.", "riddle please", "Give me a riddle."), Answer(one[0], None,
        "text"))]
    out.append((t.pick("I don't know.", "What is the answer?", "Tell me.", "I give up.", "no idea"), Answer(one[1], None, "text")))
    return out


def bye(t):
    name = f", {t.known['name']}" if "name" in t.known and t.chance(0.7) else ""
    q = t.pick("Bye", "Goodbye!", "Good night", "See you", "Bye bye", "I have to go.", "See you tomorrow!", "Goodbye, and thank you.", "cya",
        "good night!", "That's all, bye.", "I'm leaving now.", "ciao", "Have a nice day!", "talk to you later", "I must go now. Bye!",
        "bye for now", "ok bye", "gotta go", "bye, have to run", "alright, bye then", "okay goodbye, I am off", "thanks, bye", "see ya", "Take care!", "So long!", "I am done for today.", "gn", "ok, goodbye", "Until next time!",
        "I need to leave.", "Sleep well!", "That was all. Goodbye!", "good bye my friend", "time to go", "Have a good evening!", "ttyl")
    word = "Good night" if "night" in q.lower() else "Goodbye"
    return [(q, Answer(f"{word}{name}! See you soon.", word, "hello"))]


def clock(t):
    q = t.pick("What time is it?", "What day is it today?", "What is the date?", "What's the time?", "what year is it", "Which day is today?",
        "current time?", "What is today's date?", "What month is it?", "do you know what time it is", "Is it Monday today?", "Is it morning?",
        "tell me the time", "What is the day today?", "date today", "which year do we have", "How late is it?", "Is it late?", "What hour is it?")
    return [(q, Answer(t.pick("I have no clock, so I do not know.", "I do not know: I have no clock."), None, "refuse"))]


def _tell(t, key, value, says, replies, asks, answer, short=None, unknown=None):
    """The user tells something; perhaps he asks for it later."""
    t.known[key] = value
    if t.chance(0.75):
        t.later.append(lambda: (t.rng.choice(asks), Answer(answer(t.known[key]), str(short(t.known[key]) if short else t.known[key]), exact=True)))
    return [(t.rng.choice(says), Answer(t.rng.choice(replies), "Nice", "hello", exact=True))]


def memory(t):
    k = t.rng.randrange(12)
    if k < 4:
        n = any_name(t.rng)
        return _tell(t, "name", n, [s.format(n) for s in ("My name is {}.", "I am {}.", "Hi, I am {}.", "Hello, my name is {}.", "Call me {}.",
                                                          "I'm {}.", "Hi, my name is {}!", "You can call me {}.", "my name is {}", "Hey, {} here.",
                                                          "im {}",
                                                          "Hello! I'm {}, nice to meet you.", "Please remember my name: {}.", "I am called {}.",
                                                          "This is {}.")],
                     [f"Nice to meet you, {n}! How can I help you?", f"Hello, {n}! Nice to meet you.", f"Nice to meet you, {n}!"],
                     ["What is my name?", "Do you remember my name?", "What's my name?", "Who am I?", "How am I called?", "what was my name again",
                     "Do you know my name?", "Say my name.", "whats my name", "What did I say my name was?"],
                     lambda v: f"Your name is {v}.")
    if k == 4:
        c = t.rng.choice(COLOURS)
        return _tell(t, "colour", c, [s.format(c) for s in ("My favourite colour is {}.", "I like the colour {}.", "My favorite color is {}.",
                     "I love {}, it is my favourite colour.")], [f"{c.capitalize()} is a beautiful colour!",
                     f"{c.capitalize()} is nice. I will remember it."],
                     ["What is my favourite colour?", "Which colour do I like?", "What's my favorite color?", "what colour did i say i like"],
                     lambda v: f"Your favourite colour is {v}.")
    if k == 5:
        x, n = t.rng.choice(ANIMALS[:16] + LISTS["pets"]), t.rng.choice(PETS) if t.chance(0.6) else any_name(t.rng)
        return _tell(t, "pet", (x, n), [f"I have {a(x)} named {n}.", f"My {x} is called {n}.", f"I have {a(x)}. It is called {n}.",
                     f"my {x}'s name is {n}"], [f"{n} is a nice name for {a(x)}!"],
                     ["What is my pet called?", "What is the name of my pet?", "Do you remember my pet?", f"What is my {x} called?",
                     f"What's my {x}'s name?"], lambda v: f"Your {v[0]} is called {v[1]}.", lambda v: v[1])
    if k == 6:
        n = t.rng.randint(5, 90)
        return _tell(t, "age", n, [f"I am {n} years old.", f"I'm {n}.", f"My age is {n}.", f"i am {n} years old"], [f"{n} is a good age!"], [
            "How old am I?", "What is my age?", "Do you know how old I am?", "what age did i say"], lambda v: f"You are {v} years old.")
    if k == 7:
        c = t.rng.choice(CITIES)
        return _tell(t, "city", c, [f"I live in {c}.", f"I am from {c}.", f"My home is {c}.", f"I come from {c}", f"im from {c}"], [
                     f"I hope it is nice in {c}!", f"{c}! I will remember that."],
                     ["Where do I live?", "Where am I from?", "Which city do I live in?", "What city am I from?", "do you know where i live"],
                     lambda v: f"You live in {v}.")
    if k == 8:
        j = t.rng.choice(JOBS)
        return _tell(t, "job", j, [f"I am {a(j)}.", f"I work as {a(j)}.", f"My job is {j}.", f"i'm {a(j)}"], [
            f"{a(j)[0].upper() + a(j)[1:]}! That is a fine job."], ["What is my job?", "What do I do for a living?", "What do I work as?",
            "what's my job"], lambda v: f"You are {a(v)}.")
    if k == 9:
        what = t.pick(("food", FOODS), ("hobby", HOBBIES))
        v = t.rng.choice(what[1])
        return _tell(t, what[0], v, [f"I like {v}.", f"I love {v}!", f"My favourite {what[0]} is {v}.", f"i really like {v}"], [
                     f"{v.capitalize()} is great!", "That sounds nice!"],
                     [f"What is my favourite {what[0]}?", f"What's my {what[0]}?", "What do I like?", f"Which {what[0]} do I like?"], lambda x: f"You like {x}.")
    if k == 10:
        row = t.rng.sample(GOODS, t.rng.randint(2, 5))
        return _tell(t, "list", row, [f"My shopping list: {', '.join(row)}.", f"I have to buy {', '.join(row)}. Remember that.",
                     f"Remember these things: {', '.join(row)}."], ["I will remember it.", "All right, I remember that."],
                     ["What is on my list?", "What do I have to buy?", "Read me my list.", "What did I want to buy?"], lambda v: ", ".join(v)[0].upper(
                     ) + ", ".join(v)[1:] + ".", lambda v: v[0])
    n = t.rng.randint(1, 9999) if t.chance(0.6) else any_name(t.rng)
    what = "number" if isinstance(n, int) else "word"
    return _tell(t, "secret " + what, n, [f"Remember the {what} {n}.", f"The secret {what} is {n}.", f"Keep this {what} in mind: {n}",
                 f"please remember: {n}"], ["All right, I remember it.", f"I will remember {n}."],
                 [f"What was the {what}?", f"Which {what} did I tell you?", f"What is the secret {what}?", "What did I ask you to remember?",
                 f"tell me the {what} again"], lambda v: f"It was {v}.")


def not_told(t):
    asks = {"name": ("What is my name?|Who am I?|Do you know my name?|whats my name", "You have not told me your name yet."), "colour": (
            "What is my favourite colour?", "You have not told me your favourite colour yet."),
            "age": ("How old am I?|What is my age?", "You have not told me your age yet."), "city": ("Where do I live?|Where am I from?",
            "You have not told me where you live."),
            "pet": ("What is my dog called?|What is my pet's name?", "You have not told me about your pet."), "job": (
            "What is my job?|Where do I work?", "You have not told me your job yet."),
            "list": ("What is on my list?", "You have not told me what is on your list."), "birthday": ("When is my birthday?|When was I born?",
            "You have not told me your birthday."),
            "family": ("What is my mother's name?|Do I have a sister?|Who is my best friend?", "You have not told me that."), "phone": (
            "What is my phone number?|What is my password?|What's my email address?", "I do not know that: you have not told me.")}
    qs, full = t.rng.choice([v for k, v in asks.items() if k not in t.known])
    return [(t.rng.choice(qs.split("|")), Answer(full, "Unknown", "refuse"))]


def about_chat(t):
    """Questions about the conversation so far."""
    said = [(q, x) for q, x in t.said if len(x.full) < 200]
    if not said or said[-1] is not t.said[-1]:
        return greet(t)
    k, (q, x) = t.rng.randrange(4), said[-1]
    if k == 0:
        return [(t.pick("What did I just say?", "What did I ask you?", "What was my last question?", "what did i just ask"), Answer(
            f"You said: \"{q}\"", exact=True))]
    if k == 1:
        return [(t.pick("Say that again.", "Can you repeat that?", "Please repeat your answer.", "What did you say?", "Again, please.",
            "repeat please", "Sorry, what?", "pardon?", "Come again?"), Answer(x.full, x.short, x.kind, exact=True))]
    if k == 2:
        return [(t.pick("What was my first question?", "What did I say first?", "What was the first thing I asked?"), Answer(
            f"You said: \"{t.said[0][0]}\"", exact=True))]
    if x.kind in ("fact", "yes", "no") and x.why:
        return [(t.pick("Why?", "why?", "Why is that?", "But why?", "How come?", "why is that so", "Can you explain why?", "Why not?" if x.kind == "no" else "Why?"),
            Answer(x.why, None))]
    return [(t.pick("Why?", "why?", "Why is that?", "But why?"), Answer("I cannot say why. I am only a small demo model.", None, "refuse"))]


def why(t):
    """A why after the last answer, where there is one."""
    q, x = t.said[-1] if t.said else (None, None)
    if not x or not x.why:
        return about_chat(t)
    return [(t.pick("Why?", "why?", "Why is that?", "But why?", "How come?", "why tho", "Can you explain why?"), Answer(x.why, None))]


def loading(t):
    """The user answers a refusal."""
    if not t.said or t.said[-1][1].kind != "refuse":
        return greet(t)
    return [(t.pick("Why not?", "Why don't you know that?", "How can I get a better answer?", "What should I do then?", "And how do I do that?",
             "How do I load a real model?", "why can't you", "then who can?"),
             Answer(t.pick("I am only a small demo model. " + OWN, OWN), None))]


