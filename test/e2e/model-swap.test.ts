/** Models registered, replaced and unregistered while clients stream, with real engines. */
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { writeTinyModel } from '../support/engines/llamacpp-tiny-model.ts'
import {
  call,
  enginePids,
  gone,
  listening,
  logged,
  post,
  readStream,
  spawnServer,
  streamChunks,
  temporaryFolder,
  type RunningServerProcess,
} from '../support/servers/server-process.ts'
import { lengthOf } from '../support/length-of.ts'
import { shared } from '../support/shared.ts'
import { until } from '../support/until.ts'

const ADMIN_KEY = 'admin-key-of-this-test'
const MODELS = '/v1/admin/models'
const ALPHABETS = { first: 'abcdefghijkl', second: 'mnopqrstuvwx' }
/** Of one model's letters alone. */
const PURE = /^(?:[a-l]{60}|[m-x]{60})$/
/** Greedy, so that a model says its own letters whatever runs beside it. */
const STREAM = { prompt: 'hello', max_new_tokens: 60, top_k: 1, seed: 7 }
const LONG = { ...STREAM, max_new_tokens: 1000 }

function writeModels(): { first: string; second: string } {
  const folder = temporaryFolder()
  const first = path.join(folder, 'first.gguf')
  const second = path.join(folder, 'second.gguf')
  writeTinyModel(first, { alphabet: ALPHABETS.first })
  writeTinyModel(second, { alphabet: ALPHABETS.second })
  return { first, second }
}

async function startServer(words: readonly string[]): Promise<RunningServerProcess> {
  const options = ['--auth-mode', 'none', '--admin-key', ADMIN_KEY, '--threads', '1', '--gpu', 'off']
  const server = await listening(spawnServer([...options, ...words]))
  if (words.includes('--checkpoint')) await logged(server, 'serving')
  return server
}

const register = (server: RunningServerProcess, body: object, query = '') =>
  call(server, `POST ${MODELS}${query}`, { secret: ADMIN_KEY, body })

const stream = async (server: RunningServerProcess, body: object = STREAM) =>
  readStream(await post(server, '/v1/generate/stream', { body }))

interface ListedModel {
  readonly id: string
  readonly meta: {
    readonly state: string
    readonly failure: string | null
    readonly parameters: number | null
    readonly replicas_ready?: number
  }
}

async function listModels(server: RunningServerProcess): Promise<readonly ListedModel[]> {
  return ((await (await call(server, 'GET /v1/models')).json()) as { data: ListedModel[] }).data
}

/** One server for what leaves `m` on it as it was, with one engine. */
const scene = shared(async () => {
  const models = writeModels()
  const words = ['--checkpoint', models.first, '--model-id', 'm', '--max-batch-size', '16']
  return { ...models, server: await startServer(words) }
})

describe('three deaths of an engine within a minute', () => {
  it('mark the model failed until it is started again after a pause, or registered again', async () => {
    const { server, first } = scene()
    for (let death = 1; death <= 3; death++) {
      const [pid = 0] = enginePids(server)
      process.kill(pid, 'SIGKILL')
      await gone(pid)
      if (death < 3) await untilReady(server)
    }

    const refused = await post(server, '/v1/generate', { body: STREAM })
    expect(refused.status).toBe(503)
    expect(refused.headers.get('x-error-code')).toBe('engine_unavailable')
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    const why =
      /its process died 3 times within a minute \(the last one .*SIGKILL.*\); it is started again in \d+ s\.$/
    const unready = await call(server, 'GET /v1/ready')
    expect(unready.status).toBe(503)
    expect(((await unready.json()) as { detail: string }).detail).toMatch(why)
    const [model] = await listModels(server)
    expect(model?.meta.state).toBe('failed')
    expect(model?.meta.failure).toMatch(why)
    const metrics = await call(server, 'GET /metrics', { secret: ADMIN_KEY })
    expect(await metrics.text()).toContain('sluice_engine_deaths_total{model="m"} 3')

    expect((await register(server, { id: 'm', checkpoint: first })).status).toBe(200)
    expect((await call(server, 'GET /v1/ready')).status).toBe(200)
    expect((await stream(server)).text).toMatch(/^[a-l]{60}$/)
  })
})

describe('a model that is replaced', () => {
  const swaps = lengthOf({ test: 2, soak: 200 })

  it(`${swaps} times under 16 streaming clients fails no request and mixes no text`, async () => {
    const { server, first, second } = scene()
    const swapping = new AbortController()
    const texts: string[] = []
    const clients = Array.from({ length: 16 }, async () => {
      while (!swapping.signal.aborted) {
        const { text, error } = await stream(server, { ...STREAM, model: 'm' })
        texts.push(error === null ? text : `error: ${error?.code}`)
      }
    })
    for (let swap = 0; swap < swaps; swap++) {
      const answer = await register(server, { id: 'm', checkpoint: swap % 2 === 0 ? second : first })
      expect(answer.status, await answer.clone().text()).toBe(200)
      expect(await answer.json()).toMatchObject({ id: 'm', meta: { state: 'ready' } })
      texts.push((await stream(server, { ...STREAM, model: 'm' })).text)
    }
    swapping.abort()
    await Promise.all(clients)

    expect(texts.filter((text) => !PURE.test(text))).toEqual([])
    expect(new Set(texts.map((text) => text < 'm')).size).toBe(2)
    await untilEngines(server, 1)
  })

  it('goes on serving when the new one cannot be loaded, and says why', async () => {
    const { server } = scene()

    const answer = await register(server, { id: 'm', checkpoint: '/no/such/model.gguf' })

    expect(answer.status).toBe(400)
    expect(answer.headers.get('x-error-code')).toBe('model_not_loadable')
    const { detail } = (await answer.json()) as { detail: string }
    expect(detail).toMatch(/^Model 'm' was not registered: .*\/no\/such\/model\.gguf.*\.$/)
    expect((await stream(server)).text).toMatch(/^[a-l]{60}$/)
    const model = (await listModels(server)).find(({ id }) => id === 'm')
    expect(model?.meta.state).toBe('ready')
    expect(model?.meta.failure).toBe('Cannot open the checkpoint model.gguf: it does not exist.')
  })
})

describe('a model that is unregistered', () => {
  it('finishes what it streams, as draining, and is gone then', async () => {
    const { server, second } = scene()
    expect((await register(server, { id: 'org/other', checkpoint: second })).status).toBe(200)
    const body = { ...LONG, model: 'org/other' }
    const chunks = streamChunks(await post(server, '/v1/generate/stream', { body }))
    await chunks.next()

    const answer = await call(server, `DELETE ${MODELS}/org%2Fother`, { secret: ADMIN_KEY })

    expect(await answer.json()).toEqual({ status: 'unregistered', id: 'org/other' })
    expect((await post(server, '/v1/generate', { body })).status).toBe(404)
    let text = ''
    for await (const chunk of chunks) {
      expect(chunk.error).toBeUndefined()
      text += chunk.choices[0]?.delta.content ?? ''
    }
    expect(text).toMatch(/^[m-x]{900,1000}$/)
    await untilEngines(server, 1)
    await until('one model is left', async () => (await listModels(server)).length === 1)
    expect((await listModels(server)).map(({ id }) => id)).toEqual(['m'])
  })
})

describe('models of a configuration file', () => {
  it('are served beside the checkpoint, which is the default', async () => {
    const { first, second } = writeModels()
    const config = path.join(temporaryFolder(), 'sluice.yaml')
    writeFileSync(config, JSON.stringify({ models: [{ id: 'org/other', checkpoint: second }] }))
    const server = await startServer(['--checkpoint', first, '--config', config])
    await logged(server, 'serving', ({ model }) => model === 'org/other')

    expect((await listModels(server)).map(({ id }) => id)).toEqual(['first', 'org/other'])
    expect((await stream(server)).text).toMatch(/^[a-l]{60}$/)
    expect((await stream(server, { ...STREAM, model: 'org/other' })).text).toMatch(/^[m-x]{60}$/)
  })

  it('that cannot be served end the start', async () => {
    const { first } = writeModels()
    const config = path.join(temporaryFolder(), 'sluice.json')
    writeFileSync(config, JSON.stringify({ models: [{ id: 'm', checkpoint: '/no/such.gguf' }] }))
    const server = spawnServer(['--checkpoint', first, '--config', config, '--log-level', 'silent'])
    expect(await server.ended).toEqual({ code: 1, signal: null })
    expect(server.stderr.join('\n')).toContain("models: 'm' cannot be served: Cannot open")
  })
})

describe('registering with wait=false', () => {
  it('answers at once with what the headers will tell, and requests wait for the load', async () => {
    const { server, first } = scene()

    const answer = await register(server, { id: 'late', checkpoint: first }, '?wait=false')

    expect(await answer.json()).toMatchObject({ id: 'late', meta: { state: 'loading' } })
    expect((await stream(server, { ...STREAM, model: 'late' })).text).toMatch(/^[a-l]{60}$/)
    const model = (await listModels(server)).find(({ id }) => id === 'late')
    expect(model).toMatchObject({ id: 'late', meta: { state: 'ready', parameters: expect.any(Number) } })
    await call(server, `DELETE ${MODELS}/late`, { secret: ADMIN_KEY })
    await untilEngines(server, 1)
  })
})

describe('a model that does not fit into memory', () => {
  it('is refused with the numbers, and what serves goes on', async () => {
    const { first } = writeModels()
    const size = ['--max-batch-size', '256', '--max-seq-len', '16777216', '--kv-cache-tokens', '268435456']
    const server = await startServer(size)

    const answer = await register(server, { id: 'm', checkpoint: first })

    expect(answer.status).toBe(400)
    const { detail } = (await answer.json()) as { detail: string }
    expect(detail).toMatch(
      /^Model 'm' was not registered: 'm' needs \d+ MB of memory \(1 MB weights, \d+ MB KV cache\), but \d+ MB is available: lower kv_cache_tokens or max_seq_len\.$/,
    )
    expect((await listModels(server)).map(({ id }) => id)).toEqual(['default'])
    expect(await stream(server, { prompt: 'ab' })).toMatchObject({ text: 'ab', error: null })
  })
})

describe('replicas', () => {
  const replicated = shared(() => {
    const { first } = writeModels()
    return startServer(['--checkpoint', first, '--replicas', '2', '--max-batch-size', '1'])
  })

  it('share the load, and survive the death of one', async () => {
    const server = replicated()
    const [one = 0, ...others] = enginePids(server)
    expect(others).toHaveLength(1)
    // One slot each: two run at once only where there are two.
    const streams = [LONG, LONG].map(async (body) =>
      streamChunks(await post(server, '/v1/generate/stream', { body })),
    )
    const started = await Promise.all(streams)
    await Promise.all(started.map(async (chunks) => chunks.next()))

    process.kill(one, 'SIGKILL')
    const ends = await Promise.all(
      started.map(async (chunks) => {
        let code = 'none'
        for await (const chunk of chunks) code = chunk.error?.code ?? code
        return code
      }),
    )

    expect(ends.toSorted()).toEqual(['engine_failed', 'none'])
    expect((await call(server, 'GET /v1/ready')).status).toBe(200)
    expect((await stream(server)).text).toMatch(/^[a-l]{60}$/)
    await untilEngines(server, 2)
  })

  it('serve without one that was given up, which /v1/models tells', async () => {
    const server = replicated()
    // The newest: the other has not died yet, whatever has come before.
    const steady = enginePids(server).at(-1)
    const readyReplicas = async () => (await listModels(server))[0]?.meta.replicas_ready
    for (let death = 1; death <= 3; death++) {
      const dying = enginePids(server).find((pid) => pid !== steady) ?? 0
      process.kill(dying, 'SIGKILL')
      await gone(dying)
      if (death === 3) continue
      await until('both serve', async () => (await readyReplicas()) === 2 && enginePids(server).length === 2)
    }

    const line = await logged(
      server,
      'the engine process died 3 times within a minute (the last one was ended by SIGKILL); it is started again in 10 s',
    )

    expect(line['level']).toBe('error')
    expect(enginePids(server)).toEqual([steady])
    expect((await listModels(server))[0]?.meta).toMatchObject({
      state: 'ready',
      replicas: 2,
      replicas_ready: 1,
    })
    expect((await call(server, 'GET /v1/ready')).status).toBe(200)
    expect((await stream(server)).text).toMatch(/^[a-l]{60}$/)
    // Not until it is so: to ask for ten seconds without a pause is more work than all the rest.
    await expect.poll(readyReplicas, { interval: 500 }).toBe(2)
    expect(enginePids(server)).toHaveLength(2)
  })
})

async function untilReady(server: RunningServerProcess): Promise<void> {
  // The death is seen a moment later; a request says so, or waits for the next engine.
  await until(
    'a request is answered',
    async () => (await post(server, '/v1/generate', { body: STREAM })).status === 200,
  )
}

async function untilEngines(server: RunningServerProcess, count: number): Promise<void> {
  await until(`there are ${count} engines`, () => enginePids(server).length === count)
}
