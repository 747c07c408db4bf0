/**
 * The memory that a step watch and its thread share. The first word has the number of the call in its upper half, and in its
 * lowest byte whether the call is to end: the thread sets that with the number it has seen, so it never ends a later call.
 * Invariant: outside a call the lowest byte is 0.
 */

const CALL = 0
/** Milliseconds that the call may take. */
export const PATIENCE = 1
const SLEEPS = 2
const WORDS = 3

const IS_TO_END = 1
const IS_OVER = 0x100
const NEXT_CALL = 0x1_0000
const CALL_NUMBER = 0x7fff_0000

export function createWatchWords(): Int32Array<SharedArrayBuffer> {
  const words = new Int32Array(new SharedArrayBuffer(WORDS * Int32Array.BYTES_PER_ELEMENT))
  words[CALL] = IS_OVER
  return words
}

/** A call begins. */
export function resumeWatch(words: Int32Array): void {
  const last = Atomics.load(words, CALL)
  Atomics.store(words, CALL, ((last & CALL_NUMBER) + NEXT_CALL) & CALL_NUMBER)
  if (Atomics.exchange(words, SLEEPS, 0) === 1) Atomics.notify(words, CALL)
}

/** It is over. */
export function pauseWatch(words: Int32Array): void {
  Atomics.store(words, CALL, (Atomics.load(words, CALL) & CALL_NUMBER) | IS_OVER)
}

/** The thread's side: sees a call through, or one after the other, for as long as one may take; sleeps where there is none. */
export function watchOnce(words: Int32Array): void {
  const seen = Atomics.load(words, CALL)
  if ((seen & IS_OVER) !== 0) {
    Atomics.store(words, SLEEPS, 1)
    Atomics.wait(words, CALL, seen)
  } else if (Atomics.wait(words, CALL, seen, words[PATIENCE]) === 'timed-out') {
    Atomics.compareExchange(words, CALL, seen, seen | IS_TO_END)
  }
}
