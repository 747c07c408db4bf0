/** What the full and the light server have in common, for one suite that runs on both. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import type { Server } from 'node:http'
import type { VirtualClock } from '../../../src/core/clock.ts'
import type { Engine } from '../../../src/protocol/engine.ts'
import { createTestLightServer, LIGHT_KEY } from './light-server.ts'
import { exchange } from '../net/raw-http.ts'
import { createTestApp, KEY } from './test-app.ts'

interface StartedServer {
  readonly port: number
  readonly clock: VirtualClock
  /** Behind it, for what no client can bring about. */
  readonly httpServer: Server
  /** Asks with the key unless headers say otherwise; a `payload` goes out as JSON. */
  readonly call: (method: string, url: string, options?: CallOptions) => Promise<Answer>
}

interface CallOptions {
  readonly headers?: Record<string, string>
  readonly payload?: unknown
}

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  // oxlint-disable-next-line typescript/no-explicit-any -- of any shape, which the test says
  readonly json: any
}

export interface SharedServer {
  readonly name: string
  /** One that is good on it. */
  readonly key: string
  /** On the passthrough model unless an engine is given; it stops after the test. */
  readonly start: (options?: { readonly engine?: Engine }) => Promise<StartedServer>
}

const FULL: SharedServer = {
  name: 'the full server',
  key: KEY,
  start: async ({ engine } = {}) => {
    const { app, clock, listen } = createTestApp(engine === undefined ? {} : { engine })
    const port = await listen()
    return { port, clock, httpServer: app.server, call: createCall(port, KEY) }
  },
}

const LIGHT: SharedServer = {
  name: 'the light server',
  key: LIGHT_KEY,
  start: async ({ engine } = {}) => {
    const { clock, listen } = createTestLightServer(engine === undefined ? {} : { engine })
    const port = await listen()
    return { port, clock, httpServer: await findHttpServer(port), call: createCall(port, LIGHT_KEY) }
  },
}

export const SERVERS: readonly SharedServer[] = [FULL, LIGHT]

function createCall(port: number, key: string): StartedServer['call'] {
  return async (method, url, { headers, payload } = {}) => {
    const hasBody = payload !== undefined
    const response = await fetch(`http://127.0.0.1:${port}${url}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(hasBody && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(hasBody && { body: typeof payload === 'string' ? payload : JSON.stringify(payload) }),
    })
    const text = await response.text()
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      text,
      json: text === '' ? null : JSON.parse(text),
    }
  }
}

const REQUEST_START = 'http.server.request.start'

/** The light server keeps it to itself; Node tells whose request this is. */
async function findHttpServer(port: number): Promise<Server> {
  const found = new EventTarget()
  let server: Server | null = null
  const look = (message: unknown): void => {
    const candidate = (message as { readonly server: Server }).server
    const address = candidate.address()
    if (address === null || typeof address === 'string' || address.port !== port) return
    server = candidate
    found.dispatchEvent(new Event('found'))
  }
  subscribe(REQUEST_START, look)
  try {
    const seen = once(found, 'found')
    await exchange(port, 'GET /v1/health HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')
    await seen
  } finally {
    unsubscribe(REQUEST_START, look)
  }
  if (server === null) throw new Error('no request was seen')
  return server
}
