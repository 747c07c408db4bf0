"""A sentence about persons that everybody asks for. All else about persons is refused."""
from text.conversation import Answer

WHO = dict(line.split(": ", 1) for line in """
Albert Einstein: Albert Einstein was a physicist. He developed the theory of relativity.
Isaac Newton: Isaac Newton was a scientist who described gravity.
William Shakespeare: William Shakespeare was an English writer. He wrote Hamlet and Romeo and Juliet.
Leonardo da Vinci: Leonardo da Vinci was an Italian artist and inventor. He painted the Mona Lisa.
Wolfgang Amadeus Mozart: Mozart was a composer from Austria.
Ludwig van Beethoven: Beethoven was a German composer.
Vincent van Gogh: Vincent van Gogh was a Dutch painter.
Pablo Picasso: Pablo Picasso was a Spanish painter.
Marie Curie: Marie Curie was a scientist. She studied radioactivity.
Charles Darwin: Charles Darwin was a scientist. He explained evolution.
Galileo Galilei: Galileo was an Italian scientist who looked at the sky with a telescope.
Christopher Columbus: Christopher Columbus was a sailor. He reached America in 1492.
Neil Armstrong: Neil Armstrong was the first person on the moon.
Napoleon: Napoleon was an emperor of France.
Julius Caesar: Julius Caesar was a general and ruler of ancient Rome.
Cleopatra: Cleopatra was a queen of ancient Egypt.
Mahatma Gandhi: Gandhi led India to independence without violence.
Nelson Mandela: Nelson Mandela was a president of South Africa and fought against racism.
Martin Luther King: Martin Luther King fought for equal rights in the United States.
Abraham Lincoln: Abraham Lincoln was a president of the United States. He ended slavery there.
George Washington: George Washington was the first president of the United States.
Thomas Edison: Thomas Edison was an inventor, known for the light bulb.
Alan Turing: Alan Turing was a mathematician and one of the fathers of the computer.
Ada Lovelace: Ada Lovelace wrote what is called the first computer program.
Socrates: Socrates was a philosopher of ancient Greece.
Anne Frank: Anne Frank was a Jewish girl who wrote a diary in hiding.
Sherlock Holmes: Sherlock Holmes is a detective in stories. He never lived.
Santa Claus: Santa Claus brings presents at Christmas, in stories.
Mickey Mouse: Mickey Mouse is a mouse in cartoons.
Harry Potter: Harry Potter is a young wizard in books.
""".strip().split("\n"))


def who(t):
    name, full = t.rng.choice(list(WHO.items()))
    short = name if " " not in name or t.chance(0.6) else name.split(" ")[-1]
    q = t.pick("Who was {}?", "Who was {}?", "Who is {}?", "who is {}", "Do you know who {} was?", "Tell me who {} was.",
        "What do you know about {}?", "Tell me about {}.", "What was {} known for?", "{}?")
    return [(q.format(short), Answer(full))]
