/**
 * `Expect: 100-continue`: the client waits for this answer before it sends its body. It is sent when the body is about
 * to be read, so that a request that is refused by its head never sends one.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'

const waiting = new WeakMap<object, ServerResponse>()

/** Without it Node answers at once. */
export function holdContinue(server: Server): void {
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    waiting.set(request, response)
    server.emit('request', request, response)
  })
}

/** Call before the body is read. */
export function sendContinue(request: object): void {
  waiting.get(request)?.writeContinue()
  waiting.delete(request)
}
