/** Decodes what a text holds in encoded form, one level deep. The result is never longer than the text. */
import { Buffer, isUtf8 } from 'node:buffer'

/** Shorter ones hold no sentence. */
const MIN_RUN_LENGTH = 24
/** Base64 is wrapped at 60 to 76 characters; a shorter line ends a run. */
const MIN_LINE_LENGTH = 40
const MIN_HEX_PAIRS = 12

/** Empty for most texts. */
export function decodePayloads(text: string): string[] {
  const payloads = decodeRuns(text)
  const spaced = decodeHexPairs(text)
  if (spaced !== null) payloads.push(spaced)
  const tags = decodeTags(text)
  if (tags !== '') payloads.push(tags)
  const plain = unescape(text)
  if (plain !== text) payloads.push(plain)
  return payloads
}

function decodeRuns(text: string): string[] {
  const payloads: string[] = []
  let start = 0
  let lineStart = 0
  for (let i = 0; i <= text.length; i++) {
    const code = i < text.length ? text.charCodeAt(i) : 0
    if (isBase64Unit(code)) continue
    const isWrap = (code === 10 || code === 13) && (i - lineStart >= MIN_LINE_LENGTH || i === lineStart)
    if (isWrap && i > start) {
      lineStart = i + 1
      continue
    }
    if (i - start >= MIN_RUN_LENGTH) {
      const decoded = decodeRun(text.slice(start, i))
      if (decoded !== null) payloads.push(decoded)
    }
    start = i + 1
    lineStart = start
  }
  return payloads
}

function decodeRun(run: string): string | null {
  return /^(?:0x)?[0-9a-f]+$/i.test(run)
    ? toText(Buffer.from(run.replace(/^0x/, ''), 'hex'))
    : toText(Buffer.from(run, 'base64'))
}

/** Before a pair, with what separates it from the one before. */
const HEX_SIGN = /[ ,:;]{0,2}\b0x(?=[0-9a-f]{2}\b)/gi
const HAS_HEX_PAIRS = /\b[0-9a-f]{2}[ ,:;][0-9a-f]{2}[ ,:;][0-9a-f]{2}[ ,:;]/i

/** `49 67 6e` and the like: pairs with one character between them; also `0x49, 0x67, 0x6e`. */
function decodeHexPairs(given: string): string | null {
  const text = given.replaceAll(HEX_SIGN, ' ')
  if (!HAS_HEX_PAIRS.test(text)) return null
  let decoded = ''
  let pairs = ''
  for (let i = 0; i <= text.length + 1; i++) {
    if (isHex(text.charCodeAt(i)) && isHex(text.charCodeAt(i + 1)) && !isWord(text.charCodeAt(i + 2))) {
      pairs += text.charAt(i) + text.charAt(i + 1)
      i += 2
      continue
    }
    if (pairs.length >= 2 * MIN_HEX_PAIRS) decoded += `${toText(Buffer.from(pairs, 'hex')) ?? ''} `
    pairs = ''
    while (isWord(text.charCodeAt(i))) i++
  }
  return decoded.trim() === '' ? null : decoded
}

/** Tag characters are an invisible copy of ASCII. */
function decodeTags(text: string): string {
  let decoded = ''
  for (let i = text.indexOf(TAG_SURROGATE); i >= 0; i = text.indexOf(TAG_SURROGATE, i + 1)) {
    const code = text.charCodeAt(i + 1) - 0xdc00
    if (code >= 0x20 && code < 0x7f) decoded += String.fromCharCode(code)
  }
  return decoded
}

const TAG_SURROGATE = '\u{db40}'
const ESCAPES =
  /(?:%[0-9a-f]{2})+|(?:\\x[0-9a-f]{2})+|\\u\{([0-9a-f]{1,6})\}|[\\%]u([0-9a-f]{4})|&#x([0-9a-f]{1,6});?|&#(\d{1,7});?|&(lt|gt|amp|quot);/gi
const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"' }

/** Percent-encoding, escapes of strings, and entities of HTML, which browsers read without their semicolon too. */
function unescape(text: string): string {
  if (!/[%\\&]/.test(text)) return text
  return text.replaceAll(ESCAPES, (whole, ...groups: (string | undefined)[]) => {
    const [bracketed, unicode, hexadecimal, decimal, entity] = groups
    const digits = bracketed ?? unicode ?? hexadecimal
    if (digits !== undefined) return fromCode(Number.parseInt(digits, 16))
    if (decimal !== undefined) return fromCode(Number(decimal))
    if (entity !== undefined) return ENTITIES[entity.toLowerCase()] ?? whole
    return Buffer.from(whole.replaceAll(/[%x\\]/g, ''), 'hex').toString()
  })
}

function fromCode(code: number): string {
  return code > 0x10ffff || Number.isNaN(code) ? ' ' : String.fromCodePoint(code)
}

const MAX_CONTROL_SHARE = 0.05

function toText(bytes: Buffer): string | null {
  if (bytes.length === 0 || !isUtf8(bytes)) return null
  let controls = 0
  for (const byte of bytes) if (byte < 0x20 && byte !== 10 && byte !== 13 && byte !== 9) controls++
  return controls > bytes.length * MAX_CONTROL_SHARE ? null : bytes.toString()
}

function isBase64Unit(code: number): boolean {
  return isWord(code) || code === 0x2b || code === 0x2f || code === 0x2d || code === 0x5f
}

function isWord(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a) || (code >= 0x30 && code <= 0x39)
}

function isHex(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || (code >= 0x61 && code <= 0x66) || (code >= 0x41 && code <= 0x46)
}
