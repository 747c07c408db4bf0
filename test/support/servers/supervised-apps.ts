/**
 * The apps of several workers over one supervisor's state, in one process: what crosses between them is the channel of the real
 * ones. Requests go to the apps in turns, as connections to a port that all of them listen on.
 */
import { type Duplex, duplexPair } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { openState, type ServerState, type StateDeps } from '../../../src/app/state.ts'
import { credentialsHandlers, remoteCredentials } from '../../../src/app/workers/credentials-calls.ts'
import { remoteSharedState, WorkerShare } from '../../../src/app/workers/shared-state-calls.ts'
import { remoteUsageStore, usageHandlers } from '../../../src/app/workers/usage-calls.ts'
import { needsV8 } from '../../../src/app/workers/worker-messages.ts'
import type { ServerConfig } from '../../../src/config/server-config.ts'
import { Channel } from '../../../src/core/channel/channel.ts'
import type { SharedState } from '../../../src/core/shared-state.ts'
import { whenUnused } from '../shared.ts'
import type { TestApp } from './test-app.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Apps in front of one state. */
    readonly workers: number
  }
}

interface SupervisorParts extends Omit<StateDeps, 'shared' | 'supervised'> {
  readonly state: ServerState
  readonly shared: SharedState
}

/** The state of one worker. */
export async function openWorkerState(
  config: ServerConfig,
  { state, shared, ...deps }: SupervisorParts,
): Promise<ServerState & { readonly shared: SharedState }> {
  const [near, far] = duplexPair()
  supervise(far, { state, shared })
  const channel = new Channel(near, { handlers: {}, needsV8, onClose: () => {} })
  const ofSupervisor = remoteSharedState(channel)
  const { operatorKey, withoutOperatorKey, staticKeySalt, browserSecret } = state
  const worker = await openState(config, {
    ...deps,
    shared: ofSupervisor,
    supervised: {
      operator: { operatorKey, withoutOperatorKey, staticKeySalt },
      browserSecret,
      instanceCredentials: remoteCredentials(channel),
      usage: remoteUsageStore(channel, () => state.usage.whyLost()),
      isUp: null,
    },
  })
  whenUnused(async () => {
    await worker.close()
    near.destroy()
  })
  return { ...worker, shared: ofSupervisor }
}

function supervise(stream: Duplex, { state, shared }: Pick<SupervisorParts, 'state' | 'shared'>): Channel {
  const share = new WorkerShare(shared)
  const handlers = {
    ...share.handlers(),
    ...credentialsHandlers(state.instanceCredentials),
    ...usageHandlers({ usage: state.usage, recorder: state.usageRecorder }),
  }
  return new Channel(stream, { handlers, needsV8, onClose: () => share.end() })
}

/** One that hands what is asked of it to these in turns; all else is that of the first. */
export function takeTurns(apps: readonly [TestApp, ...TestApp[]]): TestApp {
  const [first] = apps
  let turn = 0
  const next = (): TestApp => apps[turn++ % apps.length] ?? first
  const app = new Proxy(first.app, {
    get: (target, name, receiver) =>
      name === 'inject'
        ? (...words: Parameters<FastifyInstance['inject']>) => next().app.inject(...words)
        : (Reflect.get(target, name, receiver) as unknown),
  })
  return {
    ...first,
    app,
    call: (request) => next().call(request),
    post: (url, payload) => next().post(url, payload),
  }
}
