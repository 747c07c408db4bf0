/**
 * The shared memory between one constrained sequence and the thread in which its grammar is matched: the sequence's last
 * token goes over, the mask of its next token comes back. The engine's thread posts a token after each step and reads the
 * mask when the next step has been computed, so that masks are made while a step runs.
 * Invariant: the mask belongs to the last token posted once both counters are equal.
 */

const POSTED = 0
const ANSWERED = 1
const TOKEN = 2
const STATE = 3
const HEADER_WORDS = 4

/** More may follow; what may is in the mask. */
const OPEN = 0
/** The text is complete. */
const ENDED = 1
/** The text is not complete, and nothing can follow. */
const STUCK = 2

/**
 * How long a thread may work on masks that steps wait for, for one text over all: so much at once, and so much more for each token.
 * What takes longer would hold up every other stream. Time in which the system gives the thread no core does not count.
 */
const BASE_WORK_MS = 2000
const WORK_MS_PER_TOKEN = 10
/** How often a reader looks whether the thread works. */
const LOOK_MS = 50
/** After which a thread that does not work is taken for dead. */
const LONGEST_REST_MS = 20_000

/** The words of a doorbell. */
const RUNG = 0
const WORKED_US = 1
const IS_WORKING = 2
const THREAD_ID = 3
const HAS_ENDED = 4
const BELL_WORDS = 5

/** The doorbell of a thread, and what readers see of its work. */
export function createBell(): Int32Array {
  return new Int32Array(new SharedArrayBuffer(BELL_WORDS * Int32Array.BYTES_PER_ELEMENT))
}

/** For each message, and when tokens were posted. */
export function ring(bell: Int32Array): void {
  Atomics.add(bell, RUNG, 1)
  Atomics.notify(bell, RUNG)
}

/** Says which thread hears it; see `ownThreadId`. */
export function answerBell(bell: Int32Array, threadId: number): void {
  Atomics.store(bell, THREAD_ID, threadId)
}

/** The thread that hears it; 0 before it is ready. */
export function threadOf(bell: Int32Array): number {
  return Atomics.load(bell, THREAD_ID)
}

/** Nobody hears it any more. A step that waits for a mask cannot hear of the thread's end otherwise: it keeps its event loop. */
export function endBell(bell: Int32Array): void {
  Atomics.store(bell, HAS_ENDED, 1)
}

/** How often it was rung, for `sleep`. */
export function ringsOf(bell: Int32Array): number {
  return Atomics.load(bell, RUNG)
}

/** Until it is rung, unless it was already. @param heard its rings before what was due was done */
export function sleep(bell: Int32Array, heard: number): void {
  Atomics.wait(bell, RUNG, heard)
}

export function createLane(vocabSize: number): SharedArrayBuffer {
  const maskWords = Math.ceil(vocabSize / 32)
  const buffer = new SharedArrayBuffer((HEADER_WORDS + maskWords) * Int32Array.BYTES_PER_ELEMENT)
  // The mask of the first token is asked for from the start.
  Atomics.store(new Int32Array(buffer), POSTED, 1)
  return buffer
}

/** `lost`: nothing can follow, or its thread is gone or takes too long. */
export type MaskState = 'open' | 'ended' | 'lost'

/** The engine's side. */
export class MaskReader {
  /** One bit for each token, set where it may come next. To be read while the state is `open`. */
  readonly mask: Int32Array
  readonly #words: Int32Array
  readonly #bell: Int32Array
  readonly #onTooSlow: () => void
  #isLost = false
  #workableMs = BASE_WORK_MS

  /** @param onTooSlow called once, when a mask has taken too long */
  constructor(lane: SharedArrayBuffer, bell: Int32Array, onTooSlow: () => void) {
    this.#words = new Int32Array(lane)
    this.mask = this.#words.subarray(HEADER_WORDS)
    this.#bell = bell
    this.#onTooSlow = onTooSlow
  }

  /** The text goes on with this token. Its thread looks for it when its bell is rung, once for all texts of a step. */
  post(tokenId: number): void {
    this.#words[TOKEN] = tokenId
    Atomics.add(this.#words, POSTED, 1)
  }

  /** Waits for the mask of the next token, which is there already unless the thread is behind. */
  wait(): MaskState {
    const words = this.#words
    const posted = Atomics.load(words, POSTED)
    this.#workableMs += WORK_MS_PER_TOKEN
    let restMs = 0
    for (let answered = Atomics.load(words, ANSWERED); answered !== posted && !this.#isLost;) {
      ring(this.#bell)
      const workedUs = Atomics.load(this.#bell, WORKED_US)
      const isBusy = Atomics.wait(words, ANSWERED, answered, LOOK_MS) === 'timed-out'
      const workedMs = ((Atomics.load(this.#bell, WORKED_US) - workedUs) | 0) / 1000
      answered = Atomics.load(words, ANSWERED)
      const isWorking = isBusy && Atomics.load(this.#bell, IS_WORKING) === 1
      this.#workableMs -= isWorking ? LOOK_MS : workedMs
      restMs = isBusy && !isWorking ? restMs + LOOK_MS : 0
      const mayAnswer =
        this.#workableMs > 0 && restMs < LONGEST_REST_MS && Atomics.load(this.#bell, HAS_ENDED) === 0
      if (answered === posted || mayAnswer) continue
      this.lose()
      this.#onTooSlow()
    }
    if (this.#isLost || words[STATE] === STUCK) return 'lost'
    return words[STATE] === OPEN ? 'open' : 'ended'
  }

  /** Its thread is gone. */
  lose(): void {
    this.#isLost = true
  }
}

export interface Matching {
  /** @param tokenId null before the first token. Gives the mask, or why there is none */
  readonly advance: (tokenId: number | null) => Promise<Int32Array | 'ended' | 'stuck'>
}

/** The thread's side. */
export class MaskWriter {
  readonly #words: Int32Array
  readonly #bell: Int32Array
  readonly #matching: Matching

  constructor(lane: SharedArrayBuffer, bell: Int32Array, matching: Matching) {
    this.#words = new Int32Array(lane)
    this.#bell = bell
    this.#matching = matching
  }

  /** Answers the last token, if it has not been answered. */
  async answer(): Promise<void> {
    const words = this.#words
    const posted = Atomics.load(words, POSTED)
    const answered = Atomics.load(words, ANSWERED)
    if (posted === answered) return
    const startedMs = performance.now()
    Atomics.store(this.#bell, IS_WORKING, 1)
    const mask = await this.#matching.advance(answered === 0 ? null : (words[TOKEN] as number))
    if (typeof mask !== 'string') words.set(mask, HEADER_WORDS)
    words[STATE] = mask === 'ended' ? ENDED : mask === 'stuck' ? STUCK : OPEN
    Atomics.add(this.#bell, WORKED_US, Math.round((performance.now() - startedMs) * 1000))
    Atomics.store(this.#bell, IS_WORKING, 0)
    Atomics.store(words, ANSWERED, posted)
    Atomics.notify(words, ANSWERED)
  }
}
