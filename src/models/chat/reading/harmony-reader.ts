/**
 * Reads the messages of gpt-oss, which are an answer in several channels: `analysis` is reasoning, `final` and `commentary` are text,
 * and a message to a function of the request is a call. What is addressed to anything else is reasoning too. A prompt ends with
 * `<|start|>assistant`, in a message's header, or in a message that is continued.
 *
 *   <|channel|>analysis<|message|>…<|end|><|start|>assistant<|channel|>final<|message|>…
 *   <|channel|>commentary to=functions.f <|constrain|>json<|message|>{…}
 */
import { type AnswerPart, openMarkerLength, type PartReader } from './answer-part.ts'

const MESSAGE = '<|message|>'
const CHANNEL = '<|channel|>'
/** What a message ends with; those that begin a header stay in front of it. */
const CLOSERS = ['<|end|>', '<|return|>', '<|call|>']
const ENDS = [...CLOSERS, '<|start|>', CHANNEL]
/** Control tokens that the reader must see. */
export const HARMONY_MARKERS: readonly string[] = [MESSAGE, '<|constrain|>', ...ENDS]
/** What reasoning begins and ends with, and what then begins the text: for answers that are held to something. */
export const HARMONY_REASONING = {
  begin: `${CHANNEL}analysis${MESSAGE}`,
  end: '<|end|>',
  next: `<|start|>assistant${CHANNEL}final${MESSAGE}`,
} as const
/** What the header of a call has. */
export const HARMONY_CALL = 'to=functions.'
/** The end of a prompt in a message's header. */
export const HARMONY_HEADER = '<|start|>assistant'

export function isHarmony(chatTemplate: string | null): boolean {
  return [HARMONY_HEADER, CHANNEL, MESSAGE].every((marker) => (chatTemplate ?? '').includes(marker))
}

interface HarmonyReaderOptions {
  /** Whether the prompt ends in a message's header; in a message's text otherwise. */
  readonly startsInHeader: boolean
  /** Names of the functions that may be called. */
  readonly tools: ReadonlySet<string>
  /** Reads the text. */
  readonly next: PartReader
}

type State = 'header' | 'text' | 'reasoning' | 'arguments'

export class HarmonyReader implements PartReader {
  readonly #options: HarmonyReaderOptions
  #state: State
  #buffer = ''
  /** Where in the answer the buffer begins. */
  #at = 0
  /** Length of what the next reader has been given. */
  #given = 0
  #isFirstHeader = true
  /** Whether a call has begun of which no arguments have been given. */
  #isBareCall = false
  /** Whether reasoning of an earlier message has been given, and none of this one. */
  #isReasoningApart = false
  #hasReasoning = false

  constructor(options: HarmonyReaderOptions) {
    this.#options = options
    this.#state = options.startsInHeader ? 'header' : 'text'
  }

  push(text: string): readonly AnswerPart[] {
    this.#buffer += text
    const parts: AnswerPart[] = []
    while (this.#state === 'header' ? this.#readHeader(parts) : this.#readMessage(parts));
    return parts
  }

  end(isCut: boolean): readonly AnswerPart[] {
    const parts: AnswerPart[] = []
    // A header that was cut off is no text.
    const isText = this.#state !== 'header' || (this.#isFirstHeader && !this.#buffer.includes('<|'))
    if (this.#state === 'header') this.#state = 'text'
    if (isText) this.#give(this.#buffer.length, parts)
    if (!isCut) this.#endCall(parts)
    return [...parts, ...this.#placed(this.#options.next.end(isCut))]
  }

  #readHeader(parts: AnswerPart[]): boolean {
    if (this.#isFirstHeader && !mayBeHeader(this.#buffer)) {
      this.#state = 'text'
      return true
    }
    const end = this.#buffer.indexOf(MESSAGE)
    if (end === -1) return false
    const header = this.#buffer.slice(0, end)
    this.#skip(end + MESSAGE.length)
    this.#isFirstHeader = false
    this.#isReasoningApart = this.#hasReasoning
    this.#state = this.#stateOf(header, parts)
    return true
  }

  #stateOf(header: string, parts: AnswerPart[]): State {
    const [, recipient] = /\bto=([^\s<]+)/.exec(header) ?? []
    const [, channel] = /<\|channel\|>\s*(\w+)/.exec(header) ?? []
    if (recipient === undefined) return channel === 'analysis' ? 'reasoning' : 'text'
    const name = recipient.replace(/^functions\./, '')
    if (!this.#options.tools.has(name)) return 'reasoning'
    parts.push({ type: 'call', name })
    this.#isBareCall = true
    return 'arguments'
  }

  /** Gives all but what may become the end of the message. */
  #readMessage(parts: AnswerPart[]): boolean {
    const found = ENDS.map((marker) => ({ marker, index: this.#buffer.indexOf(marker) }))
      .filter(({ index }) => index !== -1)
      .toSorted((one, other) => one.index - other.index)[0]
    if (found === undefined) {
      this.#give(this.#buffer.length - openMarkerLength(this.#buffer, ENDS), parts)
      return false
    }
    this.#give(found.index, parts)
    this.#endCall(parts)
    if (CLOSERS.includes(found.marker)) this.#skip(found.marker.length)
    this.#isFirstHeader = false
    this.#state = 'header'
    return true
  }

  #give(length: number, parts: AnswerPart[]): void {
    const text = this.#buffer.slice(0, length)
    if (text === '') return
    switch (this.#state) {
      case 'reasoning':
        parts.push({ type: 'reasoning', text: this.#isReasoningApart ? `\n\n${text}` : text })
        this.#isReasoningApart = false
        this.#hasReasoning = true
        break
      case 'arguments':
        parts.push({ type: 'arguments', text })
        this.#isBareCall = false
        break
      case 'text':
      case 'header':
        parts.push(...this.#placed(this.#options.next.push(text)))
        this.#given += length
    }
    this.#skip(length)
  }

  /** Arguments always parse, also where the model wrote none. */
  #endCall(parts: AnswerPart[]): void {
    if (this.#isBareCall) parts.push({ type: 'arguments', text: '{}' })
    this.#isBareCall = false
  }

  #skip(length: number): void {
    this.#buffer = this.#buffer.slice(length)
    this.#at += length
  }

  /** The next reader counts only what it is given. */
  #placed(parts: readonly AnswerPart[]): readonly AnswerPart[] {
    const offset = this.#at - this.#given
    return parts.map((part) => (part.type === 'text' ? { ...part, at: part.at + offset } : part))
  }
}

/** Of a model that writes what it was not trained to write, the answer begins otherwise. */
function mayBeHeader(text: string): boolean {
  const content = text.trimStart()
  return [CHANNEL, 'to=', MESSAGE].some((begin) => content.startsWith(begin) || begin.startsWith(content))
}
