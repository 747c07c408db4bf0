/** Gives something to one asker at a time, in the order they ask. */
export class Turns {
  #last: Promise<void> = Promise.resolve()

  /** Resolves when it is the caller's turn, with what ends it. */
  async take(): Promise<() => void> {
    const previous = this.#last
    let end = (): void => {}
    this.#last = new Promise((resolve) => {
      end = resolve
    })
    await previous
    return end
  }
}
