"""Families of tools as they stand in tutorials and agent frameworks: home, travel, shops, banks, code, school, games and so on.

Many tools with few wordings each: the model shall learn to copy a value out of a sentence, not to know the tools.
The kinds of values that toolset.py does not know are in text/data/values.py. What they give back is told
field by field (`told` of toolcalls.py).
"""
from text.tools.toolset import Family, P, value


def did():
    """Something is done."""
    def reply(rng, v):
        return rng.choice([{"status": "ok"}, {"success": True}, "ok", "done", {"result": "success"}, {"ok": True, "message": "done"},
            {"id": rng.randint(1, 9999), "status": "ok"}]), None
    return reply


def gives(**fields):
    """A result with fields, each one of a list, a number of a range, a value of a kind, or made by a function of (rng, values)."""
    def reply(rng, v):
        out = {}
        for key, how in fields.items():
            out[key] = (rng.choice(how) if isinstance(how, list) else rng.randint(*how) if isinstance(how, tuple)
                        else value(rng, how) if isinstance(how, str) else how(rng, v))
        if len(out) == 1 and rng.random() < 0.25:
            return str(*out.values()), None
        return out if rng.random() < 0.88 else {rng.choice(["result", "data"]): out}, None
    return reply


def number(key):
    """One number under the key, or alone."""
    def reply(rng, v):
        n = rng.choice([rng.randint(0, 100), rng.randint(100, 99999), round(rng.uniform(0, 1000), 2)])
        return rng.choice([{key: n}, str(n)]), None
    return reply


def numbered(key="id"):
    """Something is made and gets a number."""
    def reply(rng, v):
        r = value(rng, "code")
        return rng.choice([{key: r}, {"status": "created", key: r}, {"success": True, key: r}]), None
    return reply


def whether(key):
    def reply(rng, v):
        x = rng.random() < 0.5
        return rng.choice([{key: x}, {"result": x}, {key: "yes" if x else "no"}]), None
    return reply


def several(key, what):
    """A list of one to three things of a kind or of a list."""
    def reply(rng, v):
        n = rng.choice([1, 2, 2, 3])
        xs = rng.sample(what, n) if isinstance(what, list) else list(dict.fromkeys(value(rng, what) for _ in range(n)))
        return rng.choice([{key: xs}, {"count": len(xs), key: xs}, xs]), None
    return reply


def price(low, high):
    return lambda rng, v: round(rng.uniform(low, high), 2)


def clock(rng, v):
    return f"{rng.randint(0, 23)}:{rng.randint(0, 59):02}"


def day(rng, v):
    return f"20{rng.randint(24, 30)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}"


def picture(rng, v):
    return f"{rng.choice(['img', 'pic', 'photo', 'image', 'IMG'])}{rng.choice(['_', '-', ''])}{rng.randint(1, 9999)}.{rng.choice(['png', 'jpg'])}"


def link(rng, v):
    return "https://" + rng.choice(["img.example.com/", "files.example.org/", "cdn.test.net/x/"]) + picture(rng, v)


def _percent(text):
    return float(text.split("%")[0].split(" ")[0])


def _password(rng, v):
    x = "".join(rng.choice("abcdefghkmnpqrstuvwxyzABCDEFGHKMNPQRSTUVWXYZ23456789") for _ in range(v[0] or 10))
    return rng.choice([{"password": x}, x]), None


def _chosen(rng, v):
    x = rng.choice(v[0])
    return rng.choice([{"choice": x}, {"picked": x}, x]), None


def _reversed(rng, v):
    x = v[0][::-1]
    return rng.choice([{"result": x}, {"reversed": x}, x]), None


def _cased(rng, v):
    x = v[0].upper() if v[1] == "upper" else v[0].lower() if v[1] == "lower" else v[0].title()
    return rng.choice([{"result": x}, {"text": x}, x]), None


def _words(rng, v):
    n = len(v[0].split())
    return rng.choice([{"words": n, "characters": len(v[0])}, {"word_count": n}, {"count": n}]), None


def _color(rng, v):
    x = f"#{rng.randrange(16 ** 6):06x}"
    return rng.choice([{"hex": x}, x, {"color": v[0], "code": x}]), None


def _cards(rng, v):
    x = f"the {rng.choice('ace king queen jack ten nine eight seven six five four three two'.split())} of {rng.choice('spades hearts clubs diamonds'.split())}"
    return rng.choice([{"drawn": v[0] or 1, "first": x}, {"first_card": x}, {"card": x}]), None


def _coin(rng, v):
    x = rng.choice(["heads", "tails"])
    return rng.choice([{"side": x}, x, {"result": x}]), None


def _hash(rng, v):
    x = f"{rng.randrange(16 ** 8):08x}"
    return rng.choice([{"hash": x}, {"digest": x}, x]), None


def _country(rng, v):
    fact = v[1] or rng.choice(["population", "area", "president", "calling code"])
    x = (value(rng, "full") if fact == "president" else f"+{rng.randint(1, 999)}" if fact == "calling code"
         else f"{rng.randint(1, 900)} {'million' if fact == 'population' else 'thousand km2'}")
    return rng.choice([{fact: x}, {"country": v[0], fact: x}]), None


def _plant(rng, v):
    tip = rng.choice({"light": ["full sun", "half shade", "shade", "a bright window"], "water": ["every day", "once a week", "every two weeks", "very little"], "soil": ["sandy soil", "rich soil",
        "moist soil", "dry soil"], "pests": ["aphids", "snails", "spider mites"], None: ["full sun and little water", "shade and rich soil", "water once a week", "much light"]}[v[1]])
    return rng.choice([{v[1] or "care": tip}, {"tip": tip}, tip]), None


def _customer(rng, v):
    if v[1] in ("revenue", "deals"):
        n = rng.randint(1, 40) if v[1] == "deals" else rng.randint(1000, 999999)
        return rng.choice([{v[1]: n}, {"company": v[0], v[1]: n}]), None
    x = value(rng, "full")
    return rng.choice([{"contact": x}, {"company": v[0], "contact": x}, {"contacts": [x]}]), None


def _loan(rng, v):
    x = round(v[0] * v[1] / 1200 / (1 - (1 + v[1] / 1200) ** (-12 * v[2])), 2)
    return rng.choice([{"monthly_payment": x}, {"rate": x}, {"payment": x}]), None


NAME = P("name person user who", "string", "Name of the person", "name")
TITLE = P("title name movie film", "string", "Title of the movie", "movie")
BOOK = P("title book book_title name", "string", "Title of the book", "book")
DATE = P("date day on when", "string", "The day", "date", False)

HOME = [
    Family("control_appliance toggleAppliance switch_device appliance_power set_power", ["Switch a household appliance on or off", "Controls appliances in the smart home",
        "Turn a device at home on or off"],
        [P("appliance device name target", "string", "The appliance", "appliance"), P("state action power command", "string", "on or off", "any", True, ["on", "off"])],
        ["Turn {1} the {0}.", "Turn the {0} {1}.", "switch {1} the {0} please", "Can you turn the {0} {1}?", "I want the {0} {1}.", "{0} {1}", "The {0} should be {1}.",
         "Could you please switch the {0} {1}?", "put the {0} {1} before I leave"], did()),
    Family("start_appliance run_program startProgram begin_cycle appliance_start", ["Start a program of a household appliance", "Runs an appliance with a program"],
        [P("appliance machine device", "string", "Which appliance", "appliance"), P("program mode cycle", "string", "The program", "any", False, ["eco", "quick", "normal", "intensive"])],
        ["Start the {0}.", "Start the {0} in {1} mode.", "run the {0}", "Please run the {0} on {1}.", "Can you start the {0} for me?", "Let the {0} run with the {1} program.",
         "{0}, {1} program please", "I'd like the {0} to start.", "start {0} on {1}"],
        did(), (["Start it, please.", "Start the machine.", "run the program"],
        "Which appliance shall I start?"), ["Also the {0}.", "And start the {0}."]),
    Family("lock_door set_lock doorLock control_lock lock", ["Lock or unlock a door", "Controls the smart locks"],
        [P("door lock entrance which", "string", "The door", "any", True, ["front door", "back door", "garage door", "cellar door"]), P("action command do", "string", "What to do", "any", True,
        ["lock", "unlock"])],
        ["{1} the {0}", "Please {1} the {0}.", "Can you {1} the {0}?", "I need you to {1} the {0}.", "{0}: {1}", "Hey, {1} the {0} for the guests.", "Would you {1} the {0}, please?",
         "I forgot the {0}, please {1} it."], did()),
    Family("dim_lights set_brightness setBrightness brightness light_level", ["Set the brightness of the lamps in a room", "Dims the lights"],
        [P("room area zone location", "string", "The room", "room"), P("level brightness percent value", "integer", "Brightness in percent", "small")],
        ["Dim the {0} to {1} percent.", "Set the brightness in the {0} to {1}.", "{0} lights at {1}%", "Make the {0} lights {1} percent bright.", "brightness {1} in the {0}",
         "Could you set the lights of the {0} to {1} percent?", "I want only {1} percent light in the {0}.", "Too bright here in the {0}, go down to {1}%."],
        did()),
    Family("move_blinds blinds set_blinds controlBlinds shutters", ["Open or close the blinds", "Moves the shutters of a room"],
        [P("room window_room where", "string", "The room", "room"), P("action position command", "string", "What to do", "any", True, ["open", "close"])],
        ["{1} the blinds in the {0}", "Please {1} the blinds in the {0}.", "Can you {1} the {0} blinds?", "{0} shutters: {1}", "I'd like you to {1} the blinds of the {0}.",
         "The sun is up, {1} the {0} blinds.", "blinds {1} {0}"], did()),
    Family("read_sensor get_sensor sensorValue sensor_reading home_sensor", ["Read a sensor in a room", "Gets a measured value of a room", "Current reading of a home sensor"],
        [P("room location zone", "string", "The room", "room"), P("quantity sensor type measure", "string", "What to measure", "any", True, ["temperature", "humidity", "noise", "light"])],
        ["What is the {1} in the {0}?", "{1} in the {0}?", "Tell me the {1} of the {0}.", "Read the {1} sensor in the {0}.", "I'd like to know the {1} in the {0}.",
         "how high is the {1} in the {0} right now", "Check the {0}: {1}.", "Show the {1} measured in the {0}."], gives(value=(1, 95))),
    Family("clean_room vacuum startVacuum robot_clean send_vacuum", ["Send the robot vacuum to a room", "Starts cleaning a room"],
        [P("room area where", "string", "Room to clean", "room"), P("mode power", "string", "Mode", "any", False, ["quiet", "turbo"])],
        ["Clean the {0}.", "Vacuum the {0}, please.", "Send the robot to the {0}.", "The {0} is dirty.", "vacuum {0}", "Clean the {0} in {1} mode.", "Can you hoover the {0}?",
         "Please vacuum the {0} on {1}.", "There are crumbs in the {0}, clean it up."], did(),
        (["Start cleaning.", "Send the vacuum.", "vacuum please"], "Which room shall I clean?"), ["And the {0}.", "Then the {0}, please."]),
    Family("battery_level get_battery batteryStatus check_battery battery", ["Battery level of a device", "Returns how full the battery is"],
        [P("device device_name name gadget", "string", "The device", "device")],
        ["How much battery does {0} have?", "battery of {0}", "What is the battery level of {0}?", "Check the battery of {0}, please.", "Does {0} need charging?", "Is {0} charged?",
         "I want to know how full {0} is.", "battery {0}?"], gives(level=(1, 100)),
        (["How much battery is left?", "Check the battery."], "Of which device?"), ["And {0}?", "What about {0}?"]),
    Family("find_device locate_device findMyDevice where_is_device track_device", ["Find where a device is", "Locates a lost device"],
        [P("device item name", "string", "The device", "device"), P("ring play_sound", "boolean", "Whether it should ring", "flag", False)],
        ["Where is {0}?", "Find {0}.", "I can't find {0}.", "I lost {0}, can you locate it?", "locate {0}", "Please find {0} with sound {1}.", "Find {0}, ringing {1}.",
         "Have you seen {0}? Please look for it."], gives(location="room"), (["I lost something.", "Find my device."],
        "Which device do you mean?"), ["And {0}?", "And where is {0}?"]),
    Family("arm_alarm security_mode setAlarmMode alarm_system house_alarm", ["Set the mode of the burglar alarm", "Arms the alarm system of the house"],
        [P("mode state level", "string", "The mode", "any", True, ["home", "away", "night", "disarmed"]), P("code pin", "string", "PIN code", "id", False)],
        ["Set the alarm system to {0}.", "Alarm mode {0}, please.", "house alarm {0}", "Put the burglar alarm in {0} mode.", "Switch the security to {0} with the code {1}.",
         "Security mode: {0}", "Can you set the house alarm to {0}? The pin is {1}.", "we need the alarm system on {0}"], did()),
    Family("activate_scene set_scene runScene scene start_scene", ["Activate a light scene", "Starts a scene of the smart home"],
        [P("scene name scene_name", "string", "The scene", "any", True, ["movie night", "good morning", "dinner", "party", "reading", "sleep"]), P("room where", "string", "The room", "room", False)],
        ["Activate the scene {0}.", "scene {0}", "Start the {0} scene in the {1}.", "I want the {0} scene.", "Set the {1} to the scene {0}.", "Could you put on the {0} scene?",
         "Time for the {0} scene!", "Please run {0} in the {1}."], did()),
]

DIARY = [
    Family("list_events get_events calendar_events agenda listEvents", ["List the events of a day", "What is in the calendar", "Returns all appointments of a day"],
        [P("date day when on", "string", "The day", "date")],
        ["What is in my calendar for {0}?", "agenda {0}", "What are my appointments {0}?", "Do I have anything planned {0}?", "Show me the calendar for {0}.", "Am I busy {0}?",
         "events for {0} please", "I need to know what's up {0}."], several("events", "event"),
        (["What is in my calendar?", "Show my appointments."], "For which day?"), ["And {0}?", "And for {0}?"]),
    Family("cancel_event delete_event removeEvent calendar_delete cancel_appointment", ["Cancel an event in the calendar", "Removes an appointment"],
        [P("event title name event_name", "string", "Name of the event", "event"), P("date day", "string", "Day of the event", "date", False)],
        ["Cancel the {0}.", "Please remove the {0} from my calendar.", "delete event {0}", "I can't make it to the {0}, cancel it.", "Cancel \"{0}\" for {1}.", "Take {0} off my calendar, {1}.",
         "The {0} won't happen, delete it.", "Cancel my appointment: {0}"], did(), (["Cancel an appointment.", "cancel my event"], "Which one?"),
        ["And the {0}.", "Cancel the {0} too."]),
    Family("move_event reschedule rescheduleEvent postpone_event change_event_time", ["Move an event to another time", "Reschedules an appointment"],
        [P("event title what name", "string", "The event", "event"), P("new_time to time when", "string", "New time", "weekday_time")],
        ["Move the {0} to {1}.", "Reschedule {0} to {1}, please.", "Can we have the {0} {1} instead?", "postpone {0} to {1}", "The {0} is now {1}.", "I want to shift the {0} to {1}.",
         "Please put the {0} on {1}.", "{0} -> {1}"], did()),
    Family("find_free_slot free_slots findSlot availability when_free", ["Find a free time of a person", "Returns when someone is free"],
        [NAME, P("duration length for_how_long", "string", "How long", "duration", False), DATE],
        ["When is {0} free?", "Find a free slot with {0}.", "When does {0} have time?", "I need {1} with {0}, when is that possible?", "free slot {0} {2}", "Is there a gap of {1} for {0}?",
         "When could I meet {0}? For {2}, please.", "Find {1} in the calendar of {0} for {2}."], gives(slot=clock), (["Find a free slot.", "When is there time to meet?"],
        "With whom?")),
    Family("rsvp answer_invitation respondInvite invitation_reply reply_to_invite", ["Answer an invitation", "Accepts or declines an invitation"],
        [P("event invitation title", "string", "The event", "event"), P("answer response reply status", "string", "The answer", "any", True, ["accept", "decline", "maybe"])],
        ["Answer {1} to the invitation for {0}.", "{0}: {1}", "Reply with {1} to \"{0}\".", "My answer to the {0} is {1}.", "invite {0} {1}", "Set my reply for the {0} to {1}, please.",
         "For the {0} I choose {1}."], did()),
    Family("days_until countdown daysUntil time_until count_days", ["Count the days until a date", "How many days are left"], [P("date target day until", "string", "The date", "date")],
        ["How many days until {0}?", "days until {0}", "Count the days to {0}.", "How long is it until {0}?", "countdown to {0} please", "Tell me how many days are left until {0}.",
         "I can't wait for {0}. How many days?"], gives(days=(2, 400)), (["How many days are left?", "Start a countdown."],
        "Until which day?"), ["And until {0}?", "And {0}?"]),
]

TRAVEL = [
    Family("book_hotel reserve_hotel bookHotel hotel_booking reserve_room", ["Book a room in a hotel", "Hotel reservation", "Reserves a hotel room for some nights"],
        [P("hotel hotel_name name", "string", "The hotel", "hotel"), P("nights stay number_of_nights", "integer", "Number of nights", "small"), P("checkin arrival date", "string", "Day of arrival",
        "date", False)],
        ["Book {1} nights at {0}.", "I need a room at {0} for {1} nights.", "Reserve the {0} for {1} nights from {2}.", "hotel {0}, {1} nights", "Can you get me a room in the {0}? {1} nights.",
         "Please book {0} for {1} nights, arrival {2}.", "We stay {1} nights at the {0}, book it please.", "{1} nights in {0} starting {2}", "I'd love to stay at {0} for {1} nights."],
        numbered(key="booking_id"), (["Book a hotel.", "I need a room for the night."],
        "Which hotel, and how many nights?")),
    Family("search_hotels find_hotel hotelSearch hotels_in list_hotels", ["Search hotels in a city", "Finds hotels"],
        [P("city location destination where", "string", "The city", "city"), P("max_price budget price_limit", "number", "Highest price per night", "money", False), P("stars min_stars rating",
        "string", "Stars", "any", False, ["3", "4", "5"])],
        ["Find a hotel in {0}.", "Hotels in {0}?", "I need somewhere to sleep in {0}.", "Find a hotel in {0} for at most {1} a night.", "hotels {0} under {1}", "{2} star hotels in {0}, please.",
         "Where can I stay in {0}?", "Show me {2} star hotels in {0} below {1}.", "My budget is {1}. Which hotels are there in {0}?"], several("hotels", "hotel"),
        (["Find me a hotel.", "I need a hotel."], "In which city?")),
    Family("flight_status check_flight getFlightStatus track_flight flight_info", ["Status of a flight", "Is a flight on time", "Looks up a flight by its number"],
        [P("flight flight_number number code", "string", "Flight number", "id")],
        ["Is flight {0} on time?", "status of flight {0}", "Where is flight {0}?", "My flight is {0}, is it late?", "Check flight {0}, please.", "flight {0}?", "Has {0} landed yet?",
         "I'm picking somebody up from flight {0}. How does it look?"], gives(status=["on time", "delayed", "boarding", "cancelled", "landed"]),
        (["Is my flight on time?", "Check my flight."], "What is the flight number?"), ["And {0}?", "And flight {0}?"]),
    Family("departures next_departures airportDepartures departure_board list_departures", ["Departures of an airport", "Shows the departure board"],
        [P("airport airport_name code from", "string", "The airport", "airport"), P("destination to city", "string", "Only flights to this city", "city", False)],
        ["Which flights leave from {0}?", "departures {0}", "Show the departure board of {0}.", "Flights from {0} to {1}?", "What departs from {0} for {1}?", "Next flights out of {0}, please.",
         "I'm at {0} and want to go to {1}.", "Can you list the departures at {0}?"], gives(time=clock, gate=(1, 60)),
        (["Show the departures.", "Which flights leave next?"], "From which airport?"), ["And from {0}?", "And {0}?"]),
    Family("train_times next_train getTrains train_schedule find_train", ["Next train between two stations", "Train timetable"],
        [P("from start origin departure_station", "string", "Station of departure", "station"), P("to destination arrival_station", "string", "Station of arrival", "station"),
        P("time after at", "string", "Earliest time", "time", False)],
        ["When is the next train from {0} to {1}?", "train {0} to {1}", "I have to get from {0} to {1}.", "Trains from {0} to {1} after {2}?", "How do I get to {1} from {0} by train?",
         "Next connection {0} - {1}", "Train to {1} from {0} at {2}, please.", "I'm at {0}, when is a train to {1}?"], gives(departure=clock, platform=(1, 20))),
    Family("bus_times next_bus busSchedule bus_departures get_bus", ["Next bus at a stop", "Departures of a bus line"],
        [P("stop station bus_stop at", "string", "The stop", "station"), P("line route bus", "string", "Bus line", "id", False)],
        ["When does the next bus leave at {0}?", "next bus {0}", "When does line {1} come to {0}?", "Bus {1} at {0}?", "I'm waiting at {0}, when is the bus coming?", "bus from {0}, line {1}",
         "Could you check the buses at {0}?", "Any bus at {0} soon?"], gives(minutes=(2, 45)),
        (["When is the next bus?", "bus times please"], "At which stop?"), ["And at {0}?", "And {0}?"]),
    Family("call_taxi book_taxi orderTaxi request_ride taxi", ["Order a taxi", "Books a ride", "Sends a cab to an address"],
        [P("pickup from address start", "string", "Where to pick up", "street"), P("destination to dropoff", "string", "Where to go", "place", False), P("time at when", "string", "When", "time", False)],
        ["I need a taxi at {0}.", "Send a cab to {0}.", "taxi from {0} to {1}", "Order a taxi to {0} for {2}.", "Please get me a ride from {0} to {1} at {2}.", "Can a taxi pick me up at {0}?",
         "Take me from {0} to {1}.", "cab for {2} at {0} pls", "I'm standing at {0} and it is raining, get me a taxi."], gives(minutes=(2, 25)), (["Call me a taxi.", "I need a cab.", "taxi please"], "Where shall it pick you up?")),
    Family("rent_car car_rental rentCar book_car hire_car", ["Rent a car", "Books a rental car"],
        [P("city location pickup_city", "string", "Where", "city"), P("days duration number_of_days", "integer", "Number of days", "small"), P("type car_type class", "string", "Kind of car", "any", False,
        ["small", "compact", "van", "large"])],
        ["Rent a car in {0} for {1} days.", "I need a car in {0} for {1} days.", "car rental {0}, {1} days", "Get me a {2} car in {0} for {1} days.", "For {1} days I want to drive around {0}.",
         "Can I hire a {2} car for {1} days in {0}?", "Book a rental in {0}: {1} days", "We fly to {0} and need a car, {1} days."], numbered(key="reservation")),
    Family("visa_requirements check_visa visaInfo needs_visa visa", ["Visa rules of a country", "Do I need a visa"],
        [P("country destination to", "string", "Country of travel", "country"), P("nationality passport citizenship", "string", "Country of the passport", "country", False)],
        ["Do I need a visa for {0}?", "visa {0}", "Visa for {0} with a passport of {1}?", "I want to travel to {0}. Is a visa needed?", "What are the visa rules of {0}?",
         "My passport is from {1}, can I just go to {0}?", "Can I enter {0} without a visa?", "Check the visa rules for {0}, please."], whether("visa_required"), (["Do I need a visa?", "Check the visa rules."], "For which country?"), ["And for {0}?", "What about {0}?"]),
    Family("find_parking parking parkingSpots nearest_parking parking_search", ["Find a parking space", "Free parking near an address"],
        [P("address near location street", "string", "Where", "street"), P("duration how_long", "string", "How long", "duration", False)],
        ["Where can I park near {0}?", "parking {0}", "Find a parking space close to {0}.", "I want to park for {1} near {0}.", "Is there any parking at {0}?", "Need a spot around {0} for {1}.",
         "Parking near {0}, {1}", "I'm driving to {0}, where do I leave the car?"], gives(free=(2, 300), garage="street"),
        (["Where can I park?", "Find a parking space."], "Near which address?"), ["And near {0}?", "And at {0}?"]),
    Family("pay_parking start_parking parkCar parking_ticket extend_parking", ["Pay for parking", "Starts a parking ticket for a car"],
        [P("plate license_plate car", "string", "Licence plate", "id"), P("duration time length", "string", "How long", "duration")],
        ["Park my car {0} for {1}.", "Parking ticket for {0}, {1}", "Pay {1} of parking for the plate {0}.", "plate {0} {1}", "I park {1}, my plate is {0}.", "Please start parking for {0}: {1}",
         "Can you pay for {1} of parking? The car is {0}."], did()),
    Family("directions get_directions navigate routeTo plan_route", ["Directions between two addresses", "Plans a route", "How to get from one address to another"],
        [P("to destination end target", "string", "Where to go", "street"), P("from origin start", "string", "Where to start", "street", False), P("mode by transport", "string", "How to travel", "any",
        False, ["car", "bike", "foot", "bus"])],
        ["How do I get to {0}?", "Directions to {0}", "Navigate to {0}, please.", "Route from {1} to {0}", "Take me to {0} by {2}.", "I have to go from {1} to {0} by {2}.", "way to {0}?",
         "Lead me to {0}.", "We are at {1} and must be at {0} soon. How do we get there?"], gives(minutes=(3, 90), km=(2, 80)),
        (["Give me directions.", "How do I get there?"], "Where do you want to go?")),
    Family("nearby_places find_nearby placesNearby search_places poi", ["Places of a kind near an address", "Finds shops and services nearby"],
        [P("type category kind", "string", "What to look for", "any", True, ["pharmacy", "supermarket", "bank", "hospital", "gas station", "bakery"]), P("near address location", "string",
        "Near which address", "street", False)],
        ["Is there a {0} nearby?", "Where is the nearest {0}?", "nearest {0}", "I need a {0}.", "Find a {0} near {1}.", "{0} close to {1}?", "Is there any {0} around {1}?",
         "Please show me the way to a {0}.", "which {0} is closest to {1}"], gives(address="street")),
    Family("traffic get_traffic trafficInfo check_traffic traffic_report", ["Traffic in a city", "Reports traffic jams"], [P("city area region location", "string", "Where", "city")],
        ["How is the traffic in {0}?", "traffic {0}", "Are there jams in {0}?", "Is it a bad time to drive through {0}?", "Check the traffic around {0}.", "I'm driving to {0}, any jams?",
         "traffic report for {0} please"], gives(level=["light", "heavy", "normal", "slow", "very heavy"]), (["How is the traffic?", "Any jams?"], "In which city?"),
        ["And in {0}?", "And {0}?"]),
    Family("order_parcel_pickup schedule_pickup pickupParcel collect_parcel", ["Have a parcel collected", "Books a courier"],
        [P("address street from", "string", "Where", "street"), P("date day when", "string", "The day", "date"), P("weight kg", "number", "Weight in kilograms", "small", False)],
        ["Pick up a parcel at {0}, {1}.", "courier to {0} for {1}", "I have a parcel of {2} kilos at {0}, collect it {1}.", "Please send a courier to {0}, {1}.", "Collect my package from {0} {1}.",
         "The parcel weighs {2} kg. Address: {0}. Day: {1}.", "Can somebody fetch a parcel from {0}? {1} would be good."], numbered(key="pickup_id")),
    Family("track_parcel parcel_status trackPackage tracking where_is_parcel", ["Track a parcel", "Where is a shipment"],
        [P("tracking_number code parcel number", "string", "Tracking number", "id"), P("carrier company service", "string", "The carrier", "any", False, ["DHL", "UPS", "FedEx", "DPD"])],
        ["Where is parcel {0}?", "Track {0}.", "tracking {0}", "My package {0} has not arrived.", "Track the {1} parcel {0}.", "Where is my {1} shipment {0}?", "Can you see where the parcel {0} is?",
         "{1} {0} status", "I'm still waiting for parcel {0}."], gives(location="city"), (["Where is my parcel?",
        "Track my package."], "What is the tracking number?"), ["And {0}?", "And parcel {0}?"]),
]

MEDIA = [
    Family("play_artist play_music playArtist music_by listen_to", ["Play music of an artist", "Plays songs of a singer or band"],
        [P("artist band singer name", "string", "The artist", "artist"), P("shuffle random", "boolean", "Shuffle", "flag", False)],
        ["Play something by {0}.", "Play {0}.", "I want to hear {0}.", "Put on some {0}, please.", "play {0}", "Can you play songs by {0}?", "I'm in the mood for {0}.", "Some {0} would be nice now.",
         "Play {0} with shuffle {1}.", "music by {0}, shuffle {1}", "I feel like listening to {0} today."], did(), (["Play some music.",
        "I want to hear a band."], "Which artist?"), ["Now {0}.", "And then {0}."]),
    Family("play_album playAlbum start_album album_player queue_album", ["Play an album", "Starts an album from the beginning"],
        [P("album title name record", "string", "The album", "album"), P("artist by band", "string", "Who made it", "artist", False)],
        ["Play the album {0}.", "Play the album {0} by {1}.", "put on {0} by {1}", "I'd like to listen to the album {0}.", "Start \"{0}\" by {1}, please.", "album {0}", "The record {0} from {1}, please.",
         "Could you play {0}, the album?", "Let's hear {1}'s album {0}."], did(), (["Play an album.",
        "Put on a record."], "Which album?"), ["And then the album {0}.", "Next the album {0}."]),
    Family("play_genre start_radio playGenre radio genre_station", ["Play music of a genre", "Starts a radio station of a genre"],
        [P("genre style kind", "string", "The genre", "genre"), P("volume level", "integer", "Volume", "small", False)],
        ["Play some {0}.", "{0} music please", "Put on {0} at volume {1}.", "I want {0} radio.", "Start a station with {0}.", "Let me hear {0}.", "play {0} with volume {1}",
         "A bit of {0} would be great for dinner.", "Could we have {0} music?"], did(), (["Start the radio.", "Play the radio."], "Which genre?"), ["Now {0}.",
        "Rather {0}."]),
    Family("create_playlist new_playlist createPlaylist make_playlist playlist_create", ["Create a playlist", "Makes an empty playlist"],
        [P("name title playlist", "string", "Name of the playlist", "subject"), P("public is_public shared", "boolean", "Whether others see it", "flag", False)],
        ["Create a playlist called {0}.", "New playlist \"{0}\"", "make a playlist {0}", "I want a playlist named \"{0}\".", "Please make a new playlist with the name '{0}'.",
         "Create the playlist \"{0}\" with sharing {1}.", "playlist {0}, public {1}", "Could you set up a playlist, name: {0}"], numbered(), (["Create a playlist.", "New playlist please."], "What shall it be called?")),
    Family("add_to_playlist playlist_add addSong add_track queue_song", ["Add a song to a playlist", "Puts a song on a playlist"],
        [P("song track title", "string", "The song", "song"), P("playlist list playlist_name", "string", "The playlist", "subject")],
        ["Add {0} to the playlist {1}.", "Put {0} on my playlist \"{1}\".", "add '{0}' to {1}", "I love {0}, add it to the list \"{1}\".", "Please save {0} in the playlist {1}.",
         "{0} belongs on my {1} playlist.", "In the playlist \"{1}\", add {0}."], did()),
    Family("set_volume volume setVolume change_volume sound_level", ["Set the volume", "Changes the volume of a speaker"],
        [P("level volume value percent", "integer", "Volume in percent", "small"), P("device speaker room", "string", "Which speaker", "room", False)],
        ["Set the volume to {0}.", "volume {0}", "Make it {0} percent loud.", "Volume {0} in the {1}, please.", "Too loud! Go to {0}.", "Turn the sound in the {1} to {0}.", "Could you put the volume at {0}%?",
         "I'd like the volume at {0}."], did(), (["Change the volume.", "It is too loud."], "What volume would you like?"),
        ["Now {0}.", "Rather {0}."]),
    Family("get_lyrics lyrics findLyrics song_text lyrics_search", ["Find the words of a song", "Lyrics search"],
        [P("song title track", "string", "The song", "song"), P("artist singer by", "string", "The artist", "artist", False)],
        ["Show me the lyrics of {0}.", "lyrics {0}", "What are the words of {0}?", "Lyrics of \"{0}\" by {1}, please.", "I want to sing {0} by {1}.", "How does the text of {0} go?",
         "Find the lyrics for {0} from {1}.", "I forgot the words of \"{0}\"."], gives(first_line="sentence"), (["Find some lyrics.", "What are the words?"], "Of which song?"),
        ["And of {0}?", "And {0}?"]),
    Family("concerts find_concerts upcomingShows tour_dates artist_events", ["Concerts of an artist", "Tour dates"],
        [P("artist band musician", "string", "The artist", "artist"), P("city location where", "string", "In which city", "city", False)],
        ["When does {0} play next?", "concerts {0}", "Is {0} on tour?", "Is {0} coming to {1}?", "Tour dates of {0}, please.", "I want to see {0} live.", "When can I see {0} in {1}?", "{0} concert {1}",
         "Find shows of {0} in {1}."], gives(date=day, city="city"), (["Find a concert.", "Any concerts?"], "Of which artist?"),
        ["And {0}?", "What about {0}?"]),
    Family("get_movie movie_info movieDetails film_info lookup_movie", ["Information about a movie", "Looks up a film"],
        [TITLE, P("year released", "integer", "Year", "int", False)],
        ["Who directed {0}?", "Tell me about the movie {0}.", "movie {0}", "How long is the film {0}?", "Look up the film {0} from the year {1}.", "Find the movie \"{0}\" ({1}).",
         "Is {0} a long film?", "I'd like some details on the film '{0}'."], gives(director="full", minutes=(80, 190)),
        (["Look up a movie.", "Tell me about a film."], "Which movie?"), ["And {0}?", "And the movie {0}?"]),
    Family("stream_movie watch_movie play_video watch playMovie", ["Play a movie", "Starts a film on the TV"],
        [TITLE, P("device screen tv on", "string", "On which device", "device", False)],
        ["I want to watch {0}.", "Start {0}.", "watch {0}", "Play the movie {0} on {1}.", "Put {0} on, please.", "Let's watch \"{0}\" tonight.", "Can we see {0} on {1}?", "Show the film {0} on {1}.",
         "How about {0}? Start it."], did(), (["Start a movie.", "I want to watch something."], "Which movie?"), ["And then {0}.", "No, {0}."]),
    Family("showtimes cinema_times movieShowtimes cinema_program find_screenings", ["When a film runs in the cinema", "Showtimes of a movie"],
        [TITLE, P("city location near", "string", "The city", "city"), DATE],
        ["When does {0} run in {1}?", "Is {0} in the cinema in {1}?", "showtimes {0} {1}", "Where can I see {0} in {1}?", "Cinema in {1}: {0}, {2}", "I'd like to see \"{0}\" in {1}, when does it start?",
         "Screenings of {0} in {1} for {2}?"], gives(time=clock)),
    Family("buy_tickets book_tickets ticketOrder tickets get_tickets", ["Buy tickets", "Books tickets for an event"],
        [P("event show name what", "string", "For what", "event"), P("quantity count number seats", "integer", "How many", "small"), P("category class price_class", "string", "Category", "any", False,
        ["standard", "premium", "vip"])],
        ["Buy {1} tickets for the {0}.", "I need {1} tickets for {0}.", "{1} {2} tickets for {0}", "tickets {0} x {1}", "Could you get {1} tickets to the {0}?", "We are {1} people and want to go to the {0}.",
         "Please reserve {1} seats for the {0}, category {2}.", "Get me {1} {2} seats for the {0}."], numbered(key="order"),
        (["Buy tickets.", "I need some tickets."], "For what, and how many?")),
    Family("search_videos find_video videoSearch youtube_search search_clips", ["Search for videos", "Finds clips about something"],
        [P("query q search topic", "string", "What to look for", "topic"), P("limit max_results count", "integer", "How many results", "small", False)],
        ["Find videos about {0}.", "videos {0}", "Show me a video on {0}.", "I'd like to see clips about {0}.", "Find {1} videos about {0}.", "Is there any video about {0}?", "{1} clips on {0} please",
         "Search video: {0}"], several("videos", "subject"), (["Find a video.", "Show me some clips."], "About what?"), ["And videos about {0}?", "Now videos on {0}."]),
    Family("search_podcasts find_podcast podcastSearch podcasts", ["Find a podcast", "Searches podcasts by topic and language"],
        [P("topic subject about", "string", "The topic", "topic"), P("language lang", "string", "Language", "language", False)],
        ["Find a podcast about {0}.", "podcasts on {0}", "I want to listen to a podcast on {0}.", "A podcast about {0} in {1}, please.", "Are there {1} podcasts about {0}?", "Any good podcast about {0}?",
         "Recommend me a podcast: {0}"], gives(title="subject"), (["Find me a podcast.", "I want to hear a podcast."], "About which topic?"), ["And about {0}?",
        "And one about {0}?"]),
    Family("generate_image create_image draw image_gen textToImage", ["Generate an image", "Draws a picture from a description", "Text to image"],
        [P("prompt description text", "string", "What the image shows", "topic"), P("style look", "string", "Style", "any", False, ["photo", "cartoon", "watercolor", "sketch"]), P("size format", "string",
        "Size", "any", False, ["small", "large", "square", "wide"])],
        ["Draw {0}.", "Make a picture of {0}.", "image of {0}", "Generate an image of {0} as a {1}.", "I'd like a {1} of {0}.", "Can you paint {0} for me?", "Create a {2} image: {0}",
         "{0}, style {1}, format {2}", "Show me what {0} would look like in a picture."], gives(url=link), (["Draw something.",
        "Make a picture."], "What shall the picture show?")),
    Family("resize_image image_resize resizeImage scale_image change_size", ["Change the size of an image", "Scales a picture"],
        [P("file image path filename", "string", "The image file", "filename"), P("width w", "integer", "Width in pixels", "int"), P("height h", "integer", "Height in pixels", "int", False)],
        ["Resize {0} to a width of {1}.", "Make {0} {1} pixels wide.", "{0} to {1} x {2}", "resize {0}, width {1}, height {2}", "I need {0} with {1} by {2} pixels.", "Scale {0} to {1} pixels.",
         "Please change {0} to width {1} and height {2}.", "The picture {0} should be {1} pixels wide."], did()),
    Family("take_photo photo takePicture camera_capture snap", ["Take a photo with a camera", "Makes a picture"],
        [P("camera device which", "string", "The camera", "any", False, ["front", "back"]), P("flash use_flash", "boolean", "Flash", "flag", False)],
        ["Take a photo.", "Take a picture with the {0} camera.", "photo please", "Say cheese! Take a photo.", "Snap a picture, {0} camera.", "Take a photo with flash {1}.", "{0} camera, flash {1}",
         "Could you take a picture of us?"], gives(file=picture)),
]

SHOPS = [
    Family("search_products product_search findProducts shop_search search_catalog", ["Search products in the shop", "Finds things to buy", "Search the catalog"],
        [P("query keyword product q", "string", "What to look for", "product"), P("max_price price_max budget", "number", "Highest price", "money", False), P("sort order sort_by", "string", "Order", "any",
        False, ["price", "rating", "newest"])],
        ["I'm looking for {0}.", "Find {0} under {1} dollars.", "Show me {0}.", "search {0}", "Search for {0} sorted by {2}.", "I want to buy {0}, at most {1}.", "Do you sell {0}?",
         "{0} below {1}, sort by {2}", "What {0} do you have for less than {1}?", "We need {0} for a present."], several("products", "product"),
        (["I want to buy something.", "Search the shop."], "What are you looking for?")),
    Family("add_to_cart cart_add addToCart put_in_cart basket_add", ["Add a product to the shopping cart", "Puts something into the basket"],
        [P("product item name", "string", "The product", "product"), P("quantity amount count qty", "integer", "How many", "small", False)],
        ["Add {0} to my cart.", "Put {0} in the basket, please.", "I'll take the {0}.", "add {0} to cart", "Add {1} of the {0} to my cart.", "cart: {0} x {1}", "I'd like {1} times {0} in my cart.",
         "Into the basket: {0}"], did(), (["Add it to the cart.", "Put something in my basket."], "Which product?"), ["Also {0}.", "And {0}."]),
    Family("remove_from_cart cart_remove removeItem delete_from_cart basket_remove", ["Remove a product from the shopping cart", "Takes something out of the basket"],
        [P("product item article", "string", "The product", "product")],
        ["Remove {0} from my cart.", "Take the {0} out of the basket.", "I don't want the {0} any more.", "cart without {0}", "remove {0}", "No {0}, please take it out of the cart.",
         "Please delete {0} from the cart."], did(), (["Remove something from the cart.", "Take it out of my cart."],
        "Which product?"), ["Also {0}.", "And {0}."]),
    Family("view_cart show_cart getCart cart basket", ["Show the shopping cart", "Contents of the basket"], [],
        ["What is in my cart?", "Show my cart.", "cart", "Let me see the basket.", "What have I put in my basket so far?", "How full is my cart?", "I'd like to see my shopping cart, please."],
        several("items", "product")),
    Family("apply_coupon coupon useCoupon redeem_code discount_code", ["Apply a coupon code", "Redeems a discount code"], [P("code coupon coupon_code voucher", "string", "The code", "id")],
        ["Apply the coupon {0}.", "I have a code: {0}", "coupon {0}", "Use the discount code {0}, please.", "Redeem {0}.", "Can I use the voucher {0}?", "My coupon is {0}."],
        gives(discount="percent"), (["I have a coupon.", "Apply my discount."], "What is the code?"), ["And {0}?",
        "Then try {0}."]),
    Family("checkout pay_cart placeOrder finish_order complete_purchase", ["Pay for the cart", "Places the order of the cart"],
        [P("payment payment_method method pay_with", "string", "How to pay", "any", True, ["credit card", "PayPal", "invoice", "bank transfer"]), P("address ship_to delivery_address", "string",
        "Delivery address", "street", False)],
        ["Check out with {0}.", "I pay by {0}.", "checkout {0}", "Order it all and pay with {0}.", "Send it to {1}, I pay by {0}.", "Finish my order, payment by {0}, delivery to {1}.",
         "Ship everything to {1}. Payment: {0}", "I'd like to pay with {0}, please."], numbered(key="order_id")),
    Family("return_item start_return returnOrder request_return send_back", ["Return an order", "Starts the return of something bought"],
        [P("order_id order number", "string", "Number of the order", "id"), P("reason why", "string", "Reason", "any", False, ["too small", "too big", "broken", "wrong item"])],
        ["I want to return order {0}.", "return {0}", "Order {0} is {1}, I send it back.", "Please take back order {0}.", "My order {0}: {1}. I'd like to return it.", "Send back {0}, reason: {1}",
         "How do I give back order {0}? Start the return."], numbered(key="return_id"), (["I want to return something.",
        "Start a return."], "What is the order number?"), ["Also {0}.", "And order {0}."]),
    Family("get_price price_check productPrice check_price price_of", ["Price of a product", "Returns what a product costs"], [P("product item name article", "string", "The product", "product"), P(
        "currency in", "string", "Currency", "any", False, ["EUR", "USD", "GBP"])],
        ["How much is {0}?", "price of {0}", "What do the {0} cost?", "What's the price of {0} in {1}?", "Tell me the price of the {0}.", "I'd like to know what {0} costs.", "{0} in {1}, how much?",
         "Is {0} expensive?"], number("price"), (["How much is it?", "What does it cost?"], "Which product do you mean?"), ["And {0}?", "And the {0}?"]),
    Family("product_reviews get_reviews reviewsOf customer_reviews ratings", ["Reviews of a product", "What customers say"], [P("product item name", "string", "The product", "product")],
        ["What do people think of the {0}?", "reviews {0}", "Is the {0} any good?", "Show me reviews of {0}.", "How is the {0} rated?", "Should I get the {0}? What do customers say?",
         "Ratings for {0}, please."], gives(rating=lambda rng, v: round(rng.uniform(1.5, 5), 1), count=(2, 900)),
        (["Show me the reviews.", "Is it any good?"], "Which product do you mean?"), ["And {0}?", "And the {0}?"]),
    Family("write_review post_review addReview rate_place leave_review", ["Write a review of a place", "Rates a restaurant"],
        [P("place restaurant name", "string", "The place", "place"), P("stars rating score", "string", "Stars from 1 to 5", "any", True, ["1", "2", "3", "4", "5"]), P("text comment review", "string",
        "The review", "sentence", False)],
        ["Give {0} {1} stars.", "Rate {0} with {1} stars.", "{0}: {1} stars, \"{2}\"", "review {0} {1}", "I give {1} of 5 to {0}. {2}", "My rating for {0} is {1}.",
         "Write a review of {0} with {1} stars: {2}", "{1} stars for {0}, please. Comment: \"{2}\""], did()),
    Family("find_restaurant search_restaurants restaurantSearch restaurants where_to_eat", ["Find a restaurant", "Searches restaurants by cuisine"],
        [P("cuisine food type kitchen", "string", "The cuisine", "cuisine"), P("city location near", "string", "The city", "city", False), P("price price_level cost", "string", "Price level", "any", False,
        ["cheap", "moderate", "fancy"])],
        ["Where can I eat {0} food?", "Find {0} restaurants in {1}.", "I feel like {0} food.", "{0} restaurant {1}", "Is there a {2} {0} place in {1}?", "I'm hungry, something {0} please.",
         "Find {0} restaurants that are {2}.", "{0} food in {1}?", "Any good {0} place around?"], gives(name="place", address="street"),
        (["Find me a restaurant.", "Where can I eat?"], "What cuisine would you like?")),
    Family("opening_hours get_hours isOpen open_times hours", ["Opening hours of a place", "When a place is open"], [P("place name business where", "string", "The place", "place"), P("day date on", "string",
        "The day", "day", False)],
        ["When does {0} open?", "Is {0} open on {1}?", "opening hours {0}", "How long is {0} open?", "When can I go to {0} on {1}?", "hours of {0}, {1}", "I'd like to know the opening hours of {0}.",
         "Is {0} still open?"], gives(opens=["7:00", "8:00", "9:30", "10:00", "11:00"], closes=["18:00", "20:00", "22:30", "23:00"]), (["When do you open?",
        "Are they open?"], "Which place do you mean?"), ["And {0}?", "And when does {0} open?"]),
    Family("reserve_restaurant book_restaurant reserveTable table_reservation restaurant_booking book_table", ["Reserve a table at a restaurant", "Books a table at a place"],
        [P("restaurant place name venue", "string", "The restaurant", "place"), P("people party_size guests persons", "integer", "Number of guests", "small"), P("time when date_time", "string", "When",
        "weekday_time")],
        ["Book a table at {0} for {1} people, {2}.", "Table for {1} at {0} {2}", "Reserve {0} for {1}, {2}.", "We are {1} people and want to eat at {0} {2}.", "Could you get us a table for {1} at {0}? {2} please.",
         "{2}, {1} people, {0}", "I'd like to go to {0} {2} with {1} people.", "dinner at {0} {2} for {1}"], did(),
        (["I want to eat out.", "Reserve a restaurant."], "Where, for how many people, and when?")),
    Family("order_delivery food_delivery orderMeal deliver_food delivery", ["Order a meal to your home", "Food delivery"],
        [P("dish meal item food", "string", "What to eat", "food"), P("restaurant from place", "string", "From which restaurant", "place"), P("address to deliver_to", "string", "Address", "street", False)],
        ["Order {0} from {1}.", "Get me {0} from {1} to {2}.", "{0} from {1} please", "I'd like {0} from {1}, deliver to {2}.", "Can {1} bring us {0}?", "We want {0}. Order at {1}.",
         "From {1}: {0}, address {2}"], gives(minutes=(15, 75))),
    Family("find_recipe recipe_search getRecipe recipes cook_with", ["Find a recipe with an ingredient", "Recipe search"],
        [P("ingredient with main_ingredient", "string", "An ingredient", "ingredient"), P("max_minutes time_limit", "integer", "How long it may take", "small", False), P("diet type", "string", "Diet", "any",
        False, ["vegan", "vegetarian", "gluten-free"])],
        ["What can I cook with {0}?", "recipe with {0}", "I have some {0} left, any ideas?", "Find a {2} recipe with {0}.", "Something with {0} in {1} minutes?", "Give me a recipe for {0}.",
         "A quick dish with {0}, at most {1} minutes, {2}", "We only have {0} at home. What shall we cook?"], gives(recipe=lambda rng, v: value(rng, "food")
        + " with " + (v[0] or "salt")), (["What shall I cook?", "Find a recipe."], "With which ingredient?")),
    Family("calories get_calories nutritionInfo food_calories count_calories", ["Calories of a food", "Nutrition facts"], [P("food item ingredient name", "string", "The food", "ingredient"), P(
        "grams amount weight", "integer", "Amount in grams", "int", False)],
        ["How many calories are in {0}?", "calories {0}", "How many calories do {1} grams of {0} have?", "Is {0} fattening?", "nutrition facts of {0}", "I ate {1} grams of {0}. How many calories is that?",
         "kcal of {0}?"], gives(calories=(5, 900)), (["How many calories does it have?", "Count the calories."], "Of which food?"), ["And {0}?", "And in {0}?"]),
    Family("suggest_meal_plan plan_meals mealPlan meal_planner", ["Make a meal plan", "Plans the meals for some days"],
        [P("days number_of_days", "integer", "Number of days", "small"), P("cuisine style", "string", "Cuisine", "cuisine", False)],
        ["Plan my meals for {0} days.", "meal plan {0} days", "Make a meal plan for {0} days, {1} food.", "What shall we eat for {0} days?", "I want {1} food for {0} days, make a plan.",
         "Could you plan {0} days of meals?", "We need a plan for {0} days, {1} please."], several("meals", "food"), (["Plan my meals.",
        "Make a meal plan."], "For how many days?")),
    Family("make_coffee brew brewCoffee coffee_order coffee_machine", ["Make a coffee", "Orders a coffee drink"],
        [P("drink type coffee", "string", "The drink", "any", True, ["cappuccino", "latte", "macchiato", "flat white"]), P("size cup", "string", "Size", "any", False, ["small", "medium", "large"]),
        P("sugar spoons", "integer", "Spoons of sugar", "small", False)],
        ["One {0}, please.", "A {1} {0}, please.", "{0}", "I'd like a {1} {0} with {2} spoons of sugar.", "make me a {0}", "Can I have a {0} with {2} sugars?", "I need caffeine, a {1} {0}!",
         "Brew a {0} for me."], did()),
]

MONEY = [
    Family("get_balance account_balance checkBalance balance bank_balance", ["Balance of a bank account", "How much money is in an account"],
        [P("account account_type which", "string", "The account", "any", True, ["checking", "savings", "business", "joint"])],
        ["What is the balance of my {0} account?", "balance {0}", "How much money is in my {0} account?", "Check my {0} account, please.", "{0} account balance", "Am I broke? Look at the {0} account.",
         "Tell me how much I have in the {0} account."], number("balance")),
    Family("transfer_money send_money transferMoney bank_transfer pay_person", ["Transfer money to a person", "Sends money", "Makes a bank transfer"],
        [P("to recipient payee beneficiary", "string", "Who gets the money", "name"), P("amount sum value", "number", "How much", "money"), P("reference note purpose", "string", "Reference", "subject", False)],
        ["Send {1} dollars to {0}.", "Transfer {1} to {0}.", "Pay {0} {1} euros.", "I owe {0} {1} dollars, please send it.", "{1} to {0} for \"{2}\"", "Give {0} {1} dollars, reference {2}",
         "Wire {1} to {0} with the note '{2}'.", "Can you transfer {1} pounds to {0}?"], did(), (["Send some money.", "Make a transfer."],
        "To whom, and how much?")),
    Family("list_transactions transactions getTransactions account_activity recent_payments", ["Last transactions of an account", "Shows recent payments"],
        [P("limit count number n", "integer", "How many", "small"), P("account account_id", "string", "Account", "id", False)],
        ["Show my last {0} transactions.", "last {0} payments", "What were my {0} latest transactions?", "The {0} most recent payments of account {1}, please.", "List {0} transactions for {1}.",
         "I want to see the last {0} bookings.", "Get {0} transactions from account {1}."], gives(amount=price(1, 500), payee="company")),
    Family("pay_bill bill_payment payInvoice settle_bill pay_invoice", ["Pay a bill", "Pays an invoice of a company"],
        [P("company payee biller to", "string", "Who gets the money", "company"), P("amount sum", "number", "How much", "money", False), P("invoice invoice_number reference", "string", "Number of the invoice",
        "id", False)],
        ["Pay the bill of {0}.", "Pay {1} to {0}.", "pay {0} invoice {2}", "I got a bill from {0} over {1} dollars, pay it.", "Please settle invoice {2} of {0}.", "The {0} bill has to be paid.",
         "Bill from {0}: {1}, number {2}", "Could you pay {0} for me?"], did(), (["Pay a bill.", "Pay my invoice."], "Of which company?")),
    Family("add_expense log_expense trackExpense expense record_spending", ["Record an expense", "Logs what was spent"],
        [P("amount value cost", "number", "Amount", "money"), P("category type for", "string", "Category", "any", True, ["food", "travel", "rent", "fun", "clothes"]), DATE],
        ["I spent {0} on {1}.", "Add an expense of {0} for {1}.", "{0} dollars for {1}, {2}", "log {0} {1}", "Record {0} euros in the category {1}.", "Expense: {0}, {1}", "Put down {0} for {1}.",
         "Another {0} gone for {1}, note it."], did()),
    Family("spending_report spending getSpending budget_report expenses_by_category", ["How much was spent on a category", "Spending report"],
        [P("category type on", "string", "Category", "any", True, ["food", "travel", "rent", "fun", "clothes"]), P("month period", "string", "Period", "any", False, ["week", "month", "year"])],
        ["How much did I spend on {0}?", "spending {0}", "How much went to {0} this {1}?", "Show what I paid for {0}.", "My costs for {0} this {1}, please.", "Did I spend much on {0}?",
         "{0} expenses per {1}", "I wonder how much {0} cost me."], number("total")),
    Family("crypto_price get_crypto cryptoPrice coin_price bitcoin_price", ["Price of a crypto coin", "Cryptocurrency prices"],
        [P("coin symbol currency", "string", "The coin", "symbol"), P("in vs_currency quote", "string", "Currency of the price", "currency", False)],
        ["What is {0} worth in crypto?", "{0} coin price", "Price of the coin {0}?", "How much is one {0} coin in {1}?", "crypto {0} {1}", "Check the coin {0} for me.", "Is the coin {0} up?",
         "One coin of {0}, how many {1}?"], number("price"), (["What is my coin worth?", "Check a crypto price."], "Which coin?"), ["And {0}?", "And the coin {0}?"]),
    Family("buy_stock trade_stock buyShares place_trade stock_order", ["Buy or sell shares", "Places a stock order"],
        [P("symbol ticker company", "string", "The share", "symbol"), P("quantity shares amount", "integer", "How many shares", "small"), P("side action type", "string", "buy or sell", "any", True, ["buy",
        "sell"])],
        ["{2} {1} shares of {0}", "I want to {2} {1} shares of {0}.", "Please {2} {1} {0}.", "{2} {0} x {1}", "Can you {2} {1} {0} shares for me?", "Place an order: {2} {1} of {0}",
         "It is time to {2} {0}, {1} shares."], did()),
    Family("loan_payment mortgage_calculator calculateLoan loan_calculator", ["Monthly payment of a loan", "Loan calculator"],
        [P("amount principal sum", "number", "Amount of the loan", "int"), P("rate interest interest_rate", "number", "Interest in percent", "small"), P("years term duration", "integer", "Years", "small")],
        ["What do I pay a month for a loan of {0} at {1} percent over {2} years?", "loan {0}, {1}%, {2} years", "I want to borrow {0} for {2} years at {1} percent.",
         "Calculate a loan: {0} at {1}% for {2} years", "Monthly rate for {0} with {1} percent interest and {2} years?", "With {1} percent interest and {2} years, what does a loan of {0} cost me per month?",
         "mortgage of {0} over {2} years at {1} percent"], _loan),
    Family("calculate_tip tip tipCalculator tip_amount", ["Calculate a tip", "How much to tip"], [P("bill total amount", "number", "The bill", "money"), P("percent tip_percent rate", "number",
        "Tip in percent", "small"), P("people split persons", "integer", "Split among", "small", False)],
        ["How much is a {1} percent tip on {0}?", "tip {1}% on {0}", "The bill is {0} and I want to tip {1} percent.", "Tip of {1} percent for {0}, split by {2}?", "We are {2} people, the bill is {0}, tip {1}%.",
         "Calculate {1} percent tip for a bill of {0} dollars.", "What do I leave on {0} at {1} percent?"], gives(tip=lambda rng, v: round(v[0] * v[1] / 100, 2))),
    Family("split_bill divide_bill splitBill share_costs", ["Split a bill between people", "Divides costs"], [P("amount total bill", "number", "The bill", "money"), P("people persons count ways", "integer",
        "How many people", "small")],
        ["Split {0} between {1} people.", "split {0} by {1}", "The bill is {0}, we are {1} people.", "How much does each of {1} people pay for {0}?", "{1} friends share {0} dollars.",
         "Divide {0} among {1}, please.", "We owe {0} together, {1} of us."], gives(each=lambda rng, v: round(v[0] / v[1], 2))),
    Family("vat_calculator add_tax calculateTax sales_tax tax", ["Calculate the tax on a price", "Adds sales tax"], [P("price amount net", "number", "Price without tax", "money"), P("rate tax_rate percent",
        "string", "Tax rate", "percent", False), P("country in", "string", "Country", "country", False)],
        ["How much tax is on {0}?", "Add {1} tax to {0}.", "tax on {0} in {2}", "What is {0} with {1} tax?", "Price {0}, tax {1}", "I sell something for {0} in {2}. How much tax?",
         "Calculate the sales tax for {0}."], gives(tax=lambda rng, v: round(v[0] * (_percent(v[1]) if v[1] else rng.randint(5, 25)) / 100, 2)), (["How much tax is it?", "Calculate the tax."], "On what price?")),
    Family("exchange_rate get_rate getExchangeRate fx_rate currency_rate", ["Exchange rate of two currencies", "Current rate between currencies"],
        [P("base from source", "string", "First currency", "currency"), P("target to quote", "string", "Second currency", "currency")],
        ["What is the exchange rate from {0} to {1}?", "rate {0} {1}", "{0}/{1}", "How is the {0} against the {1}?", "Exchange rate {0} in {1}, please.", "I change {0} to {1} tomorrow, what is the rate?",
         "Tell me the rate of {0} to {1}."], gives(rate=lambda rng, v: round(rng.uniform(0.1, 150), 3))),
    Family("block_card freeze_card lockCard card_block cancel_card", ["Block a bank card", "Freezes a lost card"],
        [P("card card_number last_digits", "string", "Number of the card", "id"), P("reason why", "string", "Reason", "any", False, ["lost", "stolen", "damaged"])],
        ["Block my card {0}.", "My card {0} was {1}.", "freeze card {0}", "The card {0} is {1}, please block it.", "Please lock the card ending in {0}.", "I need you to stop card {0}.",
         "Block {0}, reason: {1}"], did(), (["Block my card.", "I lost my card."], "What is the number of the card?"), ["And {0}.",
        "Also the card {0}."]),
]

OFFICE = [
    Family("request_leave book_vacation requestTimeOff time_off vacation_request", ["Ask for days off", "Requests vacation"],
        [P("start from start_date first_day", "string", "First day", "date"), P("days number duration", "integer", "Number of days", "small"), P("type reason kind", "string", "Kind of leave", "any", False,
        ["vacation", "sick", "unpaid", "parental"])],
        ["I want {1} days off from {0}.", "Request {1} days of {2} leave from {0}.", "leave {0}, {1} days", "Can I take {1} days off starting {0}?", "Book {1} days of leave, beginning {0}.",
         "I'll be away for {1} days from {0}, {2} leave.", "From {0} I need {1} free days."], did(), (["I need a holiday.",
        "Request some time off."], "From when, and for how many days?")),
    Family("vacation_days leave_balance remainingLeave days_off_left get_leave_balance", ["How many days off an employee has left", "Vacation balance"],
        [P("employee name person", "string", "The employee", "full"), P("year for_year", "integer", "Year", "int", False)],
        ["How many days off does {0} have left?", "vacation balance {0}", "Leave balance of {0}?", "Has {0} any vacation left?", "Check the remaining leave of {0} for the year {1}.",
         "I need to know how many days {0} may still take.", "{0}, days left?"], gives(days=(0, 30)), (["How many days off are left?", "Check the leave balance."],
        "Of which employee?"), ["And {0}?", "What about {0}?"]),
    Family("find_employee employee_lookup lookupEmployee staff_search get_employee", ["Find an employee", "Looks up a colleague", "Staff directory"],
        [P("name employee full_name person", "string", "Name", "full"), P("department dept team", "string", "Department", "department", False)],
        ["Who is {0}?", "Find {0} from {1}.", "employee {0}", "What is the extension of {0}?", "Look up {0} in the {1} department.", "How can I reach {0}?", "Is there somebody called {0} in {1}?",
         "I'm looking for my colleague {0}."], gives(role="job", extension=(100, 9999)), (["Find a colleague.", "Look somebody up in the staff list."],
        "What is the name?"), ["And {0}?", "And who is {0}?"]),
    Family("onboard_employee add_employee hireEmployee new_employee create_employee", ["Add a new employee", "Creates the record of an employee"],
        [P("name full_name employee", "string", "Name", "full"), P("department dept unit", "string", "Department", "department"), P("position role job_title", "string", "Job", "job", False)],
        ["Add {0} to {1}.", "{0} starts in {1} as our new {2}.", "new employee {0}, {1}", "Please create a record for {0} in the {1} department.", "We hired {0} for {1}.", "Hire {0} as {2} in {1}.",
         "New in {1}: {0}", "In the {1} department, add {0} as {2}."], numbered(key="employee_id")),
    Family("create_contact add_contact newContact save_contact contact_create", ["Save a contact", "Adds someone to the contacts"],
        [P("name full_name contact", "string", "Name", "full"), P("phone number phone_number tel", "string", "Phone number", "phone"), P("company organization firm", "string", "Company", "company", False)],
        ["Save {0} with the number {1}.", "New contact: {0}, {1}", "add {0} {1}", "The number of {0} is {1}, save it.", "Add {0} from {2} to my contacts: {1}", "{0} works at {2}, phone {1}. Please save that.",
         "Please put {0} in my contacts, number {1}.", "contact {0}, {2}, {1}"], did(), (["Save a contact.", "Add a contact."],
        "What are the name and the number?")),
    Family("find_contact get_phone contactLookup phone_number search_contacts", ["Find the phone number of a contact", "Searches the address book"], [P("name contact person who", "string", "Name", "full")],
        ["What is the number of {0}?", "number of {0}", "Find {0} in my contacts.", "How do I call {0}?", "Do I have the number of {0}?", "I need the phone number of {0}.", "Look for {0} in the address book.",
         "phone {0}?"], gives(phone="phone"), (["Find a number.", "Look in my contacts."], "Whose number?"), ["And {0}?", "And of {0}?"]),
    Family("make_call call phoneCall dial start_call", ["Call a phone number", "Dials a number"], [P("number phone to phone_number", "string", "Number to call", "phone"), P("speaker loudspeaker", "boolean",
        "Loudspeaker", "flag", False)],
        ["Call {0}.", "dial {0}", "Please ring {0}.", "Phone {0} for me.", "I have to talk to {0}, call that number.", "Call {0} with the speaker {1}.", "Can you get me {0} on the phone?",
         "speaker {1}, call {0}"], did(), (["Make a call.", "I want to call someone."], "Which number?"), ["Now {0}.", "Then call {0}."]),
    Family("create_lead add_lead newLead crm_add_lead lead_create", ["Create a lead in the CRM", "Adds a possible customer"],
        [P("company account name", "string", "The company", "company"), P("contact contact_name person", "string", "Contact person", "full"), P("source channel", "string", "Where the lead came from", "any",
        False, ["website", "fair", "referral", "ad"])],
        ["New lead: {0}, contact {1}", "Add {0} as a lead, I spoke to {1}.", "lead {0} {1}", "{1} from {0} is interested, make a lead.", "Create a lead for {0} with {1}, source {2}.",
         "I met {1} of {0}. Put it in the CRM.", "Lead from the {2}: {1} at {0}", "Please enter {0} in the CRM, contact person {1}."], numbered(key="lead_id")),
    Family("update_deal set_deal_stage updateDeal deal_status move_deal", ["Change the stage of a deal", "Updates a deal in the CRM"],
        [P("deal company deal_name account", "string", "The deal", "company"), P("stage status state", "string", "New stage", "any", True, ["contacted", "proposal", "negotiation", "won", "lost"]),
        P("value amount", "number", "Value of the deal", "money", False)],
        ["Move the {0} deal to {1}.", "The deal with {0} is {1}.", "deal {0}: {1}", "Set {0} to {1} with a value of {2}.", "Please mark the deal {0} as {1}.", "{0} {1}, {2} dollars",
         "Update the deal of {0}, stage {1}.", "Good news about {0}! Set the deal to {1}."], did()),
    Family("customer_info get_customer lookupCustomer crm_search find_account", ["Look up a customer company", "Customer data from the CRM"], [P("company customer name account", "string", "The customer",
        "company"), P("fields detail", "string", "What to return", "any", False, ["contacts", "revenue", "deals"])],
        ["What do we know about the customer {0}?", "customer {0}", "Show me the {1} of {0}.", "Pull up {0} in the CRM.", "Who is our contact at {0}?", "Get {1} for the customer {0}.", "I have a call with {0}, get the data.",
         "Open the account of {0}, please."], _customer, (["Look up a customer.", "Open the customer record."],
        "Which company?"), ["And {0}?", "And the customer {0}?"]),
    Family("create_invoice new_invoice makeInvoice invoice bill_customer", ["Write an invoice", "Creates an invoice for a customer"], [P("customer client company to", "string", "The customer", "company"),
        P("amount total sum", "number", "Amount", "money"), P("due due_date pay_by", "string", "Due date", "date", False)],
        ["Write an invoice to {0} over {1}.", "invoice {0} {1}", "Bill {0} for {1} dollars.", "{0} owes us {1}, make an invoice.", "Invoice for {0}: {1} euros, due {2}", "Please charge {0} {1}, payable by {2}.",
         "Send {0} a bill of {1}."], numbered(key="invoice")),
    Family("book_room reserve_meeting_room bookMeetingRoom meeting_room room_booking", ["Book a meeting room", "Reserves a conference room"], [P("time when slot", "string", "When", "weekday_time"),
        P("people size capacity attendees", "integer", "How many people", "small"), P("duration length", "string", "How long", "duration", False)],
        ["I need a meeting room {0} for {1} people.", "Book a room for {1}, {0}.", "room {0}, {1} persons, {2}", "We are {1} and meet {0}, find us a room.", "Is a room for {1} people free {0}? Book it for {2}.",
         "Meeting room for {2} please, {0}, {1} people.", "Reserve a conference room {0} for {1} attendees."], gives(room=(1, 400))),
    Family("log_hours log_time trackTime time_entry add_timesheet", ["Log working time on a project", "Adds a time entry"], [P("project task on", "string", "The project", "project"), P("duration time hours",
        "string", "How long", "duration"), P("note comment description", "string", "What was done", "sentence", False)],
        ["Log {1} on {0}.", "I worked {1} on {0}.", "{1} {0}", "Book {1} for the project {0}, note: {2}", "Add {1} to {0} in my timesheet.", "time entry: {0}, {1}, {2}", "Please track {1} for {0}.",
         "Another {1} for {0} today."], did(), (["Log my time.", "Track my hours."], "On which project, and how long?")),
    Family("project_status get_project projectInfo project_progress status_of", ["Status of a project", "How far a project is"], [P("project name project_name", "string", "The project", "project")],
        ["How is the project {0} going?", "status of {0}", "Where do we stand with {0}?", "Is {0} on track?", "Give me an update on the project {0}.", "How far is {0}?", "I need the progress of {0} for the boss."],
        gives(progress=(1, 100)), (["How is the project going?", "Project status?"], "Which project?"), ["And {0}?",
        "And the project {0}?"]),
    Family("assign_task delegate assignTask give_task task_assign", ["Assign a task to a person", "Gives somebody a task"], [P("task title what", "string", "The task", "text"), P("assignee person to who",
        "string", "Who does it", "name"), P("due deadline due_date", "string", "Until when", "date", False)],
        ["Assign \"{0}\" to {1}.", "{1} should do this: {0}", "Give {1} the task '{0}'.", "task for {1}: {0}", "Let {1} \"{0}\", deadline {2}.", "Please hand \"{0}\" to {1}, due {2}.", "Have {1} take care of \"{0}\".",
         "New task \"{0}\" for {1}"], did()),
]

CODE = [
    Family("create_branch git_branch newBranch branch_create checkout_new", ["Create a git branch", "Makes a new branch in the repository"], [P("name branch branch_name", "string", "Name of the branch", "branch"),
        P("from base source", "string", "Branch to start from", "any", False, ["main", "develop", "staging"])],
        ["Create a branch {0}.", "new branch {0}", "Make a branch called {0} from {1}.", "I need the branch {0}.", "Branch off {1} as {0}.", "Please open a new branch named {0}.", "git branch {0} from {1}",
         "Start {0} based on {1}."], did(), (["Create a branch.", "I need a new branch."], "What shall it be called?"), ["And {0}.", "Also {0}."]),
    Family("merge_branch git_merge mergeBranch merge merge_into", ["Merge a branch into another", "Merges git branches"], [P("source branch from head", "string", "Branch to merge", "branch"), P(
        "target into base", "string", "Branch to merge into", "branch", False), P("squash squash_commits", "boolean", "Squash", "flag", False)],
        ["Merge {0} into {1}.", "merge {0}", "Can you merge {0}?", "{0} is ready, merge it.", "Please merge the branch {0} into {1}.", "git merge {0} into {1} squash {2}", "Merge {0} with squash {2}.",
         "I want {0} in {1}."], did(), (["Merge it.", "Merge the branch."], "Which branch?")),
    Family("git_commit commit commitChanges create_commit save_changes", ["Commit the changes", "Makes a git commit"], [P("message msg text", "string", "Commit message", "subject"), P("branch on", "string",
        "Branch", "branch", False)],
        ["Commit with the message \"{0}\".", "commit '{0}'", "Commit my changes on {1}: {0}", "git commit -m \"{0}\"", "Please commit everything as \"{0}\".", "Save my work with the message \"{0}\" on {1}.",
         "Make a commit, message: {0}"], numbered(key="sha"), (["Commit my changes.", "git commit"], "What is the commit message?")),
    Family("git_log recent_commits getCommits commit_history list_commits", ["List the last commits", "Shows the history of a branch"], [P("branch ref", "string", "The branch", "branch"), P("limit n count",
        "integer", "How many", "small", False), P("author by", "string", "Author", "name", False)],
        ["Show the last {1} commits on {0}.", "git log {0}", "What happened on {0}?", "Who committed to {0} last?", "Commits of {2} on {0}?", "Give me the history of {0}.", "log of {0}, {1} entries",
         "What did {2} change on the branch {0}?"], gives(message="subject", author="name"), (["Show the commits.", "What was committed?"], "On which branch?")),
    Family("create_pull_request open_pr createPR pull_request new_pr", ["Open a pull request", "Creates a pull request from a branch"], [P("head branch source", "string", "Branch with the changes", "branch"),
        P("title name summary", "string", "Title", "subject"), P("base target", "string", "Branch to merge into", "any", False, ["main", "develop", "staging"])],
        ["Open a pull request from {0} titled \"{1}\".", "PR {0}: {1}", "Create a PR for {0} with the title '{1}'.", "Make a pull request \"{1}\" from {0} to {2}.", "I'm done with {0}, open a PR called \"{1}\".",
         "Please create a pull request: branch {0}, title {1}", "pull request {0} into {2}, \"{1}\""], numbered(key="number")),
    Family("create_issue open_issue newIssue file_issue github_issue", ["Open an issue in a repository", "Creates a GitHub issue"], [P("repo repository project", "string", "The repository", "project"),
        P("title summary subject", "string", "Title", "subject"), P("label tag type", "string", "Label", "any", False, ["bug", "feature", "question", "docs"])],
        ["Open an issue in {0}: {1}", "New issue in {0} titled \"{1}\"", "Create an issue \"{1}\" in {0} with the label {2}.", "issue {0}: {1}", "File a {2} in {0}, title \"{1}\".", "Please write an issue for {0}: \"{1}\"",
         "In the repo {0}, open \"{1}\" as an issue."], numbered(key="issue")),
    Family("add_label label_issue addLabel tag_item set_label", ["Put a label on an issue or mail", "Adds a label"], [P("id number item issue", "string", "What gets the label", "id"), P("label tag name", "string",
        "The label", "label")],
        ["Label {0} as {1}.", "Add the label {1} to {0}.", "tag {0} {1}", "Put \"{1}\" on {0}.", "{0} is {1}, label it so.", "Please mark {0} with the label \"{1}\".", "Issue {0} needs the label {1}."],
        did()),
    Family("set_status update_status changeStatus issue_status transition", ["Change the status of a ticket", "Sets the status of an item"], [P("id ticket item number", "string", "The ticket", "id"), P(
        "status state new_status", "string", "The new status", "status")],
        ["Set {0} to {1}.", "Ticket {0} is {1}.", "status {0}: {1}", "Change the status of {0} to {1}.", "Please mark ticket {0} as {1}.", "{0} -> {1}", "The ticket {0} should be \"{1}\"."],
        did()),
    Family("deploy deploy_app deployService release_version ship", ["Deploy a project", "Releases a branch to an environment"], [P("project service app name", "string", "What to deploy", "project"),
        P("environment env target stage", "string", "Where to", "any", True, ["production", "staging", "test", "dev"]), P("branch ref", "string", "Branch", "branch", False)],
        ["Deploy {0} to {1}.", "deploy {0} {1}", "Ship {0} to {1}, please.", "Roll out {0} from {2} to {1}.", "{0} should go to {1}.", "Can you release {0} on {1}?", "Bring the branch {2} of {0} to {1}.",
         "We are ready: {0} to {1}!"], did()),
    Family("restart_service restart restartServer reboot service_restart", ["Restart a service or server", "Reboots a machine"], [P("service server name target", "string", "What to restart", "project"),
        P("environment env", "string", "Environment", "any", False, ["production", "staging", "dev"]), P("force hard", "boolean", "Force it", "flag", False)],
        ["Restart {0}.", "restart {0} in {1}", "{0} hangs, restart it.", "Please reboot {0} on {1}.", "Could you give {0} a restart?", "Restart {0} with force {2}.", "Bounce {0} in {1}.",
         "The service {0} needs a restart."], did(), (["Restart it.", "Reboot the server."], "Which service?")),
    Family("service_health check_health healthCheck is_up service_status", ["Check whether a service is running", "Health of a service"], [P("service name app", "string", "The service", "project"), P(
        "environment env", "string", "Environment", "any", False, ["production", "staging", "dev"])],
        ["Is {0} up?", "health of {0}", "How is {0} doing in {1}?", "Check whether {0} is running.", "{0} {1} status?", "Is anything wrong with {0}?", "Customers complain about {0}. Is it down?",
         "Please look at {0} on {1}."], gives(health=["healthy", "down", "degraded", "up", "unreachable"]), (["Is it up?", "Check the service."], "Which service?"), ["And {0}?",
        "What about {0}?"]),
    Family("get_logs tail_logs showLogs logs fetch_logs", ["Show the logs of a service", "Last lines of a log"], [P("service app name", "string", "The service", "project"), P("lines n limit tail", "integer",
        "How many lines", "small", False), P("level severity", "string", "Level", "any", False, ["debug", "info", "warning", "error"])],
        ["Show the logs of {0}.", "logs {0}", "Last {1} lines of {0}, please.", "Any {2} messages in {0}?", "tail {1} lines from {0}", "What does the log of {0} say?", "I want the {2} logs of {0}, {1} lines.",
         "Something broke in {0}, show me the log."], gives(line=["connection lost", "started", "out of memory", "disk full", "request done", "timeout"]), (["Show the logs.",
        "What do the logs say?"], "Of which service?")),
    Family("scale_service scale setReplicas scale_deployment replicas", ["Change the number of replicas of a service", "Scales a deployment"], [P("service deployment app", "string", "The service", "project"),
        P("replicas count instances size", "integer", "How many replicas", "small")],
        ["Scale {0} to {1}.", "scale {0} {1}", "Run {1} replicas of {0}.", "We need {1} instances of {0}.", "Set {0} to {1} pods, please.", "{0} is slow, give it {1} replicas.", "Can {0} run on {1} machines?"],
        did()),
    Family("run_tests test runTestSuite execute_tests start_tests", ["Run the tests of a file or folder", "Starts the test suite"], [P("path file target", "string", "What to test", "path"), P(
        "verbose show_output", "boolean", "Verbose", "flag", False)],
        ["Run the tests in {0}.", "test {0}", "Please test {0}.", "Do the tests of {0} pass?", "Run {0} with verbose {1}.", "execute the tests {0}, verbose {1}", "I changed something, check {0} with the tests."],
        gives(passed=(1, 300), failed=(0, 9)), (["Run the tests.", "Do the tests pass?"], "Which tests?"), ["And {0}?", "And in {0}?"]),
    Family("query_table sql_query queryDatabase select_rows db_query", ["Read rows from a table of the database", "Queries a database table"], [P("table table_name from", "string", "The table", "word"), P(
        "limit rows max", "integer", "How many rows", "small", False), P("order sort", "string", "Order", "any", False, ["ascending", "descending"])],
        ["Show the table {0}.", "Select {1} rows from {0}.", "rows of table {0}", "What is in the table {0}?", "The first {1} entries of the table {0}, {2}.", "I want to see {1} rows of {0}.",
         "Read table {0} in {2} order.", "query {0} limit {1}"], gives(rows=(1, 9999)), (["Query the database.", "Show me the table."], "Which table?")),
    Family("count_rows row_count countRecords table_size count_entries", ["Count the rows of a table", "How many records a table has"], [P("table collection name", "string", "The table", "word")],
        ["How many rows does the table {0} have?", "count {0}", "Count the records in {0}.", "How big is the table {0}?", "number of entries in {0}?", "I'd like the row count of {0}.",
         "Is the table {0} empty? Count it."], gives(count=(0, 99999)), (["Count the rows.", "How many records are there?"], "In which table?"), ["And {0}?", "And in {0}?"]),
    Family("backup_database create_backup backupDb backup dump_database", ["Back up a database", "Makes a backup"], [P("database db name", "string", "The database", "project"), P("file output destination",
        "string", "File to write", "filename", False)],
        ["Back up {0}.", "backup {0}", "Make a backup of {0} in {1}.", "Dump the database {0} to {1}.", "Please save the database {0}.", "I need a copy of the database {0} before the update.",
         "backup {0} > {1}"], did(), (["Make a backup.", "Back it up."], "Of which database?"), ["And {0}.", "Also {0}."]),
    Family("http_request fetch_url httpGet get_page download_page call_api", ["Send an HTTP request", "Fetches a URL"], [P("url address endpoint link", "string", "The URL", "url"), P("method verb", "string",
        "Method", "any", False, ["GET", "POST", "PUT", "DELETE"]), P("timeout seconds", "integer", "Timeout in seconds", "small", False)],
        ["Fetch {0}.", "{1} {0}", "Open {0} for me.", "Send a {1} request to {0}.", "What does {0} return?", "Get {0} with a timeout of {2} seconds.", "curl {0}", "Please load {0} within {2} seconds.",
         "Call {0} using {1}."], gives(status=[200, 201, 204, 301, 404, 500, 503]), (["Fetch a page.", "Send a request."], "To which URL?")),
    Family("check_website ping_site websiteStatus is_site_up uptime_check", ["Check whether a website is reachable", "Is a site online"], [P("url site website domain", "string", "The site", "url")],
        ["Is {0} online?", "Check whether {0} is reachable.", "ping {0}", "I can't open {0}. Is it only me?", "Is {0} down?", "site check {0}", "Please test if {0} works."], whether("online"), (["Is the site down?", "Check my website."], "Which site?"), ["And {0}?", "What about {0}?"]),
    Family("shorten_url short_link shortenLink url_shortener make_short", ["Shorten a link", "Makes a short URL"], [P("url link long_url", "string", "The link", "url"), P("alias slug custom_name", "string",
        "Wanted short name", "word", False)],
        ["Shorten {0}.", "short link for {0}", "Make {0} shorter.", "I need a short URL of {0}.", "Shorten {0} as {1}.", "Please shorten the link {0}, alias {1}.", "{0} is too long, shorten it."],
        gives(short=lambda rng, v: "https://sho.rt/" + value(rng, "id").lower()), (["Shorten a link.", "Make me a short link."], "Which link?"), ["And {0}.", "Also {0}."]),
    Family("read_file open_file readFile cat file_content", ["Read a file", "Returns the content of a file"], [P("file filename path name", "string", "The file", "filename"), P("encoding charset", "string",
        "Encoding", "any", False, ["utf-8", "latin-1", "ascii"])],
        ["Read {0}.", "What is in {0}?", "cat {0}", "Open the file {0}, please.", "Show me {0}.", "Read {0} as {1}.", "I'd like to see what {0} says.", "content of {0} in {1}"], gives(content="sentence"), (["Read a file.", "Open the file."], "Which file?"), ["And {0}?", "Now {0}."]),
    Family("write_file save_file writeFile create_file write_to_file", ["Write a text to a file", "Creates a file"], [P("file filename path name", "string", "The file", "filename"), P("content text data",
        "string", "What to write", "sentence"), P("append add_to_end", "boolean", "Append", "flag", False)],
        ["Write \"{1}\" to {0}.", "Save \"{1}\" in {0}.", "Create {0} with the content: {1}", "put '{1}' into {0}", "Make a file {0} that says \"{1}\".", "{0}: write \"{1}\", append {2}",
         "Please write the line \"{1}\" to the file {0}.", "Into {0}, write: {1}"], did()),
    Family("rename_file move_file renameFile mv change_filename", ["Rename a file", "Moves a file"], [P("source file old_name from", "string", "The file", "filename"), P("target new_name to destination",
        "string", "New name", "path")],
        ["Rename {0} to {1}.", "mv {0} {1}", "Move {0} to {1}.", "Please call {0} {1} from now on.", "I want {0} to be named {1}.", "{0} should be {1}", "Can you move the file {0} to {1}?"],
        did()),
    Family("share_file share_document shareFile give_access grant_access", ["Share a file with someone", "Gives a person access to a document"], [P("file document filename name", "string", "The file", "filename"),
        P("with user email person", "string", "Mail address", "email"), P("permission role access", "string", "Permission", "any", False, ["view", "comment", "edit"])],
        ["Share {0} with {1}.", "Give {1} access to {0}.", "share {0} {1} {2}", "{1} should be able to {2} {0}.", "Let {1} see {0}.", "Please send {0} to {1}, permission {2}.", "{1} needs {0}, share it.",
         "Allow {1} to {2} the file {0}."], did()),
    Family("convert_file file_converter convertDocument export_as change_format", ["Convert a file to another format", "File converter"], [P("file input filename", "string", "The file", "filename"), P(
        "format to output_format target", "string", "Format", "any", True, ["pdf", "docx", "png", "csv", "html"])],
        ["Convert {0} to {1}.", "{0} as {1} please", "Export {0} as {1}.", "I need {0} in {1}.", "Make a {1} of {0}.", "Can you turn {0} into {1}?", "convert {0} {1}", "They want {0} as a {1} file."],
        did()),
]

TALK = [
    Family("post_to_channel slack_message postMessage send_to_channel channel_post", ["Post a message to a channel", "Sends a message to a chat channel"], [P("channel room channel_name to", "string",
        "The channel", "channel"), P("message text content", "string", "The message", "sentence")],
        ["Post \"{1}\" in {0}.", "Write to {0}: {1}", "Say \"{1}\" in the channel {0}.", "#{0} {1}", "Tell the {0} channel: {1}", "send '{1}' to {0}", "Please let everyone in {0} know: {1}",
         "Message the channel {0}, \"{1}\"."], did()),
    Family("read_channel channel_history getMessages summarize_channel unread_messages", ["Read the last messages of a channel", "History of a chat channel"], [P("channel room name", "string", "The channel",
        "channel"), P("limit count n", "integer", "How many", "small", False)],
        ["What is new in {0}?", "Show the last {1} messages in {0}.", "read {0}", "Did I miss anything in the {0} channel?", "messages in {0}, {1} of them", "Catch me up on {0}.", "What do they write in {0}?",
         "I was away. Read me {0}."], gives(author="name", text="sentence"), (["What is new?", "Read the messages."], "In which channel?"), ["And {0}?", "And in {0}?"]),
    Family("invite_user add_member inviteToChannel add_to_channel invite", ["Invite a user to a channel", "Adds somebody to a channel"], [P("user username member who", "string", "The user", "username"), P(
        "channel room to group", "string", "The channel", "channel")],
        ["Invite {0} to {1}.", "Add {0} to the channel {1}.", "invite {0} {1}", "{0} should be in {1}.", "Please let {0} into {1}.", "Can {0} join {1}?", "We need {0} in the {1} channel, add them."],
        did()),
    Family("search_emails find_mail searchInbox email_search list_emails", ["Search the mailbox", "Finds mails of a sender"], [P("from sender by", "string", "The sender", "name"), P("subject about keyword",
        "string", "Word in the subject", "word", False), P("unread only_unread", "boolean", "Only unread", "flag", False)],
        ["Find mails from {0}.", "Did {0} write me?", "mails of {0}", "Show the mails of {0} about {1}.", "Has {0} sent something about {1}?", "emails from {0}, unread only {2}", "I'm waiting for a mail of {0}.",
         "Search my inbox for {0}."], several("mails", "subject"), (["Search my mails.", "Do I have mail?"], "From whom?")),
    Family("reply_email answer_mail replyTo email_reply respond", ["Reply to a mail", "Answers a mail by id"], [P("id message_id mail email_id", "string", "The mail", "id"), P("text body reply", "string",
        "The answer", "sentence")],
        ["Reply to mail {0}: {1}", "Answer {0} with \"{1}\".", "reply {0} '{1}'", "Write back to {0}: {1}", "Say \"{1}\" in reply to the mail {0}.", "Please answer the mail {0}: \"{1}\"",
         "To {0} I want to reply: {1}"], did()),
    Family("send_sms sms sendText text_number send_text_message", ["Send an SMS to a phone number", "Texts a number"], [P("number phone to phone_number", "string", "Phone number", "phone"), P(
        "message text body", "string", "The text", "sentence")],
        ["Text {0}: {1}", "Send an SMS to {0}: {1}", "sms {0} \"{1}\"", "Send \"{1}\" to {0}.", "Please text \"{1}\" to the number {0}.", "Write '{1}' to {0} by SMS.", "Let {0} know by text: {1}"],
        did()),
    Family("post_tweet tweet createPost social_post publish_post", ["Publish a post", "Posts on social media"], [P("text content message post", "string", "The text", "sentence"), P("hashtag tag", "string",
        "Hashtag", "hashtag", False), P("platform network site", "string", "Where", "any", False, ["twitter", "mastodon", "linkedin", "facebook"])],
        ["Post \"{0}\".", "Tweet: {0}", "Publish \"{0}\" with {1}.", "Put \"{0}\" on {2}.", "post '{0}' {1}", "Share this on {2}: {0}", "I want to post \"{0}\" on {2}, hashtag {1}.",
         "My followers should read: {0}"], numbered(key="post_id"), (["Post something.", "Write a post."], "What shall I post?")),
    Family("search_hashtag hashtag_posts findHashtag trending_posts posts_with_tag", ["Find posts with a hashtag", "Searches social media"], [P("hashtag tag query", "string", "The hashtag", "hashtag"), P(
        "limit count", "integer", "How many", "small", False)],
        ["Show posts with {0}.", "{0}", "What do people post under {0}?", "Find {1} posts tagged {0}.", "search {0}", "Is {0} trending?", "I'd like {1} posts about {0}.", "Look for {0}, please."],
        gives(count=(3, 99999)), (["Search for a hashtag.", "Find some posts."], "Which hashtag?"), ["And {0}?", "Now {0}."]),
    Family("get_profile user_profile viewProfile profile lookup_username", ["Show the profile of a user", "Profile by user name"], [P("username user handle account", "string", "User name", "username")],
        ["Show the profile of {0}.", "profile {0}", "Who is behind {0}?", "How many followers does {0} have?", "Open {0}'s profile.", "Tell me about the account {0}.", "Is {0} famous? Check the profile."],
        gives(name="full", followers=(0, 99999)), (["Show a profile.", "Look up an account."], "Which user name?"), ["And {0}?", "And the profile of {0}?"]),
    Family("follow_user follow_account followUser subscribe_to follow", ["Follow a user or take that back", "Follows an account"], [P("username user account who", "string", "The user", "username"), P(
        "action do", "string", "What to do", "any", False, ["follow", "unfollow", "block"])],
        ["Follow {0}.", "follow {0}", "I like {0}, follow them.", "Please {1} {0}.", "Can you {1} the user {0}?", "I want to {1} {0}.", "Start following {0}.", "{1} {0} for me"], did()),
    Family("create_poll start_poll newPoll poll ask_group", ["Create a poll", "Asks the group a question"], [P("question title text", "string", "The question", "question"), P("options choices answers", "array",
        "The answers", "goods", False)],
        ["Start a poll: {0}", "Ask everyone \"{0}\"", "poll {0}", "Create a poll with the question \"{0}\".", "Make a poll \"{0}\" with {1}.", "Let them vote: {0}", "I want to ask the group: {0}",
         "New poll, question \"{0}\", answers {1}"], numbered(key="poll_id"), (["Start a poll.", "Make a poll."], "What is the question?")),
    Family("magic_8_ball ask_oracle eightBall fortune predict", ["Answers a yes or no question at random", "The magic 8 ball"], [P("question q text", "string", "The question", "question")],
        ["Ask the magic ball: {0}", "Oracle, {0}", "Magic ball, tell me: {0}", "What does the 8 ball say? {0}", "8ball {0}", "Ask fate: \"{0}\"", "Let the oracle answer \"{0}\""],
        gives(answer=["yes", "no", "maybe", "ask again later", "without a doubt", "very doubtful"]), (["Ask the oracle.", "Shake the magic ball."], "What is your question?")),
    Family("translate_sentence translate translateTo translator language_translate", ["Translate a sentence", "Translates text to a target language"], [P("text sentence input source_text", "string",
        "What to translate", "sentence"), P("target language to target_lang", "string", "Target language", "language"), P("formal polite", "boolean", "Formal", "flag", False)],
        ["Translate \"{0}\" to {1}.", "How do I say \"{0}\" in {1}?", "{0} in {1}", "What is \"{0}\" in {1}?", "to {1}: {0}", "I need this in {1}: {0}", "{1} for '{0}', formal {2}",
         "Please put \"{0}\" into {1}."], gives(translation=lambda rng, v: " ".join(value(rng, "name").lower() for _ in range(3)))),
    Family("detect_language language_of detectLanguage guess_language which_language", ["Detect the language of a text", "Which language a text is in"], [P("text input sentence", "string", "The text",
        "sentence")],
        ["Which language is \"{0}\"?", "Detect the language: {0}", "language of '{0}'?", "What language is this: {0}", "In which language is \"{0}\" written?", "I found the text \"{0}\". What language is it?",
         "Please find out the language of \"{0}\"."], gives(language="language"), (["Detect the language.", "Which language is this?"],
        "What is the text?")),
    Family("analyze_sentiment sentiment sentimentAnalysis mood_of_text classify_sentiment", ["Find out the mood of a text", "Sentiment analysis"], [P("text input sentence comment", "string", "The text",
        "sentence")],
        ["What is the mood of \"{0}\"?", "Sentiment: {0}", "Is this positive or negative: {0}", "Analyze the sentiment of \"{0}\".", "A customer wrote \"{0}\". Is she happy?", "sentiment of '{0}'",
         "How does \"{0}\" sound, good or bad?"], gives(sentiment=["positive", "negative", "neutral", "mixed"])),
    Family("speak text_to_speech say_aloud tts readAloud", ["Say a text aloud", "Text to speech"], [P("text message words", "string", "What to say", "sentence"), P("voice speaker", "string", "Voice", "any",
        False, ["female", "male", "child"]), P("language lang", "string", "Language", "language", False)],
        ["Say \"{0}\" aloud.", "Read this out: {0}", "speak: {0}", "Say \"{0}\" with a {1} voice.", "Please speak \"{0}\" in {2}.", "Let me hear \"{0}\".", "tts '{0}' {1}",
         "Announce: {0}"], did()),
]

LIFE = [
    Family("get_scores match_result liveScore team_score latest_result", ["Last result of a team", "Sports scores"], [P("team club name", "string", "The team", "team"), P("sport league", "string", "The sport",
        "sport", False)],
        ["How did {0} play?", "score {0}", "What is the result of {0}?", "Did {0} win?", "Last {1} match of {0}?", "I missed the game of {0}.", "result of {0} in {1}", "Tell me how it ended for {0}."],
        gives(goals=(0, 6), against=(0, 6)), (["What is the score?", "Who won?"], "Which team?"), ["And {0}?", "What about {0}?"]),
    Family("next_match fixtures upcomingGames when_plays next_game", ["Next match of a team", "Fixtures of a club"], [P("team club side", "string", "The team", "team")],
        ["When does {0} play next?", "next match of {0}", "Who is the next opponent of {0}?", "When is the next {0} game?", "I want to see {0} play, when is it?", "fixtures {0}", "Does {0} play soon?"],
        gives(opponent="team", date=day), (["When is the next match?", "Who plays next?"], "Which team?"), ["And {0}?", "And for {0}?"]),
    Family("league_table standings getStandings ranking table_of", ["Standings of a sport in a country", "League table"], [P("sport game type", "string", "The sport", "sport"), P("country region nation",
        "string", "The country", "country")],
        ["Who leads in {0} in {1}?", "{0} table {1}", "Show the {0} standings of {1}.", "What does the {0} ranking of {1} look like?", "standings: {0}, {1}", "Who is on top of {0} in {1}?",
         "I'd like to see the {0} league of {1}."], gives(leader="team", points=(3, 90))),
    Family("log_workout add_workout trackExercise record_training workout", ["Log a workout", "Records training"], [P("sport activity exercise type", "string", "What was done", "sport"), P("duration time length",
        "string", "How long", "duration"), P("intensity effort", "string", "Intensity", "any", False, ["easy", "moderate", "hard"])],
        ["I did {1} of {0}.", "Log {1} of {0}.", "{0} for {1}", "Record my workout: {0}, {1}, {2}", "Just finished {1} of {0}, note it.", "Add {0} to my training, {1}.", "workout {0} {1} {2}",
         "Today: {0}, {1}."], did(), (["Log my workout.", "I did some sport."], "What did you do, and how long?")),
    Family("medication_reminder remind_medicine addMedication take_pills medicine_plan", ["Remind of a medicine", "Adds a medicine to the plan"], [P("medicine drug name medication", "string", "The medicine",
        "medicine"), P("time at when", "string", "When", "time"), P("dose amount", "integer", "How many", "small", False)],
        ["Remind me to take {0} at {1}.", "{0} at {1}", "I have to take {0} at {1}.", "Add {0} to my medicine plan, {1}.", "At {1} I need {2} of {0}.", "{2} x {0}, {1}", "Don't let me forget {0} at {1}.",
         "Please plan {0} for {1}."], did()),
    Family("medicine_info drug_info lookupDrug side_effects medication_info", ["Information about a medicine", "Side effects of a drug"], [P("medicine drug name", "string", "The medicine", "medicine")],
        ["What are the side effects of {0}?", "side effects {0}", "What can {0} cause?", "Does {0} do any harm?", "Is {0} safe?", "My doctor gave me {0}. What should I know?", "info on {0} please",
         "Look up the drug {0}."], gives(effect=["headache", "nausea", "tiredness", "dry mouth", "dizziness", "no problems"]), (["Look up a medicine.", "What are the side effects?"],
        "Of which medicine?"), ["And {0}?", "And of {0}?"]),
    Family("book_appointment doctor_appointment bookDoctor schedule_visit make_appointment", ["Make an appointment with a doctor", "Books a visit"], [P("department specialty kind", "string", "What kind", "any",
        True, ["dentist", "therapist", "skin doctor", "family doctor", "vet"]), P("time when slot", "string", "When", "weekday_time"), P("reason symptom", "string", "Reason", "sentence", False)],
        ["I need a {0}, {1}.", "Book the {0} for {1}.", "{0} {1}", "Make an appointment with a {0} {1}.", "Can I see the {0} {1}? Reason: {2}", "Please get me a visit at the {0}, {1}.",
         "{1} would suit me for the {0}."], did()),
    Family("bmi_calculator calculate_bmi bmi bodyMassIndex get_bmi", ["Calculate the body mass index", "BMI from weight and height"], [P("weight weight_kg mass", "number", "Weight in kg", "small"), P(
        "height height_cm size", "number", "Height in cm", "int")],
        ["What is my BMI? I weigh {0} kilos and am {1} cm tall.", "bmi {0} kg {1} cm", "BMI for {0} kg and {1} cm?", "I'm {1} cm and {0} kg, is that healthy?", "Calculate the BMI: height {1}, weight {0}",
         "My son weighs {0} kilos at {1} cm, what is his BMI?", "With {0} kg on {1} cm, what BMI is that?"], gives(bmi=lambda rng, v: round(10000 * v[0] / v[1] ** 2, 1))),
    Family("log_water drink_water addWater water_intake track_water", ["Record how much water was drunk", "Tracks drinking"], [P("amount ml quantity", "integer", "Amount in ml", "int")],
        ["I drank {0} ml of water.", "water {0}", "Add {0} ml to my water.", "Log {0} ml, please.", "Just had {0} ml of water.", "{0} ml more water", "Note that I drank {0} milliliters."],
        gives(total=lambda rng, v: v[0] + rng.randint(0, 2000)), (["Log my water.", "I drank something."], "How much?"), ["And {0} more.", "Plus {0}."]),
    Family("enroll_course sign_up_course enrollStudent register_course join_course", ["Enroll a student in a course", "Signs up for a course"], [P("course class title", "string", "The course", "course"), P(
        "student name person", "string", "The student", "name", False)],
        ["Sign me up for {0}.", "enroll {1} in {0}", "I want to take {0}.", "Register {1} for the course {0}.", "Please put {1} in {0}.", "Is there a place in {0}? Sign me up.", "course {0} for {1}",
         "I'd like to learn {0}."], did(), (["Sign me up for a course.", "I want to take a class."], "Which course?"),
        ["And {0}.", "Also for {0}."]),
    Family("get_grade student_grade gradeOf check_grade exam_result", ["Grade of a student in a course", "Exam results"], [P("student name who", "string", "The student", "name"), P("course subject class", "string",
        "The course", "course")],
        ["What grade does {0} have in {1}?", "grade {0} {1}", "How did {0} do in {1}?", "Did {0} pass {1}?", "Show me the {1} result of {0}.", "In {1}, what did {0} get?", "{0}'s grade in {1}, please."],
        gives(grade=["A", "B", "C", "D", "B+", "A-"])),
    Family("create_quiz make_quiz generateQuiz quiz quiz_me", ["Make a quiz about a topic", "Generates questions"], [P("topic subject about", "string", "The topic", "topic"), P("questions count number", "integer",
        "How many questions", "small", False), P("difficulty level", "string", "Difficulty", "any", False, ["simple", "medium", "hard"])],
        ["Make a quiz about {0}.", "quiz me on {0}", "I want {1} questions about {0}.", "A {2} quiz on {0}, please.", "Test my knowledge of {0}.", "{1} {2} questions on {0}", "Do I know enough about {0}? Quiz me.",
         "Create a quiz, topic {0}, {1} questions"], numbered(key="quiz_id"), (["Quiz me.", "Make a quiz."], "About which topic?")),
    Family("make_flashcard add_flashcard newCard flashcard study_card", ["Make a flashcard", "Adds a card to learn"], [P("front question term", "string", "Front side", "question"), P("back answer meaning", "string",
        "Back side", "word"), P("deck set", "string", "Deck", "course", False)],
        ["Flashcard: front \"{0}\", back \"{1}\"", "Add a card \"{0}\" with the answer {1}.", "card '{0}' = '{1}'", "Make a flashcard in {2}: {0} / {1}", "New card, question \"{0}\", answer \"{1}\".",
         "For the deck {2}: \"{0}\" - \"{1}\"", "I want to learn this: {0} Answer: {1}"], did()),
    Family("find_book book_search library_search searchLibrary check_book", ["Find a book in the library", "Is a book available"], [BOOK, P("format type", "string", "Format", "any", False, ["paper", "ebook",
        "audiobook"])],
        ["Do you have {0}?", "book {0}", "Is {0} available as {1}?", "I'm looking for the book {0}.", "Find \"{0}\" in the library.", "Can I borrow {0}?", "{0} as {1} please", "Does the library have {0}?"],
        gives(copies=(0, 9), shelf=(1, 99)), (["Find a book.", "I'm looking for a book."], "What is the title?"), ["And {0}?", "And the book {0}?"]),
    Family("borrow_book checkout_book reserveBook reserve_book lend", ["Borrow or reserve a book", "Checks out a library book"], [BOOK, P("card card_number member member_id", "string", "Library card", "id"), P(
        "weeks duration", "integer", "How many weeks", "small", False)],
        ["Reserve {0} on the card {1}.", "I want to borrow {0}, my card is {1}.", "borrow {0} {1}", "Card {1}: {0} for {2} weeks", "Please lend me {0} for {2} weeks. Card {1}.", "Check out \"{0}\" for member {1}.",
         "My library card is {1} and I'd like \"{0}\"."], did()),
    Family("book_recommendation recommend suggest_book similarBooks recommend_book", ["Recommend a book like another one", "Finds similar books"], [P("like title book similar_to", "string", "A book that was liked",
        "book"), P("language lang", "string", "Language", "language", False)],
        ["What should I read after {0}?", "books like {0}", "I liked {0}. What else is there?", "Recommend something similar to {0}.", "Something like \"{0}\" in {1}?", "I just finished {0} and need more.",
         "similar to {0}, {1}"], gives(title="book"), (["Recommend a book.", "What should I read?"], "Which book did you like?"), ["And like {0}?", "And after {0}?"]),
    Family("water_plant plant_water waterPlant irrigate water", ["Water a plant", "Starts the watering of a plant"], [P("plant name which", "string", "The plant", "plant"), P("amount ml water", "integer", "How much in ml",
        "int", False)],
        ["Water the {0}.", "water {0}", "The {0} looks dry.", "Give the {0} {1} ml of water.", "Please water my {0}.", "Can the {0} have {1} ml?", "My {0} is thirsty.", "{0}: {1} ml"],
        did(), (["Water the plants.", "Give it some water."], "Which plant?"), ["And the {0}.", "Also the {0}."]),
    Family("plant_care care_tips plantInfo plant_guide how_to_grow", ["How to care for a plant", "Plant guide"], [P("plant species name", "string", "The plant", "plant"), P("aspect topic", "string", "About what",
        "any", False, ["light", "water", "soil", "pests"])],
        ["How do I care for {0}?", "care {0}", "How much {1} does {0} need?", "I bought {0}, what does it need?", "Tell me how to grow {0}.", "{0} and {1}, what should I know?", "Plant tips for {0}, please.",
         "Why does my {0} die? Get the care guide."], _plant, (["How do I care for my plant?", "Give me plant tips."], "Which plant?"), ["And {0}?", "And for {0}?"]),
    Family("search_jobs find_jobs jobSearch jobs vacancies", ["Search for jobs", "Open positions in a city"], [P("title job position role", "string", "The job", "job"), P("city location where", "string", "The city",
        "city", False), P("remote home_office", "boolean", "Remote", "flag", False)],
        ["Find {0} jobs.", "I want to work in {1}, my job is {0}.", "jobs {0} {1}", "Are there open {0} positions in {1}?", "I need work, preferably as {0}.", "{0} jobs with remote {2}", "My sister is looking for a job as {0} in {1}.",
         "Who hires a good {0}?"], gives(company="company"), (["Find me a job.", "I need work."], "As what?")),
    Family("apply_job submit_application applyForJob job_application send_application", ["Apply for a job", "Sends an application"], [P("company employer firm", "string", "The company", "company"), P(
        "position job role title", "string", "The job", "job"), P("cv file resume", "string", "File with the CV", "filename", False)],
        ["Apply at {0} as {1}.", "apply {0} {1}", "I want the {1} job at {0}.", "Send my application as {1} to {0}.", "Send {2} to {0} for the {1} position.", "My dream is a job as {1} at {0}, apply for me.",
         "Application: {0}, {1}, CV {2}"], did()),
    Family("search_homes find_apartment propertySearch real_estate search_listings", ["Search flats and houses", "Real estate search"], [P("city location area", "string", "Where", "city"), P(
        "rooms bedrooms min_rooms", "integer", "How many rooms", "small", False), P("max_rent budget max_price", "number", "Highest price", "int", False), P("type kind", "string", "Kind", "any", False, ["flat", "house",
        "studio"])],
        ["Find me a home in {0}.", "Flats in {0} with {1} rooms?", "{3} in {0}", "I'm moving to {0}.", "I need a {3} in {0} under {2}.", "{0}, {1} rooms, max {2}", "Is there a {3} with {1} rooms in {0}?",
         "We want to live in {0} and can pay {2}."], gives(address="street", price=(300, 3000)), (["I need a flat.", "Find me a home."], "In which city?")),
    Family("weather_alerts get_alerts weatherWarning storm_warning alerts", ["Weather warnings for a country", "Storm alerts"], [P("country region area", "string", "The country", "country"), P("severity level",
        "string", "Severity", "any", False, ["minor", "moderate", "severe"])],
        ["Are there weather warnings for {0}?", "alerts {0}", "Any {1} warnings in {0}?", "Is a storm coming to {0}?", "Show {1} weather alerts for {0}.", "I'm flying to {0}, is there a storm warning?",
         "weather alerts in {0}, {1} ones only"], gives(event=["storm", "heavy rain", "heat", "snow", "ice", "flood", "thunderstorms"]), (["Any weather warnings?",
        "Are there alerts?"], "For which country?"), ["And {0}?", "And for {0}?"]),
    Family("get_forecast forecast weatherForecast weather_forecast daily_forecast", ["Weather forecast for a day", "What the weather will be"], [P("city location place", "string", "The city", "city"), P("date day when",
        "string", "The day", "date")],
        ["What will the weather be in {0} {1}?", "forecast {0} {1}", "Forecast for {0}, {1}, please.", "Will it rain {1} in {0}?", "I'm in {0} {1}. Do I need a coat?", "How warm will it be {1} in {0}?",
         "{0} {1}: sun or rain?"], gives(high=(-10, 38), sky=["sunny", "cloudy", "rainy", "windy", "clear"])),
    Family("air_quality get_aqi airQuality pollution aqi", ["Air quality of a city", "Pollution index"], [P("city location town", "string", "The city", "city")],
        ["How is the air in {0}?", "air quality {0}", "Is the air clean in {0}?", "aqi of {0}?", "Can I go running in {0} or is the air bad?", "Check the pollution in {0}.", "Give me the air quality of {0}."],
        gives(aqi=(5, 300)), (["How is the air?", "Check the pollution."], "In which city?"), ["And in {0}?", "And {0}?"]),
    Family("sunrise sunset_time sunTimes sun_times sunrise_sunset", ["Sunrise and sunset", "When the sun rises or sets in a city"], [P("city place location", "string", "The city", "city"), P("event which type", "string",
        "Which", "any", True, ["sunrise", "sunset"])],
        ["When is {1} in {0}?", "{1} {0}", "What time is the {1} in {0}?", "I want to photograph the {1} in {0}.", "In {0}, when is {1}?", "Tell me the time of {1} in {0}.", "{1} time for {0} please"],
        gives(time=lambda rng, v: f"{rng.randint(5, 8) if v[1] == 'sunrise' else rng.randint(16, 21)}:{rng.randint(0, 59):02}")),
    Family("country_info get_country countryFacts country_facts about_country", ["Facts about a country", "Population, area and president of a country"], [P("country name nation", "string", "The country", "country"),
        P("fact field what", "string", "Which fact", "any", False, ["population", "area", "president", "calling code"])],
        ["What is the {1} of {0}?", "{1} of {0}", "Tell me something about the country {0}.", "Country facts: {0}", "I'd like to know the {1} of {0}.", "country {0}", "Look up {0}, especially the {1}.",
         "Get the data of {0}."], _country, (["Look up a country.", "Tell me about a country."], "Which country?"),
        ["And {0}?", "And of {0}?"]),
    Family("wikipedia wiki_search wikiSummary encyclopedia search_wikipedia search", ["Look something up in Wikipedia", "Summary of an article"], [P("title article query topic", "string", "The article", "topic"), P(
        "language lang", "string", "Language", "language", False), P("sentences length", "integer", "How many sentences", "small", False)],
        ["What does Wikipedia say about {0}?", "wiki {0}", "Wikipedia article on {0}, please.", "Look up {0} in the {1} Wikipedia.", "Summarize the article about {0} in {2} sentences.", "I want to read about {0}.",
         "Open the {1} article on {0}."], gives(summary="sentence"), (["Look it up in Wikipedia.", "Search Wikipedia."], "Which article?")),
    Family("top_headlines get_news countryNews news_by_country headlines", ["Headlines of a country", "Top news by country and category"], [P("country region from", "string", "The country", "country"), P(
        "category section", "string", "Category", "any", False, ["sports", "business", "science", "politics"]), P("limit count", "integer", "How many", "small", False)],
        ["What are the headlines in {0}?", "news from {0}", "{1} news from {0}?", "Show {2} headlines of {0}.", "What is going on in {0}?", "Give me {2} {1} stories from {0}.", "Did anything happen in {0} today?",
         "Latest {1} headlines for {0}, please."], gives(headline="subject"), (["What are the headlines?", "Show me the top news."], "From which country?")),
    Family("search_images image_search findPictures find_images photo_search", ["Search for pictures", "Image search"], [P("query q keyword", "string", "What to look for", "topic"), P("color colour", "string",
        "Colour", "any", False, ["red", "blue", "green", "black and white"]), P("count limit", "integer", "How many", "small", False)],
        ["Find pictures of {0}.", "images {0}", "Show me photos of {0}.", "{2} pictures of {0}, please.", "Search {1} images of {0}.", "What does {0} look like? Find a photo.", "I need {2} images about {0} in {1}."],
        gives(count=(1, 999)), (["Find a picture.", "Search for images."], "Of what?")),
]

GADGETS = [
    Family("generate_password new_password makePassword password random_password", ["Generate a password", "Makes a safe password"], [P("length size chars", "integer", "Number of characters", "small", False), P(
        "symbols special", "boolean", "Special characters", "flag", False)],
        ["Make me a password.", "password with {0} characters", "I need a new password.", "Generate a password of length {0}.", "A password with {0} letters, symbols {1}.", "random password please",
         "Something safe with {0} characters for my login.", "new password, {0} long"], _password),
    Family("create_qr qr_code generateQR make_qr qr", ["Make a QR code", "QR code for a link"], [P("data url content text", "string", "What the code contains", "url"), P("size pixels width", "integer", "Size in pixels",
        "int", False), P("color colour", "string", "Colour", "any", False, ["black", "blue", "red"])],
        ["Make a QR code for {0}.", "qr {0}", "I need a QR code with {0}.", "Turn {0} into a QR code.", "A {2} QR code of {0}, please.", "QR code: {0}, size {1}", "Print a code of {1} pixels for {0}.",
         "Can I have {0} as a QR code?"], gives(file=picture), (["Make a QR code.", "I need a QR code."], "For which link?")),
    Family("color_code hex_color colorToHex get_color colour", ["Hex code of a colour", "Converts the name of a colour"], [P("color name colour", "string", "Name of the colour", "any", True, ["red", "blue", "green",
        "yellow", "purple", "orange", "pink", "brown", "teal", "navy"])],
        ["What is the hex code of {0}?", "hex {0}", "Give me the code for {0}.", "I need {0} for my website, what is the code?", "{0} as hex please", "Convert the colour {0} to hex.", "Which code is {0}?"], _color),
    Family("choose_random random_choice pickOne pick decide", ["Pick one of several things at random", "Random choice"], [P("options choices items list", "array", "What to choose from", "goods")],
        ["Pick one: {0}", "Choose between {0}.", "{0}, decide for me", "I can't decide: {0}", "random choice from {0}", "Which one shall I take? {0}", "Help me choose, I have {0}."], _chosen),
    Family("flip_coin coin_flip coinToss toss_coin heads_or_tails", ["Flip a coin", "Tosses a coin"], [], ["Flip a coin.", "Heads or tails?", "toss a coin", "Let a coin decide.", "Could you flip a coin for us?",
        "coin flip please", "Throw a coin!"], _coin),
    Family("draw_card pick_card drawCards deal_cards card", ["Draw cards from a deck", "Deals playing cards"], [P("count number cards", "integer", "How many cards", "small", False)], ["Draw a card.", "Draw {0} cards.",
        "Give me {0} cards.", "deal {0} cards", "Pick a card for me.", "I'd like {0} cards from the deck.", "card please"], _cards),
    Family("start_game new_game newGame play_game launch_game", ["Start a game", "Begins a game with a difficulty"], [P("game name title", "string", "Which game", "any", True, ["chess", "checkers", "sudoku", "hangman",
        "memory"]), P("difficulty level", "string", "Difficulty", "any", False, ["easy", "medium", "hard"]), P("opponent against player", "string", "Other player", "username", False)],
        ["Let's play {0}.", "Start a game of {0}.", "{0}, {1}", "I want to play {1} {0}.", "Play {0} against {2}.", "new {0} game, {1}", "How about a round of {0}?", "Challenge {2} to {0}."],
        did()),
    Family("leaderboard high_scores getLeaderboard top_players scores", ["Best players of a game", "High scores"], [P("game name title", "string", "The game", "any", True, ["chess", "tetris", "sudoku", "pinball", "snake"]),
        P("limit top count", "integer", "How many", "small", False)],
        ["Who is the best at {0}?", "leaderboard {0}", "Top {1} players of {0}?", "Show the high scores of {0}.", "The best {1} in {0}, please.", "Who leads in {0}?", "I want to see who is first in {0}."],
        gives(player="username", score=(10, 99999))),
    Family("player_stats get_player playerInfo stats_of game_stats", ["Statistics of a player", "Level and score of a gamer"], [P("player username name gamertag", "string", "The player", "username")],
        ["How good is {0}?", "stats {0}", "What level is {0}?", "Show me the stats of {0}.", "Which level has {0} reached?", "I play against {0} next, get the stats.", "player {0}"],
        gives(level=(1, 99), wins=(0, 500)), (["Show the stats.", "How good is the player?"], "Which player?"), ["And {0}?", "What about {0}?"]),
    Family("count_words word_count wordCount text_stats text_length", ["Count the words of a text", "Statistics of a text"], [P("text input content", "string", "The text", "sentence")],
        ["How many words are in \"{0}\"?", "count words: {0}", "Word count of '{0}'?", "How long is this text: {0}", "Count the words in \"{0}\", please.", "words in \"{0}\"", "My text is \"{0}\". How many words?"], _words,
        (["Count the words.", "How many words are there?"], "In which text?")),
    Family("change_case text_case convertCase to_case letter_case", ["Write a text in capitals or small letters", "Changes the case of a text"], [P("text input string", "string", "The text", "sentence"), P("case style mode",
        "string", "The case", "any", True, ["upper", "lower", "title"])],
        ["Write \"{0}\" in {1} case.", "{1} case: {0}", "Put \"{0}\" into {1} case.", "case {1} '{0}'", "I need \"{0}\" in {1} case.", "Change this to {1} case: {0}", "Make \"{0}\" {1} case, please."], _cased),
    Family("reverse_text reverse reverseString flip_text backwards", ["Reverse a text", "Writes a word backwards"], [P("text input word string", "string", "The text", "word")], ["Reverse {0}.", "Write {0} backwards.",
        "reverse \"{0}\"", "What is {0} spelled backwards?", "Flip the word {0}.", "{0} backwards please", "Can you turn \"{0}\" around?"], _reversed, (["Reverse a word.", "Write it backwards."], "Which word?"),
        ["And {0}?", "Now {0}."]),
    Family("hash_text compute_hash hashString hash checksum", ["Hash a text", "Computes a checksum"], [P("text input data", "string", "What to hash", "word"), P("algorithm method type", "string", "Algorithm", "any", False,
        ["md5", "sha1", "sha256"])],
        ["Hash {0}.", "{1} of {0}", "What is the {1} hash of \"{0}\"?", "hash \"{0}\"", "Compute the {1} of '{0}'.", "I need the checksum of {0}.", "Please hash the word {0} with {1}."], _hash),
    Family("find_synonyms synonyms getSynonyms thesaurus related_words", ["Words with the same meaning", "Synonyms of a word"], [P("word term input", "string", "The word", "word"), P("language lang", "string", "Language",
        "language", False)],
        ["What is another word for {0}?", "synonyms {0}", "Give me synonyms of {0}.", "Other words for \"{0}\"?", "I use {0} too often. What else can I say?", "{1} words that mean {0}", "Synonyms for {0} in {1}?"],
        several("synonyms", "word"), (["Find a synonym.", "I need another word."], "For which word?"), ["And for {0}?", "And {0}?"]),
    Family("find_rhymes rhyme rhymesWith rhyming_words get_rhymes", ["Words that rhyme", "Finds rhymes"], [P("word with term", "string", "The word", "word"), P("count limit max", "integer", "How many", "small", False)],
        ["What rhymes with {0}?", "rhyme {0}", "Find {1} rhymes for {0}.", "I write a poem and need a rhyme for {0}.", "Words that rhyme with \"{0}\"?", "Give me {1} words that rhyme with {0}.",
         "Is there a rhyme for {0}?"], several("rhymes", "word"), (["Find me a rhyme.", "What rhymes?"], "With which word?"), ["And with {0}?", "And {0}?"]),
    Family("percentage percent_of calculatePercent percentage_of discount_price", ["A percentage of a number", "Calculates percent"], [P("percent rate p", "string", "The percentage", "percent"), P("of number value total",
        "number", "Of which number", "int")],
        ["What is {0} of {1}?", "{0} of {1}", "Calculate {0} of {1}, please.", "How much is {0} from {1}?", "Take {0} of {1}.", "I have to pay {0} on {1}. How much is that?", "From {1} he wants {0}, how much is it?"],
        gives(result=lambda rng, v: round(_percent(v[0]) * v[1] / 100, 2))),
    Family("search_notes find_note findNote notes lookup_note", ["Search the notes", "Finds a note"], [P("query keyword text q", "string", "What to look for", "word"), P("tag label folder", "string", "Label", "label", False)],
        ["Find my note about {0}.", "notes {0}", "Did I write down anything about {0}?", "Search my notes for \"{0}\".", "Look for {0} in the notes with the tag {1}.", "Where is my note on {0}?",
         "note {0}, label {1}"], gives(text="sentence"), (["Find my note.", "Search my notes."], "What is it about?"), ["And about {0}?", "And {0}?"]),
    Family("start_countdown pomodoro focusTimer focus_session start_focus", ["Start a focus session", "Timer for working without a break"], [P("duration length time", "string", "How long", "duration"), P(
        "label task name", "string", "For what", "course", False)],
        ["Start a focus session of {0}.", "focus {0}", "I want to concentrate for {0}.", "Focus on {1} for {0}.", "{0} of {1}, start the clock.", "Please no disturbance for {0}.", "I study {1} now, {0}.",
         "Let me work for {0}."], did(), (["Start a focus session.", "I want to focus."], "For how long?")),
    Family("block_number block_caller blockContact spam_number reject_calls", ["Block a phone number", "Marks a caller as spam"], [P("number phone caller", "string", "The number", "phone"), P("reason why", "string", "Reason",
        "any", False, ["spam", "scam", "private"])],
        ["Block {0}.", "I don't want calls from {0}.", "block number {0}", "{0} keeps calling, block it.", "Please reject {0}, it is {1}.", "Block the number {0} as {1}.", "No more calls from {0}!"],
        did(), (["Block a number.", "Stop that caller."], "Which number?"), ["And {0}.", "Also {0}."]),
]

EVERYDAY = HOME + DIARY + TRAVEL + MEDIA + SHOPS + MONEY + OFFICE + CODE + TALK + LIFE + GADGETS
