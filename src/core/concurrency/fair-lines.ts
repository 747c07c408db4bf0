/**
 * What waits, in a line for each account or address that waits for it. The lines take turns, so that each waits for one entry of
 * every other line at most, however long those are. Used by `FairSemaphore`, and by itself where an entry may stand in several
 * lines.
 * Invariant: no line is empty.
 */
import { InvariantError } from '../errors.ts'

export class FairLines<Entry> {
  /** Each in the order of arrival; the one whose turn is next comes first. */
  readonly #lines = new Map<string, Set<Entry>>()

  get isEmpty(): boolean {
    return this.#lines.size === 0
  }

  /** Of all lines together. */
  get length(): number {
    return [...this.#lines.values()].reduce((sum, { size }) => sum + size, 0)
  }

  lengthOf(name: string): number {
    return this.#lines.get(name)?.size ?? 0
  }

  /** The first of the longest lines. */
  get longest(): string {
    let longest = ''
    for (const name of this.#lines.keys()) if (this.lengthOf(name) > this.lengthOf(longest)) longest = name
    return longest
  }

  has(entry: Entry): boolean {
    return [...this.#lines.values()].some((line) => line.has(entry))
  }

  /** An entry may be in several lines. */
  add(name: string, entry: Entry): void {
    const line = this.#lines.get(name) ?? new Set()
    this.#lines.set(name, line.add(entry))
  }

  /** From every line. Returns whether it was in one. */
  remove(entry: Entry): boolean {
    let wasThere = false
    for (const [name, line] of this.#lines) {
      if (!line.delete(entry)) continue
      wasThere = true
      if (line.size === 0) this.#lines.delete(name)
    }
    return wasThere
  }

  /** The last entry of a line. */
  takeNewest(name: string): Entry {
    const entry = [...(this.#lines.get(name) ?? [])].at(-1)
    if (entry === undefined) throw new InvariantError('Nothing waits in this line.')
    this.remove(entry)
    return entry
  }

  /** The next entry, and the line whose turn it takes: one that is not busy goes before those that are. */
  take(busyNames: readonly string[] = []): [entry: Entry, name: string] {
    const names = [...this.#lines.keys()]
    const name = names.find((each) => !busyNames.includes(each)) ?? names[0] ?? ''
    const line = this.#lines.get(name)
    const [entry] = line ?? []
    if (line === undefined || entry === undefined) throw new InvariantError('Nothing waits in any line.')
    // To the end of the order of turns.
    this.#lines.delete(name)
    this.#lines.set(name, line)
    this.remove(entry)
    return [entry, name]
  }

  /** @throws InvariantError when the state is inconsistent. */
  checkIntegrity(): void {
    if ([...this.#lines.values()].some(({ size }) => size === 0)) throw new InvariantError('no line is empty')
  }
}
