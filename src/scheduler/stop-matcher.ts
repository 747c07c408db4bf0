/**
 * Finds stop strings in text that arrives in pieces, and holds back what could still become one.
 * One Knuth-Morris-Pratt automaton per stop string, so a character costs the same whatever came before.
 * Called by the text assembler; invariant: text that was released contains no part of a match.
 */
interface Automaton {
  readonly pattern: string
  /** Longest proper border of each prefix of the pattern. */
  readonly borders: Uint16Array
  /** Characters of the pattern matched by the end of the text so far. */
  matched: number
}

export interface MatchResult {
  /** Text that can be shown now. */
  readonly text: string
  /** The stop string that was found: the text ends before it and nothing more may be pushed. Null where none was. */
  readonly stopString: string | null
}

export class StopMatcher {
  /** None once there is nothing to look for any more. */
  #automata: readonly Automaton[]
  #disarming: readonly Automaton[]
  #held = ''

  /** @param disarming once one of these has come, no stop string is looked for */
  constructor(stopStrings: readonly string[], disarming: readonly string[] = []) {
    this.#automata = stopStrings.map(toAutomaton)
    this.#disarming = disarming.map(toAutomaton)
  }

  /** @param mayMatch whether a stop string that ends in this piece counts */
  push(added: string, mayMatch = true): MatchResult {
    if (this.#automata.length === 0) return { text: added, stopString: null }
    const text = this.#held + added
    for (let i = this.#held.length; i < text.length; i++) {
      const unit = text.charCodeAt(i)
      const stopString = advance(this.#automata, unit)
      if (stopString !== null && mayMatch) {
        this.#held = ''
        return { text: text.slice(0, i + 1 - stopString.length), stopString }
      }
      if (this.#disarming.length > 0 && advance(this.#disarming, unit) !== null) this.#automata = []
    }
    const heldLength = this.#automata.reduce((longest, { matched }) => Math.max(longest, matched), 0)
    this.#held = text.slice(text.length - heldLength)
    return { text: text.slice(0, text.length - heldLength), stopString: null }
  }

  /** What was held back, once it is known that no more text follows. */
  flush(): string {
    const text = this.#held
    this.#held = ''
    return text
  }

  /** Another one that stands where this one does. */
  fork(): StopMatcher {
    const copy = new StopMatcher([])
    copy.#automata = this.#automata.map((automaton) => ({ ...automaton }))
    copy.#disarming = this.#disarming.map((automaton) => ({ ...automaton }))
    copy.#held = this.#held
    return copy
  }
}

function toAutomaton(pattern: string): Automaton {
  return { pattern, borders: bordersOf(pattern), matched: 0 }
}

/** Feeds one code unit to every automaton; returns the longest pattern it completes, else null. */
function advance(automata: readonly Automaton[], unit: number): string | null {
  let completed: string | null = null
  for (const automaton of automata) {
    const { pattern, borders } = automaton
    let matched = automaton.matched
    while (matched > 0 && pattern.charCodeAt(matched) !== unit) matched = borders[matched - 1] ?? 0
    if (pattern.charCodeAt(matched) === unit) matched++
    automaton.matched = matched
    if (matched === pattern.length && matched > (completed?.length ?? 0)) completed = pattern
  }
  return completed
}

function bordersOf(pattern: string): Uint16Array {
  const borders = new Uint16Array(pattern.length)
  for (let i = 1, border = 0; i < pattern.length; i++) {
    while (border > 0 && pattern[i] !== pattern[border]) border = borders[border - 1] ?? 0
    if (pattern[i] === pattern[border]) border++
    borders[i] = border
  }
  return borders
}
