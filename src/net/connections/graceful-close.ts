/**
 * Closes an HTTP server without cutting off a request under way. Node's own close waits for connections that never sent
 * anything; this one waits for requests. They are not counted one by one: a connection is busy while Node holds the response
 * that it writes on it.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'

/** Node keeps the response it is writing on the socket; there is no public way to ask for it. */
interface HttpSocket extends Socket {
  readonly _httpMessage?: ServerResponse | null
}

/** Time that a last answer may take to reach its client. */
const LAST_WORDS_MS = 1000

export class GracefulClose {
  readonly #server: Server
  readonly #sockets = new Set<HttpSocket>()
  /** The last response of a connection whose client does not wait for one answer before it asks again. */
  readonly #pipelined = new WeakMap<HttpSocket, ServerResponse>()
  #closed: Promise<void> | null = null

  /** Must be made before the server listens, so that it sees every request. */
  constructor(server: Server) {
    this.#server = server
    server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
      if ((socket as HttpSocket)._httpMessage !== response) this.#pipelined.set(socket, response)
      if (this.#sockets.has(socket)) return
      this.#sockets.add(socket)
      socket.once('close', () => this.#sockets.delete(socket))
    })
  }

  /**
   * Takes no new connections, and answers what comes on the open ones as the last request of each. Resolves when none is left:
   * when the running requests have been answered, and idle connections have ended with their keep-alive time.
   */
  async leave(): Promise<void> {
    this.#closeAfterNext()
    // Not the HTTP server's own close: that would cut idle connections, on which a request may be under way.
    if (this.#server.listening)
      await new Promise<void>((resolve) => void NetServer.prototype.close.call(this.#server, () => resolve()))
    while (this.#sockets.size > 0) await new Promise((resolve) => setTimeout(resolve, LAST_WORDS_MS))
  }

  /**
   * Refuses new connections and waits for open requests, at most `timeoutMs`; true when all were answered. Each connection ends with what
   * runs on it, and idle ones at once: what a proxy would send on them later could only be refused.
   */
  drain(timeoutMs: number): Promise<boolean> {
    this.#closed ??= new Promise((resolve) => this.#server.close(() => resolve()))
    this.#server.closeIdleConnections()
    this.#closeAfterNext()
    for (const socket of this.#sockets) closeAfter(this.#lastResponse(socket), socket)
    return this.#untilIdle(timeoutMs)
  }

  /** After `drain`: waits a moment for answers that are written already, then closes every connection. */
  async close(): Promise<void> {
    await this.#untilIdle(LAST_WORDS_MS)
    this.#server.closeAllConnections()
    await this.#closed
  }

  /** What comes from now on is the last request of its connection. */
  #closeAfterNext(): void {
    this.#server.prependListener('request', (_request: IncomingMessage, response: ServerResponse) => {
      response.setHeader('connection', 'close')
    })
  }

  /** Null where the connection is idle. */
  #lastResponse(socket: HttpSocket): ServerResponse | null {
    const pipelined = this.#pipelined.get(socket)
    return pipelined === undefined || pipelined.writableFinished ? (socket._httpMessage ?? null) : pipelined
  }

  #untilIdle(timeoutMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const watched = new WeakSet<object>()
      const timer = setTimeout(() => finish(false), timeoutMs)
      const finish = (isIdle: boolean): void => {
        clearTimeout(timer)
        this.#server.off('request', look)
        resolve(isIdle)
      }
      const look = (): void => {
        let isIdle = true
        for (const socket of this.#sockets) {
          const response = socket._httpMessage ?? null
          if (response === null) continue
          isIdle = false
          // The next one of a pipeline is looked at when the one before it has ended.
          for (const emitter of [socket, response]) {
            if (!watched.has(emitter)) emitter.once('close', look)
            watched.add(emitter)
          }
        }
        if (isIdle) finish(true)
      }
      this.#server.on('request', look)
      look()
    })
  }
}

/** The client learns of it from the head, where that is still here. */
function closeAfter(response: ServerResponse | null, socket: Socket): void {
  if (response === null) return
  if (response.headersSent) response.once('finish', () => socket.destroySoon())
  else response.setHeader('connection', 'close')
}
