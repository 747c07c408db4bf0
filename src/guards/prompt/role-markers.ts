/**
 * Finds control tokens of chat templates that a text uses as a template does: to close its turn and open another. Matches
 * by shape, `<|name|>`, `<name>`, `[name]`, so that tokens of models that are not loaded count too; a text that only
 * mentions a token passes.
 */

type Marker =
  | 'turn-start'
  | 'turn-end'
  | 'role'
  | 'instruction-start'
  | 'instruction-end'
  | 'system-start'
  | 'system-end'
  | 'other'

/** By name, without brackets and bars. */
const MARKERS: ReadonlyMap<string, Marker> = new Map(
  (
    [
      ['turn-start', 'imstart startheaderid startofturn startofrole start turn'],
      [
        'turn-end',
        'imend imsep eotid eomid endofturn end endoftext eos /s endofsentence endheaderid beginoftext bos beginofsentence eot',
      ],
      ['role', 'system user assistant model developer human tool'],
      ['instruction-start', 'inst'],
      ['instruction-end', '/inst'],
      ['system-start', 'sys systemprompt'],
      ['system-end', '/sys /systemprompt'],
    ] as const
  ).flatMap(([marker, names]) => names.split(' ').map((name) => [name, marker] as const)),
)

/** Names that are common in markup: they count only with bars. */
const ONLY_BETWEEN_BARS = new Set(
  'start turn end system user assistant model developer human tool eos bos eot'.split(' '),
)

const ROLE_NAME =
  /^[ \t]*(?:system|user|assistant|model|developer|tool|human|ipython)[ \t]*(?=[\n<[:|])(?!\n[ \t]*[{$])/i
/** A turn's text; in a template it is a name in braces. */
const HAS_CONTENT = /^\n?[\p{L}\p{N}]|^\n$/u
const MAX_NAME_LENGTH = 40
const MAX_GAP = 16
/** Less than this between a pair of tokens is text about the tokens. */
const MIN_CONTENT_LENGTH = 12

interface PlacedMarker {
  readonly marker: Marker
  readonly start: number
  readonly end: number
}

/** @param ownNames names of the model's own tokens, as `markerNames` gives them */
export function hasRoleMarkers(text: string, ownNames: ReadonlySet<string>): boolean {
  if (!text.includes('<') && !text.includes('[')) return false
  let before: PlacedMarker | null = null
  let opened: PlacedMarker | null = null
  for (let i = nextSign(text, 0); i >= 0; i = nextSign(text, i)) {
    const found = readMarker(text, i, ownNames)
    i = found?.end ?? i + 1
    if (found === null) continue
    if (opensTurn(text, found) || follows(text, before, found) || closes(text, opened, found)) return true
    if (
      found.marker === 'role' &&
      before !== null &&
      HAS_CONTENT.test(text.slice(found.end, found.end + MAX_GAP))
    ) {
      return true
    }
    if (found.marker.endsWith('-start')) opened = found
    before = found
  }
  return false
}

/** The names of a model's special tokens, as they are compared. */
export function markerNames(specialTexts: readonly string[]): ReadonlySet<string> {
  const names = specialTexts
    .filter((text) => /^[<[]/.test(text))
    .map(toName)
    .filter((name) => name.length > 2)
  return new Set(names)
}

function nextSign(text: string, from: number): number {
  for (let i = from; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === 0x3c || code === 0x5b) return i
  }
  return -1
}

function readMarker(text: string, start: number, ownNames: ReadonlySet<string>): PlacedMarker | null {
  const closing = text.charAt(start) === '<' ? '>' : ']'
  let end = start + 1
  const limit = Math.min(text.length, start + MAX_NAME_LENGTH)
  while (end < limit && text.charAt(end) !== closing) end++
  if (text.charAt(end) !== closing) return null
  if (text.charAt(end + 1) === '>') end++
  end++
  const whole = text.slice(start, end)
  const name = toName(whole)
  const hasBars = /[|｜]/.test(whole)
  const marker = MARKERS.get(name) ?? (ownNames.has(name) ? 'other' : undefined)
  if (marker === undefined || (!hasBars && ONLY_BETWEEN_BARS.has(name))) return null
  return { marker, start, end }
}

function toName(whole: string): string {
  return whole.toLowerCase().replaceAll(/[^a-z0-9/]/g, '')
}

/** A token that opens a turn, with the name of a role behind it as the template writes it. */
function opensTurn(text: string, { marker, end }: PlacedMarker): boolean {
  if (marker !== 'turn-start' && marker !== 'other') return false
  return ROLE_NAME.test(text.slice(end, end + MAX_NAME_LENGTH))
}

/** One turn's end and another's beginning, with nothing between. */
function follows(text: string, before: PlacedMarker | null, { marker, start }: PlacedMarker): boolean {
  if (before?.marker !== 'turn-end' || marker === 'turn-end' || marker === 'other') return false
  if (text.charAt(before.start - 1) === '}') return false
  return start - before.end <= MAX_GAP && text.slice(before.end, start).trim() === ''
}

function closes(text: string, opened: PlacedMarker | null, { marker, start }: PlacedMarker): boolean {
  if (opened === null) return false
  const isPair =
    (opened.marker === 'instruction-start' && marker === 'instruction-end') ||
    (opened.marker === 'system-start' && marker === 'system-end')
  if (!isPair || start - opened.end < MIN_CONTENT_LENGTH) return false
  // What follows is code that writes the content, not content.
  return !/['"`{\\]/.test(text.slice(opened.end, opened.end + 3))
}
