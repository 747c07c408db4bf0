/** Gives something to one asker at a time, in the order they ask. */
export class Turns {
  #last: Promise<void> = Promise.resolve()
  /** Those who have their turn or wait for it. */
  #askers = 0

  get isFree(): boolean {
    return this.#askers === 0
  }

  /** Resolves when it is the caller's turn, with what ends it. */
  async take(): Promise<() => void> {
    const previous = this.#last
    let end = (): void => {}
    this.#askers++
    this.#last = new Promise((resolve) => {
      end = () => {
        this.#askers--
        resolve()
      }
    })
    await previous
    return end
  }
}
