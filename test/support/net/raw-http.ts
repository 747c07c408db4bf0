/** HTTP by hand: bytes onto a socket, and what comes back until the server closes or the answer is complete. */
import { connect, type Socket } from 'node:net'
import { whenUnused } from '../shared.ts'

export interface RawAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export async function openSocket(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  whenUnused(() => void socket.destroy())
  await new Promise((resolve) => socket.once('connect', resolve))
  return socket
}

/** Resolves when the connection is gone, in whatever way. */
export function untilClosed(socket: Socket): Promise<void> {
  socket.resume()
  return new Promise((resolve) => socket.once('close', () => resolve()))
}

/** A POST with a JSON body, as it goes over the wire. */
export function postBytes(url: string, payload: object, secret: string): string {
  const body = JSON.stringify(payload)
  return (
    `POST ${url} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${secret}\r\n` +
    `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  )
}

/** Sends bytes and reads one answer. @throws when the server hangs up without one. */
export async function exchange(
  port: number,
  bytes: string | Buffer,
  { end = false } = {},
): Promise<RawAnswer> {
  const socket = await openSocket(port)
  const answer = readAnswer(socket)
  if (end) socket.end(bytes)
  else socket.write(bytes)
  return answer
}

export function readAnswer(socket: Socket): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    let received = ''
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1')
      const answer = parseAnswer(received)
      if (answer !== null) resolve(answer)
    })
    socket.once('close', () => reject(new Error(`The server hung up after ${JSON.stringify(received)}`)))
  })
}

/** Null while the answer is incomplete. */
function parseAnswer(received: string): RawAnswer | null {
  const headEnd = received.indexOf('\r\n\r\n')
  if (headEnd < 0) return null
  const [statusLine = '', ...lines] = received.slice(0, headEnd).split('\r\n')
  const headers = Object.fromEntries(
    lines.map((line) => [
      line.slice(0, line.indexOf(':')).toLowerCase(),
      line.slice(line.indexOf(':') + 1).trim(),
    ]),
  )
  const body = received.slice(headEnd + 4)
  if (body.length < Number(headers['content-length'] ?? 0)) return null
  return { status: Number(statusLine.split(' ')[1]), headers, body }
}
