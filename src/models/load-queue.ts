/** The loads of one model id: one after another, in the order they were asked for. Owned by the registry's entry. */
export class LoadQueue {
  /** Each settles when its load has, and never rejects; the one under way first. */
  readonly #loads: Promise<void>[] = []

  get isEmpty(): boolean {
    return this.#loads.length === 0
  }

  /** Settles with the load under way. */
  get first(): Promise<void> {
    return this.#loads[0] ?? Promise.resolve()
  }

  /** Settles when all that are in line now are done. */
  get last(): Promise<void> {
    return this.#loads.at(-1) ?? Promise.resolve()
  }

  /** Settles as `load` does, which is called when its turn comes; it is not in line any more then. */
  async add<Loaded>(load: () => Promise<Loaded>): Promise<Loaded> {
    const loaded = this.last.then(load)
    const leave = (): void => void this.#loads.shift()
    const settled = loaded.then(leave, leave)
    this.#loads.push(settled)
    await settled
    return await loaded
  }
}
