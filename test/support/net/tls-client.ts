/** HTTPS as a client does it, with the self-signed certificates of the tests as the only ones it trusts. */
import { request } from 'node:https'
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls'
import { whenUnused } from '../shared.ts'
import { readFixture } from './tls-files.ts'

const TRUSTED = { host: '127.0.0.1', ca: [readFixture('first.crt'), readFixture('second.crt')] }

/** A connection whose handshake is done. */
export async function openSecureSocket(port: number, options: ConnectionOptions = {}): Promise<TLSSocket> {
  const socket = connect({ ...TRUSTED, port, ...options })
  whenUnused(() => void socket.destroy())
  await new Promise<void>((resolve, reject) => {
    socket.once('secureConnect', resolve)
    socket.once('error', reject)
  })
  socket.on('error', () => {})
  return socket
}

/** Whose certificate the server shows. */
export async function certificateOf(port: number): Promise<string> {
  const socket = await openSecureSocket(port)
  const { CN } = socket.getPeerCertificate().subject
  socket.destroy()
  return String(CN)
}

export interface SecureCall {
  readonly port: number
  readonly path: string
  readonly secret?: string
  /** Goes out as JSON. */
  readonly body?: object
  /** The client's own address. */
  readonly localAddress?: string
}

export interface SecureAnswer {
  readonly status: number
  readonly text: string
  readonly cookies: readonly string[]
}

/** Told of an answer before its end: what has arrived of it. */
export type OnText = (text: string) => void

/** On a connection of its own. */
export function secureFetch(call: SecureCall, onText: OnText = () => {}): Promise<SecureAnswer> {
  const { port, path, secret, body, localAddress } = call
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        ...TRUSTED,
        port,
        path,
        agent: false,
        method: body === undefined ? 'GET' : 'POST',
        ...(localAddress !== undefined && { localAddress }),
        headers: {
          ...(secret !== undefined && { authorization: `Bearer ${secret}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
      },
      (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk
          onText(text)
        })
        const { statusCode: status = 0, headers } = response
        response.once('end', () => resolve({ status, text, cookies: headers['set-cookie'] ?? [] }))
        response.once('error', reject)
      },
    )
    sent.once('error', reject)
    sent.end(body === undefined ? undefined : JSON.stringify(body))
  })
}
