/**
 * Filters the events of one request on their way to the client. Text that may become a hit is held until that is decided;
 * at a hit the sequence ends before it, with `content_filter`, and what the engine still generates for it is dropped.
 * While nothing is held, each character is read once.
 *
 * Where an upstream counts the prompt at its end only, the end of a sequence that was cut waits for the engine's own end of it, whose
 * corrections it takes along: an answer says the prompt tokens that are billed. It does not wait when all others are over.
 */
import { HeldTokens } from '../../core/text/held-tokens.ts'
import type {
  ChosenLogprob,
  EngineEvent,
  SequenceEndEvent,
  SequenceStartEvent,
  TextDeltaEvent,
} from '../../protocol/engine-events.ts'

/**
 * Detects one kind of text that must not be sent, in one sequence. It gets the text in pieces, each once, and reports the
 * offset from which the text must be held. Offsets count UTF-16 units from the beginning of the sequence.
 */
export interface Detector {
  /** In the metric and the log line. */
  readonly rule: string
  /** Takes the text that follows everything seen before. True when it completes a hit. */
  see(text: string): boolean
  /** The first offset that may not be sent yet; after a hit, where it begins. Infinity when nothing has to be held. */
  readonly holdFrom: number
}

/**
 * The control characters that terminals obey: printed in a terminal, they could move the cursor, change what it shows or set
 * its title. Tab, line feed and carriage return are text and stay. An escape sequence without its first character is plain
 * text.
 */
// oxlint-disable-next-line no-control-regex -- they are what is looked for
const CONTROLS = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/
const ALL_CONTROLS = new RegExp(CONTROLS, 'g')

/** The rule of the characters that are removed. */
const CONTROLS_RULE = 'terminal-controls'

/** Called for each hit with the number of characters removed, or 1 for a sequence that was ended. */
export type OnHit = (rule: string, count: number) => void

interface FilteredSequence {
  /** Made for the first text: by then the engine has accepted the prompt, and so the length of all that was sent. */
  detectors: readonly Detector[] | null
  readonly held: HeldText
  isOver: boolean
  /** Whether the engine's end may correct what its start said. */
  isEstimate: boolean
  /** After a hit, while the engine's own end is awaited. */
  waitingEnd: SequenceEndEvent | null
}

export class OutputFilter {
  readonly #sequences: readonly FilteredSequence[]
  readonly #createDetectors: () => readonly Detector[]
  readonly #onHit: OnHit
  #open: number

  constructor(count: number, { detectors, onHit }: { detectors: () => readonly Detector[]; onHit: OnHit }) {
    const sequences: FilteredSequence[] = []
    while (sequences.length < count) {
      sequences.push({
        ...{ detectors: null, held: new HeldText(), isOver: false, isEstimate: false, waitingEnd: null },
      })
    }
    this.#sequences = sequences
    this.#createDetectors = detectors
    this.#onHit = onHit
    this.#open = count
  }

  /** Whether every sequence has ended, so that no further event of the engine is needed. */
  get isOver(): boolean {
    return this.#open === 0
  }

  /** The events that are sent to the client instead of this one. */
  pass(event: EngineEvent): readonly (SequenceStartEvent | TextDeltaEvent | SequenceEndEvent)[] {
    const sequence = this.#sequences[event.index]
    if (sequence === undefined) return [event]
    if (event.type === 'sequence-start') {
      sequence.isEstimate = event.isEstimate === true
      return [event]
    }
    if (sequence.isOver) return event.type === 'sequence-end' ? takeWaitingEnd(sequence, event) : []
    const passed =
      event.type === 'text-delta' ? this.#passText(sequence, event) : this.#passEnd(sequence, event)
    return this.isOver
      ? [...passed, ...this.#sequences.flatMap((waiting) => takeWaitingEnd(waiting, null))]
      : passed
  }

  #passText(sequence: FilteredSequence, event: TextDeltaEvent): readonly EngineEvent[] {
    const { held } = sequence
    const detectors = (sequence.detectors ??= this.#createDetectors())
    const text = this.#withoutControls(event.text)
    let holdFrom = Infinity
    let hit: Detector | null = null
    // All of them, also after a hit: a long piece may hold several, and ends before the first.
    for (const detector of detectors) {
      const isHit = detector.see(text)
      if (isHit && (hit === null || detector.holdFrom < hit.holdFrom)) hit = detector
      holdFrom = Math.min(holdFrom, detector.holdFrom)
    }
    if (hit !== null) return this.#end(sequence, { event: { ...event, text }, detector: hit, holdFrom })
    if (holdFrom === Infinity && held.isEmpty && event.logprobs === undefined) {
      held.skip(text)
      return [text === event.text ? event : { ...event, text }]
    }
    held.add({ ...event, text })
    return [{ ...event, ...held.release(holdFrom) }]
  }

  #passEnd(sequence: FilteredSequence, event: SequenceEndEvent): readonly EngineEvent[] {
    this.#close(sequence)
    const { index } = event
    // What was held did not become a hit.
    return sequence.held.isEmpty ? [event] : [{ type: 'text-delta', index, ...sequence.held.finish() }, event]
  }

  /** Sends the text before the hit, and then the end. */
  #end(
    sequence: FilteredSequence,
    { event, detector, holdFrom }: { event: TextDeltaEvent; detector: Detector; holdFrom: number },
  ): readonly EngineEvent[] {
    const { index } = event
    this.#close(sequence)
    this.#onHit(detector.rule, 1)
    sequence.held.add(event)
    const delta = { type: 'text-delta' as const, index, ...sequence.held.release(holdFrom) }
    const end: SequenceEndEvent = { type: 'sequence-end', index, finishReason: 'content_filter', error: null }
    // Of the last one nothing is awaited: the engine is ended.
    if (!sequence.isEstimate || this.isOver) return [delta, end]
    sequence.waitingEnd = end
    return [delta]
  }

  #withoutControls(text: string): string {
    if (!CONTROLS.test(text)) return text
    const clean = removeControls(text)
    this.#onHit(CONTROLS_RULE, text.length - clean.length)
    return clean
  }

  #close(sequence: FilteredSequence): void {
    sequence.isOver = true
    this.#open--
  }
}

/** @param own the engine's end of it; null where that does not come any more */
function takeWaitingEnd(
  sequence: FilteredSequence,
  own: SequenceEndEvent | null,
): readonly SequenceEndEvent[] {
  const { waitingEnd } = sequence
  sequence.waitingEnd = null
  if (waitingEnd === null) return []
  const { promptTokensCorrection, cachedTokensCorrection } = own ?? waitingEnd
  return [
    {
      ...waitingEnd,
      ...(promptTokensCorrection !== undefined && { promptTokensCorrection }),
      ...(cachedTokensCorrection !== undefined && { cachedTokensCorrection }),
    },
  ]
}

type HeldDelta = Pick<TextDeltaEvent, 'text' | 'tokenIds' | 'logprobs'>

interface HeldTokenIds {
  /** Offset of the sequence's text at which the text of these tokens ends. */
  readonly end: number
  readonly tokenIds: readonly number[]
}

/**
 * The text of one sequence that is held back, and its token ids and log probabilities, which are released together with the
 * text: the tokenizer's vocabulary turns ids into text, and log probabilities hold it.
 */
class HeldText {
  #text = ''
  /** Offset of the first character held. */
  #start = 0
  #tokens: HeldTokenIds[] = []
  /** Null where there are none. */
  #logprobs: HeldTokens<ChosenLogprob> | null = null

  get isEmpty(): boolean {
    return this.#text === '' && this.#tokens.length === 0 && this.#logprobs?.isEmpty !== false
  }

  add({ text, tokenIds, logprobs }: HeldDelta): void {
    this.#text += text
    this.#tokens.push({ end: this.#start + this.#text.length, tokenIds })
    if (logprobs === undefined) return
    // A character whose bytes two tokens share takes both with it.
    this.#logprobs ??= new HeldTokens(removeControls)
    for (const logprob of logprobs) this.#logprobs.add(withoutControls(logprob))
  }

  /** Counts text that was sent without being held. */
  skip(text: string): void {
    this.#start += text.length
  }

  /** Removes and returns what comes before `offset`. */
  release(offset: number): HeldDelta {
    const count = Math.max(0, Math.min(this.#text.length, offset - this.#start))
    const text = this.#text.slice(0, count)
    this.#text = this.#text.slice(count)
    this.#start += count
    const next = this.#tokens.findIndex(({ end }) => end > this.#start)
    const ready = this.#tokens.splice(0, next === -1 ? this.#tokens.length : next)
    const tokenIds = ready.flatMap((tokens) => tokens.tokenIds)
    return { text, tokenIds, ...(this.#logprobs && { logprobs: this.#logprobs.release(this.#start) }) }
  }

  /** Removes and returns everything; of the last token a stop string may have cut the text. */
  finish(): HeldDelta {
    const { logprobs, ...rest } = this.release(Infinity)
    if (logprobs === undefined || this.#logprobs === null) return rest
    return { ...rest, logprobs: [...logprobs, ...this.#logprobs.finish(this.#start)] }
  }
}

/** Its text as it is sent. */
export function removeControls(text: string): string {
  return text.replaceAll(ALL_CONTROLS, '')
}

// oxlint-disable-next-line no-control-regex -- they are what is looked for
const CONTROL_BYTES = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]|\xc2[\x80-\x9f]/g

/** Its bytes as they are sent, and without the alternatives whose text could not be sent as it is. */
function withoutControls(logprob: ChosenLogprob): ChosenLogprob {
  const top = logprob.top.filter(({ bytes }) => !CONTROLS.test(Buffer.from(bytes).toString('utf8')))
  const clean = Buffer.from(logprob.bytes).toString('latin1').replaceAll(CONTROL_BYTES, '')
  return { ...logprob, bytes: [...Buffer.from(clean, 'latin1')], top }
}
