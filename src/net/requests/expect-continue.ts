/**
 * `Expect: 100-continue`: the client waits to be told before it sends its body. It is told when the body is about to be
 * read, so that one whose request is refused at the head sends none at all.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'

const waiting = new WeakMap<object, ServerResponse>()

/** Node would tell it at once. */
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
