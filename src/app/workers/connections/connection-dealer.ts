/**
 * Deals the connections of a service out to its worker processes, in turn. Each is held until its worker has said that it has it, so that
 * those on their way to one that ends go to another; while no worker serves they wait.
 * Invariant: no byte of a connection is read here, and two workers never have the same one.
 */
import type { Socket } from 'node:net'

/** Connections that may wait for a worker: as many as the system keeps for a process that does not accept them. */
const MAX_WAITING = 511

export interface ConnectionTaker {
  /** Sends a copy of the connection. What cannot be sent any more is dealt out again when the worker ends. */
  hand(id: number, connection: Socket): void
}

interface Handed {
  readonly taker: ConnectionTaker
  readonly connection: Socket
}

export class ConnectionDealer {
  /** Those that serve; the first one is next. */
  readonly #takers: ConnectionTaker[] = []
  /** On their way, by number. */
  readonly #handed = new Map<number, Handed>()
  readonly #waiting: Socket[] = []
  #nextId = 0

  add(taker: ConnectionTaker): void {
    this.#takers.push(taker)
    for (const connection of this.#waiting.splice(0)) this.deal(connection)
  }

  /** It gets no further connection. */
  remove(taker: ConnectionTaker): void {
    const index = this.#takers.indexOf(taker)
    if (index !== -1) this.#takers.splice(index, 1)
  }

  /** It has ended, and will not say any more what it has. */
  end(taker: ConnectionTaker): void {
    this.remove(taker)
    for (const [id, handed] of this.#handed) {
      if (handed.taker !== taker) continue
      this.#handed.delete(id)
      this.deal(handed.connection)
    }
  }

  deal(connection: Socket): void {
    const taker = this.#takers.shift()
    if (taker === undefined) {
      this.#waiting.push(connection)
      if (this.#waiting.length > MAX_WAITING) this.#waiting.shift()?.destroy()
      return
    }
    this.#takers.push(taker)
    const id = this.#nextId++
    this.#handed.set(id, { taker, connection })
    taker.hand(id, connection)
  }

  taken(id: number): void {
    // Closes the copy of this process only.
    this.#handed.get(id)?.connection.destroy()
    this.#handed.delete(id)
  }

  /** Ends those that no worker has. */
  close(): void {
    const handed = [...this.#handed.values()].map(({ connection }) => connection)
    for (const connection of [...this.#waiting.splice(0), ...handed]) connection.destroy()
    this.#handed.clear()
  }
}
