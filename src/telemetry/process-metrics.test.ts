import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { Metrics } from './metrics.ts'
import { NO_MODEL_STATES } from './model-metrics.ts'

/** A reference to what its metrics ask of a server, and so to the server. */
function createServer(): WeakRef<() => boolean> {
  const isReady = () => true
  void new Metrics({ models: NO_MODEL_STATES, isReady })
  return new WeakRef(isReady)
}

it('keep no server in memory that is gone', async () => {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  const servers = [createServer(), createServer()]
  // What a reference was made for lives to the end of the turn.
  await turn()
  collectGarbage()
  expect(servers.map((server) => server.deref())).toEqual([undefined, undefined])
})
