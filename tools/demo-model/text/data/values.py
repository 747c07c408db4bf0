"""Values that people give to tools, as they name them: restaurants, bands, streets, branches, short sentences and the like, by kind."""
import os


def _pool(text):
    return [" ".join(x.split()) for x in text.split("|")]


VALUES = {
    "place": _pool("""Bella Roma|The Blue Door|Cafe Central|La Piazza|Golden Dragon|The Red Lion|Sushi Zen|Chez Marie|El Toro|Taco Loco|The Green Olive|
        Blue Moon|Trattoria Sole|The Old Mill|Café Luna|Le Petit Jardin|Burger Barn|The Crown|Lotus Garden|Mama Rosa|Noodle House|The Rusty Anchor|Casa Blanca|
        Spice Route|Taj Palace|The Corner Bistro|Café Mozart|Harbour Grill|Pasta Fina|The Copper Pot|Sakura|Olive Tree|Black Swan|The White Horse|Pizzeria Napoli|
        Zum Anker|Bombay Nights|Pho Saigon|Bistro Nord|The Hungry Bear|Tapas Bar Sol|Coffee Corner|Starbucks|Subway|Pizza Hut|Nando's|The Fat Duck|Noma|Vapiano|
        Five Guys|Joe's Diner|Rosie's Kitchen|The Lazy Cat|Moonlight Bar|Skyline|The Grand Cafe|Brew Lab|Sunset Lounge|Kebab King|Thai Orchid|Dragon Wok|
        The Silver Spoon|Café Milano|Osteria Verde|La Taverna|Le Bernardin|Steak Frites|Fish and Co|The Ivy|Riverside Inn|Maple Diner|Green Leaf|Curry Corner|
        Don Pedro|The Tipsy Goat|Villa Toscana|Ocean Pearl|Bean There|Daily Grind|The Hideout|Little Havana|Blue Note|Jade Palace|Pomodoro|Santa Lucia"""),
    "artist": _pool("""Coldplay|Radiohead|Metallica|Queen|Adele|Taylor Swift|Drake|The Beatles|Pink Floyd|Daft Punk|Beyoncé|Rihanna|Nirvana|Oasis|Muse|Blur|Abba|U2|
        AC/DC|Led Zeppelin|Bob Dylan|David Bowie|Elton John|Billie Eilish|Ed Sheeran|Dua Lipa|Lady Gaga|Bruno Mars|Kendrick Lamar|Jay-Z|Eminem|Shakira|Madonna|Prince|
        Björk|Gorillaz|Rammstein|Kraftwerk|Scorpions|Evanescence|Nightwish|Soundgarden|Deftones|Slipknot|Megadeth|Anthrax|Aerosmith|Foreigner|Journey|Toto|Genesis|
        Supertramp|Fleetwood Mac|Arctic Monkeys|Green Day|Blink-182|Linkin Park|Paramore|Portishead|Moby|Air|Massive Attack|Johnny Cash|Dolly Parton|Nina Simone|
        Miles Davis|Ella Fitzgerald|Louis Armstrong|Norah Jones|Frank Sinatra|Amy Winehouse|Lana Del Rey|Hozier|Sting|The Police|The Cure|The Clash|The Doors|
        The Strokes|The Killers|Bon Iver|Tame Impala|Rosalía|Bad Bunny|Stromae|Manu Chao|Nightrider|Ravenbrook|Starfall|Moonchild|Silverstone|Velvet Thunder|
        Mara Lindqvist|Paper Lanterns|Neon Harbour|The Quiet Foxes|Glasswing|Stormcrow|Ivory Coastline|Tom Waits|Joni Mitchell"""),
    "album": _pool("""Abbey Road|Thriller|Nevermind|Rumours|Back in Black|The Wall|OK Computer|Kid A|Parachutes|Purple Rain|Blue|Revolver|Let It Be|Hotel California|Born to Run|
        Bad|Lemonade|Folklore|Midnights|1989|Red|Reputation|Discovery|Homework|Random Access Memories|Graceland|Tapestry|Horses|Heroes|Low|Aladdin Sane|Ziggy Stardust|
        Master of Puppets|Ride the Lightning|Load|Toxicity|Hybrid Theory|Meteora|American Idiot|Dookie|Definitely Maybe|Parklife|Dummy|Mezzanine|Play|Homogenic|Debut|
        Kind of Blue|Blue Train|Time Out|Bitches Brew|Harvest|Highway 61|Blonde|Channel Orange|Currents|Lonerism|Evermore|Future Nostalgia|Renaissance|Divide|Multiply|
        21|25|19|Silent Harbour|Paper Moons|Glass Garden|Winter Roads|Northern Songs|Electric Summer|Midnight Radio|Slow Rivers|The Long Way Home|Golden Hour"""),
    "book": _pool("""Dune|The Hobbit|1984|Animal Farm|Moby Dick|Emma|Dracula|Frankenstein|Jane Eyre|Ulysses|Beloved|Persuasion|Middlemarch|The Stranger|The Trial|Siddhartha|Steppenwolf|
        Don Quixote|Anna Karenina|War and Peace|The Idiot|Crime and Punishment|Brave New World|Fahrenheit 451|The Martian|Ender's Game|Neuromancer|Foundation|Hyperion|
        The Alchemist|The Kite Runner|Life of Pi|The Book Thief|Norwegian Wood|Kafka on the Shore|Never Let Me Go|Cloud Atlas|Wolf Hall|Atonement|Gone Girl|The Shining|It|
        Misery|Carrie|The Hunger Games|Twilight|Eragon|Matilda|The BFG|Charlotte's Web|Heidi|Pippi Longstocking|Momo|The Little Prince|Treasure Island|Robinson Crusoe|
        Gulliver's Travels|Peter Pan|Pinocchio|Black Beauty|Little Women|Great Expectations|Oliver Twist|David Copperfield|Wuthering Heights|Les Misérables|Candide|Walden|
        Sapiens|Educated|Becoming|Cosmos|The Selfish Gene|Clean Code|Refactoring|Deep Work|Atomic Habits|Quiet|Outliers|The Silent Garden|A Winter in Bergen|The Salt Road|
        Letters to Nobody|The Clockmaker|House of Rivers"""),
    "movie": _pool("""Titanic|Avatar|Inception|Interstellar|Gladiator|Jaws|Alien|Aliens|Rocky|Psycho|Vertigo|Casablanca|Amélie|Parasite|Oldboy|Heat|Seven|Fargo|Memento|Tenet|Dunkirk|
        Oppenheimer|Barbie|Joker|The Batman|Iron Man|Black Panther|Spider-Man|Superman|Deadpool|Logan|Shrek|Frozen|Moana|Coco|Up|Wall-E|Ratatouille|Cars|Toy Story|
        Finding Nemo|Monsters Inc|The Lion King|Aladdin|Mulan|Bambi|Spirited Away|Ponyo|Akira|The Matrix|Blade Runner|The Terminator|Back to the Future|Ghostbusters|
        Die Hard|Top Gun|Mad Max|Star Wars|Star Trek|Dune|Arrival|Gravity|Moon|Her|Ex Machina|La La Land|Whiplash|Moonlight|Lady Bird|Little Women|Knives Out|The Menu|
        Pulp Fiction|Kill Bill|Jackie Brown|The Godfather|Goodfellas|Casino|Scarface|Taxi Driver|Fight Club|Forrest Gump|Cast Away|The Green Mile|Home Alone|Elf|Gremlins|
        Notting Hill|Love Actually|Mamma Mia|Grease|Dirty Dancing|Midnight Ferry|The Last Orchard"""),
    "genre": _pool("""rock|pop|jazz|blues|soul|funk|disco|techno|house|trance|ambient|classical|opera|country|folk|reggae|ska|punk|metal|grunge|indie|hip hop|rap|trap|drill|R&B|gospel|latin|
        salsa|samba|bossa nova|tango|flamenco|K-pop|synthwave|lo-fi|drum and bass|dubstep|swing|bluegrass"""),
    "street": _pool("""12 Hill Road|5 Main Street|221 Baker Street|8 Park Lane|47 Oak Avenue|3 Church Street|19 Station Road|110 High Street|6 Mill Lane|25 Elm Street|14 Maple Drive|
        72 King Street|9 Queen's Road|33 Victoria Street|1 Bridge Street|88 Garden Avenue|16 River Road|54 Sunset Boulevard|7 Castle Street|29 Market Square|
        102 Washington Street|11 Lake View|40 Forest Road|2 Rose Lane|63 Cedar Street|18 Pine Street|500 Fifth Avenue|77 Lincoln Road|4 School Lane|36 North Street|
        21 West End Road|10 Downing Street|15 Hauptstrasse|8 Rue de la Paix|27 Via Roma|31 Calle Mayor|45 Bahnhofstrasse|13 Gartenweg|60 Broadway|92 Chestnut Street|
        17 Abbey Road|23 Harbour Street|5b Willow Court|128 Union Street|39 Meadow Lane|66 South Street|83 College Road|20 Orchard Street|301 Pacific Avenue|
        7 Tower Hill|48 Spring Street|150 Ocean Drive|24 Birch Avenue|9 Windmill Lane|56 Canal Street|34 Liberty Avenue|12 Kirchgasse|70 Grove Road"""),
    "company": _pool("""Google|Apple|Microsoft|Amazon|Tesla|Netflix|Nvidia|Intel|IBM|Oracle|SAP|Siemens|Bosch|Volkswagen|BMW|Toyota|Honda|Sony|Samsung|Nokia|Ericsson|Philips|Ikea|Nestlé|Unilever|
        Adidas|Nike|Puma|Zara|Spotify|Airbnb|Uber|Stripe|Shopify|Slack|Zoom|Dropbox|Adobe|Salesforce|Cisco|Dell|Boeing|Airbus|Lufthansa|Pfizer|Bayer|Novartis|Visa|PayPal|Shell|
        Acme Corp|Globex|Initech|Umbrella Inc|Hooli|Stark Industries|Northwind|Contoso|Fabrikam|Bluebird Ltd|Greenfield Foods|Redstone Media|Silverlake Partners|Alpine Tools|
        Nordic Paper|Sunrise Energy|Brightside|Quantum Labs|Pixel Works|Harbor Logistics|Delta Systems|Orion Software|Maple Finance|Riverbank Design|Cobalt Robotics|Lumen Health"""),
    "team": _pool("""Arsenal|Chelsea|Liverpool|Real Madrid|Barcelona|Bayern Munich|Juventus|Ajax|Benfica|Porto|Celtic|Everton|Inter Milan|Napoli|Roma|Sevilla|Dortmund|Leipzig|Manchester City|
        Manchester United|Tottenham|West Ham|Leeds United|Lakers|Celtics|Bulls|Warriors|Heat|Knicks|Spurs|Yankees|Red Sox|Dodgers|Cubs|Mets|Giants|Cowboys|Patriots|Packers|Eagles|
        Steelers|Bears|Rangers|Bruins|Penguins|Canucks|Maple Leafs|Boca Juniors|River Plate|Flamengo|Santos|Galatasaray|Fenerbahçe|Olympiacos|Feyenoord|Marseille|Lyon|
        Paris Saint-Germain|Valencia|Villarreal|Wolves|Aston Villa|Brighton|Fulham|Newcastle|Sporting|Basel|Rapid Vienna|Malmö|Blue Hawks|River Foxes|Night Owls"""),
    "project": _pool("""Apollo|Phoenix|Atlas|Mercury|Orion|Titan|Falcon|Nova|Zephyr|Aurora|Horizon|Neptune|Pegasus|Odyssey|Lighthouse|Blueprint|Skylark|Sunflower|Northstar|Moonshot|
        Website Relaunch|Mobile App|Data Migration|Checkout Redesign|Garden House|Spring Campaign|Office Move|Billing 2.0|Customer Portal|Search Upgrade|Cloud Move|backend|
        frontend|api-gateway|web-shop|mobile-app|payments|landing-page|data-pipeline|docs-site|chatbot|search-service|auth-service|image-resizer|weather-app|todo-list|blog-engine|
        Project X|Red Kite|Blue Whale|Silver Arrow|Green Roof|Kitchen Remodel|Alpha Team Site"""),
    "channel": _pool("""general|random|dev-ops|devops|engineering|marketing|sales|support|design|frontend|backend|alerts|incidents|releases|announcements|hr|finance|legal|lunch|coffee|music|
        pets|books|gaming|sports|travel|jobs|help|feedback|bugs|qa|testing|data-science|ml-papers|security|infra|on-call|standup|retro|product|product-ideas|customer-success|
        team-berlin|team-london|office-nyc|welcome|introductions|watercooler|memes|photos|project-apollo|api-changes|website|mobile|social-media|newsletter"""),
    "country": _pool("""France|Germany|Italy|Spain|Portugal|Austria|Switzerland|Belgium|the Netherlands|Denmark|Sweden|Norway|Finland|Iceland|Ireland|Poland|Hungary|Romania|Bulgaria|Greece|
        Turkey|Croatia|Slovenia|Serbia|Estonia|Latvia|Lithuania|Ukraine|Canada|Mexico|Brazil|Argentina|Chile|Peru|Colombia|Ecuador|Bolivia|Cuba|Jamaica|Panama|Costa Rica|Japan|
        China|India|Nepal|Thailand|Vietnam|Malaysia|Indonesia|South Korea|Australia|New Zealand|Egypt|Morocco|Tunisia|Kenya|Ghana|Nigeria|Senegal|South Africa|Namibia|
        Madagascar|Israel|Jordan|Qatar|the United States|the United Kingdom|Scotland|Wales|Malta|Cyprus"""),
    "cuisine": _pool("""Italian|French|Spanish|Greek|Turkish|Lebanese|Moroccan|Ethiopian|Indian|Thai|Vietnamese|Chinese|Japanese|Korean|Mexican|Peruvian|Brazilian|Argentinian|Cuban|American|
        German|Austrian|Swiss|Polish|Hungarian|Russian|Georgian|Persian|Israeli|Syrian|Indonesian|Malaysian|Filipino|Portuguese|British|Irish|Swedish|Danish|Cajun|Tex-Mex|
        vegan|vegetarian|seafood|barbecue|Mediterranean|Caribbean|Sichuan|Cantonese|fusion|Nepalese"""),
    "department": _pool("""Sales|Marketing|Finance|Accounting|Legal|Engineering|Research|Design|Support|Customer Service|Human Resources|HR|IT|Operations|Logistics|Purchasing|Procurement|
        Quality|Production|Security|Facilities|Communications|Public Relations|Product|Data|Analytics|Compliance|Risk|Audit|Training|Payroll|Administration|Warehouse|Shipping|
        Cardiology|Radiology|Pediatrics|Surgery|Oncology|Neurology|Emergency|Physics|Chemistry|Biology|History|Mathematics|Economics|Philosophy|Toys|Electronics|Furniture"""),
    "language": _pool("""German|French|Spanish|Italian|Portuguese|Dutch|Russian|Chinese|Japanese|Korean|Arabic|Hindi|Turkish|Polish|Swedish|Latin|Greek|Finnish|Danish|Norwegian|Icelandic|Czech|
        Slovak|Hungarian|Romanian|Bulgarian|Croatian|Serbian|Ukrainian|Hebrew|Persian|Urdu|Bengali|Tamil|Thai|Vietnamese|Indonesian|Malay|Swahili|Zulu|Irish|Welsh|Basque|
        Catalan|Estonian|Latvian|Lithuanian|Esperanto|English|Mandarin|Afrikaans|Albanian"""),
    "product": _pool("""wireless headphones|running shoes|coffee maker|electric kettle|desk lamp|office chair|gaming mouse|mechanical keyboard|water bottle|yoga mat|backpack|winter jacket|
        rain coat|leather wallet|sunglasses|phone case|USB cable|power bank|bluetooth speaker|smart watch|tablet|laptop stand|monitor|webcam|microphone|printer|hair dryer|
        toothbrush|blender|toaster|frying pan|knife set|cutting board|dinner plates|wine glasses|bath towel|pillow|blanket|mattress|bookshelf|garden hose|lawn mower|drill|
        hammer|paint roller|bike helmet|tennis racket|football|tent|sleeping bag|camping stove|dog bed|cat tree|bird feeder|baby stroller|puzzle|board game|chess set|guitar strings|
        sketchbook|fountain pen|notebook|umbrella|suitcase|iPhone 15|Galaxy S24|MacBook Air|Kindle|PlayStation 5|Nintendo Switch|AirPods|GoPro|T-shirt|jeans|sneakers|hoodie|wool socks"""),
    "ingredient": _pool("""chicken|beef|pork|salmon|tuna|shrimp|tofu|eggs|butter|milk|cream|cheese|mozzarella|parmesan|yogurt|rice|pasta|noodles|bread|flour|sugar|honey|salt|pepper|garlic|
        onion|tomatoes|potatoes|carrots|spinach|broccoli|cauliflower|zucchini|eggplant|mushrooms|peppers|cucumber|lettuce|avocado|beans|lentils|chickpeas|corn|peas|pumpkin|apples|
        bananas|lemons|oranges|strawberries|blueberries|coconut milk|olive oil|vinegar|soy sauce|ginger|basil|oregano|thyme|cinnamon|vanilla|chocolate|almonds|walnuts|oats|
        sour cream|red wine|smoked ham"""),
    "sport": _pool("""football|soccer|basketball|tennis|volleyball|baseball|hockey|ice hockey|rugby|cricket|golf|badminton|table tennis|squash|handball|water polo|swimming|diving|rowing|sailing|
        surfing|cycling|running|marathon|boxing|judo|karate|wrestling|fencing|archery|skiing|snowboarding|biathlon|figure skating|curling|gymnastics|climbing|yoga|pilates|dancing|
        skateboarding|triathlon|darts|billiards|bowling|chess|Formula 1|horse riding|lacrosse|softball"""),
    "appliance": _pool("""dishwasher|washing machine|dryer|oven|stove|microwave|fridge|freezer|toaster|kettle|coffee machine|espresso machine|blender|mixer|rice cooker|air fryer|vacuum|
        robot vacuum|air conditioner|heater|fan|ceiling fan|humidifier|dehumidifier|air purifier|water heater|boiler|sprinkler|lawn mower|garage door|front door|blinds|curtains|
        TV|television|radio|speaker|soundbar|projector|stereo|iron|hair dryer|electric blanket|fish tank|floor lamp|desk lamp|night light|christmas lights|hot tub|sauna|doorbell"""),
    "device": _pool("""my phone|my laptop|iPhone|iPad|Pixel 8|Galaxy Tab|MacBook|ThinkPad|Kindle|Apple TV|Chromecast|Fire Stick|Echo Dot|HomePod|Sonos One|smart plug|thermostat|router|printer|scanner|
        camera|front camera|back camera|baby monitor|smoke detector|motion sensor|door lock|door sensor|smart watch|fitness tracker|headphones|tablet|desktop|server-1|web-01|db-02|
        raspberry-pi|nas|living room TV|office printer|kitchen speaker|bedroom lamp|hall sensor|garage camera|water sensor|weather station|doorbell|e-bike|car charger|work phone|
        gaming PC|old laptop"""),
    "label": _pool("""bug|feature|urgent|important|todo|later|question|help wanted|good first issue|documentation|enhancement|wontfix|duplicate|invalid|blocked|needs review|in review|backend|
        frontend|security|performance|design|UX|mobile|database|tests|refactoring|cleanup|family|work|personal|travel|receipts|invoices|taxes|bills|newsletters|friends|school|health|
        recipes|ideas|projects|archive|follow up|vip|customers|lead|partner|spam|draft|private|billing"""),
    "status": _pool("""open|closed|pending|done|in progress|on hold|blocked|ready|approved|rejected|cancelled|shipped|delivered|paid|unpaid|overdue|refunded|active|inactive|archived|draft|published|
        scheduled|running|stopped|paused|failed|completed|new|resolved|reopened|waiting|in review|to do|won|lost|qualified|contacted|away|busy|available|offline|online|out of office|
        on vacation|at lunch|in a meeting|working from home|do not disturb|testing"""),
    "branch": _pool("""main|master|develop|dev|staging|production|release|release-1.2|release/2.0|release/3.1|hotfix|hotfix/login|hotfix-42|feature/login|feature/search|feature/dark-mode|feature/cart|
        feature/payments|feature/api-v2|feature/user-profile|feature-x|fix-typo|fix/header|fix/memory-leak|fix/timeout|bugfix/issue-17|bugfix/crash|bugfix-301|test|testing|
        experiment|experiment/cache|refactor-auth|refactor/models|docs-update|docs/readme|cleanup|gh-pages|new-ui|old-ui|add-tests|update-deps|upgrade-react|ci-pipeline|anna/playground|
        tom-dev|v2|v3-beta|next|legacy|rename-tables|redesign"""),
    "hotel": _pool("""Hilton|Marriott|Sheraton|Hyatt|Radisson Blu|Holiday Inn|Novotel|Ibis|Mercure|Best Western|Four Seasons|The Ritz|The Savoy|Hotel Adler|Hotel Bristol|Hotel Europa|Hotel Sacher|
        Hotel Central|Hotel Miramar|Hotel Bellevue|Grand Hotel|Grand Plaza|Park Inn|Seaside Resort|Sea View|Mountain Lodge|Alpine Lodge|Lakeside Inn|The Plaza|The Langham|Ocean Palace|
        Palm Beach Hotel|Sunset Inn|City Lodge|Motel One|Premier Inn|Travelodge|Moxy|Casa Azul|Villa Flora|Pension Maria|Royal Garden|Golden Tulip|Hotel Splendid|Hotel Paradiso|
        The Standard|Ace Hotel|Harbour Hotel|Riverside Hotel|Château Blanc"""),
    "airport": _pool("""Heathrow|Gatwick|Stansted|Luton|JFK|LaGuardia|Newark|O'Hare|LAX|SFO|Logan|Dulles|Hartsfield|Denver International|Schiphol|Charles de Gaulle|Orly|Frankfurt|Munich|Tegel|
        Zurich|Vienna|Malpensa|Linate|Fiumicino|Barajas|El Prat|Lisbon|Arlanda|Kastrup|Gardermoen|Vantaa|Keflavik|Dublin|Changi|Haneda|Narita|Incheon|Suvarnabhumi|Kuala Lumpur|
        Dubai International|Doha|Istanbul|Ben Gurion|Pearson|Trudeau|Galeão|Ezeiza|Sydney|Auckland|CDG|AMS|FRA|MUC|BCN|LHR|HND|SIN|DXB|ORD"""),
    "station": _pool("""King's Cross|Paddington|Victoria|Waterloo|Euston|Liverpool Street|St Pancras|London Bridge|Baker Street|Oxford Circus|Grand Central|Penn Station|Union Station|Gare du Nord|
        Gare de Lyon|Hauptbahnhof|Central Station|Ostbahnhof|Alexanderplatz|Zoo|Potsdamer Platz|Marienplatz|Termini|Milano Centrale|Atocha|Sants|Rossio|Shinjuku|Shibuya|Tokyo Station|
        Ueno|Town Hall|Market Street|West Station|North Gate|South Park|Riverside|Museum|University|Airport|Harbour|Old Town|City Hall|Opera|Stadium|Hospital|Mill Road|
        Westbahnhof|Praterstern|Times Square"""),
    "event": _pool("""team meeting|standup|dentist appointment|yoga class|birthday party|dinner with Anna|lunch with Tom|parents evening|book club|choir practice|football training|piano lesson|
        job interview|project kickoff|sprint review|retrospective|board meeting|product launch|sales call|client call|wedding|garage sale|school play|summer party|christmas party|
        housewarming|movie night|game night|pub quiz|wine tasting|city tour|marathon|charity run|concert|jazz festival|street food market|science fair|art exhibition|open day|
        graduation|reunion|workshop|webinar|hackathon|design sprint|doctor visit|haircut|car inspection|vet appointment|flea market|Oktoberfest|Glastonbury|Comic-Con|PyCon"""),
    "course": _pool("""Algebra|Calculus|Geometry|Statistics|Linear Algebra|Physics|Chemistry|Biology|World History|Geography|English Literature|Creative Writing|French 101|Spanish for Beginners|
        German A1|Japanese Basics|Philosophy|Psychology|Sociology|Economics|Accounting|Marketing Basics|Microeconomics|Law 101|Intro to Python|Python for Beginners|Web Design|
        Data Science|Machine Learning|Databases|Operating Systems|Algorithms|Computer Networks|Cyber Security|Photography|Drawing|Oil Painting|Guitar for Beginners|Music Theory|
        Piano|Public Speaking|First Aid|Cooking Basics|Bread Baking|Yoga|Pilates|Swimming|Chess Strategy|Film Studies|Astronomy|Project Management|Excel Basics"""),
    "plant": _pool("""basil|mint|parsley|rosemary|thyme|lavender|tomato|chili|strawberry|lemon tree|olive tree|fig tree|apple tree|rose|tulip|daffodil|sunflower|orchid|lily|peony|hydrangea|geranium|
        begonia|dahlia|daisy|violet|marigold|jasmine|ivy|fern|moss|cactus|aloe vera|succulent|monstera|ficus|rubber plant|snake plant|spider plant|peace lily|bamboo|palm|bonsai|yucca|
        pothos|philodendron|dragon tree|jade plant|maple|oak|birch|magnolia"""),
    "medicine": _pool("""aspirin|ibuprofen|paracetamol|insulin|penicillin|amoxicillin|metformin|cough syrup|nose spray|eye drops|ear drops|vitamin D|vitamin C|vitamin B12|iron|zinc|magnesium|
        calcium|omega 3|folic acid|antibiotics|allergy tablets|cetirizine|loratadine|omeprazole|ramipril|bisoprolol|simvastatin|levothyroxine|melatonin|sleeping pills|painkillers|
        inhaler|cortisone cream|sun cream|antacid|probiotics|blood thinner|blood pressure pills|thyroid pills|travel sickness pills|throat lozenges|fever syrup|heart drops|diclofenac|
        naproxen|codeine|fish oil"""),
    "question": _pool("""Where shall we eat?|Who brings the cake?|When do we meet?|What is for dinner?|Are you coming tonight?|Which colour is best?|Do you like the logo?|Tea or coffee?|
        Pizza or pasta?|Is the meeting still on?|Who is driving?|Where is the key?|What time works best?|How was your day?|Did you feed the cat?|Can we move the call?|Which day suits you?|
        What should we name it?|Cats or dogs?|Shall we go hiking?|Do we need more chairs?|Who wants to play?|Where do we park?|What is the budget?|Is lunch included?|How many guests come?|
        Should we hire more people?|Which movie do we watch?|Beach or mountains?|Who takes notes?|Did the package arrive?|Is the shop open today?|What do you want for Christmas?|
        Will I be rich?|Should I call her?|Will it rain tomorrow?|Will we win the match?|Am I going to pass?|Is it a good idea?|Should I buy the car?|Summer or winter?|
        What shall I wear?|Which room do we book?|Who cooks on Sunday?|Do we start at nine?|Can I bring a friend?"""),
    "sentence": _pool("""I will be late today|The train leaves at nine|Where is the station|See you tomorrow morning|Dinner is ready now|I love this song|The cat is on the roof|We won the game|
        Good morning everyone|My flight is delayed|The new version is live|Please call me back|I forgot my keys|Happy birthday dear friend|The shop is closed today|We are running out of milk|
        How much does it cost|I would like a coffee|Thank you for your help|The weather is lovely|Let us meet at noon|I am on my way|Can you help me please|The meeting is cancelled|
        This is the best cake ever|I do not like Mondays|The server is down again|Our garden looks great|The children are asleep|I have a headache|My name is Sofia|Nice to meet you all|
        The bill is too high|We need more time|The book was boring|It was a great day|What a wonderful world|I lost my wallet|The room is too cold|You are doing great|
        The food was terrible|I really enjoyed the show|Our team is growing fast|The delivery came too late|Where can I buy tickets|I live in a small town|The soup is too salty|
        Never give up hope|Time flies like an arrow|Practice makes perfect every day|Life is better with friends|The dog ate my homework|Two coffees and one tea|Keep the change please"""),
    "url": _pool("""https://example.com|https://example.org/page|http://example.net|https://www.example.com/news|https://example.com/blog/42|https://example.com/login|https://shop.example.com|
        https://docs.example.org|https://api.example.com/v1/users|https://api.example.com/status|https://api.test.io/health|http://localhost:8080|http://localhost:3000/api|
        https://my-site.dev|https://my-site.dev/about|https://www.wikipedia.org|https://en.wikipedia.org/wiki/Cat|https://github.com|https://github.com/anna/app|https://news.site/today|
        https://weather.site/berlin|https://cakes.shop/menu|https://blog.anna.me|https://anna.me/cv.pdf|https://photos.site/a/17|https://maps.site/route|https://bank.example/home|
        https://uni.example.edu|https://uni.example.edu/courses|https://recipes.site/soup|https://music.site/top10|https://jobs.site/dev|https://forum.site/t/991|https://status.site|
        www.example.com|www.bella-roma.it|www.blue-door.co.uk|example.com|example.org|test.net|my-shop.com|openai.com|python.org|bbc.co.uk|blog.dev/post-7|city-library.org"""),
    "filename": _pool("""report.pdf|notes.txt|budget.xlsx|photo.jpg|cat.png|logo.svg|invoice.pdf|invoice-2024.pdf|cv.docx|letter.docx|slides.pptx|data.csv|users.csv|sales.csv|orders.json|config.json|
        config.yaml|settings.ini|main.py|app.py|utils.py|test_app.py|index.html|style.css|script.js|server.ts|README.md|CHANGELOG.md|todo.md|LICENSE|Dockerfile|Makefile|package.json|
        requirements.txt|backup.zip|archive.tar.gz|song.mp3|voice.wav|movie.mp4|holiday.mov|IMG_2041.jpg|scan-01.pdf|contract_final.pdf|draft2.txt|recipe.txt|shopping.txt|schema.sql|
        dump.sql|error.log|access.log|server.log|Budget 2025.xlsx|meeting notes.docx"""),
    "hashtag": _pool("""#travel|#food|#foodie|#music|#love|#summer|#winter|#sunset|#nature|#photography|#art|#design|#fashion|#fitness|#running|#yoga|#health|#vegan|#coffee|#baking|#recipe|#cats|
        #catsofinstagram|#dogs|#puppy|#books|#booktok|#reading|#movies|#gaming|#tech|#ai|#python|#javascript|#coding|#startup|#marketing|#news|#football|#worldcup|#nba|#f1|#berlin|
        #london|#newyork|#paris|#throwback|#mondaymotivation|#tbt|#diy|#garden|#climate"""),
    "username": _pool("""anna92|tom_k|sunny_leo|maxpower|lena.b|jdoe|john_doe|jane.doe|coder42|nightowl|bookworm7|pixelcat|mr_green|the_real_sam|miss_daisy|olli1999|kira.codes|devguy|
        rockstar88|tinydancer|blue_fox|redpanda|coffee_addict|skywalker|frodo|ada_l|turing|gracehopper|linus|octocat|admin|root|guest|support_team|m.rossi|s.tanaka|p_novak|yuki_22|
        chef_marco|runner_bea|gardenlady|luca-dev|nina.w|hugo_b|ivan77|priya_s|zoe_x|samwise|moonchild3|ghost_writer|@maria|@benny|@startup_guy|@cityphotos"""),
    "phone": _pool("""555-0142|555-0199|555-0117|555-0163|555-0178|555 0101|555 0134|(212) 555-0156|(415) 555-0188|(312) 555-0120|(617) 555-0109|212-555-0147|415-555-0132|646-555-0171|305-555-0195|
        +1 202 555 0143|+1 206 555 0160|+1 503 555 0122|+1 713 555 0184|+1-310-555-0126|+12025550176|+13125550138|+44 20 7946 0018|+44 20 7946 0371|+44 7700 900123|+44 7700 900456|
        +447700900789|07700 900321|07700900654|020 7946 0555|+49 30 1234567|+49 170 5551234|+49 89 998877|0170 5554321|030 445566|+33 1 55 50 01 22|+33 6 12 34 56 78|06 98 76 54 32|
        +39 06 5550 123|+34 91 555 0187|+43 1 555 0199|+41 44 555 01 70|+31 20 555 0133|+46 8 555 0144|+61 2 5550 1234|+81 3 5550 0123|+91 98765 43210|5550123|5550187"""),
    "duration": _pool("""2 hours|3 hours|4 hours|5 hours|6 hours|8 hours|12 hours|24 hours|1 hour|an hour|half an hour|one hour|two hours|three hours|1 minute|5 minutes|10 minutes|15 minutes|20 minutes|
        25 minutes|30 minutes|40 minutes|45 minutes|50 minutes|60 minutes|90 minutes|120 minutes|30 seconds|45 seconds|1 day|2 days|3 days|4 days|5 days|7 days|10 days|14 days|30 days|a week|
        one week|1 week|2 weeks|two weeks|3 weeks|4 weeks|6 weeks|a month|1 month|2 months|3 months|6 months|a year|1 year|30 min|45 min|2h|90s|1.5 hours"""),
    "weekday_time": _pool("""Friday at 8|Monday at 9|Tuesday at 10|Wednesday at 11|Thursday at 3|Saturday at 7|Sunday at noon|Monday at noon|Tuesday at 9 am|Wednesday at 2 pm|Thursday at 4 pm|
        Friday at 6 pm|Saturday at 8 pm|Sunday at 10 am|Monday at 9:30|Tuesday at 14:00|Wednesday at 15:30|Thursday at 17:45|Friday at 19:00|Saturday at 20:30|Sunday at 11:15|
        Monday morning|Tuesday afternoon|Wednesday evening|Thursday night|Friday morning|Saturday afternoon|Sunday evening|next Monday at 8|next Tuesday at 5 pm|next Friday at noon|
        tomorrow at 7|tomorrow at 9 am|tomorrow at 3 pm|tomorrow at noon|tomorrow at 16:30|tonight at 8|tonight at 9 pm|today at 5|today at 2 pm|today at 18:00|Monday 10am|Tuesday 7pm|
        Wed 3pm|Thu 11:00|Fri 20:00|Sat 9am|Sun 4pm|Saturday at 6:15 pm|Sunday at 1"""),
    "percent": _pool("""1%|2%|3%|4%|5%|6%|7%|8%|9%|10%|11%|12%|13%|14%|15%|16%|17%|18%|19%|20%|22%|24%|25%|27%|28%|30%|32%|33%|35%|38%|40%|42%|45%|48%|50%|55%|60%|64%|65%|70%|72%|75%|80%|85%|88%|90%|95%|99%|
        100%|2.5%|7.5%|12.5%|0.5%|5 percent|10 percent|15 percent|20 percent|25 percent|50 percent|75 percent"""),
}


def _lines(name):
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), name), encoding="utf-8") as f:
        return [line.strip() for line in f if line.strip()]


MESSAGES = _lines("messages.txt")  # short texts as people send them
