/**
 * Ends an HTTP server without cutting off whoever is being answered. Node's own close waits for connections that never
 * sent anything; this one waits for requests. Owned by whoever owns the server.
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

  /** After `drain`: waits a moment for last words that were already written, then closes every connection. */
  async close(): Promise<void> {
    await this.#openRequests.untilIdle(LAST_WORDS_MS)
    this.#server.closeAllConnections()
    await this.#closed
  }
}
