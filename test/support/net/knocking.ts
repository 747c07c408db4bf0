/** Clients of a server that wants knocking, each at a loopback address of its own. */
import { connect, type Socket } from 'node:net'
import { whenUnused } from '../shared.ts'

/** Connects and waits until the server has closed the connection; gives what it sent. */
export function knockOn(port: number, localAddress = '127.0.0.1'): Promise<string> {
  return new Promise((resolve) => {
    let received = ''
    const socket = connect({ host: '127.0.0.1', port, localAddress })
    whenUnused(() => void socket.destroy())
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1')
    })
    // A connection that is closed while bytes are under way is reset.
    socket.on('error', () => {})
    socket.once('close', () => resolve(received))
  })
}

export async function knockAll(ports: readonly number[], localAddress?: string): Promise<void> {
  for (const port of ports) await knockOn(port, localAddress)
}

/** The status that a request from this address is answered with; null when the connection is closed without a byte. */
export function statusFrom(port: number, localAddress: string, headers = ''): Promise<number | null> {
  const request = `GET /v1/health HTTP/1.1\r\nhost: x\r\n${headers}\r\n`
  return new Promise((resolve) => {
    let received = ''
    const socket = connect({ host: '127.0.0.1', port, localAddress }, () => socket.write(request))
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1')
      socket.destroy()
    })
    socket.on('error', () => {})
    socket.once('close', () => resolve(received === '' ? null : Number(received.split(' ')[1])))
  })
}

/** A connection that stays. */
export async function openFrom(port: number, localAddress: string, host = '127.0.0.1'): Promise<Socket> {
  const socket = connect({ host, port, localAddress })
  whenUnused(() => void socket.destroy())
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve)
    socket.once('error', reject)
  })
  socket.on('error', () => {})
  return socket
}
