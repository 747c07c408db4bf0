/** A real engine process that is stopped in the middle of its work, as a hung one would be. */
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { EngineHost } from '../../src/engines/process/host/engine-host.ts'
import { ReplicatedEngine } from '../../src/engines/process/host/replicated-engine.ts'
import { writeTinyModel } from '../support/engines/llamacpp-tiny-model.ts'
import { engineRequest, runRequest } from '../support/engines/engine-requests.ts'
import { gone, temporaryFolder } from '../support/servers/server-process.ts'

const ENGINE = path.resolve(import.meta.dirname, '../../dist/engines/process/engine-main.js')

async function startHost(): Promise<EngineHost> {
  const modelPath = path.join(temporaryFolder(), 'tiny.gguf')
  writeTinyModel(modelPath, { alphabet: 'abcdefghijkl' })
  const host = await EngineHost.start(
    {
      start: {
        runner: {
          modelId: 'm',
          modelPath,
          maxBatchSize: 1,
          maxSeqLen: null,
          threads: 1,
          gpu: 'off',
          gpuLayers: null,
          kvCacheType: 'f16',
        },
        schedulePolicy: 'fcfs',
        program: ENGINE,
      },
      hangMs: 3000,
    },
    {
      onProgress: () => {},
      onLogLine: () => {},
      onCrash: () => {},
      onOverload: () => {},
      onRestart: () => {},
    },
    new AbortController().signal,
  )
  onTestFinished(() => host.close())
  return host
}

it('a stopped engine is ended and replaced; what it was running fails and what waited is run', async () => {
  const host = await startHost()
  const { pid } = host
  const events = host.generate(engineRequest('hello', { maxNewTokens: 900 }), new AbortController().signal)
  await events.next()
  process.kill(pid, 'SIGSTOP')
  const waiting = runRequest(new ReplicatedEngine([host]), engineRequest('hello', { maxNewTokens: 5 }))

  const rest = async () => {
    for await (const _ of events);
  }
  await expect(rest()).rejects.toMatchObject({ code: 'engine_failed' })

  expect(await waiting).toMatchObject([{ text: expect.stringMatching(/^[a-l]{5}$/), ends: ['length'] }])
  expect(host.pid).not.toBe(pid)
  await gone(pid)
})

it('a stopped engine is found out although every client leaves before', async () => {
  const host = await startHost()
  const { pid } = host
  process.kill(pid, 'SIGSTOP')
  let requests = 0
  while (host.pid === pid) {
    requests++
    await runRequest(host, engineRequest('hello'), AbortSignal.timeout(500)).catch(() => {})
  }
  expect(requests).toBeGreaterThan(1)
  await gone(pid)
  expect(await runRequest(host, engineRequest('hello', { maxNewTokens: 5 }))).toMatchObject([
    { ends: ['length'] },
  ])
})
