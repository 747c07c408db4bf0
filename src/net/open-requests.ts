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

  /** Resolves when all have been answered, with true, or with false after `timeoutMs`. */
  async untilIdle(timeoutMs: number): Promise<boolean> {
    if (this.#count === 0) return true
    let timer: NodeJS.Timeout | undefined
    const isIdle = await new Promise<boolean>((resolve) => {
      this.#onIdle = () => resolve(true)
      timer = setTimeout(() => resolve(false), timeoutMs)
    })
    clearTimeout(timer)
    return isIdle
  }
}
