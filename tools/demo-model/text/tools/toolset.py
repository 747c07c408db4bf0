"""Tools that a user of the API may offer: what they are called, what they take, how one asks for them, what comes back.

A family is one kind of tool with several names and wordings. `made_family` invents families out of random words, so
that the model learns to read names and arguments from the list of tools instead of knowing them.
"""
import re

from text.data.values import MESSAGES, VALUES
from text.data.words import ADJECTIVES, CITIES, FOODS, GOODS, JOBS, LANGUAGES, NAMES, NOUNS, SURNAMES, TASKS, THINGS, TOPICS, VERBS, WORKS, any_name, invented
from text.english import a, first_up, joined
from text.tools.madeup import MADE, Said, name_of, title


WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
DOING = set("""get set find check create update delete add remove list show search make new my the of to and send start stop open close book cancel look up lookup fetch read write
    save count move print run do is on off for by in info data name api now current all change edit view""".split())


class Param:
    def __init__(self, names, type_, about, kind, required=True, enum=None):
        self.names, self.type, self.about, self.kind, self.required, self.enum = names.split(), type_, about, kind, required, enum


class Family:
    """asks: wordings with {0}, {1}: the params that occur are given as arguments.
    reply: (rng, values) -> (result, answer); values are those of the call by index of the param, None where left out."""

    def __init__(self, names, about, params, asks, reply, missing=None, again=None):
        self.names, self.about, self.params, self.asks, self.reply = names.split(), about, params, asks, reply
        self.missing = missing  # (wordings without the first argument, question back)
        self.again = again  # wordings with {0} that ask for the same with another first argument
        self.things = {w.lower() for n in self.names for w in WORDS.findall(n)} - DOING

    def resembles(self, other):
        """Whether both may be about the same thing, so that what one of them is asked could be meant for the other."""
        return bool(self.things & other.things)


LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
CODES = "ord order inv pay usr user cus acc tkt ticket tx txn ref sub item sku job task msg rf req srv bk res pkg case emp doc inc".split()


def _code(rng):
    """A number of an order, an article, a payment and the like, as shops and programs write them."""
    digits = "".join(rng.choice("0123456789") for _ in range(rng.choice([2, 3, 3, 4, 4, 5, 6])))
    if rng.random() < 0.15:
        return rng.choice(["", "#"]) + digits
    front = rng.choice(CODES) if rng.random() < 0.35 else "".join(rng.choice(LETTERS) for _ in range(rng.choice([1, 2, 2, 3])))
    if front.islower() and rng.random() < 0.3:
        front = front.upper()
    back = rng.choice(["", "", "", "", "-" + rng.choice(LETTERS), rng.choice(LETTERS), "-" + str(rng.randint(1, 99))])
    return rng.choice(["", "", "", "", "#"]) + front + rng.choice(["-", "-", "_" if front.islower() else "", ""]) + digits + back


def _email(rng):
    first, last = rng.choice(NAMES).lower(), (rng.choice(SURNAMES) if rng.random() < 0.6 else invented(rng)).lower()
    who = rng.choice([first, first, last, f"{first}.{last}", f"{first}_{last}", f"{first[0]}.{last}", f"{first}{rng.randint(1, 99)}", invented(rng).lower(), rng.choice(["info", "sales", "office", "hello", "support"])])
    house = rng.choice(["example", "mail", "test", "post", last + rng.choice(["works", "shop", "mail", "lab", "group", ""]), rng.choice(NOUNS) + rng.choice(["", "ly", "hub"]), invented(rng).lower()])
    return f"{who}@{house}.{rng.choice(['com', 'com', 'org', 'net', 'io', 'de', 'co.uk', 'eu'])}"


def value(rng, kind):
    if kind == "city":
        return rng.choice(CITIES) if rng.random() < 0.75 else invented(rng)
    if kind == "name":
        return any_name(rng)
    if kind == "full":
        return rng.choice(NAMES) + " " + (rng.choice(SURNAMES) if rng.random() < 0.7 else invented(rng))
    if kind == "email":
        return _email(rng)
    if kind == "code":
        return _code(rng)
    if kind == "flight":
        return "".join(rng.choice(LETTERS) for _ in range(2)) + rng.choice(["", "", " "]) + str(rng.randint(10, 9999))
    if kind == "message":
        return rng.choice(MESSAGES) if rng.random() < 0.85 else rng.choice(TASKS).format(rng.choice(NAMES))
    if kind == "int":
        return rng.choice([rng.randint(1, 20), rng.randint(1, 100), rng.randint(1, 9999)])
    if kind == "small":
        return rng.randint(2, 30)
    if kind == "id":
        return rng.choice([str(rng.randint(1, 99999)), rng.choice("ABCXRT") + str(rng.randint(10, 9999)), f"{rng.choice(['ord', 'usr', 'inv', 'tkt'])}-{rng.randint(1, 999)}"])
    if kind == "money":
        return rng.choice([rng.randint(1, 1000), 10 * rng.randint(1, 100), 50, 100])
    if kind == "time":
        return rng.choice([f"{rng.randint(6, 22)}:{rng.choice(['00', '15', '30', '45'])}", f"{rng.randint(1, 12)} {rng.choice(['am', 'pm'])}", f"{rng.randint(1, 12)}{rng.choice(['am', 'pm'])}",
            rng.choice([f"{rng.randint(1, 12)}:{rng.choice(['05', '15', '20', '30', '45'])}{rng.choice(['am', 'pm', ' am', ' pm'])}", "noon", "midnight", f"{rng.randint(6, 22)}h"])])
    if kind == "date":
        return rng.choice([f"20{rng.randint(24, 30)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}", rng.choice(
            "Monday Tuesday Wednesday Thursday Friday Saturday Sunday today tomorrow".split()), rng.choice(["next Monday", "next week", "Friday evening", "tomorrow morning", "tonight",
            f"{rng.choice('January February March April May June July August September October November December'.split())} {rng.randint(1, 28)}"])])
    if kind == "word":
        return rng.choice(NOUNS + ADJECTIVES + THINGS) if rng.random() < 0.8 else invented(rng, False)
    if kind == "topic":
        return rng.choice([rng.choice(TOPICS), rng.choice(THINGS) + "s", rng.choice(ADJECTIVES) + " " + rng.choice(THINGS) + "s", rng.choice(WORKS)])
    if kind == "subject":  # of a mail, a note or an event
        words = [rng.choice(NOUNS + ADJECTIVES) for _ in range(rng.choice([1, 1, 2, 2, 3]))]
        return rng.choice([" ".join(words), first_up(" ".join(words)), f"{first_up(words[0])} on {value(rng, 'day')}", f"{first_up(words[0])} {rng.choice(['with', 'for', 'from', 'and'])} {rng.choice(NAMES)}",
            f"{rng.choice(['Your', 'My', 'Our', 'New'])} {words[0]}", f"{first_up(words[0])} {rng.randint(1, 2030)}", "Re: " + words[0]])
    if kind == "day":
        return rng.choice("Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split())
    if kind == "text":
        if rng.random() < 0.4:
            return rng.choice(TASKS).format(rng.choice(NAMES))
        return " ".join(rng.choice(NOUNS + VERBS + ADJECTIVES + ["the", "my", "to", "a", "and"] * 12) for _ in range(rng.randint(2, 6)))
    if kind == "expr":
        x, y = rng.randint(1, rng.choice([20, 99, 999])), rng.randint(1, rng.choice([20, 99, 999]))
        if rng.random() < 0.45:
            sign, word = rng.choice([("+", "plus"), ("-", "minus"), ("*", "times"), ("*", "multiplied by"), ("/", "divided by")])
            return Said(f"{x} {sign} {y}", f"{x} {word} {y}")
        return rng.choice([f"{x} * {y}", f"{x} + {y}", f"{x} - {y}", f"{x * 1} / {rng.randint(2, 9)}", f"({x} + {y}) * {rng.randint(2, 9)}",
            f"{x}*{y}"])
    if kind == "language":
        return rng.choice(LANGUAGES)
    if kind == "currency":
        code = rng.choice("USD EUR GBP JPY CHF CAD AUD INR CNY SEK".split())
        return Said(code, rng.choice(["{1} ({0})", "{0} ({1})"]).format(code, CURRENCIES[code])) if code in CURRENCIES and rng.random() < 0.4 else code
    if kind == "symbol":
        return "".join(rng.choice("ABCDEFGHIJKLMNOPQRSTUVWXYZ") for _ in range(rng.randint(3, 4)))
    if kind == "room":
        return rng.choice("kitchen|bedroom|living room|bathroom|hall|office|garage|cellar|garden".split("|"))
    if kind == "path":
        return rng.choice(["/", "./", "/home/", "/tmp/", "src/", "docs/"]) + rng.choice(NOUNS) + rng.choice([".txt", ".json", ".md", ".csv", ".py",
            ""])
    if kind == "food":
        return rng.choice(FOODS)
    if kind == "song":
        if rng.random() < 0.4:
            return title(rng)
        return rng.choice(WORKS) if rng.random() < 0.5 else first_up(rng.choice(ADJECTIVES)) + " " + first_up(rng.choice(THINGS))
    if kind == "thing":
        return rng.choice(THINGS) if rng.random() < 0.8 else invented(rng, False)
    if kind == "job":
        return rng.choice(JOBS)
    if kind == "unitname":
        return rng.choice("miles kilometres metres feet inches centimetres pounds kilograms grams ounces litres gallons celsius fahrenheit hours "
            "minutes seconds".split())
    if kind == "decimal":
        return rng.choice([0.5, 1.5, 2.5, round(rng.uniform(0.1, 9.9), 1), round(rng.uniform(10, 400), 1), rng.randint(2, 90)])
    if kind == "people":
        return [value(rng, "full") for _ in range(rng.choice([2, 2, 3]))]
    if kind == "goods":
        return rng.sample(GOODS, rng.randint(1, 4))
    if kind == "flag":
        return rng.random() < 0.5
    if kind in MADE:
        return MADE[kind](rng)
    if kind in ("book", "movie", "album") and rng.random() < 0.4:
        return title(rng)
    if kind in ("event", "project") and rng.random() < 0.25:
        return name_of(rng)
    if kind in VALUES:
        return rng.choice(VALUES[kind])
    return rng.choice(NOUNS)


CURRENCIES = {"USD": "US dollars", "EUR": "euros", "GBP": "pounds", "JPY": "yen", "CHF": "francs", "INR": "rupees"}
P = Param
_SKY = "sunny cloudy rainy windy snowy foggy clear".split()
_SKY_WITH = ["snow", "rain", "light rain", "heavy rain", "fog", "wind", "clear sky", "clouds", "thunderstorms", "sunshine", "light snow", "hail"]


def _weather(rng, v):
    deg, sky = rng.randint(-15, 38) if rng.random() < 0.6 else round(rng.uniform(-15, 38), 1), rng.choice(_SKY)
    unit = "degrees Fahrenheit" if v[1] == "fahrenheit" else "degrees"
    if rng.random() < 0.5:
        sky = rng.choice(_SKY_WITH)
        text = f"It is {deg} {unit} with {sky} in {v[0]}."
        place = rng.choice([{}, {}, {"city": v[0]}, {"location": v[0]}])
        key = rng.choice(["condition", "conditions", "weather", "sky", "description", "summary"])
        return {**place, rng.choice(["temperature", "temp", "degrees"] if v[1] == "fahrenheit" else ["temperature", "temp", "temp_c", "degrees"]): deg, key: sky}, text
    return rng.choice([
        ({"temperature": deg, "condition": sky}, f"It is {deg} {unit} and {sky} in {v[0]}."), ({"city": v[0], "temp": deg, "weather": sky},
        f"It is {deg} {unit} and {sky} in {v[0]}."),
        ({"temperature": deg, "unit": v[1] or "celsius", "conditions": sky}, f"It is {deg} {unit} and {sky} in {v[0]}."), (f"{deg} degrees, {sky}",
        f"It is {deg} {unit} and {sky} in {v[0]}."),
        ({"location": v[0], "temperature": deg}, f"It is {deg} {unit} in {v[0]}.")])


def _number(rng):
    return rng.choice([rng.randint(0, 100), rng.randint(100, 99999), round(rng.uniform(0, 1000), 2)])


def number_of(key, text):
    """A result with one number under the key."""
    def reply(rng, v):
        n = _number(rng)
        return rng.choice([({key: n}, n), (str(n), n)])[0], text.format(*v, r=n)
    return reply


def done(*texts):
    def reply(rng, v):
        return rng.choice([{"status": "ok"}, {"success": True}, "ok", {"status": "sent"}, {"id": rng.randint(1, 9999), "status": "created"}, "done",
            {"result": "success"}]), rng.choice(texts).format(*v)
    return reply


def _calc(rng, v):
    n = eval(v[0])  # of the sums that value() makes
    n = round(n, 2) if isinstance(n, float) and n != int(n) else int(n)
    return rng.choice([{"result": n}, str(n), {"value": n}]), f"{v[0]} = {n}."


def _add(rng, v):
    n = v[0] + v[1]
    return rng.choice([{"result": n}, str(n), {"sum": n}]), f"The result is {n}."


def _time(rng, v):
    x = f"{rng.randint(0, 23):02}:{rng.randint(0, 59):02}"
    return rng.choice([{"time": x}, x, {"timezone": v[0], "time": x}]), f"It is {x} in {v[0]}."


def _now(rng, v):
    x = f"{rng.randint(0, 23):02}:{rng.randint(0, 59):02}"
    return rng.choice([{"time": x}, x]), f"It is {x}."


def _convert(rng, v):
    n = round(rng.uniform(1, 2000), 2)
    return rng.choice([{"amount": n, "currency": v[2]}, {"result": n}, str(n)]), f"{v[0]} {v[1]} are {n} {v[2]}."


def _search(rng, v):
    x = first_up(rng.choice(ADJECTIVES)) + " " + rng.choice(NOUNS) + " of " + invented(rng)
    return rng.choice([{"results": [{"title": x}]}, {"results": [x]}, x]), f"I found this: {x}."


def _user(rng, v):
    n, e = value(rng, "full"), value(rng, "email")
    return {"id": v[0], "name": n, "email": e}, f"The user is {n}, {e}."


def _order(rng, v):
    s = rng.choice("shipped delivered pending cancelled packed paid".split())
    return rng.choice([{"order_id": v[0], "status": s}, {"status": s}, s]), f"The order {v[0]} is {s}."


def _list(rng, v):
    xs = [rng.choice(NOUNS) + rng.choice([".txt", ".md", ".json", ".py"]) for _ in range(rng.randint(1, 4))]
    return rng.choice([xs, {"files": xs}]), f"There {'are' if len(xs) > 1 else 'is'} {', '.join(xs)}."


def _translate(rng, v):
    x = invented(rng, False) + " " + invented(rng, False)
    return rng.choice([{"translation": x}, x]), f"\"{v[0]}\" in {v[1]} is \"{x}\"."


def _dice(rng, v):
    n = rng.randint(1, 6)
    return rng.choice([{"value": n}, str(n), {"roll": n}]), f"You rolled a {n}."


CITY = P("city location place city_name town", "string", "The name of the city", "city")
COMMON = [
    Family("get_weather weather getWeather current_weather get_current_weather fetch_weather weather_lookup", ["Get the weather of a city",
    "Get the current weather", "Returns the weather for a given location", "Current weather in a city"],
           [CITY, P("unit units", "string", "Unit of the temperature", "unit", False, ["celsius", "fahrenheit"])],
           ["What is the weather in {0}?", "What's the weather like in {0}?", "How is the weather in {0}?", "weather in {0}", "Is it cold in {0}?",
           "Tell me the weather in {0}.", "Is it raining in {0}?", "How warm is it in {0}?", "What is the weather in {0} in {1}?",
           "Temperature in {0} in {1}, please.",
            "Do I need an umbrella in {0}?", "Should I take a coat in {0}?", "what's the temperature in {0}", "Give me the weather for {0}."],
            _weather, (["What is the weather?", "How is the weather today?", "weather please", "Is it raining?", "What's the weather like?", "how's the weather", "What is the weather like today?", "Do I need an umbrella?", "is it cold outside", "the temperature please", "tell me the weather"], "Which city do you mean?"),
           ["And in {0}?", "What about {0}?", "and {0}?", "And the weather in {0}?"]),
    Family("get_time current_time getTime get_current_time time_in_city", ["Get the current time in a city",
    "Returns the time of a timezone or city", "Current local time"], [P("city timezone location tz", "string", "The city", "city")],
           ["What time is it in {0}?", "time in {0}", "How late is it in {0}?", "Tell me the time in {0}.", "What's the current time in {0}?"],
           _time, (["What time is it?", "Tell me the time."], "For which city?"), ["And in {0}?", "and {0}?", "What about {0}?"]),
    Family("get_time now clock get_current_time current_time", ["Get the current time", "Returns the time now"], [], ["What time is it?",
    "Tell me the time.", "What's the time?", "current time please", "How late is it?"], _now),
    Family("calculator calculate evaluate math compute eval_expression", ["Evaluate an arithmetic expression", "A calculator",
    "Calculates the value of an expression"], [P("expression expr formula input", "string", "The expression", "expr")],
           ["What is {0}?", "Calculate {0}.", "How much is {0}?", "Compute {0}", "{0}", "Please work out {0}.", "Use the calculator: {0}"], _calc,
           None, ["And {0}?", "Now {0}."]),
    Family("add sum_numbers add_numbers plus addition", ["Add two numbers", "Returns the sum of two numbers"], [P("a x first", "number",
    "First number", "int"), P("b y second", "number", "Second number", "int")],
           ["Add {0} and {1}.", "What is {0} plus {1}?", "What is {0} + {1}?", "Sum of {0} and {1}?", "Use the tool to add {0} and {1}."], _add),
    Family("search web_search search_web google find_information searchWeb", ["Search the web", "Search for information", "Find pages about a topic"],
    [P("query q search_term text", "string", "What to search for", "topic")],
           ["Search for {0}.", "Search the web for {0}.", "Find information about {0}.", "Look up {0}.", "google {0}",
           "What can you find about {0}?", "Tell me about {0}.", "What is new about {0}?"], _search, (["Search something for me.",
           "Can you search the web?"], "What shall I search for?"), ["And {0}?", "Now search for {0}."]),
    Family("send_email sendEmail email send_mail mail", ["Send an email", "Sends a mail to someone"], [P("to recipient email address", "string",
    "E-mail address of the recipient", "email"), P("subject title", "string", "Subject", "subject"), P("body text message content", "string",
    "Text of the mail", "text", False)],
           ["Send an email to {0} with the subject \"{1}\".", "Mail {0} with the subject '{1}'.", "email {0}, subject: {1}", "Write a mail to {0} with subject \"{1}\" and body \"{2}\".",
            "Send {0} an email. Subject: {1}. Text: {2}", "Send an e-mail with the subject \"{1}\" to {0}.", "Send an email to {0} with the subject {1} and the text {2}.", "Mail {0}: subject {1}, body {2}",
           "Write an email to {0}, subject \"{1}\", saying \"{2}\".", "email {0} about {1}: {2}"], done("I sent the email to {0}.",
           "The email to {0} is sent."), (["Send an email.", "Please send a mail."], "To whom, and with which subject?")),
    Family("send_message sendMessage message_user send_sms notify text_message", ["Send a message to a person", "Sends a text message"], [P(
    "to recipient name user contact", "string", "Who gets the message", "name"), P("text message body content", "string", "The message", "text")],
           ["Tell {0}: {1}", "Send {0} the message \"{1}\".", "Text {0} that \"{1}\".", "Message {0}: {1}", "Write to {0}: \"{1}\""], done(
           "I sent the message to {0}.", "Done: {0} gets the message."), (["Send a message.", "text someone"], "To whom, and what shall it say?")),
    Family("create_event add_event createEvent schedule_meeting calendar_add add_to_calendar", ["Create an event in the calendar",
    "Schedules a meeting"], [P("title name event summary", "string", "Title", "subject"), P("date day", "string", "The day", "date"), P(
    "time start_time at", "string", "The time", "time", False)],
           ["Create an event {0} on {1} at {2}.", "Put {0} in my calendar on {1}.", "Put '{0}' in my calendar for {1} at {2}.", "put {0} into the calendar, {1} {2}",
           "Add \"{0}\" to my calendar on {1} at {2}.", "I have {0} on {1} at {2}, add it to my calendar.", "{1} at {2}: {0}. Put it in the calendar, please.", "calendar: {0}, {1}, {2}", "schedule {0} at {2} on {1}", "Schedule \"{0}\" for {1} at {2}.",
           "Add {0} to my calendar for {1}.", "New meeting {0}, {1}, {2}"], done("The event {0} is in your calendar for {1}.",
           "I created the event {0} on {1}."), (["Create an event.", "Put something in my calendar."], "What is it called, and on which day?")),
    Family("set_timer start_timer timer setTimer", ["Set a timer", "Starts a timer"], [P("minutes duration mins time", "integer", "Minutes", "small")],
    ["Set a timer for {0} minutes.", "Timer: {0} minutes", "Start a timer of {0} minutes.", "Wake me in {0} minutes.", "remind me in {0} minutes"],
           done("The timer runs for {0} minutes.", "I set a timer for {0} minutes."), (["Set a timer.", "Start a timer please."],
           "For how many minutes?"), ["And one for {0} minutes.", "Another one for {0} minutes."]),
    Family("set_alarm alarm wake_up create_alarm", ["Set an alarm", "Sets the alarm clock"], [P("time at hour", "string", "The time", "time")], [
    "Set an alarm for {0}.", "Wake me at {0}.", "Alarm at {0}, please.", "I have to get up at {0}."], done("The alarm is set for {0}.",
    "I will wake you at {0}."), (["Set an alarm.", "Wake me up."], "For what time?")),
    Family("create_reminder remind add_reminder set_reminder reminder", ["Create a reminder", "Reminds the user of something"], [P(
    "text what task title", "string", "What to remember", "text"), P("date day when", "string", "When", "date")], ["Remind me on {1}: {0}",
    "Set a reminder for {1}: {0}", "Create a reminder \"{0}\" for {1}.", "Remind me to {0} {1}.", "remind me {1} to {0}", "{1} I have to {0}. Remind me."],
           done("I will remind you on {1}.", "The reminder is set for {1}.")),
    Family("create_reminder remind_me set_reminder add_reminder reminder", ["Create a reminder for the user", "Reminds the user at a time"], [P("text message task what", "string", "What to remind of",
    "text"), P("time at when", "string", "When to remind", "time")], ["Remind me to {0} at {1}.", "remind me at {1} to {0}", "At {1}, remind me to {0}.", "Set a reminder for {1}: {0}",
    "Please remind me at {1} that I have to {0}.", "Reminder at {1}: {0}", "I must {0} at {1}, remind me."], done("I will remind you at {1}.", "The reminder is set for {1}.")),
    Family("create_note add_note save_note take_note note", ["Save a note", "Writes a note"], [P("title heading subject", "string", "Title", "subject"), P("text content body", "string", "The note", "text", False)],
    ["Make a note called \"{0}\".", "Create a note with the title '{0}'.", "Note \"{0}\": {1}", "Save a note titled \"{0}\" with the text \"{1}\".", "write down under {0}: {1}"], done(
    "The note {0} is saved.", "I saved the note {0}.")),
    Family("add_todo create_task addTask todo_add new_task add_task", ["Add a task to the to-do list", "Creates a task"], [P("task title text item",
    "string", "The task", "text"), P("priority", "string", "Priority", "prio", False, ["low", "medium", "high"])],
           ["Add a task: {0}", "Put \"{0}\" on my to-do list.", "New task: {0}", "Add \"{0}\" to my tasks with {1} priority."], done(
           "I added it to your list.", "The task is on your list."), (["Add a task.", "New to-do please."], "What is the task?")),
    Family("get_stock_price stock_price stock getStockPrice quote", ["Get the price of a stock", "Current stock price by symbol"], [P(
    "symbol ticker stock", "string", "Ticker symbol", "symbol")], ["What is the price of {0}?", "Stock price of {0}?", "How is {0} doing?",
    "{0} stock", "How much is a share of {0}?"], number_of("price", "The price of {0} is {r}."),
           (["What is the stock price?", "Check a stock for me."], "Which stock do you mean?"), ["And {0}?", "What about {0}?"]),
    Family("convert_currency currency exchange convertCurrency exchange_rate", ["Convert an amount of money", "Converts between currencies"], [P(
    "amount value", "number", "Amount", "money"), P("from source from_currency", "string", "Currency to convert from", "currency"), P(
    "to target to_currency", "string", "Currency to convert to", "currency")],
           ["Convert {0} {1} to {2}.", "How much is {0} {1} in {2}?", "{0} {1} in {2}", "What are {0} {1} in {2}?", "change {0} {1} into {2}"],
           _convert),
    Family("translate translate_text translation translateText", ["Translate a text", "Translates into another language"], [P("text input sentence",
    "string", "The text", "text"), P("language target_language to lang", "string", "The language", "language")],
           ["Translate \"{0}\" into {1}.", "How do you say \"{0}\" in {1}?", "{0} in {1}?", "Translate to {1}: {0}"], _translate),
    Family("get_user find_user lookup_user fetch_user user_info getUser", ["Get a user by id", "Looks up a user"], [P("user_id id uid", "string",
    "Id of the user", "id")], ["Who is user {0}?", "Show me user {0}.", "Get the user with id {0}.", "Find user {0}", "Look up the user {0}."],
    _user, (["Look up a user.", "Find a user for me."], "Which id does the user have?"), ["And {0}?", "And user {0}?"]),
    Family("get_order order_status track_order check_order getOrderStatus", ["Get the status of an order", "Tracks an order"], [P(
    "order_id id number order", "string", "Number of the order", "id")], ["Where is my order {0}?", "What is the status of order {0}?",
    "Track order {0}.", "order {0} status", "Has {0} been shipped?"], _order,
           (["Where is my order?", "What is the status of my order?", "Track my order."], "What is the number of your order?"), ["And {0}?",
           "And order {0}?"]),
    Family("turn_on_light light_on lights switch_light set_light", ["Switch the light of a room", "Controls the lights"], [P("room location",
    "string", "The room", "room"), P("state on_off", "string", "on or off", "onoff", True, ["on", "off"])],
           ["Turn {1} the light in the {0}.", "Lights {1} in the {0}.", "Switch {1} the {0} light.", "Please turn the light in the {0} {1}."], done(
           "The light in the {0} is {1}.", "Done: the light in the {0} is {1}.")),
    Family("set_temperature thermostat set_heating heater", ["Set the temperature of a room", "Sets the thermostat"], [P("room zone", "string",
    "The room", "room"), P("temperature degrees value", "number", "Degrees Celsius", "small")], ["Set the {0} to {1} degrees.",
    "Heat the {0} to {1} degrees.", "Make it {1} degrees in the {0}."],
           done("The {0} is set to {1} degrees.")),
    Family("play_music play_song playSong music play", ["Play a song", "Plays music"], [P("song title track name", "string", "Name of the song",
    "song")], ["Play {0}.", "Play the song {0}.", "I want to hear {0}.", "Put on {0}, please.", "play {0}"], done("Now playing {0}.",
    "I am playing {0}."), (["Play music.", "Play a song."], "Which song?"), ["Now {0}.", "And then {0}."]),
    Family("book_table reserve_table reservation make_reservation", ["Book a table in a restaurant", "Makes a reservation"], [P(
    "people guests party_size", "integer", "Number of people", "small"), P("time at", "string", "The time", "time"), P("restaurant name", "string",
    "Name of the restaurant", "song", False)],
           ["Book a table for {0} at {1}.", "Reserve a table for {0} people at {1} at {2}.", "Table for {0}, {1}, please."], done(
           "The table for {0} at {1} is booked.", "Your table for {0} is reserved for {1}."), (["Book a table.", "I need a table."],
           "For how many people, and at what time?")),
    Family("book_flight search_flights find_flight flights", ["Search flights", "Finds a flight"], [P("from origin departure", "string",
    "City of departure", "city"), P("to destination arrival", "string", "City of arrival", "city"), P("date day", "string", "Day", "date", False)],
           ["Find a flight from {0} to {1}.", "Flights from {0} to {1} on {2}?", "I want to fly from {0} to {1}.",
           "Book a flight from {0} to {1} on {2}."], number_of("price", "There is a flight from {0} to {1} for {r}.")),
    Family("get_distance distance route calculate_distance", ["Distance between two cities", "Returns how far two places are apart"], [P(
    "from start origin", "string", "Start", "city"), P("to end destination", "string", "End", "city")], ["How far is it from {0} to {1}?",
    "Distance from {0} to {1}?", "How many kilometres are between {0} and {1}?"],
           number_of("distance_km", "It is {r} kilometres from {0} to {1}.")),
    Family("get_population population city_population", ["Population of a city"], [CITY], ["How many people live in {0}?",
    "What is the population of {0}?", "population of {0}"], number_of("population", "{r} people live in {0}."), None, ["And in {0}?", "And {0}?"]),
    Family("roll_dice dice throw_dice roll", ["Roll a die", "Throws a die"], [], ["Roll a dice.", "Roll the dice!", "Throw a die for me.",
    "Roll again."], _dice),
    Family("list_files ls listFiles read_directory", ["List the files of a folder"], [P("path folder directory dir", "string", "The folder", "path")],
    ["List the files in {0}.", "What is in {0}?", "Which files are in {0}?", "ls {0}"], _list, (["List the files.", "Show me the files."],
    "Of which folder?")),
    Family("delete_file remove_file rm deleteFile", ["Delete a file"], [P("path file filename", "string", "The file", "path")], ["Delete {0}.",
    "Remove the file {0}.", "rm {0}"], done("The file {0} is deleted."), (["Delete a file.", "Delete it."], "Which file?")),
    Family("create_ticket open_ticket new_issue report_bug", ["Open a support ticket", "Creates a ticket"], [P("title subject summary", "string",
    "Title", "text"), P("priority severity", "string", "Priority", "prio", True, ["low", "medium", "high"])], [
    "Open a ticket \"{0}\" with priority {1}.", "Create a {1} priority ticket: {0}", "Report a bug: {0}, priority {1}"],
           done("The ticket is open.", "I opened a ticket with {1} priority.")),
    Family("order_food order_pizza order place_order", ["Order food", "Places an order"], [P("item dish food product", "string", "What to order",
    "food"), P("quantity count amount", "integer", "How many", "small")], ["Order {1} {0}.", "I want {1} {0}, please.", "Get me {1} {0}."], done(
    "I ordered {1} {0}.", "Your order of {1} {0} is placed."), (["Order food.", "I'm hungry, order something."],
    "What would you like, and how many?")),
    Family("get_product check_stock find_product inventory product_info", ["Check whether a product is in stock", "Looks up a product"], [P(
    "product name item", "string", "Name of the product", "thing")], ["Do you have {0}?", "Is the {0} in stock?", "How many {0}s are in stock?",
    "Check the stock of {0}."], number_of("stock", "There are {r} in stock.")),
    Family("define_word dictionary define lookup_word", ["Look up a word", "Definition of a word"], [P("word term", "string", "The word", "word")],
    ["Define {0}.", "What does {0} mean?", "Look up the word {0}.", "definition of {0}"], _search, None, ["And {0}?"]),
    Family("random_number generate_random randomInt", ["Random number between two bounds"], [P("min low from", "integer", "Lower bound", "small"), P(
    "max high to", "integer", "Upper bound", "int")], ["Give me a random number between {0} and {1}.", "Random number from {0} to {1}",
    "Pick a number between {0} and {1}."], number_of("number", "Your number is {r}.")),
    Family("create_user add_user register_user new_user", ["Create a user"], [P("name username full_name", "string", "Name", "name"), P("email mail",
    "string", "E-mail address", "email"), P("admin is_admin", "boolean", "Whether the user is an admin", "bool", False)],
           ["Create a user {0} with the email {1}.", "Add the user {0}, {1}.", "Register {0} with {1}.", "New user: {0}, {1}"], done(
           "The user {0} is created.", "I created the user {0}."), (["Create a user.", "Add a user."], "What are the name and the e-mail address?")),
    Family("get_news news headlines latest_news", ["Latest news on a topic"], [P("topic subject category", "string", "The topic", "topic")], [
    "What is the news about {0}?", "News on {0}?", "Give me the latest news about {0}."], _search, (["What is in the news?", "Any news?"],
    "About which topic?"), ["And about {0}?"]),
]


def _flag(text):
    def reply(rng, v):
        return rng.choice([{"status": "ok"}, "ok", {"enabled": v[0]}]), text.format("on" if v[0] else "off")
    return reply


def _added(rng, v):
    return rng.choice([{"status": "ok"}, {"added": len(v[0])}, "ok"]), f"I added {joined(v[0])} to your list."


COMMON += [
    Family("add_to_shopping_list shopping_list_add addItems add_groceries", ["Add items to the shopping list", "Puts things on the shopping list"],
           [P("items things products", "array", "The items", "goods")],
           ["Add {0} to my shopping list.", "Put {0} on the shopping list.", "I need {0}, write it on my list.", "shopping list: {0}",
           "We are out of {0}. Add it to the list."],
           _added, (["Add something to my shopping list.", "Put it on the shopping list."], "What shall I add?"), ["And {0}.", "Also {0}, please."]),
    Family("set_notifications toggle_notifications notifications", ["Switch notifications on or off"], [P("enabled on active", "boolean",
    "Whether they are on", "flag")],
           ["Turn notifications {0}.", "Switch notifications {0}, please.", "notifications {0}", "Please turn {0} my notifications."], _flag(
           "Notifications are {0}.")),
    Family("set_dark_mode dark_mode toggleDarkMode", ["Switch the dark mode on or off"], [P("enabled dark value", "boolean", "true for dark", "flag")],
           ["Turn dark mode {0}.", "Switch {0} dark mode.", "dark mode {0} please"], _flag("Dark mode is {0}.")),
    Family("convert_units unit_converter convertUnits convert", ["Convert a value between units", "Converts units of measure"],
           [P("value amount number", "number", "The value", "int"), P("from from_unit source_unit", "string", "Unit to convert from", "unitname"), P(
           "to to_unit target_unit", "string", "Unit to convert to", "unitname")],
           ["Convert {0} {1} to {2}.", "How much is {0} {1} in {2}?", "{0} {1} in {2}?", "What are {0} {1} in {2}?"], number_of("result",
           "{0} {1} are {r} {2}.")),
]


PAST = {"start": "started", "stop": "stopped", "open": "opened", "send": "sent", "print": "printed", "book": "booked", "cancel": "cancelled"}


STATES = "open closed locked unlocked ready available active paid full empty busy free online offline connected enabled disabled delivered charging running broken occupied public private valid expired visible".split()


def made_family(rng):
    """A tool that nobody has seen: a verb, a noun, one to three random parameters."""
    verb, noun = rng.choice("get find fetch create update delete check read count list show start stop open close send move print book cancel".split(
        )), rng.choice(NOUNS + THINGS)
    if rng.random() < 0.15:
        noun = invented(rng, False)
    adj = rng.choice(ADJECTIVES) + "_" if rng.random() < 0.15 else ""
    name = f"{verb}_{adj}{noun}"
    style = rng.random()
    if style < 0.25:
        name = verb + "".join(first_up(p) for p in f"{adj}{noun}".split("_"))
    elif style < 0.33:
        name = f"{noun}.{verb}" if rng.random() < 0.3 else f"{noun}-{verb}" if rng.random() < 0.5 else f"{noun}_{verb}"
    elif style < 0.38:
        name = invented(rng, False) + "_" + noun
    keys = rng.sample([n for n in NOUNS if n != noun], rng.choice([0, 1, 1, 1, 2, 2, 3]))
    params = []
    for k in keys:
        kind, type_ = rng.choice([("word", "string"), ("name", "string"), ("id", "string"), ("city", "string"), ("int", "integer"), ("int", "number"),
            ("date", "string"), ("word", "string"), ("price", "number"), ("measure", "number"), ("sizetext", "string"), ("amounttext", "string"), ("title", "string"), ("named", "string"), ("address", "string")])
        if rng.random() < 0.1:
            k += rng.choice(["_id", "_name", "Name", "_number", "_type"])
        params.append(Param(k, type_, rng.choice([f"The {k.replace('_', ' ')}", f"{first_up(k.replace('_', ' '))} of the {noun}", ""]), kind))
    shown = adj.replace("_", " ") + noun
    what = first_up(verb)
    words = [k.names[0].replace("_", " ") for k in params]
    how = rng.choice(["{w} {{{i}}}", "{w} {{{i}}}", "{w} = {{{i}}}", "{w}: {{{i}}}", "{{{i}}} as {w}", "{w} \"{{{i}}}\"", "the {w} {{{i}}}"])
    with_ = " and ".join(how.format(w=w, i=i) for i, w in enumerate(words))
    comma = ", ".join(f"{w} {{{i}}}" for i, w in enumerate(words))
    asks = [f"{what} the {shown}{' with ' + with_ if words else ''}.", f"Please {verb} the {shown}{': ' + comma if words else ''}.",
            f"{verb} {shown}{' ' + comma if words else ''}", f"Can you {verb} the {shown}{' with ' + with_ if words else ''}?",
            f"I want to {verb} {a(shown)}{', ' + comma if words else ''}."]
    if len(words) == 1:
        asks += [f"{what} the {shown} {{0}}.", f"{verb} {{0}}", f"{what} the {shown} of {{0}}.", f"Please {verb} the {shown} for {{0}}.",
            f"{what} {shown} {{0}}, please."]
    about = [f"{what} the {shown}", f"{what}s {a(shown)}", f"{first_up(shown)}: {verb}", f"Use this to {verb} {a(shown)}"]

    def reply(r, v):
        key = r.choice([n for n in NOUNS if n not in keys and n != "error"])
        x = r.choice([value(r, "word"), value(r, "name"), _number(r), value(r, "id")])
        if verb in ("get", "find", "fetch", "check", "read", "count", "list", "show"):
            if r.random() < 0.15:
                x, state = r.random() < 0.5, r.choice(STATES)
                return r.choice([{state: x}, {f"is_{state}": x}]), f"The {shown} is {'' if x else 'not '}{state}."
            if r.random() < 0.12:
                xs = list(dict.fromkeys(value(r, r.choice(["word", "name", "city"])) for _ in range(r.choice([2, 3, 3, 4]))))
                return r.choice([{key + "_list": xs}, {"items": xs}, xs]), f"The {shown} has {joined(xs)}."
            x = value(r, "price") if r.random() < 0.2 else x
            return r.choice([{key: x}, {noun: noun, key: x}]) if r.random() < 0.8 else {"result": {key: x}}, f"The {key} is {x}."
        done_so = PAST.get(verb, verb + "d")
        return r.choice([{"status": "ok"}, "ok", {"success": True}, {"result": "done"}, {"status": done_so}, {done_so: True}, done_so]), f"The {shown} is {done_so}."
    missing = ([f"{what} the {shown}.", f"Please {verb} {a(shown)}."], f"Which {joined(words)}?") if words else None
    return Family(name, about, params, asks, reply, missing, None)
