/** An app over the real registry and, unless told otherwise, the real passthrough engine. It closes after the test. */
import type { AddressInfo } from 'node:net'
import type { FastifyInstance, InjectOptions } from 'fastify'
import { onTestFinished } from 'vitest'
import type { Authenticator } from '../../src/accounts/authenticator.ts'
import { createStaticKeyAuthenticator } from '../../src/accounts/static-keys.ts'
import { buildApp } from '../../src/api/app.ts'
import type { AppDeps } from '../../src/api/deps.ts'
import { VirtualClock } from '../../src/core/clock.ts'
import { StartError } from '../../src/core/errors.ts'
import type { Tier } from '../../src/core/tiers.ts'
import { InProcessEngine } from '../../src/engines/local/in-process-engine.ts'
import { PassthroughRunner } from '../../src/engines/passthrough/passthrough-runner.ts'
import { ModelRegistry } from '../../src/models/registry.ts'
import type { Engine } from '../../src/protocol/engine.ts'
import { createLog } from '../../src/telemetry/log.ts'

export const KEY = 'test-key'

export interface TestAppOptions extends Partial<Omit<AppDeps, 'registry'>> {
  readonly engine?: Engine
  readonly maxQueue?: number
  readonly maxBatchSize?: number
}

export interface TestApp {
  readonly app: FastifyInstance
  readonly clock: VirtualClock
  /** Lines of the log so far. */
  readonly logLines: readonly Record<string, unknown>[]
  /** Calls with the key; `payload` objects go out as JSON. */
  readonly call: (options: InjectOptions | string) => Promise<Answer>
  readonly post: (url: string, payload: object) => Promise<Answer>
  /** Listens on a free port of the loopback interface. */
  readonly listen: () => Promise<number>
}

type Answer = Awaited<ReturnType<FastifyInstance['inject']>>

export function createTestApp(options: TestAppOptions = {}): TestApp {
  const clock = new VirtualClock()
  const logLines: Record<string, unknown>[] = []
  const log = createLog({ destination: { write: (line: string) => void logLines.push(JSON.parse(line)) } })
  const app = buildApp({
    registry: createRegistry(options),
    authenticator: createStaticKeyAuthenticator([KEY]),
    clock,
    log,
    isReady: () => true,
    isDraining: () => false,
    ...options,
  })
  onTestFinished(async () => {
    app.server.closeAllConnections()
    await app.close()
  })
  const call = (request: InjectOptions | string) => {
    const { headers, ...rest } = typeof request === 'string' ? { url: request } : request
    return app.inject({ ...rest, headers: { authorization: `Bearer ${KEY}`, ...headers } })
  }
  return {
    app,
    clock,
    logLines,
    call,
    post: (url, payload) => call({ method: 'POST', url, payload }),
    listen: async () => {
      await app.listen({ port: 0, host: '127.0.0.1' })
      return (app.server.address() as AddressInfo).port
    },
  }
}

/** An authenticator that takes any secret for a key of this tier. */
export function createTierAuthenticator(tier: Tier): Authenticator {
  return { authenticate: async (secret) => (secret === null ? null : { keyId: 'k', accountId: 'a', tier }) }
}

function createRegistry({ engine, maxQueue = 512, maxBatchSize = 8 }: TestAppOptions): ModelRegistry {
  return new ModelRegistry({
    openEngine: () => Promise.reject(new StartError('No other model here.', 1)),
    openFallback: () =>
      engine ??
      new InProcessEngine({ runner: new PassthroughRunner({ maxBatchSize, maxSeqLen: null }), maxQueue }),
    maxQueue,
    clock: new VirtualClock(),
  })
}
