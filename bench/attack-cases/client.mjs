// @ts-check
/** Requests of a client that means no good: each on a connection of its own, aborted when asked for, bodies as they are given. */
import http from 'node:http'
import net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

const TINY_CHUNKS_AT_ONCE = 10_000

/**
 * @typedef {object} Request
 * @property {string} method
 * @property {string} path
 * @property {string} [key]
 * @property {string | Buffer} [body]
 * @property {number} [abortAfterMs] when the client leaves, counted from the first byte
 * @property {string} [from] local address to connect from
 */

/** @typedef {{ status: number | 'aborted' | 'failed', ms: number, text: string }} Outcome */

/** Never rejects. @param {string} address @param {Request} what @param {AbortSignal} signal @returns {Promise<Outcome>} */
export function send(address, { method, path, key, body, abortAfterMs, from }, signal) {
  const startedMs = performance.now()
  return new Promise((resolve) => {
    const end = (/** @type {Outcome['status']} */ status, text = '') =>
      resolve({ status, ms: performance.now() - startedMs, text })
    if (signal.aborted) return end('aborted')
    const headers = {
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
      ...(body !== undefined && {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      }),
    }
    const options = { method, headers, agent: false, ...(from !== undefined && { localAddress: from }) }
    const request = http.request(`${address}${path}`, options, (response) => {
      let text = ''
      response.setEncoding('utf8')
      // The beginning of an answer says what it is.
      response.on('data', (chunk) => (text += text.length < 1000 ? chunk : ''))
      response.on('end', () => end(response.statusCode ?? 'failed', text))
      response.on('error', () => end('failed', text))
    })
    const abort = () => {
      end('aborted')
      request.destroy()
    }
    const timer = abortAfterMs === undefined ? undefined : setTimeout(abort, abortAfterMs)
    signal.addEventListener('abort', abort, { once: true })
    request.on('close', () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', abort)
    })
    request.on('error', () => end('failed'))
    request.end(body)
  })
}

/**
 * One body as fast as the server reads it, in chunks of one byte, without its end.
 * @param {string} address @param {{ path: string, key?: string, chunks: number }} what @param {AbortSignal} signal
 * @returns {Promise<Pick<Outcome, 'status'>>}
 */
export function sendInTinyChunks(address, { path, key, chunks }, signal) {
  const { hostname, port } = new URL(address)
  const piece = Buffer.from('1\r\n[\r\n'.repeat(TINY_CHUNKS_AT_ONCE))
  const authorization = key === undefined ? '' : `authorization: Bearer ${key}\r\n`
  return new Promise((resolve) => {
    const socket = net.connect(Number(port), hostname)
    let left = chunks
    const abort = () => end('aborted')
    const end = (/** @type {Outcome['status']} */ status) => {
      signal.removeEventListener('abort', abort)
      resolve({ status })
      socket.destroy()
    }
    const sendMore = () => {
      for (; left > 0; left -= TINY_CHUNKS_AT_ONCE) if (!socket.write(piece)) return
      end('aborted')
    }
    signal.addEventListener('abort', () => end('aborted'), { once: true })
    socket
      .on('error', () => end('failed'))
      .on('close', () => end('failed'))
      .on('drain', sendMore)
    socket.on('data', (answer) => end(Number(/^HTTP\/1\.1 (\d+)/.exec(answer.toString('latin1'))?.[1] ?? 0)))
    socket.write(
      `POST ${path} HTTP/1.1\r\nhost: ${hostname}\r\n${authorization}content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`,
    )
    sendMore()
  })
}

/**
 * Connections that each send a body piece by piece and never its last byte, until the signal aborts.
 * @param {string} address
 * @param {{ path: string, connections: number, bytes: number, pieceBytes: number, everyMs: number }} what
 * @param {AbortSignal} signal @returns {Promise<{ status: number | 'open', count: number }[]>} how many were answered what
 */
export async function sendSlowly(address, { path, connections, bytes, pieceBytes, everyMs }, signal) {
  const { hostname, port } = new URL(address)
  const head = `POST ${path} HTTP/1.1\r\nhost: ${hostname}\r\ncontent-type: application/json\r\ncontent-length: ${bytes}\r\n\r\n`
  const piece = Buffer.alloc(pieceBytes, ' ')
  /** @type {Map<number | 'open', number>} */
  const answers = new Map()
  const sockets = Array.from({ length: connections }, () => {
    const socket = net.connect(Number(port), hostname).on('error', () => {})
    let isAnswered = false
    socket.on('data', (chunk) => {
      if (isAnswered) return
      isAnswered = true
      const status = Number(/^HTTP\/1\.1 (\d+)/.exec(chunk.toString('latin1'))?.[1] ?? 0)
      answers.set(status, (answers.get(status) ?? 0) + 1)
    })
    socket.write(head)
    return socket
  })
  for (let sent = 0; sent + pieceBytes < bytes && !signal.aborted; sent += pieceBytes) {
    for (const socket of sockets) if (socket.writable) socket.write(piece)
    await sleep(everyMs, undefined, { signal }).catch(() => {})
  }
  const open = sockets.filter((socket) => socket.writable && !socket.destroyed).length
  for (const socket of sockets) socket.destroy()
  const answered = [...answers].map(([status, count]) => ({ status, count }))
  return [...answered, { status: /** @type {const} */ ('open'), count: open }]
}
