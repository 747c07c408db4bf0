/**
 * Reads the Markdown that models write into blocks: headings, paragraphs, lists, quotes, tables and code. What is not understood is
 * text. Nothing here makes HTML: `markdown-view.tsx` makes elements of it, so a model's text is never parsed as a page.
 */

export type Block =
  | { readonly kind: 'paragraph'; readonly text: string }
  | { readonly kind: 'heading'; readonly level: number; readonly text: string }
  | { readonly kind: 'code'; readonly language: string; readonly text: string }
  | { readonly kind: 'list'; readonly start: number | null; readonly items: readonly (readonly Block[])[] }
  | { readonly kind: 'quote'; readonly blocks: readonly Block[] }
  | {
      readonly kind: 'table'
      readonly head: readonly string[]
      readonly rows: readonly (readonly string[])[]
    }
  | { readonly kind: 'rule' }

export type Inline =
  | { readonly kind: 'text' | 'code'; readonly text: string }
  | { readonly kind: 'strong' | 'emphasis' | 'struck'; readonly parts: readonly Inline[] }
  | { readonly kind: 'link'; readonly href: string; readonly parts: readonly Inline[] }

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([\w+#.-]*)/
const HEADING = /^ {0,3}(#{1,6})\s+(.*?)\s*#*$/
const RULE = /^ {0,3}(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,})$/
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])(\s+|$)/
const QUOTE = /^ {0,3}> ?/
const TABLE_RULE = /^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/

/** Deeper ones are text: a model that only writes `>` must not fill the stack. */
const MAX_DEPTH = 8

export function parseMarkdown(text: string, depth = 0): readonly Block[] {
  const lines = text.replaceAll('\r\n', '\n').split('\n')
  const blocks: Block[] = []
  for (let at = 0; at < lines.length;) {
    const line = lines[at] ?? ''
    if (line.trim() === '') {
      at += 1
      continue
    }
    const [block, next] = readBlock(lines, at, depth)
    blocks.push(block)
    at = next
  }
  return blocks
}

type Read = readonly [block: Block, next: number]

function readBlock(lines: readonly string[], at: number, depth: number): Read {
  const line = lines[at] ?? ''
  const fence = FENCE.exec(line)
  if (fence !== null) return readCode(lines, at, { mark: fence[1] ?? '', language: fence[2] ?? '' })
  const heading = HEADING.exec(line)
  if (heading !== null)
    return [{ kind: 'heading', level: heading[1]?.length ?? 1, text: heading[2] ?? '' }, at + 1]
  if (RULE.test(line)) return [{ kind: 'rule' }, at + 1]
  if (depth < MAX_DEPTH && QUOTE.test(line)) return readQuote(lines, at, depth)
  if (depth < MAX_DEPTH && ITEM.test(line)) return readList(lines, at, depth)
  if (line.includes('|') && TABLE_RULE.test(lines[at + 1] ?? '')) return readTable(lines, at)
  return readParagraph(lines, at)
}

/** One that is not closed yet goes on to the end: the rest is still on its way. */
function readCode(
  lines: readonly string[],
  at: number,
  { mark, language }: { mark: string; language: string },
): Read {
  let end = at + 1
  while (end < lines.length && !isClosing(lines[end] ?? '', mark)) end += 1
  return [{ kind: 'code', language, text: lines.slice(at + 1, end).join('\n') }, end + 1]
}

const isClosing = (line: string, mark: string) =>
  line.trim().startsWith(mark) && line.trim().replaceAll(mark.charAt(0), '') === ''

function readQuote(lines: readonly string[], at: number, depth: number): Read {
  let end = at
  while (end < lines.length && QUOTE.test(lines[end] ?? '')) end += 1
  const inner = lines.slice(at, end).map((line) => line.replace(QUOTE, ''))
  return [{ kind: 'quote', blocks: parseMarkdown(inner.join('\n'), depth + 1) }, end]
}

function readList(lines: readonly string[], at: number, depth: number): Read {
  const isNumbered = /^\s*\d/.test(lines[at] ?? '')
  const items: (readonly Block[])[] = []
  let end = at
  for (let mark = ITEM.exec(lines[end] ?? ''); mark !== null; mark = ITEM.exec(lines[end] ?? '')) {
    if (/\d/.test(mark[2] ?? '') !== isNumbered || RULE.test(lines[end] ?? '')) break
    const indent = Math.min(mark[0].length, (mark[1]?.length ?? 0) + (mark[2]?.length ?? 1) + 1)
    const item = [(lines[end] ?? '').slice(mark[0].length)]
    end += 1
    while (end < lines.length && belongsToItem(lines, end, indent)) {
      item.push((lines[end] ?? '').slice(Math.min(indent, leadingSpaces(lines[end] ?? ''))))
      end += 1
    }
    items.push(parseMarkdown(item.join('\n'), depth + 1))
  }
  const start = isNumbered ? Number.parseInt((lines[at] ?? '').trim(), 10) : null
  return [{ kind: 'list', start, items }, end]
}

const leadingSpaces = (line: string) => line.length - line.trimStart().length

/** Indented as far as the item's text (or two, which many models write), or the same paragraph's next line. */
function belongsToItem(lines: readonly string[], at: number, indent: number): boolean {
  const line = lines[at] ?? ''
  if (line.trim() === '') {
    const next = lines[at + 1] ?? ''
    return next.trim() !== '' && leadingSpaces(next) >= Math.min(indent, 2)
  }
  if (leadingSpaces(line) >= Math.min(indent, 2)) return true
  return (lines[at - 1] ?? '').trim() !== '' && !startsBlock(line)
}

const startsBlock = (line: string) =>
  FENCE.test(line) || HEADING.test(line) || QUOTE.test(line) || ITEM.test(line) || RULE.test(line)

function readTable(lines: readonly string[], at: number): Read {
  let end = at + 2
  while (end < lines.length && (lines[end] ?? '').includes('|')) end += 1
  const head = cellsOf(lines[at] ?? '')
  const rows = lines.slice(at + 2, end).map((line) => cellsOf(line).slice(0, head.length))
  return [{ kind: 'table', head, rows }, end]
}

const cellsOf = (line: string) =>
  line
    .trim()
    .replace(/^\||\|$/g, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll('\\|', '|'))

function readParagraph(lines: readonly string[], at: number): Read {
  let end = at + 1
  while (end < lines.length && (lines[end] ?? '').trim() !== '' && !startsBlock(lines[end] ?? '')) end += 1
  return [{ kind: 'paragraph', text: lines.slice(at, end).join('\n') }, end]
}

/** In this order: what code holds is not read further. Each is bounded, so that no text takes long. */
const INLINES =
  /(?<ticks>`+)(?<code>.{1,4000}?)(?<!`)\k<ticks>(?!`)|\[(?<label>[^\][]{1,1000})\]\((?<href>[^\s()]{1,2000})\)|(?<url>https?:\/\/[^\s<>"')\]]{1,2000}[^\s<>"')\].,;:!?])|(?<mark>\*\*|__|~~|\*|(?<!\w)_)(?=\S)(?<inner>.{1,4000}?)(?<=\S)\k<mark>(?!\w)/su

export function parseInline(text: string, depth = 0): readonly Inline[] {
  const parts: Inline[] = []
  let rest = text
  while (rest !== '') {
    const found = depth > MAX_DEPTH ? null : INLINES.exec(rest)
    if (found === null) break
    if (found.index > 0) parts.push({ kind: 'text', text: rest.slice(0, found.index) })
    parts.push(toInline(found, depth))
    rest = rest.slice(found.index + found[0].length)
  }
  return rest === '' ? parts : [...parts, { kind: 'text', text: rest }]
}

function toInline({ 0: whole, groups = {} }: RegExpExecArray, depth: number): Inline {
  const { code, label, href, url, mark, inner = '' } = groups
  if (code !== undefined) return { kind: 'code', text: code.trim() }
  const target = href ?? url
  if (target !== undefined) {
    const safe = safeHref(target)
    if (safe === null) return { kind: 'text', text: whole }
    return {
      kind: 'link',
      href: safe,
      parts: label === undefined ? [{ kind: 'text', text: target }] : parseInline(label, depth + 1),
    }
  }
  const parts = parseInline(inner, depth + 1)
  if (mark === '~~') return { kind: 'struck', parts }
  return { kind: mark === '**' || mark === '__' ? 'strong' : 'emphasis', parts }
}

/** Of a page elsewhere, or mail: never a script, and never a path of this server. */
function safeHref(given: string): string | null {
  return /^(?:https?:\/\/|mailto:)[^\s]+$/i.test(given) ? given : null
}
