/**
 * Detects keys of this service: the public prefix, then hexadecimal digits. Half of a key's digits is a hit, so that a
 * truncated key does not pass. Text that looks like the beginning of a key is held back, which reveals nothing: every key
 * begins so.
 */
import type { Detector } from './output-filter.ts'

const PREFIX = 'sk-svc-'

/** Of 64; 128 bits remain to be guessed. */
const LEAKED_DIGITS = 32

const FULL_MATCH = PREFIX.length + LEAKED_DIGITS

export class KeyDetector implements Detector {
  readonly rule = 'service-key'
  #seen = 0
  /** How many of the last characters are the beginning of a key. */
  #matched = 0

  see(text: string): boolean {
    for (let i = 0; i < text.length; i++) {
      this.#matched = follow(this.#matched, text.charCodeAt(i))
      if (this.#matched === FULL_MATCH) {
        this.#seen += i + 1
        return true
      }
    }
    this.#seen += text.length
    return false
  }

  get holdFrom(): number {
    return this.#matched === 0 ? Infinity : this.#seen - this.#matched
  }
}

const SMALL_S = 0x73
const SMALL_K = 0x6b
/** `sk-s`: what follows may also be the second character of a key that begins with this `s`. */
const AT_SECOND_S = 4

function follow(matched: number, unit: number): number {
  if (matched < PREFIX.length ? PREFIX.charCodeAt(matched) === unit : isHexDigit(unit)) return matched + 1
  if (matched === AT_SECOND_S && unit === SMALL_K) return 2
  return unit === SMALL_S ? 1 : 0
}

function isHexDigit(unit: number): boolean {
  return (unit >= 0x30 && unit <= 0x39) || (unit >= 0x61 && unit <= 0x66)
}
