/**
 * Ends an HTTP server without cutting off whoever is being answered. Fastify's own close waits for connections that
 * never sent anything; this one waits for requests. Used by the composition root at shutdown.
 */
import type { FastifyInstance } from 'fastify'

export interface GracefulClose {
  /** Refuses new connections, waits for open requests, at most `timeoutMs`; true when all were answered. */
  drain(timeoutMs: number): Promise<boolean>
  /** Waits a moment for last words that were already written, then closes every connection. */
  close(): Promise<void>
}

/** Time that a final error event may take to reach its client. */
const LAST_WORDS_MS = 1000

/** Must be called before the server listens, so that it sees every request. */
export function prepareGracefulClose(app: FastifyInstance): GracefulClose {
  const { server } = app
  let openRequests = 0
  let onIdle: () => void = () => {}
  server.on('request', ({ socket }, response) => {
    openRequests++
    const end = (): void => {
      response.off('close', end)
      socket.off('close', end)
      openRequests--
      if (openRequests === 0) onIdle()
    }
    response.on('close', end)
    // A pipelined request has no response on the socket yet: its end is the socket's.
    socket.on('close', end)
  })
  const idle = async (timeoutMs: number): Promise<boolean> => {
    if (openRequests === 0) return true
    let timer: NodeJS.Timeout | undefined
    const isIdle = await new Promise<boolean>((resolve) => {
      onIdle = () => resolve(true)
      timer = setTimeout(() => resolve(false), timeoutMs)
    })
    clearTimeout(timer)
    return isIdle
  }
  return {
    drain: (timeoutMs) => {
      server.close()
      server.closeIdleConnections()
      return idle(timeoutMs)
    },
    close: async () => {
      await idle(LAST_WORDS_MS)
      server.closeAllConnections()
      await app.close()
    },
  }
}
