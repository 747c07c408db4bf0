/**
 * The requests that a server is answering, looked for when it closes and not counted with every request: a connection is
 * busy while Node holds the response that it writes on it.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Node keeps the response it is writing on the socket; there is no public way to ask for it. */
interface HttpSocket extends Socket {
  readonly _httpMessage?: ServerResponse | null
}

export class OpenRequests {
  readonly #server: Server
  readonly #sockets = new Set<HttpSocket>()

  /** Must be made before the server listens, so that it sees every request. */
  constructor(server: Server) {
    this.#server = server
    server.on('request', ({ socket }: IncomingMessage) => {
      if (this.#sockets.has(socket)) return
      this.#sockets.add(socket)
      socket.once('close', () => this.#sockets.delete(socket))
    })
  }

  /** Resolves when all have been answered, with true, or with false after `timeoutMs`. */
  untilIdle(timeoutMs: number): Promise<boolean> {
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
