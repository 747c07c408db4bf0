/**
 * Detects the secrets of the configuration, the admin key among them, which may be any text. What is held back must not
 * depend on their content: if text were held wherever it agrees with a secret, a client that sees the pause could spell
 * one out letter by letter. So of every long run of printable ASCII all but the first characters are held, up to the
 * length of the longest secret, whatever they are.
 */
import type { Detector } from './output-filter.ts'

/** A shorter secret may be an ordinary word. */
const MIN_SECRET_CHARS = 8

/** Sent of a run before it is held; fewer than any secret has. */
const FREE_CHARS = MIN_SECRET_CHARS - 1

/** Printable, no space. */
const WATCHABLE = /^[\x21-\x7e]+$/

/** The secrets that can be detected, by their last characters. */
export class SecretIndex {
  readonly #byEnding = new Map<string, string[]>()
  readonly longest: number

  constructor(secrets: readonly string[]) {
    const watched = secrets.filter((text) => text.length >= MIN_SECRET_CHARS && WATCHABLE.test(text))
    for (const secret of watched) {
      const ending = secret.slice(-MIN_SECRET_CHARS)
      this.#byEnding.set(ending, [...(this.#byEnding.get(ending) ?? []), secret])
    }
    this.longest = Math.max(0, ...watched.map((secret) => secret.length))
  }

  /** Length of the longest secret that ends at `end` of `text`; 0 where none does. */
  lengthAt(text: string, end: number): number {
    const candidates = this.#byEnding.get(text.slice(end - MIN_SECRET_CHARS, end))
    if (candidates === undefined) return 0
    const found = candidates.filter((secret) => text.endsWith(secret, end))
    return Math.max(0, ...found.map((secret) => secret.length))
  }
}

export class SecretDetector implements Detector {
  readonly rule = 'configured-secret'
  readonly #secrets: SecretIndex
  #seen = 0
  /** The end of the text so far, no more of it than the longest secret has characters. */
  #recent = ''
  /** Printable characters that the text ends with. */
  #runLength = 0
  #hitStart: number | null = null

  constructor(secrets: SecretIndex) {
    this.#secrets = secrets
  }

  see(text: string): boolean {
    const recent = this.#recent + text
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i)
      this.#runLength = unit > 0x20 && unit < 0x7f ? this.#runLength + 1 : 0
      if (this.#runLength < MIN_SECRET_CHARS) continue
      const length = this.#secrets.lengthAt(recent, this.#recent.length + i + 1)
      if (length > 0) {
        const end = this.#seen + i + 1
        // It may be the middle of a longer one.
        this.#hitStart = Math.min(end - length, this.#heldFrom(end))
        return true
      }
    }
    this.#seen += text.length
    this.#recent = recent.length > this.#secrets.longest ? recent.slice(-this.#secrets.longest) : recent
    return false
  }

  get holdFrom(): number {
    if (this.#hitStart !== null) return this.#hitStart
    return this.#runLength <= FREE_CHARS ? Infinity : this.#heldFrom(this.#seen)
  }

  /** Of a run that ends at this offset and is longer than what is sent of it. */
  #heldFrom(end: number): number {
    return end - Math.min(this.#runLength - FREE_CHARS, this.#secrets.longest - 1)
  }
}
