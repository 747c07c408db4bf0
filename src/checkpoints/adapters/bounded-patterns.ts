/**
 * Patterns of somebody else's file, which V8 may search for ever: all of them together get so much time, after which the file
 * is refused. Plain names, as nearly all are, cost nothing.
 */
import { createContext, Script } from 'node:vm'

/** Far more than patterns take that are meant well, on a busy machine too. */
const TIME_MS = 1000
const PLAIN = /^[\w.-]+$/
const SEARCH = new Script('pattern.test(text)')

export class BoundedPatterns {
  readonly #scope: { pattern?: RegExp; text?: string } = {}
  readonly #context = createContext(this.#scope)
  #leftMs = TIME_MS

  /** Whether `text` ends with the pattern, from a dot or its beginning on; null when the time is over. */
  endsWith(text: string, source: string): boolean | null {
    const pattern = endPattern(source)
    if (PLAIN.test(source)) return pattern.test(text)
    const start = performance.now()
    Object.assign(this.#scope, { pattern, text })
    try {
      return SEARCH.runInContext(this.#context, { timeout: Math.max(1, Math.ceil(this.#leftMs)) }) === true
    } catch {
      // Its time, or the stack of a search, was used up: nothing else fails in it.
      return null
    } finally {
      this.#leftMs -= performance.now() - start
    }
  }
}

/** @throws SyntaxError where it is no pattern */
export function endPattern(source: string): RegExp {
  return new RegExp(`^(?:.*\\.)?(?:${source})$`)
}
