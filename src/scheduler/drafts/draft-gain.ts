/**
 * Decides by measurement how many tokens the draft model proposes for each sequence of a step: as many as make the most tokens a
 * second, and none where its guesses do not pay. They pay less where more of them are wrong, and where many sequences keep
 * the arithmetic busy. Pure: it knows times and counts, no clock and no model.
 *
 * For N sequences of which n are drafted with k tokens each, at a rate r of right guesses,
 *
 *   tokens of the step = (N - n) + sum over the n of (1 + r + r² + … + r^k)
 *   time of the step   = plain step + k · extra
 *
 * where both times are lower quartiles of the last few, by powers of two of N: on a machine that others use too, a step that had to wait
 * for a core says nothing of what a step costs. While it drafts, 32 steps are followed by a plain one, so that both stay known.
 *
 * What the draft model makes up for is paid from the time that its proposals have saved, and trials, where it does not draft, from
 * 2 % of the time of plain steps. So no load loses more than that for long, whatever its texts are like.
 */
import type { DraftRoom } from '../../protocol/model-runner.ts'

const NEWEST = 0.2
const LAST_TIMES = 15
/** What is gained must be more than the noise of the times. */
const LEAST_GAIN = 1.02
const TRIAL_TOKENS = 3
const TRIAL_STEPS = 6
/** Of the time of plain steps. */
const SPENT_SHARE = 0.02
/** What was saved long ago does not count. */
const MOST_SAVED_MS = 10_000
/** Times what a trial is reckoned to cost. */
const TRIAL_BUDGET = 1.5
/** Of a plain step, to make up for a token, before it was measured. */
const UNKNOWN_CATCH_UP = 1 / 10
const STEPS_BETWEEN_PLAIN = 32
/** Rate of right guesses before any was made. */
const FIRST_RATE = 0.7
/** Weight of one guess in the rate of its sequence, and in that of all. */
const NEWEST_OF_SEQUENCE = 0.1
const NEWEST_OF_ALL = 0.02

/** The sequences of a step that decode. */
export interface DecodeLoad {
  readonly sequences: number
  /** Rates of right guesses of those that may be drafted. */
  readonly rates: readonly number[]
  /** Tokens of theirs that the draft model has not computed. */
  readonly missingTokens: number
}

/** What a step computed, and how long it took. */
export interface DraftedStep {
  readonly sequences: number
  /** Tokens that were proposed for each drafted sequence; 0 in a step without proposals. */
  readonly proposes: number
  /** Tokens that the sequences got. */
  readonly made: number
  /** All of it but prompts and what the draft model made up for. */
  readonly ms: number
  readonly catchUpTokens: number
  readonly catchUpMs: number
}

interface Costs {
  readonly plainMs: LowerQuartile
  /** Of each token that is proposed for every drafted sequence. */
  readonly extraMs: LowerQuartile
  wasTried: boolean
}

/** Some steps with proposals, to measure what is not known or may have changed. */
interface Trial {
  steps: number
  /** It ends when it has cost more: texts may end before the draft model has caught up with them. */
  budgetMs: number
}

/** The newest values weigh most; the first few weigh alike. */
class Average {
  #value: number | null = null
  #count = 0

  get value(): number | null {
    return this.#value
  }

  add(newest: number): void {
    this.#count++
    const before = this.#value ?? newest
    this.#value = before + Math.max(NEWEST, 1 / this.#count) * (newest - before)
  }
}

/** The lower quartile of the last values. */
class LowerQuartile {
  readonly #last: number[] = []
  #value: number | null = null

  get value(): number | null {
    return this.#value
  }

  add(newest: number): void {
    this.#last.push(newest)
    if (this.#last.length > LAST_TIMES) this.#last.shift()
    const sorted = this.#last.toSorted((a, b) => a - b)
    this.#value = sorted[Math.floor((sorted.length - 1) / 4)] ?? newest
  }
}

export class DraftGain {
  readonly #room: DraftRoom
  readonly #costs: Costs[] = []
  readonly #catchUpTokenMs = new Average()
  #rate = FIRST_RATE
  #stepsSincePlain = 0
  #trial: Trial | null = null
  /** Milliseconds that proposals have saved and nothing was spent of. */
  #savedMs = 0
  /** Milliseconds that trials may cost. */
  #allowanceMs = 0

  constructor(room: DraftRoom) {
    this.#room = room
  }

  /** What is expected of a sequence that has none of its own. */
  get rate(): number {
    return this.#rate
  }

  /** How many tokens take as long to make up for as a step without proposals; null before it is known. */
  catchUpTokens(sequences: number): number | null {
    const tokenMs = this.#catchUpTokenMs.value
    const plainMs = this.#costsOf(sequences).plainMs.value
    return tokenMs === null || plainMs === null ? null : Math.floor(plainMs / tokenMs)
  }

  /**
   * How many tokens of a sequence it pays to make up for.
   * @param proposes what `tokensFor` says; `leftTokens` is what the sequence may still make
   */
  affordableTokens(
    { sequences }: DecodeLoad,
    of: { proposes: number; leftTokens: number; rate: number },
  ): number {
    if (this.#trial !== null) return Number.POSITIVE_INFINITY
    const plainMs = this.#costsOf(sequences).plainMs.value
    const extraMs = this.#costsOf(sequences).extraMs.value
    if (plainMs === null || extraMs === null || of.proposes === 0) return 0
    const gainMs = plainMs - (plainMs + of.proposes * extraMs) / expectedTokens(of.rate, of.proposes)
    return Math.min(of.leftTokens * gainMs, this.#savedMs) / this.#catchUpMs(1, plainMs)
  }

  /**
   * Called once before a step that could have proposals. False for a step that has none and in which nothing is made up for.
   */
  beginStep(load: DecodeLoad): boolean {
    if (this.#trial === null && this.#stepsSincePlain === 0) this.#trial = this.#trialOf(load)
    return this.#stepsSincePlain < STEPS_BETWEEN_PLAIN && this.tokensFor(load) > 0
  }

  /** Tokens to propose for each of the sequences that may be drafted; 0 where a plain step makes as many a second. */
  tokensFor(load: DecodeLoad): number {
    const most = this.#mostTokens(load)
    const { plainMs, extraMs } = this.#costsOf(load.sequences)
    if (this.#trial !== null) return Math.min(TRIAL_TOKENS, most)
    if (plainMs.value === null || extraMs.value === null) return 0
    return bestTokens(load, { plainMs: plainMs.value, extraMs: extraMs.value, most })
  }

  observeStep({ sequences, proposes, made, ms, catchUpTokens, catchUpMs }: DraftedStep): void {
    if (catchUpTokens > 0) this.#catchUpTokenMs.add(catchUpMs / catchUpTokens)
    const { plainMs, extraMs } = this.#costsOf(sequences)
    const plain = plainMs.value ?? ms
    if (proposes === 0) {
      plainMs.add(ms)
      this.#stepsSincePlain = 0
      this.#allowanceMs += SPENT_SHARE * ms
    } else {
      extraMs.add(Math.max(0, ms - plain) / proposes)
      this.#stepsSincePlain++
      this.#save((made / sequences) * plain - ms)
    }
    if (this.#trial === null) this.#save(-catchUpMs)
    else this.#observeTrial(this.#trial, { proposes, costMs: catchUpMs + Math.max(0, ms - plain) })
  }

  /** Records how much of a proposal was right. Gives the new rate of its sequence. @param rate of its sequence before */
  observeProposal({ drafted, accepted }: { drafted: number; accepted: number }, rate: number): number {
    // The guesses behind the first wrong one were not tried.
    const tried = Math.min(accepted + 1, drafted)
    const weigh = (before: number, weight: number): number =>
      before + (1 - (1 - weight) ** tried) * (accepted / tried - before)
    this.#rate = weigh(this.#rate, NEWEST_OF_ALL)
    return weigh(rate, NEWEST_OF_SEQUENCE)
  }

  #save(ms: number): void {
    this.#savedMs = Math.max(0, Math.min(MOST_SAVED_MS, this.#savedMs + ms))
  }

  #observeTrial(trial: Trial, { proposes, costMs }: { proposes: number; costMs: number }): void {
    if (proposes > 0) trial.steps--
    trial.budgetMs -= costMs
    if (trial.steps === 0 || trial.budgetMs < 0) this.#trial = null
  }

  /** Null where none is due. The first one of a load is. */
  #trialOf(load: DecodeLoad): Trial | null {
    const costs = this.#costsOf(load.sequences)
    const plainMs = costs.plainMs.value
    if (plainMs === null || this.#mostTokens(load) === 0) return null
    const extraMs = costs.extraMs.value ?? plainMs
    const costMs = this.#catchUpMs(load.missingTokens, plainMs) + TRIAL_STEPS * TRIAL_TOKENS * extraMs
    if (costs.wasTried && this.#allowanceMs < costMs) return null
    costs.wasTried = true
    this.#allowanceMs = 0
    return { steps: TRIAL_STEPS, budgetMs: TRIAL_BUDGET * costMs }
  }

  #catchUpMs(tokens: number, plainMs: number): number {
    return tokens * (this.#catchUpTokenMs.value ?? plainMs * UNKNOWN_CATCH_UP)
  }

  #mostTokens({ rates }: DecodeLoad): number {
    const { maxTokens, maxStepTokens } = this.#room
    return rates.length === 0 ? 0 : Math.min(maxTokens, Math.floor(maxStepTokens / rates.length))
  }

  #costsOf(sequences: number): Costs {
    return (this.#costs[Math.ceil(Math.log2(Math.max(1, sequences)))] ??= {
      plainMs: new LowerQuartile(),
      extraMs: new LowerQuartile(),
      wasTried: false,
    })
  }
}

function bestTokens(
  { sequences, rates }: DecodeLoad,
  { plainMs, extraMs, most }: { plainMs: number; extraMs: number; most: number },
): number {
  let best = { tokens: 0, perMs: (LEAST_GAIN * sequences) / plainMs }
  let made = sequences
  // A guess counts only where all before it were right.
  const chances = rates.map(() => 1)
  for (let tokens = 1; tokens <= most; tokens++) {
    for (const [index, rate] of rates.entries()) {
      const chance = (chances[index] ?? 0) * rate
      chances[index] = chance
      made += chance
    }
    const perMs = made / (plainMs + tokens * extraMs)
    if (perMs > best.perMs) best = { tokens, perMs }
  }
  return best.tokens
}

/** Of one sequence in a step. */
function expectedTokens(rate: number, proposed: number): number {
  let tokens = 0
  for (let index = 0; index <= proposed; index++) tokens += rate ** index
  return tokens
}
