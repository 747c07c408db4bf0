/** Asks the server for what is going to change, such as a model that is being loaded. */

const FIRST_PAUSE_MS = 1500
const MAX_PAUSE_MS = 10_000

/** How much longer each pause is than the one before: a model takes seconds or minutes, and each question counts against a rate. */
const GROWTH = 1.5

/** Again and again, but not while the page is hidden. @returns what ends it */
export function poll(ask: () => void): () => void {
  let timer: ReturnType<typeof setTimeout>
  const askAfter = (pauseMs: number): void => {
    timer = setTimeout(() => {
      if (document.hidden) return askAfter(pauseMs)
      ask()
      askAfter(Math.min(pauseMs * GROWTH, MAX_PAUSE_MS))
    }, pauseMs)
  }
  askAfter(FIRST_PAUSE_MS)
  return () => clearTimeout(timer)
}
