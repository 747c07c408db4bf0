/**
 * How many compute threads the next step uses. llama.cpp's threads meet after every operation, so one thread that the system
 * sets aside for a neighbour stops all of them: on cores that others use, fewer threads are faster. Nothing says
 * beforehand how many, so the governor measures. It tries the next lower number when steps take longer than they did, and
 * now and then without a reason; the next higher one when cores are idle; and keeps what is faster (decision 0020). It also says how
 * long a step may take at all, and what to do with one that was broken off.
 * Owned by the runner, which reports every step of generated tokens. Knows no native code.
 * Invariant: 1 <= threads <= limit <= maxThreads.
 */

import type { SpareCores } from './cpu-cores.ts'

/** What one step computed. Only steps of about the same work are compared. */
export interface StepWork {
  /** Tokens computed at once. */
  readonly rows: number
  /** Tokens that attention reads, over all sequences. */
  readonly contextTokens: number
}

export interface ThreadGovernorOptions {
  readonly maxThreads: number
  /** Between the last call and this one. */
  readonly spareCores: () => SpareCores
  /** Milliseconds that only grow. */
  readonly nowMs: () => number
}

/** Shortest span of steps by which two numbers of threads are compared: several time slices of a neighbour. */
const COMPARED_STEPS = 4
const COMPARED_MS = 50
/** Of steps that take so long, two will do: those who wait for them see each one. */
const LONG_STEPS = 2
const LONG_STEPS_MS = 200
/** Steps of other work after which a span is given up. */
const MAX_OTHER_STEPS = 32
/** Share of the time before that a trial may take to be won: what differs less is noise. */
const WIN = 0.93
/** Times the best known span after which steps count as slow. */
const SLOW = 2
/** A step of a trial so many times as long as those before ends the trial; a stream whose steps are so slow stumbles. */
const HOPELESS = 4
/** Pauses between trials in one direction, doubled by each trial that is lost. */
const SHORTEST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 30_000
/** Longest pause between trials of fewer threads while steps are slow: on a noisy machine some always are. */
const SLOW_PAUSE_MS = 4000
/** The same while streams stumble. */
const STUMBLING_PAUSE_MS = 500
/** A trial far below the chosen number may not stop the streams for longer than this, were all cores free. */
const MAX_TRIAL_STEP_MS = 100
/** A context of so many tokens takes about as long to read as a small model's weights. */
const CONTEXT_OF_WEIGHTS = 512
/** Of a core, before it gets a thread: the process that sends the text takes half of one that would be idle. */
const IDLE_SHARE = 0.3
/** A step is broken off at the earliest after so long: a reader does not see less. */
const SHORTEST_PATIENCE_MS = 40
/** How fast a best span is forgotten, so that a machine which became slower for good is not slow for ever. */
const FORGETTING = 1.01

/** Consecutive steps of about the same work, but for a few. */
class Span {
  readonly kind: number
  steps = 0
  totalMs = 0
  #otherSteps = 0

  constructor(kind: number) {
    this.kind = kind
  }

  get isStale(): boolean {
    return this.#otherSteps > MAX_OTHER_STEPS
  }

  get meanMs(): number {
    return this.totalMs / this.steps
  }

  add(kind: number, ms: number): void {
    if (kind !== this.kind) {
      this.#otherSteps++
      return
    }
    this.steps++
    this.totalMs += ms
  }
}

/** The lengthening pauses between trials in one direction. */
class Pause {
  #lengthMs = SHORTEST_PAUSE_MS
  #startMs = Number.NEGATIVE_INFINITY

  isOver(nowMs: number, longestMs = LONGEST_PAUSE_MS): boolean {
    return nowMs - this.#startMs >= Math.min(this.#lengthMs, longestMs)
  }

  restart(nowMs: number, change: 'lengthen' | 'reset'): void {
    this.#startMs = nowMs
    this.#lengthMs = change === 'reset' ? SHORTEST_PAUSE_MS : Math.min(2 * this.#lengthMs, LONGEST_PAUSE_MS)
  }
}

interface Trial {
  readonly threads: number
  /** The last span before it, which it has to beat. */
  readonly before: Span
  readonly span: Span
  /** When it began. */
  readonly idleCores: number
}

/** Of a step that was broken off after `firstMs`. */
export interface SecondTry {
  readonly threads: number
  readonly ms: number
  readonly firstMs: number
}

export class ThreadGovernor {
  readonly #options: ThreadGovernorOptions
  #limit: number
  /** Outside trials. */
  #chosen: number
  #span: Span | null = null
  #trial: Trial | null = null
  /** Mean step of the best span, by number of threads and kind of work. */
  readonly #bestMs = new Map<string, number>()
  /** The number of the last lost trial of fewer threads, below which the next one looks; null after any other. */
  #lostBelow: number | null = null
  readonly #pauses = { fewer: new Pause(), more: new Pause(), secondTries: new Pause() }
  #lookedMs = Number.NEGATIVE_INFINITY
  /** When a second try was last faster. */
  #rescuedMs = Number.NEGATIVE_INFINITY
  /** At the last lost trial of more threads: where more are idle, a neighbour has left. */
  #idleCoresAtLoss = Number.POSITIVE_INFINITY

  constructor(options: ThreadGovernorOptions) {
    this.#options = options
    this.#limit = options.maxThreads
    this.#chosen = options.maxThreads
  }

  get maxThreads(): number {
    return this.#options.maxThreads
  }

  /** For the next step. */
  get threads(): number {
    return this.#trial?.threads ?? this.#chosen
  }

  /** Sets an upper bound, because other engines of the server compute too. When it rises, trials find what to make of it. */
  setLimit(limit: number): void {
    this.#limit = Math.max(1, Math.min(limit, this.#options.maxThreads))
    if (this.threads > this.#limit) this.#choose(Math.min(this.#chosen, this.#limit))
  }

  /**
   * Milliseconds after which the next step is better broken off, since with fewer threads it would be there by then; infinite
   * where that is not known, was tried in vain just now, or cannot be done otherwise.
   */
  patienceMs(work: StepWork): number {
    const mayGiveUp = this.threads > 1 && this.#pauses.secondTries.isOver(this.#options.nowMs())
    if (!mayGiveUp) return Number.POSITIVE_INFINITY
    const kind = kindOf(work)
    const before = this.#trial?.before
    const usualMs = before?.kind === kind ? before.meanMs : this.#bestMs.get(`${this.#chosen}/${kind}`)
    return usualMs === undefined
      ? Number.POSITIVE_INFINITY
      : Math.max(SHORTEST_PATIENCE_MS, HOPELESS * usualMs)
  }

  /** Reports a step that was broken off. Returns the threads for its second try. */
  giveUp(): number {
    const { threads } = this
    if (this.#trial !== null) this.#lose(this.#trial)
    return lowerCount(threads)
  }

  /** Reports its second try. Where steps are broken off one after the other, those that follow use as many threads. */
  observeSecondTry({ threads, ms, firstMs }: SecondTry): void {
    const nowMs = this.#options.nowMs()
    if (ms > WIN * firstMs) return this.#pauses.secondTries.restart(nowMs, 'lengthen')
    this.#pauses.secondTries = new Pause()
    if (nowMs - this.#rescuedMs < SHORTEST_PAUSE_MS && threads < this.#chosen) this.#win(threads)
    this.#rescuedMs = nowMs
  }

  /** Reports a step that took `ms` with `threads`. */
  observe(work: StepWork, ms: number): void {
    const kind = kindOf(work)
    if (this.#trial === null) this.#watch(kind, ms)
    else this.#judge(this.#trial, kind, ms)
  }

  #watch(kind: number, ms: number): void {
    if (this.#span === null || this.#span.isStale) this.#span = new Span(kind)
    const span = this.#span
    span.add(kind, ms)
    const isLong = span.steps >= LONG_STEPS && span.totalMs >= LONG_STEPS_MS
    if (!isLong && (span.steps < COMPARED_STEPS || span.totalMs < COMPARED_MS)) return
    this.#span = null
    const next = this.#nextTrial(span.meanMs, longestPauseMs(this.#recordBest(span)))
    if (next !== null) this.#trial = { ...next, before: span, span: new Span(kind) }
  }

  /** Returns how many times the best span's time this one took. */
  #recordBest({ kind, meanMs }: Span): number {
    const key = `${this.#chosen}/${kind}`
    const bestMs = (this.#bestMs.get(key) ?? meanMs) * FORGETTING
    this.#bestMs.set(key, Math.min(bestMs, meanMs))
    return meanMs / bestMs
  }

  #nextTrial(meanMs: number, longestMs: number): Pick<Trial, 'threads' | 'idleCores'> | null {
    const nowMs = this.#options.nowMs()
    if (this.#chosen > 1 && this.#pauses.fewer.isOver(nowMs, longestMs)) {
      return { threads: this.#fewerToTry(meanMs), idleCores: 0 }
    }
    return this.#chosen < this.#limit ? this.#moreToTry(nowMs) : null
  }

  #moreToTry(nowMs: number): Pick<Trial, 'threads' | 'idleCores'> | null {
    if (nowMs - this.#lookedMs < SHORTEST_PAUSE_MS) return null
    this.#lookedMs = nowMs
    const threads = Math.min(this.#limit, higherCount(this.#chosen))
    const needed = (threads - this.#chosen) * IDLE_SHARE
    const { idle, lowPriority } = this.#options.spareCores()
    const { more } = this.#pauses
    if (more.isOver(nowMs) ? idle + lowPriority >= needed : idle >= needed && this.#idleCoresAtLoss < needed)
      return { threads, idleCores: idle }
    if (more.isOver(nowMs)) more.restart(nowMs, 'reset')
    return null
  }

  /** One step down, or where that was lost, one more: a number that is still too high gains nothing over a higher one. */
  #fewerToTry(meanMs: number): number {
    const lower = lowerCount(this.#lostBelow ?? this.#chosen)
    const isTooSlow = meanMs * (this.#chosen / lower) > MAX_TRIAL_STEP_MS
    return this.#lostBelow === 1 || isTooSlow ? lowerCount(this.#chosen) : lower
  }

  #judge(trial: Trial, kind: number, ms: number): void {
    const { before, span } = trial
    span.add(kind, ms)
    if (span.isStale) return this.#choose(this.#chosen)
    const isLost = span.totalMs > WIN * before.totalMs || ms > HOPELESS * before.meanMs
    if (!isLost && span.steps < before.steps) return
    if (isLost) this.#lose(trial)
    else this.#win(trial.threads)
  }

  #lose({ threads, idleCores }: Trial): void {
    const isFewer = threads < this.#chosen
    if (!isFewer) this.#idleCoresAtLoss = idleCores
    this.#lostBelow = isFewer ? threads : null
    const pause = isFewer ? this.#pauses.fewer : this.#pauses.more
    pause.restart(this.#options.nowMs(), 'lengthen')
    this.#choose(this.#chosen)
  }

  #win(threads: number): void {
    this.#lostBelow = null
    const nowMs = this.#options.nowMs()
    this.#pauses.fewer.restart(nowMs, 'reset')
    this.#pauses.more.restart(nowMs, 'reset')
    // What was idle so far was so with the number before.
    this.#options.spareCores()
    this.#choose(threads)
  }

  #choose(threads: number): void {
    this.#chosen = threads
    this.#trial = null
    this.#span = null
  }
}

/** Between trials of fewer threads. @param slowness times that the best steps took */
function longestPauseMs(slowness: number): number {
  if (slowness > HOPELESS) return STUMBLING_PAUSE_MS
  return slowness > SLOW ? SLOW_PAUSE_MS : LONGEST_PAUSE_MS
}

/** Steps of one kind differ by less than what is measured: the same rows, and contexts that cost much the same beside the weights. */
function kindOf({ rows, contextTokens }: StepWork): number {
  return rows * 64 + Math.round(2 * Math.log2(contextTokens + CONTEXT_OF_WEIGHTS))
}

function lowerCount(threads: number): number {
  return Math.max(1, Math.floor(threads * 0.75))
}

function higherCount(threads: number): number {
  return Math.ceil(threads / 0.75)
}
