"""Two calls one after the other: something is looked up first, and what it gives goes into the second call."""
from text.tools.listed import family
from text.tools.results import empty, failure
from text.tools.toolset import value


def _pairs(text):
    """Blocks of a look-up, a tool that uses it, what is asked and how the answer goes.

    The look-up and the tool are written as in listed.py, in one line each: names; about; parameters. After that, "key: kind" of
    what is taken over (into the first parameter of the second tool), the wordings with {0} for what is looked up and {1} for the
    second parameter of the second tool, and the answer.
    """
    out = []
    for block in text.strip().split("\n\n"):
        first, second, taken, asks, answer = block.strip().split("\n")
        key, kind = taken.split(": ")
        made = []
        for line in (first, second):
            names, about, *params = [x.strip() for x in line.split(";")]
            params = [f"- {x}" for x in params]
            ask = "> " + " ".join("{%d}" % i for i in range(len(params)))
            made.append(family("\n".join([names, about, *params, ask, "< status: ok"])))
        out.append((*made, key, kind, [x.strip() for x in asks.split("|")], [x.strip() for x in answer.split("|")]))
    return out


PAIRS = _pairs("""
get_contact find_contact lookupContact; Look up a contact: e-mail and phone; name person: name = Name of the contact
send_email sendEmail mail; Send an e-mail to an address; to address recipient: email = The address; body text message: note = The text
email: email
Send {0} an email saying {1} | email {0}: {1} | mail {0} this: {1} | Look up the address of {0} and mail "{1}" there. | find the email of {0} and send: {1}
The e-mail is sent to {0} at {x}. | {0} has the address {x}. The e-mail is sent.

find_phone_number get_phone phoneBook; Find the phone number of a person; person name: name = The person
send_sms text_number sendSms; Send a text message to a number; number to phone: phone = The phone number; text message: note = The text
phone: phone
Text {0}: {1} | send an SMS to {0} that says {1} | look up the number of {0} and text "{1}" | sms to {0}: {1}
The message is sent to {0} at {x}. | The number of {0} is {x}. The message is sent.

find_order search_orders lookupOrder; Find the latest order of a customer; customer name: full = The customer
cancel_order_by_id cancelOrder stop_order; Cancel an order by its number; order_id order: code = The number of the order
order_id: code
cancel the last order of {0} | {0} wants the order cancelled | Find the order of {0} and cancel it. | please cancel what {0} ordered
The order {x} of {0} is cancelled.

search_song find_track findSong; Find a song and its id; title query: title = The title
play_track playTrack start_track; Play a track by its id; track_id id: code = The id
track_id: code
play {0} | Find {0} and play it. | put on {0} please | I would like to hear "{0}"
{0} is playing. | {0} is the track {x}. It is playing.

get_coordinates geocode_city cityCoordinates; Latitude of a city; city place: city = The city
sun_at get_sun sunTimes; Sunrise at a latitude; latitude lat: lat = The latitude
latitude: lat
when does the sun rise in {0}? | sunrise in {0} | What time is sunrise in {0}? | look up where {0} is and tell me when the sun rises there
In {0} {status}. | {0} is at latitude {x}, and {status}.

search_product find_article productSearch; Find an article and its number; query name: wares = What to look for
add_to_cart cartAdd put_in_cart; Put an article into the cart; article product_id id: code = Number of the article; quantity count amount: qty = How many
product_id: code
put {1} {0} into my cart | Add {1} {0} to the cart. | I want to buy {1} {0}
{1} {0} are in the cart. The article is {x}.

find_employee get_employee staffLookup; Find an employee's id; name employee: full = The name
book_leave add_leave requestLeave; Enter days off for an employee; employee_id id: code = The id; days count: number = How many days
employee_id: code
{0} takes {1} days off | enter {1} days of leave for {0} | give {0} {1} days off | book {1} days of holiday for {0}
{0} has the id {x}, and {1} days are booked.

get_price product_price priceOf; Price of an article; product article: article = The article
pay_amount make_payment payNow; Pay an amount of money; amount sum: price = The amount
price: price
find out what the {0} costs and pay it | Pay for the {0}. | look up the price of the {0} and pay that amount | buy the {0}: check the price, then pay
The {0} costs {x}, and it is paid.

get_temperature current_temperature outsideTemperature; Temperature in a city; city place: city = The city
set_thermostat setThermostat heating_set; Set the thermostat; temperature degrees value: degrees = The temperature
temperature: degrees
set the thermostat to the temperature in {0} | make it as warm here as in {0} | heat to what they have in {0} now
It is {x} degrees in {0}, and the thermostat is set to that.

find_file search_file locateFile; Find the path of a file; name filename: filename = The file
delete_path deletePath remove_path; Delete a file by its path; path file_path: path = The path
path: path
delete {0} | find {0} and delete it | look for the file {0} and remove it | get rid of {0}
The file {x} is deleted. | {0} was at {x} and is deleted.

search_flights_to find_flight flightSearch; Find the next flight to a city; city destination: city = Where to
book_flight reserve_flight bookFlight; Book seats on a flight; flight flight_number: flight = The flight; seats passengers: few = How many
flight: flight
book {1} seats on the next flight to {0} | find a flight to {0} and book {1} seats | next flight to {0} for {1} people, book it | we are {1} and want to fly to {0}, book the next flight
{1} seats on the flight {x} to {0} are booked.

find_task search_task taskByTitle; Find a task's number by its title; title text: note = The title
close_task finish_task taskDone; Mark a task as done by number; task_id number: int = The number
task_id: int
the task "{0}" is done | mark "{0}" as done | find the task "{0}" and close it | I finished this task: {0}
The task {x} is done.

who_is_doctor family_doctor getDoctor; Name of a patient's doctor; patient name: full = The patient
book_doctor doctor_appointment bookDoctor; Make an appointment with a doctor; doctor: full = The doctor; time at when: weekday_time = When
doctor: full
{0} needs an appointment with the family doctor: {1} | book {0}'s doctor for {1} | find the doctor of {0} and make an appointment, {1} | appointment for {0} with the usual doctor, {1}
The appointment with {x} is booked: {1}.

get_exchange_rate exchange_rate rateOf; Rate of a currency to the euro; currency code: [USD|GBP|JPY|CHF|SEK|CAD] = The currency
multiply multiply_numbers product_of; Multiply two numbers; a x first: price = One number; b y second: price = The other
rate: rate
how much are {1} euros in {0}? get the rate and multiply | {1} EUR in {0}, use the current rate | look up the {0} rate and multiply it by {1}
{1} euros are {n} {0}. The rate is {x}.
""")


def value_of(rng, p):
    return rng.choice(p.enum) if p.enum else value(rng, p.kind)


def chain(t, script, tools, pair, fill, written):
    """One question with two calls. tools: the two of the pair."""
    rng, (one, two), (_, _, key, kind, asks, answers) = t.rng, tools, pair
    name = value_of(rng, one.family.params[0])
    more = [value_of(rng, p) for p in two.family.params[1:]]
    script.user(fill(rng.choice(asks), [name, *more]))
    script.calls([one.call([name])])
    r = rng.random()
    if r < 0.1:
        result, text = failure(rng, str(name)) if r < 0.06 else empty(rng)
        script.result(written(rng, result))
        return script.say(text)
    found = value(rng, kind)
    found = str(found) if isinstance(found, str) else found * 1
    label = {"name": str(name)} if rng.random() < 0.4 and key != "name" else {}
    extra = rng.choice([{}, {}, {"city": value(rng, "city")}, {"active": True}, {"count": 1}, {"updated": "2027-03-04"}])
    result = {**label, key: found, **extra}
    if rng.random() < 0.2:
        result = {rng.choice(["result", "data"]): result}
    elif rng.random() < 0.15:
        result = {"results": [result]}
    script.result(written(rng, result))
    script.calls([two.call([found, *more])])
    if rng.random() < 0.08:
        result, text = failure(rng, None)
        script.result(written(rng, result))
        return script.say(text)
    n, state = round(rng.uniform(1, 900), 2), f"{rng.randint(4, 8)}:{rng.randint(10, 59)}"
    text = rng.choice(answers)
    done = {"result": n} if "{n}" in text else {"sunrise": state} if "{status}" in text else rng.choice([{"status": "ok"}, {"success": True}, "ok", {"status": "done"}, {"ok": True}])
    script.result(written(rng, done))
    script.say(text.format(str(name), *map(str, more), x=found, n=n, status=f"the sun rises at {state}"))
