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
 * How long steps may wait for the masks of one text, over all: so much at once, and so much more for each token. What
 * takes longer would hold up every other stream.
 */
const BASE_WAIT_MS = 2000
const WAIT_MS_PER_TOKEN = 10

/** The doorbell of a thread: rung for each message, and when tokens were posted. */
export function ring(bell: Int32Array): void {
  Atomics.add(bell, 0, 1)
  Atomics.notify(bell, 0)
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
  #waitableMs = BASE_WAIT_MS

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
    this.#waitableMs += WAIT_MS_PER_TOKEN
    for (let answered = Atomics.load(words, ANSWERED); answered !== posted && !this.#isLost;) {
      const startedMs = performance.now()
      ring(this.#bell)
      Atomics.wait(words, ANSWERED, answered, Math.max(0, this.#waitableMs))
      this.#waitableMs -= performance.now() - startedMs
      answered = Atomics.load(words, ANSWERED)
      if (answered === posted || this.#waitableMs > 0) continue
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
  readonly #matching: Matching

  constructor(lane: SharedArrayBuffer, matching: Matching) {
    this.#words = new Int32Array(lane)
    this.#matching = matching
  }

  /** Answers the last token, if it has not been answered. */
  async answer(): Promise<void> {
    const words = this.#words
    const posted = Atomics.load(words, POSTED)
    const answered = Atomics.load(words, ANSWERED)
    if (posted === answered) return
    const mask = await this.#matching.advance(answered === 0 ? null : (words[TOKEN] as number))
    if (typeof mask !== 'string') words.set(mask, HEADER_WORDS)
    words[STATE] = mask === 'ended' ? ENDED : mask === 'stuck' ? STUCK : OPEN
    Atomics.store(words, ANSWERED, posted)
    Atomics.notify(words, ANSWERED)
  }
}
