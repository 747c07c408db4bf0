/** `--workers`: limits, keys, usage and models are one over all workers, and no process that dies takes more than its own work. */
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, inject, it } from 'vitest'
import {
  call,
  childPids,
  SMALL_LLAMA,
  enginePids,
  gone,
  KEY,
  listening,
  logged,
  post,
  spawnServer,
  streamChunks,
  temporaryFolder,
  type RunningServerProcess,
  type SpawnOptions,
} from '../support/servers/server-process.ts'
import { shared } from '../support/shared.ts'
import { until } from '../support/until.ts'

const ADMIN_KEY = 'admin-key-of-this-test'
const ECHO = { prompt: 'Once upon a time', max_new_tokens: 4 }

async function startWorkers(
  words: readonly string[] = [],
  options: SpawnOptions = {},
): Promise<RunningServerProcess> {
  const own = ['--workers', '4', '--api-keys', KEY, '--admin-key', ADMIN_KEY]
  return listening(spawnServer([...own, ...words], options))
}

const workerPids = (server: RunningServerProcess): number[] => childPids(server, 'worker-main')

interface NewKey {
  readonly id: string
  readonly key: string
}

async function createKey(server: RunningServerProcess, query = ''): Promise<NewKey> {
  const answer = await call(server, `POST /v1/admin/keys${query}`, { secret: ADMIN_KEY })
  return (await answer.json()) as NewKey
}

interface BurstOptions {
  readonly route?: string
  readonly secret?: string
  readonly body?: object | null
}

/** Each on a connection of its own, so that they reach all workers. */
const burst = (
  server: RunningServerProcess,
  count: number,
  { route = 'POST /v1/generate', secret = KEY, body = ECHO }: BurstOptions = {},
) =>
  Promise.all(
    Array.from({ length: count }, async () => {
      const answer = await call(server, route, { secret, ...(body !== null && { body }) })
      await answer.text()
      return answer.status
    }),
  )

const count = (statuses: readonly number[], status: number): number =>
  statuses.filter((one) => one === status).length

async function requestsOf(server: RunningServerProcess): Promise<number> {
  const usage = await call(server, 'GET /v1/admin/usage', { secret: ADMIN_KEY })
  return ((await usage.json()) as { requests: number }).requests
}

async function metricsOf(server: RunningServerProcess): Promise<string> {
  return await (await call(server, 'GET /metrics', { secret: ADMIN_KEY })).text()
}

const REMOTE_KEY = 'key-of-the-upstream-of-this-test'

interface Listed {
  readonly data: readonly { readonly id: string }[]
}

describe('four workers', () => {
  const server = shared(async () => {
    const upstream = await listening(spawnServer(['--api-keys', REMOTE_KEY]))
    const config = path.join(temporaryFolder(), 'sluice.json')
    const remote = { api_key: REMOTE_KEY, model: 'default', engine: 'openai' }
    const models = [
      { id: 'open', ...remote, endpoints: [upstream.address] },
      { id: 'dear', ...remote, endpoints: [upstream.address], tiers: ['enterprise'] },
      { id: 'away', ...remote, endpoints: ['http://127.0.0.1:9'], fallback: 'open' },
    ]
    writeFileSync(config, JSON.stringify({ models, aliases: ['gpt-4o=open'] }))
    return startWorkers(['--config', config])
  })

  it('all answer', async () => {
    await burst(server(), 24, { route: 'GET /', body: null })
    await until('each worker has answered', () => {
      const lines = server().stderr.filter((line) => line.includes('"route":"/"'))
      const workers = lines.map((line) => (JSON.parse(line) as { worker?: number }).worker)
      return new Set(workers).size === 4
    })
    const metrics = await metricsOf(server())
    const answered = /sluice_requests_total\{[^}]*route="\/"[^}]*\} (\d+)/.exec(metrics)?.[1]
    expect(Number(answered)).toBe(24)
    expect(metrics).toContain('sluice_model_state{model="open",state="ready"} 1\n')
    expect(metrics).toContain('sluice_ready 1\n')
  })

  it('let exactly as many of a burst pass as the rate allows', async () => {
    const { key: secret } = await createKey(server(), '?tier=enterprise&rate_limit_rpm=30')
    const statuses = await burst(server(), 60, { secret })
    expect([count(statuses, 200), count(statuses, 429)]).toEqual([30, 30])
  })

  it('know a key that is made, and one that is revoked, at once', async () => {
    const { key: secret, id } = await createKey(server(), '?tier=enterprise')
    expect(count(await burst(server(), 12, { secret }), 200)).toBe(12)
    const revoked = await call(server(), `DELETE /v1/admin/keys/${id}`, { secret: ADMIN_KEY })
    expect(revoked.status).toBe(200)
    expect(count(await burst(server(), 12, { secret }), 401)).toBe(12)
    const status = await call(server(), 'GET /v1/admin/status', { secret: ADMIN_KEY })
    const { refusals, last_errors: errors } = (await status.json()) as {
      refusals: Record<string, number>
      last_errors: { code: string }[]
    }
    expect(refusals).toEqual({ unauthorized: 12, rate_limit_exceeded: 30 })
    expect(errors.filter(({ code }) => code === 'unauthorized')).toHaveLength(12)
  })

  it('spend one budget', async () => {
    const { key: secret, id } = await createKey(server(), '?tier=enterprise')
    const [first] = await burst(server(), 1, { secret })
    const usage = await call(server(), `GET /v1/admin/usage?group_by=key`, { secret: ADMIN_KEY })
    const { data } = (await usage.json()) as {
      data: { key: string; tokens_in: number; tokens_out: number }[]
    }
    const { tokens_in: tokensIn = 0, tokens_out: tokensOut = 0 } = data.find(({ key }) => key === id) ?? {}
    const budget = { daily_token_budget: 5 * (tokensIn + tokensOut) }
    await call(server(), `PATCH /v1/admin/keys/${id}`, { secret: ADMIN_KEY, body: budget })
    const statuses: (number | undefined)[] = [first]
    for (let i = 0; i < 12; i++) statuses.push(...(await burst(server(), 1, { secret })))
    expect(statuses).toEqual([...Array(5).fill(200), ...Array(8).fill(429)])
    expect(await metricsOf(server())).toContain('sluice_budget_spent_ratio{scope="key",period="day"} 1\n')
  })

  it('never take a request for one of two at once that comes after the other was answered', async () => {
    const { key: secret } = await createKey(server(), '?tier=free&rate_limit_rpm=1000')
    const statuses: number[] = []
    for (let i = 0; i < 60; i++) statuses.push(...(await burst(server(), 1, { secret })))
    expect(count(statuses, 200)).toBe(60)
  })

  it('have models for the tiers that may use them, which answer by their aliases, and stand in for one another, at each', async () => {
    // One of a free key may still be counted at one worker when the next comes to another.
    const [{ key: pro }, { key: enterprise }] = [
      await createKey(server(), '?tier=pro'),
      await createKey(server(), '?tier=enterprise'),
    ]
    const ask = async (secret: string, model: string) => {
      const statuses: number[] = []
      for (let i = 0; i < 8; i++)
        statuses.push(...(await burst(server(), 1, { secret, body: { ...ECHO, model } })))
      return statuses
    }
    expect(new Set(await ask(enterprise, 'dear'))).toEqual(new Set([200]))
    expect(new Set(await ask(pro, 'dear'))).toEqual(new Set([404]))
    expect(new Set(await ask(enterprise, 'gpt-4o'))).toEqual(new Set([200]))
    expect(new Set(await ask(enterprise, 'away'))).toEqual(new Set([200]))
    const lists = await Promise.all(
      Array.from({ length: 8 }, () => call(server(), 'GET /v1/models', { secret: pro })),
    )
    const ids = await Promise.all(
      lists.map(async (list) => ((await list.json()) as Listed).data.map(({ id }) => id)),
    )
    for (const names of ids) expect(names).not.toContain('dear')
    // The slots and the cache are the upstream's.
    await expect.poll(() => metricsOf(server())).toContain('sluice_requests_running{model="dear"} 0\n')
    expect(
      (await metricsOf(server()))
        .split('\n')
        .filter((line) => line.includes('dear'))
        .filter((line) => /sluice_(slots|kv_cache_\w+|prefix_cache_\w+)/.test(line)),
    ).toEqual([])
  })

  it('count wrong admin keys together', async () => {
    const options = { route: 'GET /v1/admin/keys', secret: 'not-the-admin-key-at-all', body: null }
    const statuses = await burst(server(), 50, options)
    expect([count(statuses, 401), count(statuses, 429)]).toEqual([30, 20])
  })
})

/** More than any answer takes, restarts included. */
const HANGS_MS = 20_000
const BROKEN = 0
const HUNG = -1

/** Requests one after the other on each of some connections, until `stop`, which gives their statuses. */
function startLoad(server: RunningServerProcess, clients: number) {
  const statuses: number[] = []
  const stopping = new AbortController()
  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const signal = AbortSignal.timeout(HANGS_MS)
      const status = await post(server, '/v1/generate', { body: ECHO, signal }).then(
        async (answer) => (await answer.text(), answer.status),
        () => (signal.aborted ? HUNG : BROKEN),
      )
      statuses.push(status)
      // As little as lets others act, where there is no server to answer.
      if (status === BROKEN) await new Promise((resolve) => setImmediate(resolve))
    }
  }
  const running = Promise.all(Array.from({ length: clients }, run))
  return {
    statuses,
    stop: async () => {
      stopping.abort()
      await running
      return statuses
    },
  }
}

const PRO_CONCURRENCY = 5

/** Waits until so many workers more have been started again. */
async function restarted(server: RunningServerProcess, more: number): Promise<void> {
  const counted = restarts.get(server) ?? 0
  restarts.set(server, counted + more)
  const lines = () => server.stderr.filter((line) => line.includes('the worker was started again'))
  await until('the workers are back', () => lines().length >= counted + more)
}

const restarts = new WeakMap<RunningServerProcess, number>()

async function health(server: RunningServerProcess): Promise<{ uptime_seconds: number }> {
  return (await (await call(server, 'GET /v1/health')).json()) as { uptime_seconds: number }
}

async function answeredRequests(server: RunningServerProcess): Promise<number> {
  const metrics = await metricsOf(server)
  const counts = [...metrics.matchAll(/^sluice_requests_total\{.*\} (\d+)$/gm)].map(([, value]) =>
    Number(value),
  )
  return counts.reduce((sum, value) => sum + value, 0)
}

/** Reads a stream for a while; whether it has ended or was broken off by then. */
async function endsWithin(chunks: ReturnType<typeof streamChunks>, limitMs: number): Promise<boolean> {
  const endMs = performance.now() + limitMs
  try {
    while (performance.now() < endMs) if ((await chunks.next()).done === true) return true
    return false
  } catch {
    return true
  }
}

// Two dozen processes are started: too much for each run of the tests.
if (inject('isSoak'))
  describe('four workers under load', () => {
    let usageDb = ''
    const server = shared(async () => {
      usageDb = path.join(temporaryFolder(), 'usage.db')
      const engine = ['--checkpoint', SMALL_LLAMA, '--threads', '1', '--max-batch-size', '8']
      const demo = await startWorkers([...engine, '--usage-db', usageDb])
      await logged(demo, 'serving')
      return demo
    })
    it('lose the connections of one that dies and nothing else', async () => {
      const load = startLoad(server(), 6)
      await until('there is load', () => load.statuses.length > 10)
      const [pid = 0] = workerPids(server())
      process.kill(pid, 'SIGKILL')
      await restarted(server(), 1)
      const statuses = await load.stop()
      expect(workerPids(server())).toHaveLength(4)
      expect(statuses.filter((status) => status !== 200 && status !== BROKEN)).toEqual([])
      expect(count(statuses, BROKEN)).toBeLessThanOrEqual(6)
      // An answer that was cut off may have been recorded.
      const requests = await requestsOf(server())
      expect(requests).toBeGreaterThanOrEqual(count(statuses, 200))
      expect(requests).toBeLessThanOrEqual(statuses.length)
    })

    it('get back the permits, the queue and the leases of one that dies', async () => {
      const { key: secret } = await createKey(server(), '?tier=pro')
      const body = { prompt: 'Once upon a time', max_new_tokens: 4000, temperature: 5, seed: 3 }
      const open = async (): Promise<{ status: number; chunks: ReturnType<typeof streamChunks> }> => {
        try {
          const answer = await call(server(), 'POST /v1/generate/stream', { secret, body })
          return { status: answer.status, chunks: streamChunks(answer) }
        } catch {
          // An idle connection that the client kept to a worker which has died.
          return open()
        }
      }
      const openMany = async () => {
        const opened = await Promise.all(Array.from({ length: PRO_CONCURRENCY + 8 }, open))
        return opened.filter(({ status }) => status === 200)
      }
      const running = await openMany()
      // A stream that ends early makes room for another.
      expect(running.length).toBeGreaterThanOrEqual(PRO_CONCURRENCY)
      const status = async () => {
        const answer = await call(server(), 'GET /v1/admin/status', { secret: ADMIN_KEY })
        return ((await answer.json()) as { models: Record<string, number>[] }).models[0]
      }
      await until('they run, as all workers count them', async () => Number((await status())?.running) > 2)
      const {
        slots,
        kv_tokens_used: held,
        kv_tokens_total: room = 0,
        memory_bytes: memory,
      } = (await status()) ?? {}
      expect(slots).toBe(8)
      expect(held).toBeGreaterThan(2)
      expect(held).toBeLessThanOrEqual(room)
      expect(memory).toBeGreaterThan(1e6)
      for (const pid of workerPids(server()).slice(1)) process.kill(pid, 'SIGKILL')
      const ended = await Promise.all(running.map(({ chunks }) => endsWithin(chunks, 1000)))
      const endedCount = ended.filter(Boolean).length
      expect(endedCount).toBeGreaterThan(0)
      // What the fourth worker runs goes on; the permits of the others are free as soon as they are dead.
      const free = PRO_CONCURRENCY - (running.length - endedCount)
      expect((await openMany()).length).toBeGreaterThanOrEqual(free)
      await restarted(server(), 3)
    })

    it('are found when one hangs, which is replaced', async () => {
      const [pid = 0] = workerPids(server())
      const load = startLoad(server(), 6)
      process.kill(pid, 'SIGSTOP')
      await logged(server(), 'the worker does not answer, and is ended')
      await restarted(server(), 1)
      const statuses = await load.stop()
      expect(count(statuses, HUNG)).toBe(0)
      expect(workerPids(server())).toHaveLength(4)
    })

    it('count on where one that died left off', async () => {
      const before = await answeredRequests(server())
      const [pid = 0] = workerPids(server())
      process.kill(pid, 'SIGKILL')
      await restarted(server(), 1)
      expect(await answeredRequests(server())).toBeGreaterThanOrEqual(before)
    })

    it('say how long the service is up, and not they', async () => {
      const before = await health(server())
      const [pid = 0] = workerPids(server())
      process.kill(pid, 'SIGKILL')
      await restarted(server(), 1)
      const after = await Promise.all(Array.from({ length: 8 }, () => health(server())))
      for (const { uptime_seconds: seconds } of after) expect(seconds).toBeGreaterThan(before.uptime_seconds)
    })

    it('go on when the engine dies', async () => {
      const [engine = 0] = enginePids(server())
      const running = post(server(), '/v1/generate/stream', {
        body: { ...ECHO, max_new_tokens: 1000, temperature: 5, seed: 3 },
      })
      const chunks = streamChunks(await running)
      await chunks.next()
      process.kill(engine, 'SIGKILL')
      let last = null
      for await (const chunk of chunks) last = chunk
      expect(last?.error?.code).toBe('engine_failed')
      expect(await burst(server(), 8)).toEqual(Array.from({ length: 8 }, () => 200))
    })

    it('record every answer when the engine dies', async () => {
      const recorded = await requestsOf(server())
      const load = startLoad(server(), 6)
      await until('there is load', () => count(load.statuses, 200) > 10)
      for (const engine of enginePids(server())) process.kill(engine, 'SIGKILL')
      const soFar = load.statuses.length
      await until('it answers again', () => count(load.statuses.slice(soFar), 200) > 10)
      const statuses = await load.stop()
      expect(count(statuses, HUNG) + count(statuses, BROKEN)).toBe(0)
      expect((await requestsOf(server())) - recorded).toBeGreaterThanOrEqual(count(statuses, 200))
    })

    it('are replaced by SIGUSR2 one by one, and no request fails', async () => {
      await until('all run', () => workerPids(server()).length === 4)
      const old = workerPids(server())
      const recorded = await requestsOf(server())
      const load = startLoad(server(), 6)
      await until('there is load', () => load.statuses.length > 10)
      server().child.kill('SIGUSR2')
      await logged(server(), 'the workers were replaced')
      const soFar = load.statuses.length
      await until('the new ones have answered', () => load.statuses.length > soFar + 20)
      const statuses = await load.stop()
      expect(statuses.filter((status) => status !== 200)).toEqual([])
      expect(workerPids(server()).filter((pid) => !old.includes(pid))).toHaveLength(4)
      expect((await requestsOf(server())) - recorded).toBe(statuses.length)
    })

    it('end with the supervisor, and so does the engine; what was answered is on record', async () => {
      const others = [...workerPids(server()), ...enginePids(server())]
      expect(others.length).toBeGreaterThanOrEqual(5)
      const recorded = await requestsOf(server())
      const load = startLoad(server(), 4)
      await until('there is load', () => load.statuses.length > 10)
      server().child.kill('SIGKILL')
      await Promise.all(others.map(gone))
      const statuses = await load.stop()
      const next = await startWorkers(['--usage-db', usageDb])
      expect((await requestsOf(next)) - recorded).toBeGreaterThanOrEqual(count(statuses, 200))
    })
  })

describe('workers whose models share one seat', () => {
  const ids = ['one', 'other']
  const server = shared(async () => {
    const words = ['--max-loaded-models', '1', '--checkpoint', SMALL_LLAMA, '--model-id', 'one']
    const running = await startWorkers([...words, '--workers', '2'], {
      modelsOf: inject('convertedSmallLlama'),
    })
    const body = { id: 'other', checkpoint: SMALL_LLAMA, load: 'request' }
    const answer = await call(running, 'POST /v1/admin/models', { secret: ADMIN_KEY, body })
    expect(answer.status).toBe(200)
    return running
  })

  it('answer every request for each of them, and say who is loaded', async () => {
    const ask = (model: string) =>
      burst(server(), 8, { route: 'POST /v1/completions', body: { model, prompt: 'Once', max_tokens: 4 } })
    const statuses = (await Promise.all([...ids, ...ids].map(ask))).flat()
    expect(statuses).toEqual(Array.from({ length: 32 }, () => 200))
    const listed = await call(server(), 'GET /v1/models', { secret: KEY })
    const { data } = (await listed.json()) as { data: { id: string; meta: { state: string } }[] }
    expect(data.map(({ id }) => id)).toEqual(ids)
    expect(data.map(({ meta }) => meta.state).toSorted()).toEqual(['ready', 'unloaded'])
    expect(enginePids(server())).toHaveLength(1)
  })

  it('unload one by an admin, and load it by a request', async () => {
    const act = async (action: string) => {
      const answer = await call(server(), `POST /v1/admin/models/one/${action}`, { secret: ADMIN_KEY })
      return ((await answer.json()) as { meta: { state: string } }).meta.state
    }
    expect(await act('load')).toBe('ready')
    // Of one engine, however many workers ask it.
    await expect.poll(() => metricsOf(server())).toContain('sluice_slots{model="one"} 8\n')
    expect(await metricsOf(server())).toContain('sluice_model_state{model="one",state="ready"} 1\n')
    expect(await act('unload')).toBe('unloaded')
    expect((await call(server(), 'GET /v1/ready')).status).toBe(200)
    expect(await burst(server(), 8)).toEqual(Array.from({ length: 8 }, () => 200))
  })
})
