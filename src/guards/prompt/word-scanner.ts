/**
 * Matches the word rules against one text: normalizes it, finds terms at every word and passes their concepts to the
 * matcher, then does the same for words whose letters are separated by spaces. A quoted match counts only where the text
 * around it does not discuss attacks. Holds the buffers of a scan, so an instance scans one text at a time.
 */
import { NormalizedText, SENTENCE_END, SPACE } from './normalized-text.ts'
import { RuleMatcher, WORD, type Match } from './rule-matcher.ts'
import type { PromptRule } from './rules.ts'
import { FoundTerms, isUnspaced, TermTrie } from './term-trie.ts'
import { CONCEPTS, conceptNumber, readTerms } from './terms.ts'

/** Half words that a sentence's end counts. */
const SENTENCE_PLACES = 4 * WORD
/** In a text without spaces this many letters count as half a word. */
const LETTERS_PER_PLACE = 3
/** Single letters in a row that are a word spelled out. */
const MIN_SPELLED_LETTERS = 12
/** A text that quotes more attacks than this is not about them. */
const MAX_QUOTED_MATCHES = 50
/** A buffer that grew beyond this for a long text is released after it. */
const MAX_KEPT_LENGTH = 1 << 20

/** A quotation reaches no further than this. */
const MAX_QUOTED_LENGTH = 240

const OPENING = '"“”„«»‘‚`「『\''
const CLOSING = '"”“»«’‘`」』\''

interface Quotation {
  readonly start: number
  readonly end: number
}

const TRIE = new TermTrie(readTerms())
const DISCUSSION = conceptNumber('discuss')
const LABELS = new Set(['systemLabel', 'assistantLabel'].map(conceptNumber))
/** By concept: what is not looked for in spelled letters. Every word is met inside others there, short ones most of all. */
const IS_SKIPPED_IN_SPELLED = CONCEPTS.map(
  (concept, number) => ['self', 'mine', 'xSelf', 'narrated'].includes(concept) || LABELS.has(number),
)

export class WordScanner {
  /** Terms and places looked at in the last scan. */
  steps = 0
  readonly #matchers = { chat: new RuleMatcher({ isChat: true }), prompt: new RuleMatcher({ isChat: false }) }
  readonly #text = new NormalizedText()
  readonly #spelled = new NormalizedText({ isSpelled: true })
  readonly #found = new FoundTerms()
  readonly #mention = { place: 0, endPlace: 0, start: 0, end: 0 }
  #raw = ''
  #matcher = this.#matchers.chat
  #quoted: { match: Match; quotation: Quotation } | null = null
  #quotedCount = 0
  #firstDiscussion = Infinity
  #lastDiscussion = -1

  scan(text: string, { isChat }: { isChat: boolean }): PromptRule | null {
    this.#begin(text, isChat)
    const rule = this.#scanWords() ?? this.#settleQuoted() ?? this.#scanSpelled()
    this.#text.shrink(MAX_KEPT_LENGTH)
    this.#spelled.shrink(MAX_KEPT_LENGTH)
    return rule
  }

  #begin(text: string, isChat: boolean): void {
    this.steps = 0
    this.#raw = text
    this.#matcher = isChat ? this.#matchers.chat : this.#matchers.prompt
    this.#text.normalize(text)
    this.#spelled.length = 0
    this.#quoted = null
    this.#quotedCount = 0
    this.#firstDiscussion = Infinity
    this.#lastDiscussion = -1
  }

  #scanWords(): PromptRule | null {
    const { units, length } = this.#text
    this.#matcher.reset()
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
      const match = this.#matchAt(this.#text, i, place)
      if (match !== null) return match.rule
      isWordStart = isUnspaced(unit)
      const isSingle = i + 1 >= length || (units[i + 1] ?? 0) <= SPACE
      if (isSingle && spelledCount++ === 0) spelledStart = i
      if (isSingle && i + 1 < length) continue
      if (spelledCount >= MIN_SPELLED_LETTERS) this.#spelled.appendLetters(this.#text, spelledStart, i)
      spelledCount = 0
    }
    return null
  }

  /** Words whose letters are separated by spaces. */
  #scanSpelled(): PromptRule | null {
    this.#matcher.reset()
    for (let i = 0; i < this.#spelled.length; i++) {
      const match = this.#matchAt(this.#spelled, i, Math.floor(i / LETTERS_PER_PLACE))
      if (match !== null) return match.rule
    }
    return null
  }

  /** The first match that ends with a term at `start` and is not quoted. */
  #matchAt(text: NormalizedText, start: number, place: number): Match | null {
    const found = this.#found
    const mention = this.#mention
    this.steps += TRIE.find(text, start, found)
    for (let i = 0; i < found.count; i++) {
      this.steps++
      const concept = found.concepts[i] ?? 0
      const end = found.ends[i] ?? start
      if (
        text.isSpelled ? IS_SKIPPED_IN_SPELLED[concept] : LABELS.has(concept) && !this.#isLabel(start, end)
      ) {
        continue
      }
      if (concept === DISCUSSION) this.#recordDiscussion(start)
      mention.place = place
      mention.endPlace = place + placesOf(text, { start, end, spaces: found.spaces[i] ?? 0 })
      mention.start = start
      mention.end = end
      const match = this.#matcher.add(concept, mention)
      if (match !== null && (text.isSpelled || !this.#isQuoted(match))) return match
    }
    return null
  }

  /** A label begins a line or follows a sign, and a sign closes it; a hyphen before a letter makes it part of another name. */
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
    return (
      /^["']?\s{0,2}(?:[:：\]>)}*|=]|-(?!\p{L}))/u.test(after) ||
      ('#*='.includes(sign) && after.startsWith('\n'))
    )
  }

  #recordDiscussion(start: number): void {
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
  #settleQuoted(): PromptRule | null {
    if (this.#quoted === null) return null
    const { match, quotation } = this.#quoted
    const isDiscussed = this.#firstDiscussion < quotation.start || this.#lastDiscussion > quotation.end
    return isDiscussed ? null : match.rule
  }
}

/** Half words that a term takes. */
function placesOf(
  { isSpelled, units }: NormalizedText,
  { start, end, spaces }: { start: number; end: number; spaces: number },
): number {
  if (isSpelled) return Math.floor(end / LETTERS_PER_PLACE) - Math.floor(start / LETTERS_PER_PLACE)
  return isUnspaced(units[start] ?? 0) ? end - start : (spaces + 1) * WORD
}

/** Texts about attacks quote them and should pass. */
function findQuotation(text: string, { start, end }: Quotation): Quotation | null {
  const open = findOpening(text, start)
  const close = open === null ? null : findClosing(text, end)
  return open === null || close === null ? null : { start: open, end: close }
}

function findOpening(text: string, start: number): number | null {
  for (let i = start - 1; i >= Math.max(0, start - MAX_QUOTED_LENGTH); i--) {
    if (!OPENING.includes(text.charAt(i))) continue
    const isOpening = i === 0 || /[\s([{:,\p{Script=Han}\p{Script=Hiragana}]/u.test(text.charAt(i - 1))
    if (isOpening) return i
    // An apostrophe neither opens nor closes a quotation; any other mark between words has closed one.
    if (text.charAt(i) !== "'" && text.charAt(i) !== '’') return null
  }
  return null
}

function findClosing(text: string, end: number): number | null {
  for (let i = end; i < Math.min(text.length, end + MAX_QUOTED_LENGTH); i++) {
    if (!CLOSING.includes(text.charAt(i))) continue
    if (i + 1 >= text.length || !/[\p{L}\p{N}]/u.test(text.charAt(i + 1)) || /[」』”]/.test(text.charAt(i)))
      return i
  }
  return null
}
