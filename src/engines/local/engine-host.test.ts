import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { engineRequest, runRequest } from '../../../test/support/engine-requests.ts'
import { VirtualClock } from '../../core/clock.ts'
import { EngineHost, type EngineHostOptions } from './engine-host.ts'
import { ReplicatedEngine } from './replicated-engine.ts'

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

    for (let death = 0; death < 3; death++) {
      await expect(ask('die')).rejects.toMatchObject({ code: 'engine_failed' })
    }

    const message =
      'its process died 3 times within a minute (the last one ended with exit code 3); register the model again.'
    await expect(ask('hello')).rejects.toMatchObject({ status: 503, params: { message } })
    expect(host.status()).toEqual({ state: 'failed', message })
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

describe('the request that a dying engine process had not begun', () => {
  const start = async (replicas: number) => {
    const started = await Promise.all(Array.from({ length: replicas }, () => startHost()))
    const engine = new ReplicatedEngine(started.map(({ host }) => host))
    const ask = async (word: string) => (await runRequest(engine, engineRequest(word)))[0]?.text
    return { hosts: started.map(({ host }) => host), ask }
  }

  it('is answered by another replica that serves', async () => {
    const { hosts, ask } = await start(2)
    const [dying, other] = hosts.map(({ pid }) => pid)
    const answer = ask(`not-in ${dying}`)
    process.kill(dying ?? 0, 'SIGKILL')
    expect(await answer).toBe(String(other))
  })

  it('waits for the next process where there is no other', async () => {
    const { hosts, ask } = await start(1)
    const { pid } = hosts[0] ?? { pid: 0 }
    const answer = ask(`not-in ${pid}`)
    process.kill(pid, 'SIGKILL')
    expect(await answer).toBe(String(hosts[0]?.pid))
    expect(hosts[0]?.pid).not.toBe(pid)
  })

  it('is not run a third time: it might be the cause', async () => {
    const { ask } = await start(3)
    await expect(ask('die')).rejects.toMatchObject({ code: 'engine_failed' })
    expect(await ask('hello')).toMatch(/^\d+$/)
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
