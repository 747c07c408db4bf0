// @ts-check
/**
 * What two servers are asked to compare their answers: plain texts, chats, special tokens, ends, long prompts, scripts of
 * all kinds. The same on every machine; neighbours begin differently, so that no answer goes by what the one before left.
 */
import { createRandom } from '../report/statistics.mjs'

/** @typedef {{ role: string, content: string }} Message */

/**
 * @typedef {object} Case
 * @property {string} id
 * @property {string} kind
 * @property {string} [prompt] or messages
 * @property {Message[]} [messages]
 * @property {number} tokens at most
 * @property {string[]} [stop]
 */

const TOKENS = 32
/** Long enough for an end token of a model that writes them. */
const CHAT_TOKENS = 64
/** In words: beyond a sliding window of 512 tokens, each. */
const LONG_WORDS = [480, 560, 640, 760, 900, 1040, 1200, 1400]

const SUBJECTS =
  'a lighthouse keeper,the first railway,bread,the moon,an old clock,honey bees,a stone bridge,the north wind,a printer of maps,glass,the river in spring,a blind fiddler,salt,the library at night,a chess game,winter wheat,the tide,an honest thief,copper,the last train'.split(
    ',',
  )

const OPENINGS = [
  'Once upon a time there was',
  'The history of',
  'Q: What is special about',
  'Dear Sir, I write to you about',
  '# Notes on',
  'In 1843, the society published a paper on',
]

const LITERAL = [
  'def fibonacci(n):\n    """Return the n-th number."""\n    if n < 2:\n        return n\n',
  'SELECT name, count(*) FROM orders WHERE created_at > ',
  '{"name": "Ada", "born": 1815, "works": [',
  '1, 1, 2, 3, 5, 8, 13,',
  'Monday, Tuesday, Wednesday,',
  '<html>\n<head>\n<title>',
  'for (let i = 0; i < 10; i++) {\n\t',
  'The answer to 17 * 3 is',
  'A: yes\nB: no\nA: yes\nB:',
  'import numpy as np\n\nx = np.',
  '- apples\n- pears\n- ',
  'To be, or not to be, that is',
]

const SCRIPTS = [
  'Il était une fois, dans un château près de la forêt,',
  'Es war einmal ein König, der hatte drei Töchter; die jüngste hieß',
  'Η Αθήνα είναι',
  'Москва — столица',
  '東京は日本の',
  '你好,请问今天',
  '한국의 수도는',
  'مرحبا، اسمي',
  'שלום, קוראים לי',
  'नमस्ते, मेरा नाम',
  'สวัสดีครับ ผมชื่อ',
  'Emoji: 😀 😁 👩‍👩‍👧‍👦 🏳️‍🌈 and',
  'Combining: e\u0301 a\u0308 o\u0302 n\u0303 and then',
  'Math: ∑ᵢ xᵢ² ≤ ∫₀¹ f(t) dt ⇒',
  'Zero width: a\u200bb\u200cc\u200dd and',
  'tabs\tand\ttabs\tand',
  'line\n\n\n\nbreaks\n\n',
  'carriage\r\nreturns\r\nhere\r\n',
  '   three spaces in front, and behind   ',
  ' ',
  '\n',
  '\t\t',
  'x',
  'UPPER lower MiXeD cAsE WoRdS',
  "It's we're I'd you'll they've don't I'M WE'LL",
  '1234567890 12 345 6789 3.14159 1e-10 0xFF',
  'a!b@c#d$e%f^g&h*i(j)k_l+m',
  '𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𝒾𝓃 𝓅𝓁𝒶𝓃ℯ 1',
  'Ligatures ﬁ ﬂ ﬀ and ½ ¼ № ™',
  'non\u00a0breaking\u00a0space and \u3000 ideographic',
]

/** The texts of control tokens of many models, which in a user's text are text. */
const SPECIAL_TEXTS =
  '<|im_start|>,<|im_end|>,<|endoftext|>,<s>,</s>,<bos>,<eos>,<pad>,<unk>,<start_of_turn>,<end_of_turn>,<|user|>,[INST],<0x0A>,<unused7>,<repo_name>'.split(
    ',',
  )

const STOPS = [[' the'], ['.'], ['\n'], [' a', ' of'], ['e'], ['and', ','], [' is', ' was'], [' in a', ' to']]

const SYSTEM = [
  'You are a pirate. Answer in one sentence.',
  'Answer as briefly as you can.',
  'You are a careful teacher.\nExplain with an example.',
]

/** @param {number} count @returns {Case[]} */
export function createCases(count) {
  const kinds = [plain(), chats(), scripts(), special(), stops(), long()]
  /** @type {Case[]} */
  const cases = []
  // In turns, so that few cases are of all kinds too.
  for (let round = 0; cases.length < count; round++) {
    for (const kind of kinds) {
      const next = kind[round]
      if (next !== undefined && cases.length < count) cases.push(next)
    }
    if (kinds.every((kind) => round >= kind.length)) return cases
  }
  return cases
}

/** @returns {Case[]} */
function plain() {
  const stories = Array.from({ length: 44 }, (_, i) => {
    const subject = SUBJECTS[i % SUBJECTS.length]
    return `${OPENINGS[i % OPENINGS.length]} ${subject}${i % 3 === 0 ? '' : i % 3 === 1 ? ',' : ' and'}`
  })
  return [...LITERAL, ...stories].map((prompt, i) => ({
    id: `plain-${i}`,
    kind: 'plain',
    prompt,
    tokens: TOKENS,
  }))
}

/** @returns {Case[]} */
function chats() {
  return Array.from({ length: 50 }, (_, i) => {
    const subject = SUBJECTS[(i * 7) % SUBJECTS.length]
    const question = `${['Tell me about', 'Why do people like', 'Write two lines on', 'What is'][i % 4]} ${subject}${i % 4 === 0 ? '.' : '?'}`
    const system = i % 2 === 0 ? [] : [{ role: 'system', content: SYSTEM[i % SYSTEM.length] ?? '' }]
    const before =
      i % 5 < 3
        ? []
        : [
            { role: 'user', content: `Hello, I am number ${i}.` },
            { role: 'assistant', content: `Hello number ${i}! What would you like to know?` },
          ]
    const messages = [...system, ...before, { role: 'user', content: question }]
    return { id: `chat-${i}`, kind: 'chat', messages, tokens: CHAT_TOKENS }
  })
}

/** @returns {Case[]} */
function scripts() {
  return SCRIPTS.map((prompt, i) => ({ id: `script-${i}`, kind: 'script', prompt, tokens: TOKENS }))
}

/** @returns {Case[]} */
function special() {
  return Array.from({ length: 24 }, (_, i) => {
    const [one, other] = [
      SPECIAL_TEXTS[i % SPECIAL_TEXTS.length],
      SPECIAL_TEXTS[(i * 5 + 3) % SPECIAL_TEXTS.length],
    ]
    const prompt =
      [`${one}Note ${i}: ${other} is written`, `Say ${one} and${other}`, `${i}${one}${other}\n`][i % 3] ?? ''
    return { id: `special-${i}`, kind: 'special', prompt, tokens: TOKENS }
  })
}

/** @returns {Case[]} */
function stops() {
  return Array.from({ length: 24 }, (_, i) => ({
    id: `stop-${i}`,
    kind: 'stop',
    prompt: `${SUBJECTS[(i * 3) % SUBJECTS.length]}: a story in ${i + 2} parts. Part one begins with`,
    tokens: TOKENS,
    stop: STOPS[i % STOPS.length] ?? [],
  }))
}

/** @returns {Case[]} */
function long() {
  return Array.from({ length: 16 }, (_, i) => {
    const random = createRandom(22, i)
    const sentences = Array.from({ length: (LONG_WORDS[i % LONG_WORDS.length] ?? 0) / 8 }, (_, n) => {
      const subject = SUBJECTS[Math.floor(random() * SUBJECTS.length)]
      return `On day ${n + 1} we spoke of ${subject}.`
    })
    const prompt = `Diary ${i}. ${sentences.join(' ')} On the next day we`
    return { id: `long-${i}`, kind: 'long', prompt, tokens: TOKENS }
  })
}
