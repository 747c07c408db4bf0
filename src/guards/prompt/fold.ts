/**
 * Folds what looks alike onto one letter, so that one vocabulary meets all its disguises: case, accents, full-width and
 * mathematical letters (Unicode's compatibility mappings), Cyrillic and Greek look-alikes, digits in place of letters,
 * characters that show nothing. Works by table, one code unit at a time: `String.prototype.normalize` on a whole text
 * takes quadratic time for a long run of combining marks. The vocabulary is folded the same way, so a Russian word still
 * meets a Russian word.
 */

/** Shows nothing and parts nothing. */
const NOTHING = 0
/** Between two words. */
export const SPACE = 32
/** Between two sentences. */
export const SENTENCE_END = 10

/** Look-alikes in lower case; each pair is the letter it is taken for, and those that pass for it. */
const LOOK_ALIKES: readonly (readonly [string, string])[] = [
  ['a', 'аαɑᴀ4@∂'],
  ['b', 'вьβʙ'],
  ['c', 'сϲᴄ'],
  ['d', 'ԁᴅ'],
  ['e', 'еεєᴇ3℮'],
  ['f', 'ꜰ'],
  ['g', 'ɡɢ'],
  ['h', 'нһʜ'],
  ['j', 'јᴊ'],
  ['k', 'кκᴋ'],
  // One letter stands for both: 1 and | pass for either.
  ['l', 'iіιɪıӏʟ1'],
  ['m', 'мᴍ'],
  ['n', 'пηɴ'],
  ['o', 'оοσᴏ0'],
  ['p', 'рρᴘ'],
  ['q', 'ԛ'],
  ['r', 'гʀ'],
  ['s', 'ѕꜱ5$'],
  ['t', 'тτᴛ7'],
  ['u', 'υᴜ'],
  ['v', 'νᴠ'],
  ['w', 'шωԝᴡ'],
  ['x', 'хχ'],
  ['y', 'уγʏ'],
  ['z', 'ζᴢ'],
  ['ا', 'أإآٱ'],
  ['ه', 'ة'],
  ['ي', 'ى'],
]

/** Where a code unit is folded to the first one of its decomposition. */
const DECOMPOSED_RANGES = [
  [0xa0, 0x52f],
  [0x1d00, 0x24ff],
  [0x2c60, 0x2c7f],
  [0x3130, 0x318f],
  [0xff00, 0xffef],
] as const

const SENTENCE_MARKS = '。！？｡'
const MATHEMATICAL = 0xd8_35
const ENCLOSED = 0xd8_3c
const TAGS = 0xdb_40

const LETTER = /[\p{L}\p{N}]/u
const SHOWS_NOTHING = /[\p{M}\p{Cf}\u115f\u1160\u3164\uffa0\u180e]/u

const FOLDED = createTable()
const MATHEMATICAL_FOLDED = Uint16Array.from({ length: 0x400 }, (_, i) => foldSymbol(0x1d400 + i))
const ENCLOSED_FOLDED = Uint16Array.from({ length: 0x400 }, (_, i) => foldEnclosed(0x1f000 + i))

/** Text as the scanner reads it: folded units, words parted by one space, and where each stood in the text. */
export class FoldedText {
  units = new Uint16Array(4096)
  offsets = new Int32Array(4096)
  length = 0
  /** Whether all spaces were left out, so that words begin and end anywhere. */
  readonly isSpelled: boolean

  constructor({ isSpelled = false } = {}) {
    this.isSpelled = isSpelled
  }

  fold(text: string): void {
    this.#makeRoom(text.length + 1)
    const { units, offsets } = this
    let end = 0
    for (let i = 0; i < text.length; i++) {
      const offset = i
      const code = text.charCodeAt(i)
      let unit = FOLDED[code] ?? SPACE
      if (code >= 0xd800 && code < 0xdc00) unit = foldPair(code, text.charCodeAt(++i))
      else if (unit === SPACE && code !== SPACE) unit = partOf(text, i)
      if (unit === NOTHING) continue
      if (unit > SPACE) {
        units[end] = unit
        offsets[end++] = offset
      } else if (end > 0 && (units[end - 1] ?? 0) > SPACE) {
        units[end] = unit
        offsets[end++] = offset
      } else if (end > 0 && unit === SENTENCE_END) units[end - 1] = unit
    }
    offsets[end] = text.length
    this.length = end
  }

  /** Appends the letters between two indexes of another text, without its spaces. */
  appendLetters(text: FoldedText, start: number, end: number): void {
    if (this.length === 0) this.#makeRoom(text.length)
    for (let i = start; i <= end; i++) {
      const unit = text.units[i] ?? SPACE
      if (unit > SPACE) this.units[this.length++] = unit
    }
  }

  /** Gives back the memory of a long text. */
  shrink(maxLength: number): void {
    if (this.units.length <= maxLength) return
    this.units = new Uint16Array(maxLength)
    this.offsets = new Int32Array(maxLength)
  }

  #makeRoom(length: number): void {
    if (this.units.length >= length) return
    this.units = new Uint16Array(length)
    this.offsets = new Int32Array(length)
  }
}

const foldedTerm = new FoldedText()

/** A word of the vocabulary as it is met in a folded text. */
export function foldTerm(term: string): string {
  foldedTerm.fold(term)
  return String.fromCharCode(...foldedTerm.units.subarray(0, foldedTerm.length))
}

function partOf(text: string, i: number): number {
  const code = text.charCodeAt(i)
  if (code === 10) return text.charCodeAt(i + 1) === 10 ? SENTENCE_END : SPACE
  if (code === 0x2e || code === 0x21 || code === 0x3f) {
    const next = text.charCodeAt(i + 1)
    return next > SPACE ? SPACE : SENTENCE_END
  }
  return SENTENCE_MARKS.includes(text.charAt(i)) ? SENTENCE_END : SPACE
}

function foldPair(high: number, low: number): number {
  const index = low - 0xdc00
  if (!(index >= 0 && index < 0x400)) return SPACE
  if (high === MATHEMATICAL) return MATHEMATICAL_FOLDED[index] ?? SPACE
  if (high === ENCLOSED) return ENCLOSED_FOLDED[index] ?? SPACE
  if (high === TAGS) return NOTHING
  return SPACE
}

function createTable(): Uint16Array {
  const table = new Uint16Array(0x1_0000)
  for (let code = 0; code < table.length; code++) table[code] = foldUnit(code)
  for (const [letter, alikes] of LOOK_ALIKES) {
    for (const alike of alikes) table[alike.charCodeAt(0)] = letter.charCodeAt(0)
  }
  for (let code = 0x41; code <= 0x5a; code++) table[code] = table[code + 0x20] ?? code
  for (const [start, end] of DECOMPOSED_RANGES) {
    for (let code = start; code <= end; code++) table[code] = foldDecomposed(code, table)
  }
  return table
}

function foldUnit(code: number): number {
  if (code < 0x80) return isAsciiWord(code) ? code : SPACE
  const character = String.fromCharCode(code)
  if (SHOWS_NOTHING.test(character)) return NOTHING
  return LETTER.test(character) ? code : SPACE
}

function isAsciiWord(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a)
}

function foldDecomposed(code: number, table: Uint16Array): number {
  const known = table[code] ?? SPACE
  if (known === NOTHING) return known
  const first = String.fromCharCode(code).normalize('NFKD').toLowerCase().normalize('NFKD').charCodeAt(0)
  return table[first] ?? known
}

function foldSymbol(codePoint: number): number {
  const first = String.fromCodePoint(codePoint).normalize('NFKD').toLowerCase().charCodeAt(0)
  return first >= 0xd800 && first < 0xe000 ? SPACE : (FOLDED[first] ?? SPACE)
}

/** Letters in circles and squares, and those of flags. */
function foldEnclosed(codePoint: number): number {
  for (const start of [0x1f130, 0x1f150, 0x1f170, 0x1f1e6]) {
    if (codePoint >= start && codePoint < start + 26) return FOLDED[0x61 + codePoint - start] ?? SPACE
  }
  return SPACE
}
