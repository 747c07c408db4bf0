/**
 * The cells of one KV cache that all slots share: a cell holds one token, for as many slots as have it in common. Counts as
 * llama.cpp does, whose copies between slots note further owners of cells. Pure bookkeeping, owned by the slot table.
 * Invariant: a cell is free, or a slot owns it.
 */
import { InvariantError } from '../../core/errors.ts'
import { checkRule } from '../sequence.ts'

export class SharedCells {
  /** How many there are. */
  readonly size: number
  readonly #owners: Uint16Array
  /** The numbers of those that nobody owns. */
  readonly #free: number[]

  constructor(size: number) {
    this.size = size
    this.#owners = new Uint16Array(size)
    this.#free = Array.from({ length: size }, (_, cell) => size - 1 - cell)
  }

  get used(): number {
    return this.size - this.#free.length
  }

  /** @throws InvariantError when all are in use */
  allocate(): number {
    const cell = this.#free.pop()
    if (cell === undefined) throw new InvariantError(`all ${this.size} cells of the KV cache are in use`)
    this.#owners[cell] = 1
    return cell
  }

  /** Gives the first `count` cells another owner. */
  share(cells: readonly number[], count: number): number[] {
    const shared = cells.slice(0, count)
    for (const cell of shared) this.#owners[cell] = this.#ownersOf(cell) + 1
    return shared
  }

  /** One of the owners keeps only the first `count`. */
  cut(cells: number[], count: number): void {
    for (let i = count; i < cells.length; i++) {
      const cell = cells[i] as number
      const owners = this.#ownersOf(cell) - 1
      this.#owners[cell] = owners
      if (owners === 0) this.#free.push(cell)
    }
    cells.length = Math.min(cells.length, count)
  }

  /** How many become free when their owner keeps only the first `count`. */
  freedByCut(cells: readonly number[], count: number): number {
    let freed = 0
    for (let i = count; i < cells.length; i++) if (this.#ownersOf(cells[i] as number) === 1) freed++
    return freed
  }

  /** How many different ones these are. */
  countDistinct(owned: readonly (readonly number[])[]): number {
    const seen = new Uint8Array(this.size)
    let count = 0
    for (const cells of owned) {
      for (const cell of cells) {
        count += 1 - (seen[cell] as number)
        seen[cell] = 1
      }
    }
    return count
  }

  /** @param owned the cells of each slot @throws InvariantError when the books do not agree. */
  checkIntegrity(owned: readonly (readonly number[])[]): void {
    const owners = new Uint16Array(this.size)
    for (const cell of owned.flat()) owners[cell] = (owners[cell] as number) + 1
    checkRule(
      owners.every((count, cell) => count === this.#owners[cell]),
      'each cell has its owners',
    )
    checkRule(this.countDistinct(owned) === this.used, 'the cells in use are those of the slots')
  }

  #ownersOf(cell: number): number {
    return this.#owners[cell] as number
  }
}
