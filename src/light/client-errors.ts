/**
 * Answers what never becomes a request: bytes that Node's parser refuses, headers that are too large or too slow,
 * CONNECT. They get the same JSON body as every other error, written by hand onto the socket.
 */
import { STATUS_CODES, type IncomingMessage, type Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { ServiceError } from '../core/errors.ts'
import { newId } from '../core/ids.ts'
import { renderError } from './answers.ts'

interface ClientError extends Error {
  readonly code?: string | undefined
  readonly reason?: string | undefined
  readonly rawPacket?: unknown
}

/** Node keeps the response it is writing on the socket; there is no public way to ask for it. */
interface HttpSocket extends Duplex {
  readonly _httpMessage?: { readonly _headerSent?: boolean } | null
}

export function answerClientErrors(server: Server): void {
  server.on('clientError', (thrown: ClientError, socket: HttpSocket) => {
    const isAnswering = socket._httpMessage?._headerSent === true
    if (thrown.code === 'ECONNRESET' || !socket.writable || isAnswering) return void socket.destroy()
    writeError(toServiceError(thrown), socket)
  })
  server.on('connect', (request: IncomingMessage, socket: Duplex) => {
    socket.on('error', () => socket.destroy())
    writeError(new ServiceError('not_found', { method: 'CONNECT', path: request.url ?? '' }), socket)
  })
  server.on('checkExpectation', (request, response) => void server.emit('request', request, response))
}

function writeError(error: ServiceError, socket: Duplex): void {
  const { status, headers, body } = renderError(error, { requestId: newId(), url: '' })
  const head = Object.entries({ ...headers, connection: 'close' })
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n` +
      `${head.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`,
    () => socket.destroy(),
  )
}

const REQUEST_LINE = /^([A-Z][A-Z-]*) (\S{1,200})\S* HTTP\/1\.[01]\r?\n/

function toServiceError({ code, reason, rawPacket }: ClientError): ServiceError {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return malformed('it did not arrive in time.')
  if (code === 'HPE_HEADER_OVERFLOW') return malformed('its headers are too large.')
  if (code !== 'HPE_INVALID_METHOD') return malformed(`${reason ?? 'it cannot be parsed'}.`)
  // A method nobody knows, in an otherwise proper request line, is an unknown route.
  const text = Buffer.isBuffer(rawPacket) ? rawPacket.toString('latin1') : ''
  const [, method, path] = REQUEST_LINE.exec(text) ?? []
  return method && path ? new ServiceError('not_found', { method, path }) : malformed('it is not HTTP/1.1.')
}

function malformed(message: string): ServiceError {
  return new ServiceError('malformed_request', { message })
}
