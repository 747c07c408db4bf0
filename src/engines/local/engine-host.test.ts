import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { engineRequest, runRequest } from '../../../test/support/engine-requests.ts'
import { VirtualClock } from '../../core/clock.ts'
import { EngineHost, type EngineHostOptions } from './engine-host.ts'

const FAKE_ENGINE = fileURLToPath(new URL('../../../test/support/fake-engine.mjs', import.meta.url))

async function startHost(options: Partial<EngineHostOptions> = {}) {
  const crashes: string[] = []
  const restarts: number[] = []
  const host = await EngineHost.start(
    {
      runner: {
        modelId: 'm',
        modelPath: 'unused',
        maxBatchSize: 1,
        maxSeqLen: null,
        threads: 1,
        gpu: 'off',
        gpuLayers: null,
        kvCacheType: 'f16',
      },
      schedulePolicy: 'fcfs',
      maxQueue: 8,
      program: FAKE_ENGINE,
      ...options,
    },
    {
      onProgress: () => {},
      onLogLine: () => {},
      onCrash: (how) => void crashes.push(how),
      onRestart: (pid) => void restarts.push(pid),
    },
    new AbortController().signal,
  )
  onTestFinished(() => host.close())
  const ask = async (word: string) => (await runRequest(host, engineRequest(word)))[0]?.text
  return { host, crashes, restarts, ask }
}

describe('an engine process that dies', () => {
  it('three times within a minute is given up, and says so', async () => {
    const { host, crashes, ask } = await startHost({ clock: new VirtualClock() })

    // A request that never started is run once more by the next engine, and so ends two of them.
    await expect(ask('die')).rejects.toMatchObject({ code: 'engine_failed' })
    await expect(ask('die')).rejects.toMatchObject({ code: 'engine_unavailable' })

    const message =
      'its process died 3 times within a minute (the last one ended with exit code 3); register the model again.'
    expect(host.status()).toEqual({ state: 'failed', message })
    await expect(ask('hello')).rejects.toMatchObject({ status: 503, params: { message } })
    expect(crashes.at(-1)).toBe('is not started again: it died too often')
  })

  it('now and then is started again each time', async () => {
    const clock = new VirtualClock()
    const { host, ask } = await startHost({ clock })
    for (let death = 0; death < 4; death++) {
      const pid = await ask('hello')
      process.kill(Number(pid), 'SIGKILL')
      await changed(ask, pid)
      clock.advance(30_000)
    }
    expect(host.status()).toEqual({ state: 'ready' })
  })
})

describe('an engine process that hangs', () => {
  it('is ended and replaced; what it was running fails', async () => {
    const { crashes, restarts, ask } = await startHost({ hangMs: 1000 })
    const before = await ask('hello')

    await expect(ask('hang')).rejects.toMatchObject({ code: 'engine_failed' })

    const after = await ask('hello')
    expect(after).not.toBe(before)
    expect(crashes).toEqual(['hung, and was ended'])
    expect(restarts).toEqual([Number(after)])
  })
})

/** Waits until another process answers. */
async function changed(ask: (word: string) => Promise<string | undefined>, pid: string | undefined) {
  for (;;) {
    // A request may still have gone to the one that is gone.
    const now = await ask('hello').catch(() => pid)
    if (now !== pid) return
  }
}
