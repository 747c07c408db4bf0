/** Numbers of JSON values, the same for equal ones: the key of what is made once of each. */

/** Deeper than schemas may be: what nests deeper counts as equal to nothing, rather than taking the whole stack. */
const MAX_DEPTH = 512

export class StructuralIds {
  readonly #ids = new Map<string, number>()
  /** Merged schemas share their parts, so that writing each out as text could take time without an end. */
  readonly #known = new WeakMap<object, number>()
  #next = 0

  of(value: unknown, depth = 0): number {
    if (typeof value !== 'object' || value === null) return this.#idOf(JSON.stringify(value) ?? '')
    const known = this.#known.get(value)
    if (known !== undefined) return known
    if (depth > MAX_DEPTH) return this.#next++
    const parts = Object.entries(value).map(
      ([key, part]) => `${JSON.stringify(key)}:${this.of(part, depth + 1)}`,
    )
    const id = this.#idOf(Array.isArray(value) ? `[${parts.join()}]` : `{${parts.join()}}`)
    this.#known.set(value, id)
    return id
  }

  #idOf(text: string): number {
    const known = this.#ids.get(text)
    if (known !== undefined) return known
    this.#ids.set(text, this.#next)
    return this.#next++
  }
}
