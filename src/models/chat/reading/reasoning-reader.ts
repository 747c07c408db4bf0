/**
 * Takes the reasoning off the beginning of an answer: what stands between the model's markers, or up to the closing one where the prompt
 * has opened it. White space around reasoning belongs to neither it nor the answer. The rest goes to the next reader.
 */
import { type AnswerPart, openMarkerLength, type PartReader } from './answer-part.ts'

/** What a model writes its reasoning between. */
export interface ReasoningMarkers {
  readonly open: string
  readonly close: string
}

interface ReasoningReaderOptions {
  readonly markers: ReasoningMarkers
  /** Whether the prompt ends inside the reasoning. */
  readonly isOpen: boolean
  /** Reads what follows. */
  readonly next: PartReader
}

export class ReasoningReader implements PartReader {
  readonly #options: ReasoningReaderOptions
  #state: 'before' | 'reasoning' | 'behind' | 'answer'
  #buffer = ''
  /** Length of all that has come. */
  #received = 0
  /** Where in it the answer begins. */
  #answerAt = 0
  #hasReasoning = false

  constructor(options: ReasoningReaderOptions) {
    this.#options = options
    this.#state = options.isOpen ? 'reasoning' : 'before'
  }

  push(text: string): readonly AnswerPart[] {
    if (this.#state === 'answer') return this.#shift(this.#options.next.push(text))
    this.#received += text.length
    this.#buffer += text
    if (this.#state === 'before' && !this.#findOpen()) return []
    const reasoning = this.#state === 'reasoning' ? this.#readReasoning() : []
    if (this.#state === 'behind') this.#buffer = this.#buffer.trimStart()
    if (this.#state === 'reasoning' || (this.#state === 'behind' && this.#buffer === '')) return reasoning
    this.#state = 'answer'
    const rest = this.#buffer
    this.#buffer = ''
    this.#answerAt = this.#received - rest.length
    return [...reasoning, ...this.#shift(this.#options.next.push(rest))]
  }

  end(isCut: boolean): readonly AnswerPart[] {
    const { next } = this.#options
    const rest = this.#buffer
    if (this.#state === 'reasoning') return [...this.#give(rest.trimEnd()), ...next.end(isCut)]
    return this.#shift(this.#state === 'before' ? [...next.push(rest), ...next.end(isCut)] : next.end(isCut))
  }

  /** Whether it is known what the answer begins with. */
  #findOpen(): boolean {
    const { open } = this.#options.markers
    const content = this.#buffer.trimStart()
    if (content.startsWith(open)) {
      this.#buffer = content.slice(open.length)
      this.#state = 'reasoning'
    } else if (open.startsWith(content)) return false
    else this.#state = 'answer'
    return true
  }

  /** Gives all but what may become the closing marker, and white space in front of it. */
  #readReasoning(): readonly AnswerPart[] {
    const { close } = this.#options.markers
    if (!this.#hasReasoning) this.#buffer = this.#buffer.trimStart()
    const buffer = this.#buffer
    const end = buffer.indexOf(close)
    if (end !== -1) {
      this.#state = 'behind'
      this.#buffer = buffer.slice(end + close.length)
      return this.#give(buffer.slice(0, end).trimEnd())
    }
    const ready = buffer.slice(0, buffer.length - openMarkerLength(buffer, [close])).trimEnd()
    this.#buffer = buffer.slice(ready.length)
    return this.#give(ready)
  }

  /** The next reader counts from the beginning of the answer. */
  #shift(parts: readonly AnswerPart[]): readonly AnswerPart[] {
    const offset = this.#answerAt
    if (offset === 0) return parts
    return parts.map((part) => (part.type === 'text' ? { ...part, at: part.at + offset } : part))
  }

  #give(text: string): readonly AnswerPart[] {
    if (text === '') return []
    this.#hasReasoning = true
    return [{ type: 'reasoning', text }]
  }
}
