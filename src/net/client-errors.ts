/**
 * Answers what never becomes a request: bytes that Node's parser refuses, headers that are too large or too slow,
 * CONNECT. They get the same JSON body as every other error, written by hand onto the socket.
 */
import { STATUS_CODES, type IncomingMessage, type Server } from 'node:http'
import type { Socket } from 'node:net'
import { keepRequestId } from './requests/request-head.ts'
import { readRequestLine } from './requests/request-line.ts'
import { unknownRoute } from './requests/request-target.ts'
import { ServiceError } from '../core/errors.ts'
import type { Answer } from '../core/shared-state.ts'
import { errorShapeOf, renderError } from './render-error.ts'

interface ClientError extends Error {
  readonly code?: string | undefined
  readonly reason?: string | undefined
  readonly rawPacket?: unknown
}

/** Node keeps the response it is writing on the socket; there is no public way to ask for it. */
interface HttpSocket extends Socket {
  readonly _httpMessage?: { readonly _headerSent?: boolean; readonly req?: IncomingMessage } | null
}

/**
 * Connections that Node's time-outs end in one turn of the event loop. All that were opened at the same moment are
 * overdue at the same moment, and thousands of answers in a row would block the event loop.
 */
const OVERDUE_PER_TURN = 8

/** Whether a connection is closed without an answer. */
export type UnwelcomeCheck = (socket: Socket) => Answer<boolean>

/** A check that fails closes the connection. */
function unlessUnwelcome(isUnwelcome: UnwelcomeCheck, socket: Socket, act: () => void): void {
  const use = (unwelcome: boolean): void => (unwelcome ? void socket.destroy() : act())
  const answer = isUnwelcome(socket)
  if (answer instanceof Promise) answer.then(use, () => use(true))
  else use(answer)
}

/** A listener for a server's `clientError`. A banned address gets no answer. */
export function createClientErrorListener(
  isUnwelcome: UnwelcomeCheck = () => false,
): (thrown: ClientError, socket: HttpSocket) => void {
  const overdue: { readonly thrown: ClientError; readonly socket: HttpSocket }[] = []
  const answer = (thrown: ClientError, socket: HttpSocket): void => {
    unlessUnwelcome(isUnwelcome, socket, () => answerClientError(thrown, socket))
  }
  const answerSome = (): void => {
    for (const { thrown, socket } of overdue.splice(0, OVERDUE_PER_TURN)) answer(thrown, socket)
    if (overdue.length > 0) setImmediate(answerSome)
  }
  return (thrown, socket) => {
    if (thrown.code !== 'ERR_HTTP_REQUEST_TIMEOUT') return answer(thrown, socket)
    overdue.push({ thrown, socket })
    if (overdue.length === 1) setImmediate(answerSome)
  }
}

function answerClientError(thrown: ClientError, socket: HttpSocket): void {
  const isAnswering = socket._httpMessage?._headerSent === true
  if (thrown.code === 'ECONNRESET' || !socket.writable || isAnswering) return void socket.destroy()
  writeError(fromClientError(thrown), socket, nameOf(thrown, socket))
}

/** Answers what Node would otherwise answer by itself, or by hanging up. A banned address gets no answer. */
export function answerOddRequests(server: Server, isUnwelcome: UnwelcomeCheck = () => false): void {
  server.on('connect', (request: IncomingMessage, socket: Socket) => {
    socket.on('error', () => socket.destroy())
    unlessUnwelcome(isUnwelcome, socket, () => {
      const path = request.url ?? ''
      const name = { requestId: keepRequestId(request.headers['x-request-id']), url: path }
      writeError(unknownRoute('CONNECT', path, null), socket, name)
    })
  })
  server.on('checkExpectation', (request, response) => void server.emit('request', request, response))
}

interface RequestName {
  readonly requestId: string
  readonly url: string
}

/** Id and URL of a request that broke off, from its parsed head or from its bytes. */
function nameOf(thrown: ClientError, socket: HttpSocket): RequestName {
  const parsed = socket._httpMessage?.req
  if (parsed !== undefined) {
    return { requestId: keepRequestId(parsed.headers['x-request-id']), url: parsed.url ?? '' }
  }
  const text = textOf(thrown.rawPacket)
  return {
    requestId: keepRequestId(/^x-request-id:[ \t]*(\S+)[ \t]*\r?$/im.exec(text)?.[1]),
    url: readRequestLine(text)?.path ?? '',
  }
}

function writeError(error: ServiceError, socket: Socket, name: RequestName): void {
  const { status, headers, body } = renderError(error, {
    requestId: name.requestId,
    shape: errorShapeOf(name.url),
  })
  const head = Object.entries({ ...headers, connection: 'close' })
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n` +
      `${head.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`,
    () => socket.destroy(),
  )
}

function fromClientError(thrown: ClientError): ServiceError {
  switch (thrown.code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return malformed('it did not arrive in time.')
    case 'HPE_HEADER_OVERFLOW':
      return malformed('its headers are too large.')
    case 'HPE_INVALID_METHOD': {
      // An unknown method in an otherwise correct request line is an unknown route.
      const line = readRequestLine(textOf(thrown.rawPacket))
      return line === null ? malformed('it is not HTTP/1.1.') : unknownRoute(line.method, line.path, null)
    }
    // The first bytes of every HTTP/2 connection.
    case 'HPE_PAUSED_H2_UPGRADE':
      return malformed('its version is HTTP/2.0, which is not spoken here.')
    case undefined:
    default:
      return malformed(`${thrown.reason ?? 'it cannot be parsed'}.`)
  }
}

function textOf(packet: unknown): string {
  return Buffer.isBuffer(packet) ? packet.toString('latin1') : ''
}

function malformed(message: string): ServiceError {
  return new ServiceError('malformed_request', { message })
}
