/**
 * Follows all rules of words at once while concepts arrive in the order of the text. For each step of a rule only the last
 * place is kept at which the steps before it were matched: a later place is as good as an earlier one for what follows, so
 * nothing is tried twice. Concepts are numbers and places stand in typed arrays, because this runs for every word of every
 * prompt.
 */
import { readRules, type PromptRule, type TogetherRule } from './rules.ts'
import { CONCEPTS, conceptNumber } from './terms.ts'

/** The position of a concept: places count half words, indexes are of the normalized text. */
export interface Mention {
  place: number
  endPlace: number
  start: number
  end: number
}

export interface Match {
  readonly rule: PromptRule
  readonly start: number
  readonly end: number
}

interface FlatStep {
  readonly rule: PromptRule
  readonly isFirst: boolean
  readonly isLast: boolean
  readonly maxGap: number
  readonly unless: number | null
}

const RULES = readRules()
/** Makes what follows it a narration. */
const NARRATED = conceptNumber('narrated')
const NOWHERE = -1_000_000
/** Half words in a word. */
export const WORD = 2

export class RuleMatcher {
  readonly #steps: FlatStep[] = []
  /** By concept: the steps it can be, later ones of a rule first, so that one word is never two steps. */
  readonly #stepsOf: number[][] = CONCEPTS.map(() => [])
  readonly #together: TogetherRule[][] = CONCEPTS.map(() => [])
  /** By step: where the way to it ended, and where that began. */
  readonly #ends: Int32Array
  readonly #startPlaces: Int32Array
  readonly #starts: Int32Array
  /** By concept: where it was met last. */
  readonly #lastPlaces = new Int32Array(CONCEPTS.length)
  readonly #lastStarts = new Int32Array(CONCEPTS.length)
  /** Where the last words ended that make what follows a narration. */
  #narratedEnd = NOWHERE

  constructor({ isChat }: { isChat: boolean }) {
    for (const { rule, sequence, unless, isChatOnly } of RULES.sequences) {
      if (isChatOnly && !isChat) continue
      for (const [index, { any, within }] of sequence.entries()) {
        const number = this.#steps.length
        const isLast = index === sequence.length - 1
        this.#steps.push({ rule, isFirst: index === 0, isLast, maxGap: within * WORD, unless })
        for (const concept of any) this.#stepsOf[concept]?.unshift(number)
      }
    }
    for (const rule of RULES.together) {
      for (const concept of rule.together) this.#together[concept]?.push(rule)
    }
    this.#ends = new Int32Array(this.#steps.length)
    this.#startPlaces = new Int32Array(this.#steps.length)
    this.#starts = new Int32Array(this.#steps.length)
    this.reset()
  }

  /** To read another text. */
  reset(): void {
    this.#ends.fill(NOWHERE)
    this.#lastPlaces.fill(NOWHERE)
    this.#narratedEnd = NOWHERE
  }

  /** The mention is read, not kept. */
  add(concept: number, mention: Mention): Match | null {
    if (concept === NARRATED) this.#narratedEnd = mention.endPlace
    let match: Match | null = null
    for (const step of this.#stepsOf[concept] ?? []) match = this.#advance(step, mention) ?? match
    this.#lastPlaces[concept] = mention.place
    this.#lastStarts[concept] = mention.start
    for (const rule of this.#together[concept] ?? []) match ??= this.#meet(rule, mention)
    return match
  }

  #advance(number: number, { place, endPlace, start, end }: Mention): Match | null {
    const step = this.#steps[number]
    if (step === undefined) return null
    if (step.isFirst) {
      // What a person does, may or should not do is a narration, not a request.
      if (place === this.#narratedEnd && step.unless !== null) return null
      this.#ends[number] = endPlace
      this.#startPlaces[number] = place
      this.#starts[number] = start
      return null
    }
    const gap = place - (this.#ends[number - 1] ?? NOWHERE)
    if (gap < 0 || gap > step.maxGap) return null
    const startPlace = this.#startPlaces[number - 1] ?? NOWHERE
    const firstStart = this.#starts[number - 1] ?? 0
    if (!step.isLast) {
      this.#ends[number] = endPlace
      this.#startPlaces[number] = startPlace
      this.#starts[number] = firstStart
      return null
    }
    return this.#isVetoed(step.unless, startPlace) ? null : { rule: step.rule, start: firstStart, end }
  }

  #meet({ rule, together, within, unless }: TogetherRule, { place, start, end }: Mention): Match | null {
    let first = place
    let firstStart = start
    for (const concept of together) {
      const last = this.#lastPlaces[concept] ?? NOWHERE
      if (place - last > within * WORD) return null
      if (last < first) {
        first = last
        firstStart = this.#lastStarts[concept] ?? 0
      }
    }
    return this.#isVetoed(unless, first) ? null : { rule, start: firstStart, end }
  }

  #isVetoed(concept: number | null, from: number): boolean {
    return concept !== null && (this.#lastPlaces[concept] ?? NOWHERE) >= from
  }
}
