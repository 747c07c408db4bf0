/** A TCP proxy in front of a server, which a test cuts: connections end, and new ones are refused until it is mended. */
import { createConnection, createServer, type Socket } from 'node:net'
import { freePorts } from './free-ports.ts'
import { whenUnused } from '../shared.ts'

export interface CutLine {
  readonly port: number
  cut(): Promise<void>
  mend(): Promise<void>
}

export async function openCutLine(toPort: number): Promise<CutLine> {
  const [port = 0] = await freePorts(1)
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    const upstream = createConnection(toPort, '127.0.0.1')
    for (const one of [socket, upstream]) {
      sockets.add(one)
      one.on('error', () => {})
      one.once('close', () => {
        sockets.delete(one)
        socket.destroy()
        upstream.destroy()
      })
    }
    socket.pipe(upstream).pipe(socket)
  })
  const mend = () => new Promise<void>((resolve) => void server.listen(port, '127.0.0.1', resolve))
  const cut = async () => {
    const closed = new Promise<void>((resolve) => void server.close(() => resolve()))
    for (const socket of sockets) socket.destroy()
    await closed
  }
  await mend()
  whenUnused(cut)
  return { port, cut, mend }
}
