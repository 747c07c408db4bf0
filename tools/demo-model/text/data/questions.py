"""Single questions of common knowledge with their wordings and answers, and statements that are true or false."""

# wordings | answer | the answer in a word or two
QUESTIONS = [tuple(line.split(" # ")) for line in """
Why is the sky blue?|why does the sky look blue|What makes the sky blue? # The sky is blue because the air scatters the blue light of the sun most. # light
How many continents are there?|How many continents does the earth have? # There are seven continents. # seven
What is the largest planet?|Which planet is the biggest?|biggest planet in the solar system # Jupiter is the largest planet of our solar system. # Jupiter
What is the smallest planet?|Which planet is the smallest? # Mercury is the smallest planet of our solar system. # Mercury
Which planet is closest to the sun?|What planet is nearest to the sun? # Mercury is the planet closest to the sun. # Mercury
Which planet is farthest from the sun?|What is the last planet? # Neptune is the planet farthest from the sun. # Neptune
Which planet has rings?|What planet is known for its rings? # Saturn is the planet with the big rings. # Saturn
Which planet is the red planet?|What is the red planet? # Mars is called the red planet. # Mars
Which planet do we live on?|What planet are we on?|What is the name of our planet? # We live on the planet Earth. # Earth
What is the name of our galaxy?|Which galaxy are we in? # Our galaxy is called the Milky Way. # Milky Way
How many planets are there?|How many planets are in the solar system? # There are eight planets in our solar system. # eight
What are the planets?|List the planets.|Name all planets.|Planets of the solar system # The planets are Mercury, Venus, Earth, Mars, Jupiter, Saturn, Uranus and Neptune. # -
What is the largest ocean?|Which ocean is the biggest?|biggest ocean # The Pacific is the largest ocean. # Pacific
What is the highest mountain?|What is the tallest mountain in the world?|highest mountain on earth # Mount Everest is the highest mountain in the world. # Mount Everest
What is the longest river?|Which river is the longest in the world? # The Nile is usually called the longest river in the world. # Nile
What is the largest country?|Which country is the biggest in the world? # Russia is the largest country in the world. # Russia
What is the smallest country?|Which country is the smallest in the world? # Vatican City is the smallest country in the world. # Vatican City
What is the largest continent?|Which continent is the biggest? # Asia is the largest continent. # Asia
What is the smallest continent?|Which continent is the smallest? # Australia is the smallest continent. # Australia
What is the largest desert?|biggest hot desert # The Sahara is the largest hot desert in the world. # Sahara
What is the largest animal?|What is the biggest animal in the world?|largest animal on earth # The blue whale is the largest animal on earth. # blue whale
What is the largest land animal?|biggest animal on land # The elephant is the largest animal on land. # elephant
What is the tallest animal?|Which animal is the tallest? # The giraffe is the tallest animal. # giraffe
What is the fastest animal?|What is the fastest land animal?|Which animal runs fastest? # The cheetah is the fastest animal on land. # cheetah
What is the slowest animal?|Which animal is very slow? # The sloth and the snail are among the slowest animals. # sloth
What is the king of the animals?|Which animal is called king of the jungle? # The lion is called the king of the animals. # lion
What is the hardest natural material?|What is the hardest stone? # Diamond is the hardest natural material. # diamond
At what temperature does water boil?|When does water boil?|boiling point of water # Water boils at 100 degrees Celsius. # 100
At what temperature does water freeze?|When does water freeze?|freezing point of water # Water freezes at 0 degrees Celsius. # 0
How fast is light?|What is the speed of light?|speed of light # Light travels at about 300,000 kilometres per second. # 300,000
What is water made of?|What does H2O stand for? # Water is made of hydrogen and oxygen. # hydrogen and oxygen
What do plants need to grow?|What do plants need? # Plants need light, water and air to grow. # light and water
What do bees make?|What do bees produce? # Bees make honey. # honey
What do cows give?|What do we get from cows? # Cows give milk. # milk
What do cows drink?|what does a cow drink # Cows drink water. # water
Where does honey come from?|Who makes honey? # Honey comes from bees. # bees
Where does milk come from? # Milk comes from cows. # cows
Where do eggs come from?|Who lays eggs? # Most eggs that we eat come from hens. # hens
Where does wool come from? # Wool comes from sheep. # sheep
Where does paper come from?|What is paper made of? # Paper is made from wood. # wood
What is glass made of? # Glass is made from sand. # sand
What is bread made of?|What do you need to bake bread? # Bread is made from flour and water. # flour
What is butter made of?|what is cheese made from # It is made from milk. # milk
Where do fish live? # Fish live in water. # water
Where do penguins live? # Penguins live in the south of the world, many of them in Antarctica. # Antarctica
Where do polar bears live? # Polar bears live in the Arctic, in the far north. # Arctic
Where do kangaroos live?|Where do kangaroos come from? # Kangaroos live in Australia. # Australia
Where do lions live? # Most lions live in Africa. # Africa
Where do pandas live? # Pandas live in China. # China
When do we sleep?|When do people sleep? # Most people sleep at night. # night
What do you need when it rains? # You need an umbrella or a raincoat. # umbrella
What shines at night? # The moon and the stars shine at night. # moon
Where does the sun rise?|Where does the sun come up? # The sun rises in the east. # east
Where does the sun set?|Where does the sun go down? # The sun sets in the west. # west
What causes day and night?|Why is it dark at night? # The earth turns around itself once a day, so one side looks away from the sun. # -
Why do we have seasons?|What causes the seasons? # The earth's axis is tilted, so each half gets more sun in one part of the year. # -
Why is the sea salty?|Why is the ocean salty? # Rivers carry salt from the rocks into the sea, and there it stays. # salt
Why do leaves fall in autumn?|Why do trees lose their leaves? # Trees drop their leaves in autumn to save water in winter. # -
Why do birds fly south?|Why do birds migrate? # Many birds fly south in autumn because it is warmer there and they find food. # -
Why do we sleep?|Why do people need sleep? # We sleep so that body and mind can rest. # rest
Why do cats purr? # Cats mostly purr when they feel good. # -
Why do we breathe?|Why do we need oxygen? # We breathe because our bodies need oxygen. # oxygen
Why does ice float?|Why does ice swim on water? # Ice floats because it is lighter than water. # -
How many bones does the human body have?|How many bones do humans have? # An adult has 206 bones. # 206
How many teeth do people have?|How many teeth does an adult have? # An adult has 32 teeth. # 32
How many hearts does an octopus have? # An octopus has three hearts. # three
How many colours does a rainbow have?|What are the colours of the rainbow? # A rainbow has seven colours: red, orange, yellow, green, blue, indigo and violet. # -
What are the primary colours?|Name the primary colors. # The primary colours are red, yellow and blue. # -
What colour do you get when you mix blue and yellow?|blue and yellow make what colour|What do yellow and blue make? # Blue and yellow make green. # green
What colour do you get when you mix red and yellow?|What do red and yellow make? # Red and yellow make orange. # orange
What colour do you get when you mix red and blue?|What do blue and red make? # Red and blue make purple. # purple
What colour do you get when you mix red and white?|What do red and white make? # Red and white make pink. # pink
What colour do you get when you mix black and white?|What do black and white make? # Black and white make grey. # grey
What are the seasons?|How many seasons are there?|Name the four seasons. # The four seasons are spring, summer, autumn and winter. # -
What are the days of the week?|Name the days of the week.|List the weekdays. # The days of the week are Monday, Tuesday, Wednesday, Thursday, Friday, Saturday and Sunday. # -
What are the months of the year?|Name the months.|List all months. # The months are January, February, March, April, May, June, July, August, September, October, November and December. # -
What is the first month of the year?|first month # January is the first month of the year. # January
What is the last month of the year?|last month of the year # December is the last month of the year. # December
What is the shortest month?|Which month has 28 days? # February is the shortest month. # February
When is Christmas?|On which date is Christmas? # Christmas is on the 25th of December. # 25 December
When is New Year?|When does the year begin? # The year begins on the first of January. # 1 January
When is Halloween? # Halloween is on the 31st of October. # 31 October
What is the alphabet?|Say the alphabet.|Write the alphabet.|recite the abc # A B C D E F G H I J K L M N O P Q R S T U V W X Y Z # -
What are the vowels?|Name the vowels.|Which letters are vowels? # The vowels are a, e, i, o and u. # -
What is the first letter of the alphabet? # A is the first letter of the alphabet. # A
What is the last letter of the alphabet? # Z is the last letter of the alphabet. # Z
Who wrote Romeo and Juliet?|Who wrote Hamlet?|Who is the author of Macbeth? # William Shakespeare wrote it. # Shakespeare
Who painted the Mona Lisa?|painter of the mona lisa # Leonardo da Vinci painted the Mona Lisa. # Leonardo da Vinci
Who was the first man on the moon?|Who walked on the moon first? # Neil Armstrong was the first person on the moon, in 1969. # Neil Armstrong
Who was the first president of the United States?|first US president # George Washington was the first president of the United States. # George Washington
Who discovered gravity?|Who described gravity first? # Isaac Newton described gravity. # Isaac Newton
Who developed the theory of relativity?|Who came up with relativity? # Albert Einstein developed the theory of relativity. # Albert Einstein
Who wrote Don Quixote? # Miguel de Cervantes wrote Don Quixote. # Cervantes
Who wrote Faust? # Goethe wrote Faust. # Goethe
Who invented the telephone? # Alexander Graham Bell is usually named as the inventor of the telephone. # Bell
Who invented the light bulb? # Thomas Edison is usually named as the inventor of the light bulb. # Edison
Where is the Eiffel Tower?|In which city is the Eiffel Tower? # The Eiffel Tower is in Paris. # Paris
Where is the Colosseum? # The Colosseum is in Rome. # Rome
Where is Big Ben? # Big Ben is in London. # London
Where is the Statue of Liberty? # The Statue of Liberty is in New York. # New York
Where are the pyramids?|Where are the great pyramids? # The great pyramids are in Egypt. # Egypt
Where is the Great Wall? # The Great Wall is in China. # China
Where is the Taj Mahal? # The Taj Mahal is in India. # India
Where is Mount Everest? # Mount Everest is between Nepal and China. # Nepal
Which country has the most people?|What country has the largest population? # India and China have the most people, more than 1.4 billion each. # India
What language is spoken in Brazil?|Which language do people speak in Brazil? # People in Brazil speak Portuguese. # Portuguese
What language do people speak in Switzerland? # People in Switzerland speak German, French, Italian and Romansh. # German
What language do Americans speak?|Which language is spoken in the USA? # Most people in the United States speak English. # English
What gas do we breathe in?|Which gas do we need to live? # We need oxygen to live. # oxygen
What gas do plants take in? # Plants take in carbon dioxide. # carbon dioxide
What is the center of the solar system?|What is in the middle of the solar system? # The sun is in the middle of our solar system. # sun
What is heavier, a kilogram of feathers or a kilogram of iron?|What weighs more, a kilo of feathers or a kilo of steel? # Both weigh the same: one kilogram. # same
How long does the earth take to go around the sun?|How long is a year? # The earth takes one year, about 365 days. # 365 days
How long does it take the earth to turn once?|How long is a day? # A day has 24 hours. # 24 hours
How often is there a leap year? # There is a leap year every four years. # every four years
What do caterpillars turn into?|What does a caterpillar become? # A caterpillar becomes a butterfly. # butterfly
What does a tadpole become?|What do tadpoles turn into? # A tadpole becomes a frog. # frog
What is the freezing point in Fahrenheit? # Water freezes at 32 degrees Fahrenheit. # 32
How many letters are in the alphabet?|How many letters does the English alphabet have? # The English alphabet has 26 letters. # 26
How many days are in February? # February has 28 days, and 29 in a leap year. # 28
What comes after Z? # Nothing: Z is the last letter. # nothing
How many moons does the earth have?|How many moons has the earth got?|number of moons of earth # The earth has one moon. # one
How many moons does Mars have?|moons of mars # Mars has two moons. # two
How far away is the moon?|What is the distance to the moon?|how far is it to the moon # The moon is about 384,000 kilometres away. # 384,000 km
How far away is the sun?|What is the distance to the sun?|how far is the sun from the earth # The sun is about 150 million kilometres away. # 150 million km
How old is the earth?|What is the age of the earth? # The earth is about 4.5 billion years old. # 4.5 billion years
How old is the universe?|What is the age of the universe? # The universe is about 13.8 billion years old. # 13.8 billion years
How hot is the sun? # The surface of the sun is about 5,500 degrees Celsius hot. # 5,500
How many people live on earth?|What is the population of the world?|world population|How many people are there in the world? # More than eight billion people live on earth. # eight billion
When did World War II end?|When did the second world war end?|end of WW2 # World War II ended in 1945. # 1945
When did World War II begin?|start of the second world war # World War II began in 1939. # 1939
When did World War I begin?|When did the first world war start? # World War I began in 1914 and ended in 1918. # 1914
When did the Berlin Wall fall?|In which year did the Berlin Wall come down? # The Berlin Wall fell in 1989. # 1989
When was the first moon landing?|In which year did people land on the moon?|moon landing year # People first landed on the moon in 1969. # 1969
When did Columbus reach America?|In which year did Columbus come to America? # Christopher Columbus reached America in 1492. # 1492
Who discovered America? # Christopher Columbus reached America in 1492, though people had lived there long before. # Columbus
When was the French Revolution? # The French Revolution began in 1789. # 1789
What is the normal body temperature?|How warm is the human body? # The human body is about 37 degrees Celsius warm. # 37
How many zeros does a million have?|How many zeros are in a million? # A million has six zeros. # six
How many zeros does a billion have? # A billion has nine zeros. # nine
What is half a dozen?|how much is half a dozen # Half a dozen is six. # six
What is a dozen?|How much is a dozen? # A dozen is twelve. # twelve
How many seconds are in a day? # A day has 86,400 seconds. # 86,400
What is the fastest bird?|Which bird is the fastest? # The peregrine falcon is the fastest bird. # peregrine falcon
What is the largest bird?|Which bird is the biggest? # The ostrich is the largest bird. # ostrich
What is the largest fish?|biggest fish # The whale shark is the largest fish. # whale shark
Which mammal can fly?|What mammal flies? # The bat is the only mammal that can fly. # bat
Which bird cannot fly?|Name a bird that cannot fly. # Penguins and ostriches cannot fly. # penguin
What do pandas eat? # Pandas eat bamboo. # bamboo
What do you call a group of wolves? # A group of wolves is called a pack. # pack
What do you call a group of fish? # A group of fish is called a school. # school
What do you call a group of lions? # A group of lions is called a pride. # pride
What is the largest organ of the human body?|biggest organ of the body # The skin is the largest organ of the human body. # skin
What does the heart do?|What is the heart for? # The heart pumps blood through the body. # pumps blood
What do lungs do?|What are lungs for? # With the lungs we breathe. # breathe
How many senses do we have?|What are the five senses? # We have five senses: sight, hearing, smell, taste and touch. # -
What is the opposite of a synonym? # The opposite of a synonym is an antonym. # antonym
What is the main language of the internet? # Most pages on the internet are in English. # English
What is the most spoken language?|Which language do most people speak? # English and Chinese have the most speakers. # English
What is the longest wall in the world? # The Great Wall of China is the longest wall in the world. # Great Wall of China
Where is the Sahara?|Where is the Sahara desert? # The Sahara is in the north of Africa. # Africa
Where is the Amazon?|Which continent is the Amazon on? # The Amazon is in South America. # South America
Where is the North Pole? # The North Pole is in the Arctic, in the far north. # Arctic
Which ocean is between Europe and America?|What ocean lies between Africa and America? # The Atlantic lies between them. # Atlantic
Which ocean is between America and Asia? # The Pacific lies between them. # Pacific
Which river flows through London?|What is the river in London called? # The Thames flows through London. # Thames
Which river flows through Paris? # The Seine flows through Paris. # Seine
Which river flows through Vienna?|Which river flows through Budapest? # The Danube flows through Vienna and Budapest. # Danube
Which river flows through Cairo?|river in Egypt # The Nile flows through Egypt and Cairo. # Nile
Which countries are next to Germany?|Name some neighbours of Germany. # France, Poland and Austria are neighbours of Germany, among others. # -
What is the national animal of Australia? # The kangaroo is the best known animal of Australia. # kangaroo
What is sushi? # Sushi is a dish of rice and raw fish from Japan. # a dish
What is tea made of? # Tea is made from the leaves of the tea plant. # leaves
What is wine made of?|What is wine made from? # Wine is made from grapes. # grapes
What is chocolate made of? # Chocolate is made from cocoa beans. # cocoa
What is the largest city in the world?|biggest city # Tokyo is usually called the largest city in the world. # Tokyo
What are the oceans?|Name the five oceans.|List all oceans. # The oceans are the Pacific, the Atlantic, the Indian Ocean, the Arctic and the Southern Ocean. # -
What are the continents?|Name the seven continents.|List all continents. # The continents are Africa, Antarctica, Asia, Australia, Europe, North America and South America. # -
What is the deepest ocean?|Where is the ocean deepest? # The Pacific is the deepest ocean. # Pacific
What is the largest lake?|biggest lake # The Caspian Sea is the largest lake in the world. # Caspian Sea
What is the largest island? # Greenland is the largest island. # Greenland
What is the coldest place on earth?|Which continent is the coldest? # Antarctica is the coldest place on earth. # Antarctica
Do cats or dogs bark?|Which animal barks? # Dogs bark. # dogs
Which animal says meow? # The cat says meow. # cat
Which animal gives wool? # The sheep gives wool. # sheep
Which animal has a trunk?|Which animal has a very long nose? # The elephant has a trunk. # elephant
Which animal has a long neck? # The giraffe has a long neck. # giraffe
Which animal has black and white stripes? # The zebra has black and white stripes. # zebra
Which animal carries its young in a pouch? # The kangaroo carries its young in a pouch. # kangaroo
What is man's best friend? # The dog is called man's best friend. # dog
How many hours are in a week? # A week has 168 hours. # 168
How many days are in two weeks? # Two weeks have 14 days. # 14
What is the largest number?|What is the biggest number?|What is the highest number? # There is none: one can always go on. # none
What is the smallest prime number? # The smallest prime number is 2. # 2
What are the first five prime numbers?|List some prime numbers. # 2, 3, 5, 7 and 11 are prime numbers. # -
What is infinity? # Infinity means without end. # without end
What is zero?|what is 0 # Zero is the number before one. # number
What is your favourite number? # I am a program and have no favourites. What is yours? # none
What does www stand for?|What is www? # WWW stands for World Wide Web. # World Wide Web
What does AI stand for? # AI stands for artificial intelligence. # artificial intelligence
What does LLM stand for? # LLM stands for large language model. # large language model
What does API stand for? # API stands for application programming interface. # application programming interface
What does CPU stand for? # CPU stands for central processing unit. # central processing unit
What does GPU stand for? # GPU stands for graphics processing unit. # graphics processing unit
What does USA stand for? # USA stands for United States of America. # United States of America
What does UN stand for? # UN stands for United Nations. # United Nations
What does JSON stand for? # JSON stands for JavaScript Object Notation. # JavaScript Object Notation
What does HTML stand for? # HTML stands for HyperText Markup Language. # HyperText Markup Language
What does DIY stand for?|what does diy mean # DIY stands for do it yourself. # do it yourself
What does ASAP stand for?|what does asap mean # ASAP stands for as soon as possible. # as soon as possible
What is the capital of Europe?|What is the capital of Africa?|capital of asia # That is a continent: it has no capital. # none
What is the capital of the world? # The world has no capital. # none
What is the capital of England? # The capital of England is London. # London
What is the capital of Scotland? # The capital of Scotland is Edinburgh. # Edinburgh
What is the capital of Wales? # The capital of Wales is Cardiff. # Cardiff
What is the capital of Northern Ireland? # The capital of Northern Ireland is Belfast. # Belfast
Is the sun a star or a planet? # The sun is a star. # star
Is a whale a mammal or a fish? # A whale is a mammal. # mammal
Is a tomato a fruit or a vegetable? # A tomato is a fruit, though we use it as a vegetable. # fruit
Is the earth round or flat? # The earth is round. # round
Is ice hot or cold? # Ice is cold. # cold
Is a spider an insect or not? # A spider is no insect: it has eight legs. # no
What is bigger, the sun or the moon?|Which is bigger, the sun or the earth? # The sun is bigger. # sun
What is bigger, the earth or the moon?|Which is bigger, the moon or the earth? # The earth is bigger than the moon. # earth
What is faster, light or sound? # Light is faster than sound. # light
Which is heavier, gold or water?|What is heavier, iron or wood? # Metals are heavier than water and wood. # the metal
Which is warmer, summer or winter?|Which season is the warmest? # Summer is the warmest season. # summer
Which season is the coldest?|Which is the coldest season? # Winter is the coldest season. # winter
What do we celebrate on the 25th of December? # On the 25th of December many people celebrate Christmas. # Christmas
How many sides does a coin have? # A coin has two sides. # two
How many wheels does a truck have? # Many trucks have six wheels or more. # six
How many strings does a guitar have? # A guitar has six strings. # six
What is a group of stars called? # A very large group of stars is called a galaxy. # galaxy
What is the closest star to the earth?|Which star is nearest? # The sun is the star closest to the earth. # sun
Which planet is known as the morning star?|hottest planet # Venus: it is the hottest planet, and it is called the morning star. # Venus
Will you marry me? # I am a program, so I cannot marry. # no
Does it ever snow in Africa? # Yes, on high mountains. # Yes
What is the meaning of life?|What's the meaning of life? # Many people have many answers. Some say 42. I am only a small demo model. # 42
Which came first, the chicken or the egg?|chicken or egg? # The egg: animals laid eggs long before there were chickens. # egg
""".strip().split("\n")]

# statement as a question | yes or no | what is true
YES_NO = [tuple(line.split(" # ")) for line in """
Is the earth flat?|is earth flat # no # the earth is round
Is the earth round?|Is the earth a sphere? # yes # the earth is round
Is the sun a star? # yes # the sun is a star
Is the sun a planet? # no # the sun is a star
Is the moon a planet? # no # the moon goes around the earth
Does the moon go around the earth?|Does the moon orbit the earth? # yes # the moon goes around the earth
Does the moon go around the sun? # no # the moon goes around the earth
Is the moon made of cheese? # no # the moon is made of rock
Is the moon bigger than the earth? # no # the earth is bigger than the moon
Is the sun bigger than the earth? # yes # the sun is much bigger than the earth
Is the sun hot? # yes # the sun is very hot
Does the sun go around the earth? # no # the earth goes around the sun
Does the earth go around the sun?|Does the earth orbit the sun? # yes # the earth goes around the sun
Is Pluto a planet? # no # Pluto is called a dwarf planet today
Is Mars bigger than Jupiter? # no # Jupiter is the biggest planet
Is a whale a fish?|Are whales fish? # no # a whale is a mammal
Is a dolphin a fish?|Are dolphins fish? # no # a dolphin is a mammal
Is a shark a fish? # yes # a shark is a fish
Is a bat a bird?|Are bats birds? # no # a bat is a mammal
Is a penguin a bird?|Are penguins birds? # yes # a penguin is a bird that cannot fly
Can penguins fly?|Do penguins fly? # no # penguins swim well, but they cannot fly
Can birds fly? # yes # most birds can fly
Can fish fly?|Do fish fly? # no # fish swim
Can pigs fly? # no # pigs cannot fly
Can fish swim? # yes # fish live in water and swim
Can cats fly?|Can a cat fly? # no # cats have no wings
Can dogs talk?|Can a dog speak? # no # dogs bark
Can people fly?|Can humans fly? # no # people need a plane to fly
Can humans breathe under water? # no # people need air
Can elephants jump? # no # elephants cannot jump
Can ostriches fly? # no # ostriches run very fast, but they cannot fly
Is a spider an insect?|Are spiders insects? # no # a spider has eight legs and an insect six
Is an ant an insect? # yes # an ant has six legs
Is a tomato a fruit? # yes # a tomato is a fruit, though we use it as a vegetable
Is a banana blue? # no # a banana is yellow
Is grass green? # yes # grass is green
Is snow black?|Is snow hot? # no # snow is white and cold
Is snow white?|Is snow cold? # yes # snow is white and cold
Is ice cold? # yes # ice is frozen water
Is fire cold? # no # fire is hot
Is fire hot? # yes # fire is hot
Is water wet? # yes # water is wet
Is water dry? # no # water is wet
Is the sky green? # no # the sky is blue
Is the sky blue? # yes # on a clear day the sky is blue
Is sugar sweet? # yes # sugar is sweet
Is sugar salty? # no # sugar is sweet
Is a lemon sweet? # no # a lemon is sour
Is a lemon sour? # yes # a lemon is sour
Is gold a metal? # yes # gold is a metal
Is wood a metal? # no # wood comes from trees
Is glass made of sand? # yes # glass is made from sand
Do cats bark? # no # cats say meow, and dogs bark
Do dogs bark? # yes # dogs bark
Do dogs meow? # no # dogs bark, and cats meow
Do cats like milk? # yes # many cats like milk
Do cows lay eggs? # no # cows have calves and give milk
Do hens lay eggs?|Do chickens lay eggs? # yes # hens lay eggs
Do fish have legs? # no # fish have fins
Do snakes have legs? # no # snakes have no legs
Do birds have feathers? # yes # all birds have feathers
Do birds have teeth? # no # birds have beaks
Do plants need water? # yes # plants need water and light
Do trees have leaves? # yes # most trees have leaves or needles
Do unicorns exist?|Are unicorns real? # no # unicorns live in fairy tales only
Do dragons exist?|Are dragons real? # no # dragons live in fairy tales only
Do ghosts exist?|Are ghosts real? # no # ghosts live in stories only
Did dinosaurs exist?|Were dinosaurs real? # yes # dinosaurs lived millions of years ago
Do dinosaurs still live?|Are there dinosaurs today? # no # dinosaurs died out long ago
Do people need sleep? # yes # everybody needs sleep
Do humans have tails?|Do people have tails? # no # people have no tails
Do bees make honey? # yes # bees make honey from flowers
Does a week have seven days? # yes # a week has seven days
Does a week have eight days? # no # a week has seven days
Does a year have twelve months? # yes # a year has twelve months
Does a spider have six legs? # no # a spider has eight legs
Does a spider have eight legs? # yes # a spider has eight legs
Does the sun rise in the west? # no # the sun rises in the east
Does the sun rise in the east? # yes # the sun rises in the east and sets in the west
Does water boil at 50 degrees? # no # water boils at 100 degrees Celsius
Does water boil at 100 degrees? # yes # water boils at 100 degrees Celsius
Is Africa a country? # no # Africa is a continent
Is Europe a continent? # yes # Europe is a continent
Is Australia a continent? # yes # Australia is a continent and a country
Is Asia a country? # no # Asia is a continent
Is London in France? # no # London is in the United Kingdom
Is Paris in Italy? # no # Paris is in France
Is Rome in Italy? # yes # Rome is the capital of Italy
Is English a language? # yes # English is a language
Is Python a programming language? # yes # Python is a programming language
Is zero an even number?|Is 0 even? # yes # zero is even
Is one a prime number?|Is 1 a prime number? # no # the smallest prime number is 2
Is a square round? # no # a square has four sides
Is a circle round? # yes # a circle is round
Is a hundred more than fifty? # yes # 100 is more than 50
Is ten bigger than twenty? # no # ten is smaller than twenty
Is Monday a month? # no # Monday is a day
Is Sunday a day? # yes # Sunday is a day of the week
Is December in winter? # yes # in the north December is in winter
Is summer colder than winter? # no # summer is warmer than winter
Is winter cold? # yes # winter is the cold season
Is a feather heavier than a stone? # no # a stone is heavier than a feather
Is an elephant smaller than a mouse?|Is a mouse bigger than an elephant? # no # an elephant is much bigger than a mouse
Is an elephant bigger than a mouse?|Is an elephant bigger than a cat? # yes # an elephant is very big
Is a car faster than a snail? # yes # a car is much faster than a snail
Is a snail faster than a horse? # no # a horse is much faster than a snail
Is light faster than sound? # yes # light is much faster than sound
Is sound faster than light? # no # light is much faster than sound
Is the ocean salty?|Is sea water salty? # yes # sea water is salty
Is it dark at night? # yes # the sun does not shine at night
Is a potato an animal? # no # a potato is a vegetable
Is a rose a flower? # yes # a rose is a flower
Is a rose an animal? # no # a rose is a flower
Is chocolate healthy? # no # chocolate has a lot of sugar
Are vegetables healthy? # yes # vegetables are good for you
Are tomatoes blue? # no # tomatoes are red
Are all swans white? # no # there are black swans too
Do you sleep?|Do you eat?|Do you dream? # no # I am a program
""".strip().split("\n")]
