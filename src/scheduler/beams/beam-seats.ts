/**
 * Assigns beams to seats of the beams' KV cache after each step. The first child of a beam keeps its parent's seat, every
 * further one takes the seat of a beam without children, so a group never needs more seats than it has beams. Pure
 * bookkeeping: copies between seats share cells and cost nothing.
 */
import { InvariantError } from '../../core/errors.ts'
import type { BeamFork } from '../../protocol/model-runner.ts'

export interface Reseating {
  /** By beam. */
  readonly seats: readonly number[]
  /** Seats of beams without children, to be emptied before the forks. */
  readonly drops: readonly number[]
  readonly forks: readonly BeamFork[]
}

/**
 * Assigns seats to the children of `parents`, which are indexes among the beams in `seats`; `all` are the group's seats.
 */
export function reseat(
  parents: readonly number[],
  seats: readonly number[],
  all: readonly number[],
): Reseating {
  const survivors = new Set(parents)
  const drops = seats.filter((_, beam) => !survivors.has(beam))
  const kept = new Set(seats.filter((_, beam) => survivors.has(beam)))
  const free = all.filter((seat) => !kept.has(seat))
  const forks: BeamFork[] = []
  const taken = new Set<number>()
  const next = parents.map((parent) => {
    const from = seats[parent]
    if (from === undefined) throw new InvariantError(`There is no beam ${parent} to continue.`)
    if (!taken.has(from)) {
      taken.add(from)
      return from
    }
    const to = free.shift()
    if (to === undefined) throw new InvariantError('A group has more beams than seats.')
    forks.push({ from, to })
    return to
  })
  return { seats: next, drops, forks }
}
