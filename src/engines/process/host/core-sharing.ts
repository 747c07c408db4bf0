/**
 * Says to each engine that has work how many engines have, so that together they use about as many threads as there are cores.
 * One for all engines of the HTTP process, since the cores are the machine's; their hosts report when work begins and
 * ends. What the number means for its threads is the engine's affair.
 */

/** Receives the number of engines that have work, its own included. */
export type OnShare = (busyEngines: number) => void

export class CoreSharing {
  readonly #busy = new Set<OnShare>()

  /** Harmless when it is there already. */
  enter(engine: OnShare): void {
    if (this.#busy.has(engine)) return
    this.#busy.add(engine)
    this.#tellAll()
  }

  /** Harmless when it is not there. */
  leave(engine: OnShare): void {
    if (this.#busy.delete(engine)) this.#tellAll()
  }

  #tellAll(): void {
    for (const engine of this.#busy) engine(this.#busy.size)
  }
}

/** Of this process. */
export const processCores = new CoreSharing()
