/** The connections that a worker gets from its supervisor, which is told of each that has come. */
import type { Socket } from 'node:net'
import type { Channel } from '../../../core/channel/channel.ts'
import type { ConnectionSource } from '../../../net/listener.ts'

export class HandedConnections implements ConnectionSource {
  readonly #open = new Set<Socket>()
  #accept: ((socket: Socket) => void) | null = null
  #onEnd: (() => void) | null = null

  constructor(channel: Pick<Channel, 'castAtOnce'>) {
    process.on('message', (id: unknown, handle: unknown) => {
      const socket = handle as Socket | undefined
      // The supervisor gives it to another worker once this one has ended.
      if (this.#accept === null) return void socket?.destroy()
      channel.castAtOnce('connections.taken', [id])
      // Without one the client has left.
      if (socket !== undefined) this.#take(socket, this.#accept)
    })
  }

  open(accept: (socket: Socket) => void): void {
    this.#accept = accept
  }

  async ended(): Promise<void> {
    if (this.#open.size > 0) await new Promise<void>((resolve) => (this.#onEnd = resolve))
  }

  close(): void {
    this.#accept = null
  }

  #take(socket: Socket, accept: (socket: Socket) => void): void {
    this.#open.add(socket)
    socket.once('close', () => {
      this.#open.delete(socket)
      if (this.#open.size === 0) this.#onEnd?.()
    })
    accept(socket)
  }
}
