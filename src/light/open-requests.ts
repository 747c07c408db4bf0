/** Counts the requests a server is answering, so that closing it can wait for them. */
import type { Server } from 'node:http'
import { onExchangeEnd } from './client-presence.ts'

export class OpenRequests {
  #count = 0
  #onIdle: () => void = () => {}

  /** Must be made before the server listens, so that it sees every request. */
  constructor(server: Server) {
    server.on('request', (request, response) => {
      this.#count++
      onExchangeEnd(request, response, () => {
        this.#count--
        if (this.#count === 0) this.#onIdle()
      })
    })
  }

  /** Resolves when all have been answered, or after `timeoutMs`. */
  async untilIdle(timeoutMs: number): Promise<void> {
    if (this.#count === 0) return
    let timer: NodeJS.Timeout | undefined
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve
      timer = setTimeout(resolve, timeoutMs)
    })
    clearTimeout(timer)
  }
}
