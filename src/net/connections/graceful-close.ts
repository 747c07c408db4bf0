/**
 * Closes an HTTP server without cutting off a request under way. Node's own close waits for connections that never sent
 * anything; this one waits for requests.
 */
import type { Server } from 'node:http'
import { OpenRequests } from './open-requests.ts'

/** Time that a last answer may take to reach its client. */
const LAST_WORDS_MS = 1000

export class GracefulClose {
  readonly #server: Server
  readonly #openRequests: OpenRequests
  #closed: Promise<void> | null = null

  /** Must be made before the server listens, so that it sees every request. */
  constructor(server: Server) {
    this.#server = server
    this.#openRequests = new OpenRequests(server)
  }

  /** Refuses new connections and waits for open requests, at most `timeoutMs`; true when all were answered. */
  drain(timeoutMs: number): Promise<boolean> {
    this.#closed ??= new Promise((resolve) => this.#server.close(() => resolve()))
    this.#server.closeIdleConnections()
    return this.#openRequests.untilIdle(timeoutMs)
  }

  /** After `drain`: waits a moment for answers that are written already, then closes every connection. */
  async close(): Promise<void> {
    await this.#openRequests.untilIdle(LAST_WORDS_MS)
    this.#server.closeAllConnections()
    await this.#closed
  }
}
