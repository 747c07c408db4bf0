/**
 * An engine as a service: one step loop, and any number of clients that connect to its socket. A request belongs to the
 * connection it came on: its events go there and nowhere else, and it ends with that connection. Who may connect is decided
 * by the folder in which the socket lies.
 */
import { createServer, type Server } from 'node:net'
import { StepLoop, type StepLoopOptions } from '../step-loop/step-loop.ts'
import { EngineConnection } from './engine-connection.ts'

export type EngineServerOptions = Omit<StepLoopOptions, 'onStep' | 'onStepEnd'>

export class EngineServer {
  readonly #connections = new Set<EngineConnection>()
  readonly #server: Server

  constructor(options: EngineServerOptions) {
    const loop = new StepLoop({
      ...options,
      onStepEnd: () => {
        for (const connection of this.#connections) connection.flush()
      },
      onStep: () => {
        for (const connection of this.#connections) connection.beat()
      },
    })
    this.#server = createServer({ noDelay: true }, (socket) => {
      const connection = new EngineConnection(socket, loop)
      this.#connections.add(connection)
      socket.on('close', () => this.#connections.delete(connection))
    })
  }

  /** Resolves when clients can connect. */
  listen(socketPath: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject).listen(socketPath, resolve)
    })
  }

  /** Takes no more clients; those that are connected stay until they leave. */
  close(): void {
    this.#server.close()
  }
}
