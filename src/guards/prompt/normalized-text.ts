/**
 * Maps what looks alike to one letter, so that a term is found in all its disguises: case, accents, full-width and
 * mathematical letters (Unicode's compatibility mappings), Cyrillic and Greek look-alikes, digits in place of letters,
 * invisible characters. Works by table, one code unit at a time: `String.prototype.normalize` on a whole text takes
 * quadratic time for a long run of combining marks. Terms are normalized the same way, so a Russian term still matches a
 * Russian word.
 */

/** Invisible, and separates nothing. */
const NOTHING = 0
/** Between two words. */
export const SPACE = 32
/** Between two sentences. */
export const SENTENCE_END = 10

/** In lower case: a letter, and the characters that are read as it. */
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
  // One letter stands for both: 1 and | are read as either.
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

/** Where a code unit is mapped to the first one of its decomposition. */
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

const LETTERS = /[\p{L}\p{N}]+/gu
const INVISIBLE = /[\p{M}\p{Cf}\u115f\u1160\u3164\uffa0\u180e]+/gu

const NORMALIZED = createTable()
const MATHEMATICAL_NORMALIZED = Uint16Array.from({ length: 0x400 }, (_, i) => normalizeSymbol(0x1d400 + i))
const ENCLOSED_NORMALIZED = Uint16Array.from({ length: 0x400 }, (_, i) => normalizeEnclosed(0x1f000 + i))

/** Text as the scanner reads it: normalized units, words separated by one space, and the offset of each in the text. */
export class NormalizedText {
  units = new Uint16Array(4096)
  offsets = new Int32Array(4096)
  length = 0
  /** Whether all spaces were left out, so that words begin and end anywhere. */
  readonly isSpelled: boolean

  constructor({ isSpelled = false } = {}) {
    this.isSpelled = isSpelled
  }

  normalize(text: string): void {
    this.#makeRoom(text.length + 1)
    const { units, offsets } = this
    let end = 0
    for (let i = 0; i < text.length; i++) {
      const offset = i
      const code = text.charCodeAt(i)
      let unit = NORMALIZED[code] ?? SPACE
      if (code >= 0xd800 && code < 0xdc00) unit = normalizePair(code, text.charCodeAt(++i))
      else if (unit === SPACE && code !== SPACE) unit = separatorAt(text, i)
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
  appendLetters(text: NormalizedText, start: number, end: number): void {
    if (this.length === 0) this.#makeRoom(text.length)
    for (let i = start; i <= end; i++) {
      const unit = text.units[i] ?? SPACE
      if (unit > SPACE) this.units[this.length++] = unit
    }
  }

  /** Releases the memory of a long text. */
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

const normalizedTerm = new NormalizedText()

/** A term as it is found in a normalized text. */
export function normalizeTerm(term: string): string {
  normalizedTerm.normalize(term)
  return Buffer.from(normalizedTerm.units.buffer, 0, 2 * normalizedTerm.length).toString('utf16le')
}

function separatorAt(text: string, i: number): number {
  const code = text.charCodeAt(i)
  if (code === 10) return text.charCodeAt(i + 1) === 10 ? SENTENCE_END : SPACE
  if (code === 0x2e || code === 0x21 || code === 0x3f) {
    const next = text.charCodeAt(i + 1)
    return next > SPACE ? SPACE : SENTENCE_END
  }
  return SENTENCE_MARKS.includes(text.charAt(i)) ? SENTENCE_END : SPACE
}

function normalizePair(high: number, low: number): number {
  const index = low - 0xdc00
  if (!(index >= 0 && index < 0x400)) return SPACE
  if (high === MATHEMATICAL) return MATHEMATICAL_NORMALIZED[index] ?? SPACE
  if (high === ENCLOSED) return ENCLOSED_NORMALIZED[index] ?? SPACE
  if (high === TAGS) return NOTHING
  return SPACE
}

/** What a code unit is read as; beyond letters, digits and what is invisible all is a space. */
function createTable(): Uint16Array {
  const table = new Uint16Array(0x1_0000)
  for (let code = 0; code < table.length; code++) table[code] = code
  const everyUnit = Buffer.from(table.buffer).toString('utf16le')
  table.fill(SPACE)
  for (const { 0: run, index } of everyUnit.matchAll(LETTERS)) {
    for (let code = index; code < index + run.length; code++) table[code] = code
  }
  for (const { 0: run, index } of everyUnit.matchAll(INVISIBLE))
    table.fill(NOTHING, index, index + run.length)
  for (const [letter, alikes] of LOOK_ALIKES) {
    for (const alike of alikes) table[alike.charCodeAt(0)] = letter.charCodeAt(0)
  }
  for (let code = 0x41; code <= 0x5a; code++) table[code] = table[code + 0x20] ?? code
  for (const [start, end] of DECOMPOSED_RANGES) {
    for (let code = start; code <= end; code++) table[code] = normalizeDecomposed(code, table)
  }
  return table
}

function normalizeDecomposed(code: number, table: Uint16Array): number {
  const known = table[code] ?? SPACE
  if (known === NOTHING) return known
  const first = String.fromCharCode(code).normalize('NFKD').toLowerCase().charCodeAt(0)
  return table[first] ?? known
}

function normalizeSymbol(codePoint: number): number {
  const first = String.fromCodePoint(codePoint).normalize('NFKD').toLowerCase().charCodeAt(0)
  return first >= 0xd800 && first < 0xe000 ? SPACE : (NORMALIZED[first] ?? SPACE)
}

/** Letters in circles and squares, and those of flags. */
function normalizeEnclosed(codePoint: number): number {
  for (const start of [0x1f130, 0x1f150, 0x1f170, 0x1f1e6]) {
    if (codePoint >= start && codePoint < start + 26) return NORMALIZED[0x61 + codePoint - start] ?? SPACE
  }
  return SPACE
}
