/**
 * A light server on a free port: the passthrough model on the built worker threads, unless an engine is given. It
 * closes after the test.
 */
import { openKeyFile } from '../../../src/accounts/keys/key-file.ts'
import { VirtualClock } from '../../../src/core/clock.ts'
import { StartError } from '../../../src/core/errors.ts'
import type { LightServerOptions } from '../../../src/light.ts'
import { LightServer } from '../../../src/light/light-server.ts'
import { createRegistryHost } from '../../../src/light/registry-host.ts'
import { ModelRegistry } from '../../../src/models/registry.ts'
import type { Engine } from '../../../src/protocol/engine.ts'
import { whenUnused } from '../shared.ts'

export const LIGHT_KEY = 'sk-svc-0123abcd'

/** Built, because not every Node that is supported runs a thread from TypeScript. */
const WORKER_ENTRY = new URL('../../../dist/light/workers/generation-worker.js', import.meta.url)

export interface TestLightServer {
  readonly server: LightServer
  readonly clock: VirtualClock
  /** What was told to `onError`. */
  readonly failures: readonly (readonly [error: unknown, requestId: string | null])[]
  readonly listen: () => Promise<number>
}

export interface TestLightServerOptions extends LightServerOptions {
  readonly engine?: Engine
  readonly workerEntry?: URL
}

export function createTestLightServer({
  engine,
  workerEntry = WORKER_ENTRY,
  ...options
}: TestLightServerOptions = {}): TestLightServer {
  const clock = new VirtualClock()
  const failures: [unknown, string | null][] = []
  const server = new LightServer(
    {
      port: 0,
      onError: (...failure) => void failures.push(failure),
      ...(engine && { checkpoint: 'of the test' }),
      ...options,
    },
    {
      clock,
      workerEntry,
      openCheckpoint: async (_, { maxQueue }) => ({
        host: createRegistryHost(createRegistry(engine, { maxQueue, clock }), clock),
        loaded: Promise.resolve(),
      }),
      openKeys: (location) => openKeyFile({ location, option: 'keyDb' }, clock),
    },
  )
  whenUnused(() => server.close())
  return { server, clock, failures, listen: async () => (await server.listen()).port }
}

function createRegistry(
  engine: Engine | undefined,
  deps: { readonly maxQueue: number; readonly clock: VirtualClock },
): ModelRegistry {
  return new ModelRegistry({
    openEngine: () => Promise.reject(new StartError('No other model here.', 1)),
    openFallback: () => {
      if (engine === undefined) throw new StartError('This test has no engine.', 1)
      return engine
    },
    ...deps,
  })
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
    headers: {
      authorization: `Bearer ${LIGHT_KEY}`,
      ...(hasBody && { 'content-type': 'application/json' }),
      ...headers,
    },
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
