/**
 * Reads chunks of a stream that differ from one that was parsed in their text alone, as nearly all of a stream do: parsing each of
 * them as JSON takes most of the time that an answer takes. Owned by `answer-reader.ts`.
 *
 *   {"id":"c1",…,"choices":[{"index":0,"delta":{"content":"  token  "},"finish_reason":null}]}
 *   └──────────────────────── before ──────────────────────┘       └──────── after ────────┘
 *
 * Invariant: the text is what parsing the chunk would give. Where a string begins behind `before`, one without quotes, escapes and
 * control characters ends with the quote of `after`, and all else of the chunk is that of the one that was parsed.
 */

/** In a string its quotes would be escaped, so it is a key, and what follows is its value. */
const KEY = '"content":'

/** What JSON does not write as it is. */
// oxlint-disable-next-line no-control-regex -- they are what is looked for
const NOT_PLAIN = /["\\\0-\x1f]/

export class ChunkPattern {
  readonly #before: string
  readonly #after: string

  private constructor(before: string, after: string) {
    this.#before = before
    this.#after = after
  }

  /** Null where the text of a chunk cannot be found for certain. @param text of the one `content` in the chunk, as it was parsed */
  static of(chunk: string, text: string): ChunkPattern | null {
    const key = chunk.indexOf(KEY)
    const value = key + KEY.length
    if (key === -1 || chunk.includes(KEY, value) || NOT_PLAIN.test(text)) return null
    // Python writes a space behind each key.
    const start = value + (chunk[value] === ' ' ? 2 : 1)
    const end = start + text.length
    if (chunk[start - 1] !== '"' || chunk.slice(start, end) !== text || chunk[end] !== '"') return null
    return new ChunkPattern(chunk.slice(0, start), chunk.slice(end))
  }

  /** Null for a chunk that must be parsed. Slices are compared, which takes a fifth of what `startsWith` and `endsWith` take. */
  textOf(chunk: string): string | null {
    const start = this.#before.length
    const end = chunk.length - this.#after.length
    if (end < start || chunk.slice(0, start) !== this.#before || chunk.slice(end) !== this.#after) return null
    const text = chunk.slice(start, end)
    return NOT_PLAIN.test(text) ? null : text
  }
}
