import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { engineRequest, runRequest } from '../../../../test/support/engines/engine-requests.ts'
import { gone, temporaryFolder } from '../../../../test/support/servers/server-process.ts'
import { until } from '../../../../test/support/until.ts'
import { VirtualClock } from '../../../core/clock.ts'
import { EngineHost, type EngineHostHooks, type EngineHostOptions } from './engine-host.ts'
import { ReplicatedEngine } from './replicated-engine.ts'

const FAKE_ENGINE = fileURLToPath(
  new URL('../../../../test/support/engines/fake-engine.mjs', import.meta.url),
)

interface TestHostOptions extends Partial<Omit<EngineHostOptions, 'start'>> {
  /** Says how the fake engine starts. */
  readonly modelId?: string
  readonly modelPath?: string
  readonly stallMs?: number
  readonly hooks?: Partial<EngineHostHooks>
}

async function startHost(given: TestHostOptions = {}) {
  const { modelId = 'm', modelPath = 'unused', stallMs, hooks = {}, ...options } = given
  const crashes: string[] = []
  const overloads: string[] = []
  const restarts: number[] = []
  const host = await EngineHost.start(
    {
      start: {
        runner: {
          modelId,
          modelPath,
          maxBatchSize: 1,
          maxSeqLen: null,
          threads: 1,
          gpu: 'off',
          gpuLayers: null,
          kvCacheType: 'f16',
        },
        schedulePolicy: 'fcfs',
        program: FAKE_ENGINE,
        ...(stallMs !== undefined && { stallMs }),
      },
      ...options,
    },
    {
      onProgress: () => {},
      onLogLine: () => {},
      onCrash: (how) => void crashes.push(how),
      onOverload: (message) => void overloads.push(message),
      onRestart: (pid) => void restarts.push(pid),
      ...hooks,
    },
    new AbortController().signal,
  )
  onTestFinished(() => host.close())
  const ask = async (word: string) => (await runRequest(host, engineRequest(word)))[0]?.text
  return { host, crashes, overloads, restarts, ask }
}

describe('an engine process that dies', () => {
  it('three times within a minute is started again after pauses that grow, and says so', async () => {
    const clock = new VirtualClock()
    const { host, crashes, restarts, ask } = await startHost({ clock })

    for (let death = 0; death < 3; death++) {
      await expect(ask('die')).rejects.toMatchObject({ code: 'engine_failed' })
    }

    const how = 'died 3 times within a minute (the last one ended with exit code 3); it is started again in'
    await expect(ask('hello')).rejects.toMatchObject({
      status: 503,
      retryAfterSeconds: 10,
      params: { message: `its process ${how} 10 s.` },
    })
    expect(host.status()).toEqual({ state: 'failed', message: `its process ${how} 10 s.`, deaths: 3 })
    expect(crashes.at(-1)).toBe(`${how} 10 s`)
    clock.advance(4000)
    expect(host.status()).toMatchObject({ message: `its process ${how} 6 s.` })

    clock.advance(6000)
    expect(host.status()).toMatchObject({ message: expect.stringMatching(/; it is being started again\.$/) })
    const pid = await answered(ask)
    expect(Number(pid)).toBe(restarts.at(-1))
    expect(host.status()).toEqual({ state: 'ready', deaths: 3 })

    clock.advance(59_000)
    await expect(ask('die')).rejects.toThrow()
    await expect(ask('hello')).rejects.toMatchObject({ code: 'engine_unavailable', retryAfterSeconds: 20 })
    expect(crashes.at(-1)).toMatch(/^died again after a pause .*; it is started again in 20 s$/)
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
    expect(host.status()).toEqual({ state: 'ready', deaths: 4 })
  })
})

describe('an engine process that does not start', () => {
  it('because it hangs is ended after a silence', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const fractions: number[] = []
    const hooks = {
      onProgress: (at: number) => {
        fractions.push(at)
        setImmediate(() => vi.advanceTimersByTime(3000))
      },
    }
    const start = startHost({ modelId: 'hangs', stallMs: 3000, hooks })
    await expect(start).rejects.toThrow(
      'The engine process said nothing for 3 s while it loaded the model, and was ended.',
    )
    expect(fractions).toEqual([0.5])
  })

  it('again leaves no process behind when the host closes', async () => {
    const modelPath = path.join(temporaryFolder(), 'started')
    let onPid: (pid: number) => void = () => {}
    const starting = new Promise<number>((resolve) => {
      onPid = resolve
    })
    const hooks = { onLogLine: (line: string) => onPid(Number(line)) }
    const { host } = await startHost({ modelId: 'once', modelPath, hooks })
    process.kill(host.pid, 'SIGKILL')
    const pid = await starting
    await host.close()
    await gone(pid)
  })

  it('because it dies in the middle of a message fails the start and nothing else', async () => {
    await expect(startHost({ modelId: 'half' })).rejects.toThrow(
      'The engine process ended with exit code 3 while it loaded the model',
    )
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

  it('is reported in vain once another serves in its place', async () => {
    const { host, crashes, ask } = await startHost()
    const hung = host.pid
    host.reportHung(hung)
    await changed(ask, String(hung))
    const next = host.pid

    host.reportHung(hung)

    expect(await ask('hello')).toBe(String(next))
    expect(crashes).toEqual(['hung, and was ended'])
  })

  it('does not make the next death look like a hang', async () => {
    const { host, crashes, ask } = await startHost()
    const hung = host.pid
    host.reportHung(hung)
    await changed(ask, String(hung))

    await expect(ask('die')).rejects.toMatchObject({ code: 'engine_failed' })
    await ask('hello')

    expect(crashes).toEqual(['hung, and was ended', 'ended with exit code 3'])
  })
})

/** Waits until another process answers. */
async function changed(ask: (word: string) => Promise<string | undefined>, pid: string | undefined) {
  await until('another process answers', async () => {
    const now = await ask('hello').catch((error: unknown) => {
      // A request may still have gone to the one that is gone.
      expect(error).toMatchObject({ code: 'engine_failed' })
      return pid
    })
    return now !== pid
  })
}

/** Waits until a process answers; until then each request must be refused. */
async function answered(ask: (word: string) => Promise<string | undefined>) {
  let answer: string | undefined
  await until('a process answers', async () => {
    answer = await ask('hello').catch((error: unknown) => {
      expect(error).toMatchObject({ code: 'engine_unavailable' })
      return undefined
    })
    return answer !== undefined
  })
  return answer
}

it('an engine that ends itself says why', async () => {
  const { crashes, ask } = await startHost()

  await expect(ask('break')).rejects.toMatchObject({ code: 'engine_failed' })
  await ask('hello')

  expect(crashes).toEqual(['ended with exit code 70: the step loop failed: no reason'])
})

describe('an engine in which too much text waits', () => {
  it('refuses requests with its reason, and says so once a minute', async () => {
    const clock = new VirtualClock()
    const { host, overloads, ask } = await startHost({ clock })

    for (const pauseMs of [0, 59_999, 1]) {
      clock.advance(pauseMs)
      await expect(ask('full')).rejects.toMatchObject({ code: 'tokenizing_queue_full', retryAfterSeconds: 1 })
    }

    expect(overloads).toHaveLength(2)
    expect(overloads[0]).toContain('Too much text waits to be tokenized')
    expect(host.status()).toMatchObject({ state: 'ready' })
  })
})
