"""Words to talk about: names, cities, things, tasks. And a maker of names that nobody has heard."""
from text.data.countries import CAPITAL
from text.data.tables import LISTS

GIRLS = (
    "Anna Bella Clara Dora Ella Fay Hanna Ivy Jana Kira Lily Maya Nina Olga Ruby Sofia Tess Una Vera Zoe Emma Olivia Ava Mia Sophie "
    "Laura Sarah Julia Elena Ingrid Alice Eva Fatima Yuki Priya Maria Amina Chloe Grace Rosa Ines Leila Nadia Mei Aisha Carmen Freya "
    "Astrid Paula Irene Lucia").split()
BOYS = (
    "Adam Ben Carl David Elias Fred Gabe Henry Igor Jack Kai Leo Max Noah Oliver Peter Ron Sam Tom Victor John Chris Lukas Daniel "
    "Simon Jonas Amir Omar Marco Hassan Bob Paul Mark James Liam Lucas Ethan Felix Hugo Ivan Juan Kenji Lars Mateo Nils Oscar Pablo "
    "Ravi Sven Tim Walter Yusuf Chen").split()
NAMES = GIRLS + BOYS + "Alex Robin Kim Charlie Sasha Jamie Taylor Jordan Casey Morgan".split()
SURNAMES = (
    "Smith Jones Brown Miller Garcia Lopez Meyer Schmidt Rossi Novak Kowalski Ivanov Tanaka Kim Lee Wang Singh Patel Khan Silva "
    "Santos Dubois Martin Berg Jensen Nielsen Walker Young Hall King Wright Green Baker Hill Moore Clark Lewis Turner Cook Bell Ward").split()
PETS = (
    "Rex Bobo Lulu Felix Shadow Sunny Olli Mimi Koko Zip Milo Coco Fluffy Tiny Molly Buddy Toffee Nibbles Rusty Snowy Biscuit "
    "Pepper Ginger Bruno Luna Rocky").split()
CITIES = (
    "Paris London Berlin Rome Madrid Tokyo Vienna Lisbon Athens Oslo Cairo Dublin Prague Warsaw Moscow Beijing Sydney Toronto "
    "Chicago Boston Seattle Denver Miami Dallas Houston Munich Hamburg Cologne Zurich Geneva Milan Naples Venice Florence Barcelona "
    "Seville Porto Lyon Nice Amsterdam Rotterdam Brussels Antwerp Copenhagen Stockholm Helsinki Reykjavik Budapest Bucharest Sofia "
    "Belgrade Zagreb Istanbul Ankara Dubai Mumbai Delhi Bangalore Bangkok Singapore Hanoi Seoul Osaka Kyoto Shanghai Manila Jakarta "
    "Melbourne Perth Auckland Nairobi Lagos Accra Lima Bogota Santiago Havana Montreal Vancouver Austin Portland Glasgow Edinburgh "
    "Leeds Bristol Manchester Liverpool").split() + ["New York", "San Francisco", "Los Angeles", "Rio de Janeiro", "Buenos Aires", "Cape Town",
          "Hong Kong", "Mexico City"]
TASKS = (
    "call {0}|call the doctor|call mum|buy milk|buy bread and butter|water the plants|feed the cat|walk the dog|pay the rent|pay the bill|visit {0}|"
    "write to {0}|send the report|clean the kitchen|wash the car|pick up {0}|take out the trash|book the hotel|meet {0} for lunch|answer the letter of {0}|"
    "renew the passport|do the laundry|see you at eight|lunch at noon|dinner with {0}|the meeting is moved|happy birthday {0}|I am late|thank you for the "
    "help|check the oven|change the password|return the book|fix the bike|read the contract|go for a run|bake a cake for {0}").split("|")
EVERYDAY = (  # words that people like to have spelled, reversed or written in capitals
    "hello world banana elephant computer strawberry apple house garden school language model internet python keyboard mouse window mountain river "
    "ocean summer winter spring autumn friend family mother father sister brother teacher student doctor nurse police fire water earth wind "
    "happy sad angry funny beautiful wonderful important different necessary beginning believe receive separate definitely tomorrow yesterday "
    "today morning evening night breakfast lunch dinner coffee bread butter cheese sugar salt pepper tomato potato onion carrot orange lemon "
    "cherry peach grape melon chicken fish meat soup pizza pasta rice cake cookie chocolate vanilla milk juice bottle glass plate spoon fork "
    "knife kitchen bathroom bedroom door chair table sofa lamp clock picture book pencil paper letter word sentence story poem music guitar "
    "piano violin drum dance song movie television radio phone camera battery engine train bicycle airplane ship boat bridge street road city "
    "village country island forest desert beach lake flower tree grass leaf root stone rock sand snow rain cloud storm thunder lightning "
    "rainbow star moon planet rocket space science history geography mathematics number seven eleven twelve thirteen twenty hundred thousand "
    "million question answer problem solution mistake example reason secret treasure dragon wizard princess castle knight king queen prince "
    "monkey tiger lion giraffe zebra horse donkey rabbit squirrel hedgehog turtle snake frog butterfly spider beetle ladybug dolphin whale "
    "shark octopus penguin parrot owl eagle pigeon chicken turkey duck goose swan cat dog bird cow pig sheep goat bear wolf fox deer "
    "stop go yes no left right level radar noon civic racecar madam live evil star rats stressed desserts drawer reward pots spot test "
    "love peace freedom justice courage wisdom strength health money business market office company customer service server token stream "
    "button screen program code data memory network cable plastic metal silver golden yellow purple green black white brown pink "
    "monday friday sunday january february september december birthday holiday christmas present party balloon candle circle square triangle "
    "mississippi alphabet vegetable vacation restaurant umbrella pineapple hamburger sandwich spaghetti mushroom pumpkin cucumber "
    "ten cup sun run big red hot pen box hat map bus car leg arm ear eye nose mouth hand finger foot knee shoulder head hair face tooth").split()
SYLLABLES = (
    "ba be bo da do fa fi ga go ha hu ka ki ko la le li lo ma me mi mo na ne no pa pe ra re ri ro sa se so ta te ti to va ve vi za "
    "zo bra dra fro gli kra plo tri sta sno wi yo ze ju qua xi zu").split()
ENDINGS = "n r s l x k t m th nd rk sh ".split(" ")


REAL = {w.lower() for w in [*CAPITAL, *CAPITAL.values(), *CITIES, *NAMES] + [w for row in LISTS.values() for w in row]}


def invented(rng, capital=True):
    """A word that means nothing, of syllables or of the beginning of one word and the end of another: for names of persons, places and products nobody can know."""
    while True:
        if rng.random() < 0.5:
            word = "".join(rng.choice(SYLLABLES) for _ in range(rng.choice([2, 2, 2, 3, 3, 4]))) + rng.choice(ENDINGS)
        else:
            x, y = rng.choice(PIECES), rng.choice(PIECES)
            word = x[:rng.randint(1, min(5, len(x) - 1))] + y[-rng.randint(1, min(5, len(y) - 1)):]
        if len(word) > 2 and word not in REAL and word not in PIECES:  # "mali", "lima" and "banana" are made of our syllables too
            return word.capitalize() if capital else word


def any_name(rng):
    """A first name: mostly a real one, else one that is not in any list."""
    return rng.choice(NAMES) if rng.random() < 0.5 else invented(rng)


PERSONS = (
    "Albert Einstein|Barack Obama|Taylor Swift|Elon Musk|Napoleon|Julius Caesar|Cleopatra|Michael Jackson|Lionel Messi|"
    "Cristiano Ronaldo|Bill Gates|Steve Jobs|Mozart|Beethoven|Johann Sebastian Bach|Vincent van Gogh|Pablo Picasso|Marie Curie|"
    "Isaac Newton|Charles Darwin|Galileo|Nelson Mandela|Mahatma Gandhi|Martin Luther King|Abraham Lincoln|John F. Kennedy|"
    "Donald Trump|Joe Biden|Angela Merkel|Emmanuel Macron|Winston Churchill|Queen Elizabeth|King Charles|Princess Diana|Beyoncé|"
    "Rihanna|Madonna|Elvis Presley|John Lennon|Freddie Mercury|David Bowie|Bob Dylan|Leonardo DiCaprio|Tom Cruise|Brad Pitt|"
    "Tom Hanks|Marilyn Monroe|Charlie Chaplin|Walt Disney|Stephen King|J.K. Rowling|Agatha Christie|Jane Austen|Ernest Hemingway|"
    "Franz Kafka|Leo Tolstoy|Dostoevsky|Aristotle|Plato|Socrates|Confucius|Buddha|Alan Turing|Ada Lovelace|Linus Torvalds|"
    "Tim Berners-Lee|Mark Zuckerberg|Jeff Bezos|Sam Altman|Roger Federer|Serena Williams|Usain Bolt|Michael Jordan|Muhammad Ali|Pelé|"
    "Maradona|Hannah Arendt|Karl Marx|Sigmund Freud|Stephen Hawking|Nikola Tesla|Thomas Jefferson|Joan of Arc|Genghis Khan|"
    "Alexander the Great|Queen Victoria|Greta Thunberg|Oprah|Kim Kardashian|Harry Styles|Ed Sheeran|Adele|Billie Eilish|Drake|Eminem|"
    "Jackie Chan|Frida Kahlo|Rembrandt|Michelangelo|Hitler|Stalin|Lenin|Mao|Putin|Zelensky|the Pope|the president|the prime minister|"
    "the chancellor").split("|")
WORKS = (
    "Harry Potter|The Lord of the Rings|Star Wars|Titanic|The Matrix|Game of Thrones|Breaking Bad|Friends|The Simpsons|Frozen|"
    "The Lion King|Moby Dick|War and Peace|Pride and Prejudice|The Great Gatsby|1984|Animal Farm|The Hobbit|Dune|Inception|Avatar|"
    "Jurassic Park|The Godfather|Pulp Fiction|Forrest Gump|Casablanca|Bohemian Rhapsody|Yesterday|Imagine|Hotel California|Thriller|"
    "Starry Night|Guernica|The Scream|the Bible|the Odyssey|Crime and Punishment|Alice in Wonderland|Peter Pan|Sherlock Holmes|"
    "Minecraft|Fortnite|Tetris|Super Mario|Zelda|Pokémon|Squid Game|Stranger Things|Oppenheimer|Barbie|Interstellar|Shrek|Toy Story").split("|")
# What people ask about, and what no small model can know well.
TOPICS = (
    "quantum physics|the French Revolution|World War II|World War I|the Roman Empire|the Cold War|the Middle Ages|the Renaissance|"
    "the Industrial Revolution|black holes|the Big Bang|string theory|relativity|thermodynamics|climate change|global warming|"
    "inflation|the stock market|bitcoin|blockchain|cryptocurrency|taxes|mortgages|insurance|interest rates|capitalism|communism|"
    "socialism|feminism|religion|Christianity|Islam|Buddhism|Hinduism|Judaism|philosophy|stoicism|existentialism|ethics|psychology|"
    "depression|anxiety|therapy|meditation|yoga|nutrition|protein|calories|diabetes|cancer|the flu|covid|antibiotics|blood pressure|"
    "cholesterol|headaches|back pain|pregnancy|allergies|surgery|chemistry|organic chemistry|biology|genetics|CRISPR|stem cells|"
    "the immune system|the nervous system|neurons|hormones|enzymes|bacteria|fungi|mushrooms|ecosystems|rainforests|coral reefs|"
    "glaciers|tsunamis|hurricanes|tornadoes|plate tectonics|geology|minerals|astronomy|comets|asteroids|supernovas|exoplanets|"
    "the James Webb telescope|NASA|SpaceX|rockets|satellites|the space station|nuclear power|nuclear fusion|solar panels|"
    "wind turbines|batteries|electric cars|Tesla cars|diesel engines|jet engines|airplanes|submarines|bridges|skyscrapers|"
    "architecture|gothic cathedrals|painting|impressionism|cubism|sculpture|photography|jazz|opera|hip hop|rock music|"
    "classical music|the guitar solo|music theory|ballet|theatre|cinema|anime|manga|comics|video games|chess openings|poker|football|"
    "the World Cup|the Olympics|the Super Bowl|Formula 1|tennis rules|cricket|baseball|basketball|golf|boxing|marathon training|"
    "cooking|sushi|pasta carbonara|sourdough|wine|whisky|beer brewing|coffee beans|gardening|houseplants|dog training|aquariums|"
    "bird watching|fishing|hiking|camping|travel|cheap flights|hotels|visas|immigration|real estate|marketing|startups|management|"
    "leadership|job interviews|salaries|accounting|law|human rights|the constitution|elections|parliament|the EU|the UN|NATO|Brexit|"
    "the Supreme Court|abortion|gun control|the death penalty|immigration policy|racism|the economy|globalisation|trade|unemployment|"
    "poverty|machine learning theory|deep learning|reinforcement learning|transformers and attention|backpropagation|"
    "gradient descent|kubernetes|docker|git|bash|SQL|React|Vue|Angular|Django|Flask|Rust lifetimes|C++ templates|pointers|recursion|"
    "sorting algorithms|binary trees|hash tables|regular expressions|compilers|operating systems|cryptography|quantum computers|5G|"
    "wifi|bluetooth|the dark web|VPNs|phishing|firewalls|Windows|macOS|Android|iPhones|Samsung phones|graphics cards|monitors|"
    "printers|Excel|PowerPoint|Photoshop|linear algebra|calculus|integrals|derivatives|statistics|probability|topology|number theory|"
    "the Riemann hypothesis|Fermat's last theorem|game theory|set theory|ancient Egypt|ancient Greece|the Vikings|the Aztecs|"
    "the Incas|the Mongols|samurai|knights|pirates in history|the plague|colonialism|slavery|the moon landing|the Berlin Wall|"
    "the Titanic disaster|the Chernobyl disaster|linguistics|etymology|Latin grammar|Shakespeare's sonnets|poetry theory|mythology|"
    "Greek gods|Norse mythology|astrology|tarot|UFOs|Bigfoot|conspiracy theories|time travel|parallel universes|free will|"
    "consciousness|the soul|dark matter|antimatter|superconductors|semiconductors|lasers|nanotechnology|3D printing|robotics|drones|"
    "self-driving cars|smart homes|fashion|sneakers|perfume|makeup|skin care|hair loss|tattoos|weddings|parenting|babies|"
    "school systems|universities|scholarships|exams|dating|marriage|divorce|friendship problems|loneliness|stress|burnout|"
    "sleep disorders").split("|")
PLACES = (
    "New York|Los Angeles|Chicago|Sydney|Mumbai|Shanghai|Istanbul|Barcelona|Munich|Milan|the Amazon|the Alps|the Sahara desert|"
    "Mount Fuji|the Grand Canyon|Yellowstone|Niagara Falls|the Dead Sea|Loch Ness|Stonehenge|Machu Picchu|the Louvre|the White House|"
    "Times Square|Hollywood|Silicon Valley|Wall Street|Bavaria|Texas|California|Florida|Scotland|Wales|Catalonia|Siberia|Tibet|"
    "Greenland|Hawaii|Bali|Ibiza|the Moon|Mars|Venus").split("|")
JOBS = (
    "doctor lawyer nurse teacher pilot plumber electrician carpenter journalist accountant dentist architect programmer designer "
    "manager chef waiter mechanic farmer photographer translator scientist engineer").split()
LANGS = ("Python JavaScript TypeScript Java C++ Rust Go C# PHP Ruby Swift Kotlin Haskell SQL bash Perl R MATLAB Lua Scala").split()
LANGUAGES = (
    "German French Spanish Italian Portuguese Dutch Russian Chinese Japanese Korean Arabic Hindi Turkish Polish Swedish Latin Greek "
    "Finnish").split()
CODE_TASKS = (
    "sorts a list|reverses a string|finds prime numbers|checks for palindromes|reads a CSV file|downloads a web page|sends an email|"
    "parses JSON|connects to a database|computes Fibonacci numbers|sorts an array with quicksort|implements a linked list|"
    "draws a circle|plays tic-tac-toe|scrapes a website|counts words in a file|converts Celsius to Fahrenheit|"
    "validates an email address|makes a REST API|renders a login form|resizes images|trains a neural network|solves Sudoku|"
    "finds the shortest path|removes duplicates|merges two dictionaries|flattens a list|calculates the factorial|"
    "generates random passwords|reads from stdin|writes a log file|implements binary search|uploads files|caches results|"
    "runs a cron job|talks to a websocket").split("|")
THINGS = (
    "ball kite hat boat book drum key lamp shoe bell basket doll scarf bucket spoon stone box map balloon ring coin cup umbrella "
    "whistle flower feather button train puzzle blanket rocket car bike sword crown violin clock guitar camera letter mirror chair "
    "pencil telescope pizza sandwich computer phone sock teapot tractor piano ladder candle pillow backpack watch bottle carpet "
    "window toaster fridge robot snowman castle cloud rainbow garden tree river mountain island").split()
ANIMALS = (
    "dog cat fox bear rabbit mouse frog duck owl horse hedgehog squirrel goat lamb pig turtle wolf lion elephant bird bee fish "
    "dragon robot snail donkey penguin monkey tiger cow princess prince king queen knight wizard witch pirate ghost giant unicorn "
    "dinosaur whale spider ant butterfly sheep hen swan deer baker farmer sailor teacher fairy monster clown koala panda giraffe "
    "zebra hamster octopus crab dolphin shark parrot crow bat snake crocodile kangaroo camel raccoon otter seal alien superhero "
    "astronaut vampire mermaid troll cowboy ninja detective scientist nurse painter cook programmer").split()
FOODS = (
    "pizza pasta rice soup salad bread cheese cake pancakes noodles sushi curry burgers tacos fish potatoes apples chocolate cookies "
    "eggs tofu lasagna dumplings").split()
COLOURS = "red blue green yellow orange purple pink brown black white grey".split()
HOBBIES = (
    "football chess reading swimming painting dancing cooking hiking singing running tennis gardening fishing knitting cycling "
    "skiing drawing climbing").split()
GOODS = (
    "milk eggs bread butter apples bananas cheese rice pasta sugar flour coffee tea salt tomatoes onions carrots honey oil soap "
    "paper candles batteries juice yogurt").split()
NOUNS = (
    "house garden letter bridge market story winter summer morning evening table bottle window paper music river forest mountain "
    "city village school kitchen picture number money shop train ticket holiday birthday party dinner lunch breakfast sister brother "
    "mother father friend neighbour child family animal planet engine machine problem question answer idea plan project report "
    "meeting office manager customer order invoice product price delivery package address phone battery screen keyboard password "
    "account file folder message network server database table button menu page link error warning log test user group role team "
    "task note calendar event reminder alarm timer list item image video song album playlist movie recipe ingredient restaurant "
    "hotel room flight passenger seat car driver road map route weather temperature wind rain forecast stock share currency payment "
    "bill tax bank loan patient doctor medicine hospital student teacher course lesson exam grade library book author chapter page "
    "article newspaper comment rating review sensor light lamp door heater fan camera robot printer ship container warehouse field "
    "tree plant seed").split()
VERBS = (
    "open close start stop send read write move turn build break carry clean cook count cut draw drive find fix follow give grow "
    "help hold jump keep learn leave listen look make meet paint pay play push put run sell show sing sleep speak swim take teach "
    "throw walk wash watch win work").split()
ADJECTIVES = (
    "big small old new happy sad fast slow hot cold bright dark quiet loud clean dirty strong weak soft hard kind brave clever shy "
    "cheerful gentle funny strange beautiful simple tired hungry rich poor early late long short deep light heavy round flat sharp "
    "sweet bitter warm cool wet dry empty full lazy busy famous secret").split()
PIECES = sorted({w.lower() for w in [*NAMES, *SURNAMES, *CITIES, *NOUNS, *EVERYDAY, *ADJECTIVES, *ANIMALS] if w.isascii() and w.isalpha() and len(w) > 2})
