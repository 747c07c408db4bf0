/** A model of the Hub, downloaded by the built program before it listens. */
import { cpSync, readdirSync, readFileSync, utimesSync } from 'node:fs'
import path from 'node:path'
import { afterEach, expect, inject, it, vi } from 'vitest'
import { type HubServer, startHub, startsOf } from '../support/checkpoints/hub-server.ts'
import {
  call,
  SMALL_LLAMA,
  KEY,
  post,
  spawnServer,
  startServer,
  temporaryFolder,
} from '../support/servers/server-process.ts'

const files = Object.fromEntries(
  readdirSync(SMALL_LLAMA).map((name) => [name, readFileSync(path.join(SMALL_LLAMA, name))]),
)
const WEIGHTS = 'model.safetensors'

afterEach(() => void vi.unstubAllEnvs())

async function startDemoHub(): Promise<{ hub: HubServer; cache: string }> {
  const hub = await startHub(files, { repo: 'acme/demo', largeBytes: 100_000 })
  const cache = temporaryFolder()
  vi.stubEnv('HF_ENDPOINT', hub.endpoint)
  vi.stubEnv('HF_HUB_CACHE', cache)
  vi.stubEnv('HF_TOKEN_PATH', path.join(cache, 'token'))
  return { hub, cache }
}

/** A promise that is resolved from outside. */
function createGate() {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open: () => open() }
}

/** What is converted already is the same model, wherever its files come from. */
const converted = () => ({ modelsOf: inject('convertedSmallLlama') })

it('is downloaded once for two servers that start at once, served under its name, and from the cache once the Hub is gone', async () => {
  const { hub, cache } = await startDemoHub()
  let breaks = 0
  hub.behaviour.breakAfter = ({ path }) => (path === `/${WEIGHTS}` && breaks++ === 0 ? 1_000_000 : null)
  const [server] = await Promise.all(
    [1, 2].map(() => startServer(['--checkpoint', 'hf:acme/demo'], converted())),
  )
  if (server === undefined) throw new Error('there is no server')
  const starts = startsOf(hub.downloads().filter(({ path }) => path === `/${WEIGHTS}`))
  expect(starts).toEqual([0, expect.any(Number)])
  expect(starts[1]).toBeGreaterThan(0)
  const blobs = readdirSync(path.join(cache, 'models--acme--demo/blobs'))
  expect(blobs).toHaveLength(Object.keys(files).length)
  expect(blobs.filter((name) => name.includes('.'))).toEqual([])
  const answer = await post(server, '/v1/generate', { body: { prompt: 'Once', max_new_tokens: 4 } })
  expect(answer.status).toBe(200)
  const models = (await (await call(server, 'GET /v1/models', { secret: KEY })).json()) as {
    data: { id: string }[]
  }
  expect(models.data.map(({ id }) => id)).toEqual(['demo'])

  hub.behaviour.refusal = { status: 503 }
  // Another cache, as a copy that a tool without links would make.
  const copy = temporaryFolder()
  cpSync(cache, copy, { recursive: true, dereference: true })
  vi.stubEnv('HF_HUB_CACHE', copy)
  const next = await startServer(['--checkpoint', 'hf:acme/demo'], converted())
  expect(next.stderr.join('\n')).toMatch(/trouble of its own \(status 503\).* as it was pulled before/)
})

it('that a server killed outright left in part is gone on with by the next', async () => {
  const { hub, cache } = await startDemoHub()
  const sent = createGate()
  hub.behaviour.breakAfter = ({ path }) => (path === `/${WEIGHTS}` ? 2_000_000 : null)
  hub.behaviour.beforeSending = ({ range }) => {
    // The second attempt: what the first one brought is on the disk.
    if (range === null) return Promise.resolve()
    sent.open()
    return new Promise(() => {})
  }
  const killed = spawnServer(['--checkpoint', 'hf:acme/demo'])
  await sent.opened
  const [, arrived = 0] = startsOf(hub.downloads().filter(({ path }) => path === `/${WEIGHTS}`))
  expect(arrived).toBeGreaterThan(0)
  killed.child.kill('SIGKILL')
  await killed.ended
  // As after ten seconds in which nobody has touched it.
  const blobs = path.join(cache, 'models--acme--demo/blobs')
  const parts = readdirSync(blobs).filter((name) => name.endsWith('.incomplete'))
  expect(parts).toHaveLength(1)
  for (const part of parts) utimesSync(path.join(blobs, part), 0, 0)

  hub.behaviour.breakAfter = () => null
  hub.behaviour.beforeSending = () => Promise.resolve()
  const before = hub.downloads().length
  await startServer(['--checkpoint', 'hf:acme/demo'], converted())
  expect(startsOf(hub.downloads().slice(before))).toEqual([arrived])
})

it('is given up at a signal, with one sentence and exit code 1, before anything listens', async () => {
  const { hub } = await startDemoHub()
  const asked = createGate()
  hub.behaviour.beforeSending = ({ path }) => {
    if (path !== `/${WEIGHTS}`) return Promise.resolve()
    asked.open()
    return new Promise(() => {})
  }
  const server = spawnServer(['--checkpoint', 'hf:acme/demo'])
  await asked.opened
  server.child.kill('SIGINT')
  expect(await server.ended).toEqual({ code: 1, signal: null })
  expect(server.stdout.join('')).toBe('')
  expect(server.stderr).toEqual([
    'sluice: The download of hf:acme/demo was interrupted; what has arrived is kept for the next one.',
  ])
})

const ADMIN_KEY = 'admin-key-of-this-test'

it('shows how far it is when an admin registers it on a running server', async () => {
  const { hub } = await startDemoHub()
  const gates = [createGate(), createGate()]
  // Parts of the file, each held back until the one before was seen.
  hub.behaviour.breakAfter = ({ range }) => (range === null ? 2_000_000 : 3_000_000)
  hub.behaviour.beforeSending = ({ range, path }) => {
    if (path !== `/${WEIGHTS}` || range === null) return Promise.resolve()
    return gates.shift()?.opened ?? Promise.resolve()
  }
  const held = [...gates]
  const server = await startServer(['--admin-key', ADMIN_KEY, '--threads', '1'], converted())
  const body = { id: 'm', checkpoint: 'hf:acme/demo' }
  const registered = await call(server, 'POST /v1/admin/models?wait=false', { secret: ADMIN_KEY, body })
  expect(registered.status).toBe(200)
  const shown = async () => {
    const { meta } = (await (await call(server, 'GET /v1/models/m', { secret: KEY })).json()) as {
      meta: { state: string; load_progress: number }
    }
    return meta
  }
  const seen: number[] = []
  for (const gate of held) {
    await vi.waitFor(async () => {
      const { state, load_progress: fraction } = await shown()
      expect(state).toBe('loading')
      expect(fraction).toBeGreaterThan((seen.at(-1) ?? 0) + 0.1)
      expect(fraction).toBeLessThan(0.8)
      seen.push(fraction)
    }, 10_000)
    gate.open()
  }
  await vi.waitFor(
    async () => expect(await shown()).toMatchObject({ state: 'ready', load_progress: 1 }),
    20_000,
  )
  const lines = server.stderr.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'downloading')
  expect(lines.length).toBeGreaterThan(2)
  expect(lines.at(-1)).toMatchObject({ model: 'm', repo: 'acme/demo', percent: 100 })
})

it('does not fill a disk in silence', async () => {
  await startDemoHub()
  const server = spawnServer(['--checkpoint', 'hf:acme/demo'], { maxFileBlocks: 2000 })
  expect(await server.ended).toEqual({ code: 1, signal: null })
  expect(server.stderr).toHaveLength(1)
  expect(server.stderr[0]).toMatch(
    /^sluice: Cannot write to the cache of models .*: the file system does not take/,
  )
})
