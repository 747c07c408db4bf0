/**
 * Puts one call of an answer behind the other, for dialects whose parts are open one at a time. An upstream may begin several
 * calls and send their arguments in turns: what belongs to a later call waits until the object of the call before it is whole.
 * Of calls that come one after the other, one waits only behind arguments that are no whole object, until text or the end.
 */
import type { ToolCallDeltaEvent, ToolCallStartEvent } from '../../protocol/engine-events.ts'

export type CallEvent = ToolCallStartEvent | ToolCallDeltaEvent

const NOTHING: readonly CallEvent[] = []

export class CallsInTurn {
  /** The number of the call whose events pass. */
  #current = 0
  #object = new ObjectEnd()
  #started = 0
  /** By the number of their call, in the order in which the calls began. */
  readonly #waiting = new Map<number, CallEvent[]>()

  /** What may be shown now. */
  add(event: CallEvent): readonly CallEvent[] {
    if (event.type === 'tool-call-start') this.#started = event.call + 1
    // Behind its object or behind the text that ended it: its part is closed.
    if (event.call < this.#current) return NOTHING
    const waiting = this.#waiting.get(event.call)
    if (waiting === undefined) this.#waiting.set(event.call, [event])
    else waiting.push(event)
    return this.#take()
  }

  /** Text, thoughts or the end of the answer end all calls. Gives what still waited. */
  end(): readonly CallEvent[] {
    this.#current = this.#started
    this.#object = new ObjectEnd()
    if (this.#waiting.size === 0) return NOTHING
    const left = [...this.#waiting.values()].flat()
    this.#waiting.clear()
    return left
  }

  #take(): readonly CallEvent[] {
    const taken: CallEvent[] = []
    for (;;) {
      for (const event of this.#waiting.get(this.#current) ?? NOTHING) {
        if (event.type === 'tool-call-delta') this.#object.read(event.arguments)
        taken.push(event)
      }
      this.#waiting.delete(this.#current)
      if (!this.#object.isWhole || this.#waiting.size === 0) return taken
      this.#current += 1
      this.#object = new ObjectEnd()
    }
  }
}

/** Finds where a JSON object ends, of which pieces come. */
class ObjectEnd {
  #depth = 0
  #isInString = false
  #isEscaped = false
  #isWhole = false

  get isWhole(): boolean {
    return this.#isWhole
  }

  read(piece: string): void {
    for (const character of piece) {
      if (this.#isInString) this.#readInString(character)
      else if (character === '"') this.#isInString = true
      else if (character === '{') this.#depth += 1
      else if (character === '}') this.#isWhole = --this.#depth === 0
    }
  }

  #readInString(character: string): void {
    if (this.#isEscaped) this.#isEscaped = false
    else if (character === '\\') this.#isEscaped = true
    else if (character === '"') this.#isInString = false
  }
}
