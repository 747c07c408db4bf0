/**
 * Turns of the event loop for work that is cut into slices. All long work of the process shares one line: each turn of the
 * loop runs one slice, so that many requests together hold the loop no longer than one of them.
 * Invariant: a waiter gets its turn after everything that waited before it.
 */

const waiting: (() => void)[] = []

/** Resolves in a later turn of the event loop, which no other waiter shares. */
export function ownTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve)
    if (waiting.length === 1) setImmediate(runNext)
  })
}

function runNext(): void {
  waiting.shift()?.()
  if (waiting.length > 0) setImmediate(runNext)
}
