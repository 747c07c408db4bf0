/**
 * Seats for beams and the tokens that they hold together. A search takes seats and reserves room for its longest possible
 * texts when it starts. Owned by the beam groups. Invariant: a seat is free or taken once; reservations fit into the room.
 */
import { checkRule } from '../sequence.ts'

export interface SeatDemand {
  readonly seats: number
  readonly tokens: number
}

export class SeatPool {
  readonly #seats: readonly number[]
  #free: number[]
  readonly #tokens: number
  #freeTokens: number

  constructor({ firstSeat, seats, tokens }: SeatDemand & { readonly firstSeat: number }) {
    this.#seats = Array.from({ length: seats }, (_, index) => firstSeat + index)
    this.#free = [...this.#seats]
    this.#tokens = tokens
    this.#freeTokens = tokens
  }

  fits({ seats, tokens }: SeatDemand): boolean {
    return seats <= this.#free.length && tokens <= this.#freeTokens
  }

  /** The lowest free seats; they must fit. */
  take({ seats, tokens }: SeatDemand): readonly number[] {
    this.#freeTokens -= tokens
    return this.#free.sort((a, b) => a - b).splice(0, seats)
  }

  release(seats: readonly number[], tokens: number): void {
    this.#free.push(...seats)
    this.#freeTokens += tokens
  }

  /** @param taken seats and tokens of the searches that run here */
  checkIntegrity(
    taken: readonly { readonly seats: readonly number[]; readonly reservedTokens: number }[],
  ): void {
    const all = [...this.#free, ...taken.flatMap(({ seats }) => seats)].sort((a, b) => a - b)
    checkRule(String(all) === String(this.#seats), 'each seat is free or in one group')
    const reserved = taken.reduce((sum, { reservedTokens }) => sum + reservedTokens, 0)
    checkRule(
      reserved + this.#freeTokens === this.#tokens && this.#freeTokens >= 0,
      'groups keep to their room',
    )
  }
}
