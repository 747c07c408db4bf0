/**
 * Scans one text for attacks. Every pass goes over the text once, and no step looks further back or ahead than a fixed
 * number of characters, so the time is linear in the length whatever the text is; `steps` counts the work.
 */
import { decodePayloads } from './encodings.ts'
import { FoldedText, SPACE, SENTENCE_END } from './fold.ts'
import { findQuotation, type Quotation } from './quotations.ts'
import { hasRoleMarkers } from './role-markers.ts'
import { RuleMatcher, toNumber, WORD, type Match, type Mention } from './rule-matcher.ts'
import { ENCODED, ROLE_MARKER, type Rule } from './rules.ts'
import { FoundTerms, isUnspaced, TermTrie } from './term-trie.ts'
import { CONCEPTS, isLabel, readVocabulary } from './vocabulary.ts'

export interface ScanOptions {
  /** Whether the text is a turn of a chat, which must not look like several. A prompt of one's own may hold any. */
  readonly isChat: boolean
  /** Names of the model's special tokens (`markerNames`). */
  readonly ownMarkers: ReadonlySet<string>
}

export interface ScanResult {
  readonly rule: Rule | null
  readonly steps: number
}

/** Half words that a sentence's end counts. */
const SENTENCE_PLACES = 4 * WORD
/** In a text without spaces this many letters count as half a word. */
const LETTERS_PER_PLACE = 3
/** Single letters in a row that are a word spelled out. */
const MIN_SPELLED_LETTERS = 12
/** A text that quotes more attacks than this is not about them. */
const MAX_QUOTED_MATCHES = 50

const trie = new TermTrie(readVocabulary().map((term) => ({ ...term, concept: toNumber(term.concept) })))
/** By the number of a concept. */
const labels = CONCEPTS.map(isLabel)
const vetoes = CONCEPTS.map((concept) => ['self', 'mine', 'xSelf', 'narrated'].includes(concept))
const discussion = toNumber('discuss')
const matchers = { chat: new RuleMatcher({ isChat: true }), prompt: new RuleMatcher({ isChat: false }) }
const mainText = new FoldedText()
const spelledText = new FoldedText({ isSpelled: true })
const found = new FoundTerms()
const mention: Mention = { place: 0, endPlace: 0, start: 0, end: 0 }
/** A buffer that grew for a long text is given back. */
const MAX_KEPT_LENGTH = 1 << 20

export function scanPrompt(text: string, options: ScanOptions): ScanResult {
  const direct = scanPlain(text, options)
  if (direct.rule !== null) return direct
  let { steps } = direct
  for (const payload of decodePayloads(text)) {
    const inner = scanPlain(payload, options)
    steps += inner.steps
    if (inner.rule !== null) return { rule: ENCODED, steps }
  }
  return { rule: null, steps }
}

function scanPlain(text: string, { isChat, ownMarkers }: ScanOptions): ScanResult {
  if (isChat && hasRoleMarkers(text, ownMarkers)) return { rule: ROLE_MARKER, steps: text.length }
  const matcher = isChat ? matchers.chat : matchers.prompt
  mainText.fold(text)
  const scan = new WordScan(text, mainText, matcher)
  const rule = scan.run() ?? scan.runSpelled()
  mainText.shrink(MAX_KEPT_LENGTH)
  spelledText.shrink(MAX_KEPT_LENGTH)
  return { rule, steps: scan.steps + text.length }
}

class WordScan {
  steps = 0
  readonly #raw: string
  readonly #text: FoldedText
  readonly #matcher: RuleMatcher
  #quoted: { match: Match; quotation: Quotation } | null = null
  #quotedCount = 0
  #firstDiscussion = Infinity
  #lastDiscussion = -1

  constructor(raw: string, text: FoldedText, matcher: RuleMatcher) {
    this.#raw = raw
    this.#text = text
    this.#matcher = matcher
  }

  run(): Rule | null {
    const { units, length } = this.#text
    this.#matcher.reset()
    spelledText.length = 0
    let place = 0
    let isWordStart = true
    let spelledStart = 0
    let spelledCount = 0
    for (let i = 0; i < length; i++) {
      const unit = units[i] ?? 0
      if (unit <= SPACE) {
        place += unit === SENTENCE_END ? SENTENCE_PLACES : 0
        isWordStart = true
        continue
      }
      if (isUnspaced(unit)) {
        place++
        isWordStart = true
      } else if (!isWordStart) continue
      else place += WORD
      const rule = this.#mention(i, place)
      if (rule !== null) return rule
      isWordStart = isUnspaced(unit)
      const isSingle = i + 1 >= length || (units[i + 1] ?? 0) <= SPACE
      if (isSingle && spelledCount++ === 0) spelledStart = i
      if (isSingle && i + 1 < length) continue
      if (spelledCount >= MIN_SPELLED_LETTERS) spelledText.appendLetters(this.#text, spelledStart, i)
      spelledCount = 0
    }
    return this.#settleQuoted()
  }

  /** Words whose letters were set apart. */
  runSpelled(): Rule | null {
    if (spelledText.length === 0) return null
    const spelled = new WordScan('', spelledText, this.#matcher)
    const rule = spelled.#runUnspaced()
    this.steps += spelled.steps
    return rule
  }

  #runUnspaced(): Rule | null {
    this.#matcher.reset()
    for (let i = 0; i < this.#text.length; i++) {
      const rule = this.#mention(i, Math.floor(i / LETTERS_PER_PLACE))
      if (rule !== null) return rule
    }
    return null
  }

  #mention(start: number, place: number): Rule | null {
    this.steps += trie.find(this.#text, start, found)
    for (let i = 0; i < found.count; i++) {
      this.steps++
      const concept = found.concepts[i] ?? 0
      const end = found.ends[i] ?? start
      if (labels[concept] === true && !this.#isLabel(start, end)) continue
      // Every word is met inside others here, short ones most of all.
      if (this.#text.isSpelled && vetoes[concept] === true) continue
      if (concept === discussion) this.#discuss(start)
      mention.place = place
      mention.endPlace = place + this.#placesOf(start, end, found.spaces[i] ?? 0)
      mention.start = start
      mention.end = end
      const match = this.#matcher.add(concept, mention)
      if (match !== null && !this.#isQuoted(match)) return match.rule
    }
    return null
  }

  #placesOf(start: number, end: number, spaces: number): number {
    const { isSpelled, units } = this.#text
    if (isSpelled) return Math.floor(end / LETTERS_PER_PLACE) - Math.floor(start / LETTERS_PER_PLACE)
    return isUnspaced(units[start] ?? 0) ? end - start : (spaces + 1) * WORD
  }

  /** A label stands at the start of a line or behind a sign, and a sign closes it. */
  #isLabel(start: number, end: number): boolean {
    const { offsets } = this.#text
    const from = offsets[start] ?? 0
    const to = (offsets[end - 1] ?? 0) + 1
    let before = from - 1
    while (before >= 0 && before > from - 4 && this.#raw.charAt(before) === ' ') before--
    const sign = before < 0 ? '\n' : this.#raw.charAt(before)
    if (!'\n[<#"\'*|-({/:>='.includes(sign)) return false
    const after = this.#raw.slice(to, to + 16)
    if (/^["']\s*,/.test(after)) {
      return (
        /^["']\s*,\s*["']content/.test(after) &&
        /role["']?\s*[:=]\s*["']$/.test(this.#raw.slice(Math.max(0, from - 12), from))
      )
    }
    return /^["']?\s{0,2}[:：\]>)}*|=-]/.test(after) || ('#*='.includes(sign) && after.startsWith('\n'))
  }

  #discuss(start: number): void {
    const offset = this.#text.offsets[start] ?? 0
    this.#firstDiscussion = Math.min(this.#firstDiscussion, offset)
    this.#lastDiscussion = offset
  }

  #isQuoted(match: Match): boolean {
    if (this.#quotedCount++ >= MAX_QUOTED_MATCHES) return false
    const { offsets } = this.#text
    const quotation = findQuotation(this.#raw, {
      start: offsets[match.start] ?? 0,
      end: offsets[match.end] ?? this.#raw.length,
    })
    if (quotation === null) return false
    this.#quoted ??= { match, quotation }
    return true
  }

  /** A quoted attack is one, unless the text around it is about such things. */
  #settleQuoted(): Rule | null {
    if (this.#quoted === null) return null
    const { match, quotation } = this.#quoted
    const isDiscussed = this.#firstDiscussion < quotation.start || this.#lastDiscussion > quotation.end
    return isDiscussed ? null : match.rule
  }
}
