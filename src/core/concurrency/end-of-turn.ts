/** Resolves at the end of this turn of the event loop: all that the sockets have received by then has been read. */
export function endOfTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}
