/**
 * The memory that a step watch and its thread share. The first word has the number of the call in its upper half, and in its
 * lowest byte whether the call is to end: the thread sets that with the number it has seen, so it never ends a later call.
 * Invariant: outside a call the lowest byte is 0.
 */

const CALL = 0
const SLEEPS = 1
/** Two words, as one float: when the call is to end, in milliseconds of the clock that all threads share. */
const DEADLINE = 2
const WORDS = 4
/** How often the thread looks whether a call that is to end has ended. */
const LOOK_MS = 10

const IS_TO_END = 1
const IS_OVER = 0x100
const NEXT_CALL = 0x1_0000
const CALL_NUMBER = 0x7fff_0000

export function createWatchWords(): Int32Array<SharedArrayBuffer> {
  const words = new Int32Array(new SharedArrayBuffer(WORDS * Int32Array.BYTES_PER_ELEMENT))
  words[CALL] = IS_OVER
  return words
}

/** A call begins, which may take so long. */
export function resumeWatch(words: Int32Array, patienceMs: number): void {
  deadlineOf(words)[0] = nowMs() + patienceMs
  const last = Atomics.load(words, CALL)
  Atomics.store(words, CALL, ((last & CALL_NUMBER) + NEXT_CALL) & CALL_NUMBER)
  if (Atomics.exchange(words, SLEEPS, 0) === 1) Atomics.notify(words, CALL)
}

/** It is over. */
export function pauseWatch(words: Int32Array): void {
  Atomics.store(words, CALL, (Atomics.load(words, CALL) & CALL_NUMBER) | IS_OVER)
}

/** The thread's side: waits for a call's deadline, or looks after the next one; sleeps where there is none. */
export function watchOnce(words: Int32Array): void {
  const seen = Atomics.load(words, CALL)
  if ((seen & IS_OVER) !== 0) {
    Atomics.store(words, SLEEPS, 1)
    Atomics.wait(words, CALL, seen)
    return
  }
  const leftMs = (deadlineOf(words)[0] ?? 0) - nowMs()
  if (leftMs <= 0) Atomics.compareExchange(words, CALL, seen, seen | IS_TO_END)
  Atomics.wait(words, CALL, leftMs <= 0 ? seen | IS_TO_END : seen, leftMs <= 0 ? LOOK_MS : leftMs)
}

function deadlineOf(words: Int32Array): Float64Array {
  return new Float64Array(words.buffer, DEADLINE * Int32Array.BYTES_PER_ELEMENT, 1)
}

function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6
}
