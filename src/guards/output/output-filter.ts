/**
 * Filters the events of one request on their way to the client. Text that may become a hit is held until that is decided;
 * at a hit the sequence ends before it, with `content_filter`, and what the engine still generates for it is dropped.
 * While nothing is held, a sequence costs one look at its characters.
 */
import type {
  EngineEvent,
  SequenceEndEvent,
  SequenceStartEvent,
  TextDeltaEvent,
} from '../../protocol/engine.ts'
import type { Detector } from './detector.ts'
import { HeldText } from './held-text.ts'
import { removeTerminalControls } from './terminal-controls.ts'

/** The rule of the characters that are removed. */
const CONTROLS_RULE = 'terminal-controls'

/** Called for each hit with the number of characters removed, or 1 for a sequence that was ended. */
export type OnHit = (rule: string, count: number) => void

interface FilteredSequence {
  readonly detectors: readonly Detector[]
  readonly held: HeldText
  isOver: boolean
}

export class OutputFilter {
  readonly #sequences: readonly FilteredSequence[]
  readonly #onHit: OnHit
  #open: number

  constructor(count: number, { detectors, onHit }: { detectors: () => readonly Detector[]; onHit: OnHit }) {
    const sequences: FilteredSequence[] = []
    while (sequences.length < count) {
      sequences.push({ detectors: detectors(), held: new HeldText(), isOver: false })
    }
    this.#sequences = sequences
    this.#onHit = onHit
    this.#open = count
  }

  /** Whether every sequence has ended, so that no further event of the engine is needed. */
  get isOver(): boolean {
    return this.#open === 0
  }

  /** What is sent to the client in place of this event. */
  pass(event: EngineEvent): readonly (SequenceStartEvent | TextDeltaEvent | SequenceEndEvent)[] {
    const sequence = this.#sequences[event.index]
    if (sequence === undefined || event.type === 'sequence-start') return [event]
    if (sequence.isOver) return []
    return event.type === 'text-delta' ? this.#passText(sequence, event) : this.#passEnd(sequence, event)
  }

  #passText(sequence: FilteredSequence, event: TextDeltaEvent): readonly EngineEvent[] {
    const { detectors, held } = sequence
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
    if (holdFrom === Infinity && held.isEmpty) {
      held.skip(text)
      return [text === event.text ? event : { ...event, text }]
    }
    held.add(text, event.tokenIds)
    return [{ ...event, ...held.release(holdFrom) }]
  }

  #passEnd(sequence: FilteredSequence, event: SequenceEndEvent): readonly EngineEvent[] {
    this.#close(sequence)
    const { index } = event
    // What was held did not become a hit.
    return sequence.held.isEmpty
      ? [event]
      : [{ type: 'text-delta', index, ...sequence.held.release(Infinity) }, event]
  }

  /** Sends what stands before the hit, and then the end. */
  #end(
    sequence: FilteredSequence,
    { event, detector, holdFrom }: { event: TextDeltaEvent; detector: Detector; holdFrom: number },
  ): readonly EngineEvent[] {
    const { index } = event
    this.#close(sequence)
    this.#onHit(detector.rule, 1)
    sequence.held.add(event.text, event.tokenIds)
    return [
      { type: 'text-delta', index, ...sequence.held.release(holdFrom) },
      { type: 'sequence-end', index, finishReason: 'content_filter', error: null },
    ]
  }

  #withoutControls(text: string): string {
    const clean = removeTerminalControls(text)
    if (clean.length < text.length) this.#onHit(CONTROLS_RULE, text.length - clean.length)
    return clean
  }

  #close(sequence: FilteredSequence): void {
    sequence.isOver = true
    this.#open--
  }
}
