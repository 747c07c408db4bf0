/** A light server on a free port, over the passthrough engine unless told otherwise. It closes after the test. */
import { onTestFinished } from 'vitest'
import { VirtualClock } from '../../src/core/clock.ts'
import { createPassthroughEngine } from '../../src/light/generation.ts'
import type { LightServer, LightServerOptions } from '../../src/light/index.ts'
import { buildLightServer } from '../../src/light/light-server.ts'
import type { Engine } from '../../src/protocol/engine.ts'

const KEY = { authorization: 'Bearer sk-svc-0123abcd' }

export interface TestLightServer {
  readonly server: LightServer
  readonly clock: VirtualClock
  /** What was told to `onError`. */
  readonly failures: readonly (readonly [error: unknown, requestId: string])[]
}

export function createTestLightServer({
  engine,
  ...options
}: LightServerOptions & { engine?: Engine } = {}): TestLightServer {
  const clock = new VirtualClock()
  const failures: [unknown, string][] = []
  const server = buildLightServer(
    { port: 0, onError: (...failure) => void failures.push(failure), ...options },
    { engine: engine ?? createPassthroughEngine(), clock },
  )
  onTestFinished(() => server.close())
  return { server, clock, failures }
}

export interface CallOptions {
  readonly method?: string
  readonly headers?: Record<string, string>
  /** Goes out as JSON. */
  readonly payload?: unknown
}

/** Calls with a key. */
export async function call(
  server: LightServer,
  path: string,
  { method, headers, payload }: CallOptions = {},
) {
  const { url } = server.address() ?? (await server.listen())
  const hasBody = payload !== undefined
  const response = await fetch(url + path, {
    method: method ?? (hasBody ? 'POST' : 'GET'),
    headers: { ...KEY, ...(hasBody && { 'content-type': 'application/json' }), ...headers },
    ...(hasBody && { body: JSON.stringify(payload) }),
  })
  const text = await response.text()
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    text,
    json: text === '' ? null : JSON.parse(text),
  }
}
