/**
 * Steps in front of a server's own handling of a new connection: no byte is read before the last step passes it on. Their
 * order is fixed here, the cheapest first, whatever the order of the calls. Other listeners of `connection` must be
 * attached before the first step.
 */
import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/** Hands a connection on; the one it passes may be another that carries the bytes of the first. */
export type PassOn = (socket: Socket) => void

/** Whether its address has knocked; how much that address holds already; TLS. */
const STEPS = ['knock', 'address-limit', 'tls'] as const

type Step = (typeof STEPS)[number]

interface Chain {
  readonly steps: Map<Step, PassOn>
  /** What the server itself does with a connection. */
  readonly serve: PassOn
}

const chains = new WeakMap<Server, Chain>()

/** A server has one step of a name. */
export function interceptConnections(
  server: Server,
  step: Step,
  createStep: (passOn: PassOn) => PassOn,
): void {
  const chain = chains.get(server) ?? openChain(server)
  chain.steps.set(
    step,
    createStep((socket) => passFrom(chain, STEPS.indexOf(step) + 1, socket)),
  )
}

function openChain(server: Server): Chain {
  const listeners = server.listeners('connection')
  const serve = (socket: Socket) => {
    for (const listener of listeners) Reflect.apply(listener, server, [socket])
  }
  const chain: Chain = { steps: new Map(), serve }
  chains.set(server, chain)
  server.removeAllListeners('connection')
  server.on('connection', (socket) => passFrom(chain, 0, socket))
  return chain
}

function passFrom({ steps, serve }: Chain, start: number, socket: Socket): void {
  const pass = STEPS.slice(start).flatMap((step) => steps.get(step) ?? [])[0] ?? serve
  pass(socket)
}
