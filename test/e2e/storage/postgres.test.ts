/** Instances of the built program on one PostgreSQL: cut off from it, killed, and told of revocations. */
import { statSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { newKeySecret } from '../../../src/accounts/keys/key-secret.ts'
import { POSTGRES_BIN } from '../../../tools/optional-programs.mjs'
import { runSql, startOwnPostgres } from '../../support/databases/throw-away-postgres.ts'
import {
  call,
  logged,
  type RunningServerProcess,
  startServer,
  temporaryFolder,
} from '../../support/servers/server-process.ts'
import { shared } from '../../support/shared.ts'

const ADMIN_KEY = 'admin-key-of-this-test'

/** Of one instance with a data folder of its own, and of all that a test starts beside it. */
async function createScene() {
  const postgres = await startOwnPostgres()
  const url = await postgres.createDatabase()
  const start = (dataDir: string, words: readonly string[] = []) => {
    const databases = ['--api-db', url, '--usage-db', url, '--data-dir', dataDir]
    return startServer(['--admin-key', ADMIN_KEY, ...databases, ...words])
  }
  const dataDir = temporaryFolder()
  return { postgres, url, start, dataDir, server: await start(dataDir) }
}

async function createKey(server: RunningServerProcess): Promise<{ id: string; key: string }> {
  const answer = await call(server, 'POST /v1/admin/keys?tier=enterprise', { secret: ADMIN_KEY })
  expect(answer.status).toBe(200)
  return (await answer.json()) as { id: string; key: string }
}

async function generate(server: RunningServerProcess, secret: string): Promise<number> {
  const answer = await call(server, 'POST /v1/generate', { secret, body: { prompt: 'ab' } })
  await answer.arrayBuffer()
  return answer.status
}

async function countRequests(server: RunningServerProcess): Promise<unknown> {
  const answer = await call(server, 'GET /v1/admin/usage', { secret: ADMIN_KEY })
  return ((await answer.json()) as { requests?: number }).requests
}

/** The gauges, by database. */
async function databasesUp(server: RunningServerProcess): Promise<Record<string, number>> {
  const metrics = await (await call(server, 'GET /metrics', { secret: ADMIN_KEY })).text()
  const found = metrics.matchAll(/^sluice_database_up\{database="(\w+)"\} (\d)$/gm)
  return Object.fromEntries([...found].map(([, database, up]) => [database, Number(up)]))
}

const waitingBytes = (dataDir: string) => statSync(path.join(dataDir, 'waiting-usage.jsonl')).size

describe.skipIf(POSTGRES_BIN === null)('instances on one PostgreSQL', () => {
  const scene = shared(createScene)

  it('hear within a second that a key was revoked, by another instance or past all of them', async () => {
    const { start, url, server: one } = scene()
    const other = await start(temporaryFolder())
    const [first, second] = [await createKey(one), await createKey(one)]
    for (const { key } of [first, second]) expect(await generate(other, key)).toBe(200)

    await call(one, `DELETE /v1/admin/keys/${first.id}`, { secret: ADMIN_KEY })
    expect(await generate(one, first.key)).toBe(401)
    await expect.poll(() => generate(other, first.key), { timeout: 1000, interval: 20 }).toBe(401)
    await runSql(url, `update api_keys set revoked_at = 1 where id = '${second.id}'`)
    await expect.poll(() => generate(other, second.key), { timeout: 1000, interval: 20 }).toBe(401)
  })

  it('go on beside one that takes no connection and answers nothing', async () => {
    const { server, postgres } = scene()
    const { key } = await createKey(server)
    expect(await generate(server, key)).toBe(200)
    const before = Number(await countRequests(server))

    await runSql(
      postgres.urlOf('postgres'),
      "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and application_name = 'sluice'",
    )
    postgres.signal('SIGSTOP')
    for (let count = 0; count < 5; count++) expect(await generate(server, key)).toBe(200)
    await logged(server, 'The database of usage cannot be reached: timeout expired.')
    postgres.signal('SIGCONT')
    // Each database is asked by itself whether it is back.
    await expect.poll(() => databasesUp(server)).toEqual({ accounts: 1, usage: 1 })

    expect(await countRequests(server)).toBe(before + 5)
  })

  it('serve the keys they know while it is away, and lose no row of usage', async () => {
    const { server, dataDir, postgres } = scene()
    const before = Number(await countRequests(server))
    const [known, revoked, unused] = [
      await createKey(server),
      await createKey(server),
      await createKey(server),
    ]
    for (const { key } of [known, revoked]) expect(await generate(server, key)).toBe(200)
    await call(server, `DELETE /v1/admin/keys/${revoked.id}`, { secret: ADMIN_KEY })

    let answered = 2
    const loading = new AbortController()
    const load = async () => {
      while (!loading.signal.aborted) {
        expect(await generate(server, known.key)).toBe(200)
        answered++
        await pause(20)
      }
    }
    const loads = [load(), load(), load()]
    await postgres.kill()
    await expect.poll(() => waitingBytes(dataDir)).toBeGreaterThan(0)
    for (const secret of [unused.key, revoked.key, newKeySecret()]) {
      const refused = await call(server, 'POST /v1/generate', { secret, body: { prompt: 'ab' } })
      expect(refused.status).toBe(503)
      expect(refused.headers.get('x-error-code')).toBe('database_unavailable')
      expect(refused.headers.get('retry-after')).toBe('1')
    }
    expect((await call(server, 'GET /v1/ready')).status).toBe(200)
    expect(await countRequests(server)).toBeUndefined()
    expect(await databasesUp(server)).toEqual({ accounts: 0, usage: 0 })
    await postgres.start()
    await expect.poll(() => waitingBytes(dataDir), { timeout: 3000, interval: 50 }).toBe(0)
    loading.abort()
    await Promise.all(loads)

    expect(await countRequests(server)).toBe(before + answered)
    await expect.poll(() => databasesUp(server), { timeout: 3000 }).toEqual({ accounts: 1, usage: 1 })
    expect(await generate(server, unused.key)).toBe(200)
    expect(await generate(server, revoked.key)).toBe(401)
  })

  it('with workers know the same keys in all of them, also in one that is started while it is away', async () => {
    const { start, postgres } = scene()
    const server = await start(temporaryFolder(), ['--workers', '2'])
    const before = Number(await countRequests(server))
    // Each on a connection of its own, so that they reach both.
    const statuses = (key: string) => Promise.all(Array.from({ length: 6 }, () => generate(server, key)))
    const keys = await Promise.all(Array.from({ length: 4 }, () => createKey(server)))
    for (const { id, key } of await Promise.all([createKey(server), createKey(server)])) {
      expect(new Set(await statuses(key))).toEqual(new Set([200]))
      await call(server, `DELETE /v1/admin/keys/${id}`, { secret: ADMIN_KEY })
      expect(new Set(await statuses(key))).toEqual(new Set([401]))
    }
    // By one of the workers.
    for (const { key } of keys) expect(await generate(server, key)).toBe(200)

    await postgres.kill()
    for (const { key } of keys) expect(new Set(await statuses(key))).toEqual(new Set([200]))
    server.child.kill('SIGUSR2')
    await logged(server, 'the workers were replaced')
    expect(await databasesUp(server)).toEqual({ accounts: 0, usage: 0 })
    for (const { key } of keys) expect(new Set(await statuses(key))).toEqual(new Set([200]))
    await postgres.start()
    const made = 12 + 4 + 24 + 24
    await expect.poll(() => countRequests(server), { timeout: 5000 }).toBe(before + made)
  })

  it('killed while it is away, count at the next start what they answered', async () => {
    const { start, server, dataDir, postgres } = scene()
    await expect.poll(() => databasesUp(server)).toEqual({ accounts: 1, usage: 1 })
    const { key } = await createKey(server)
    expect(await generate(server, key)).toBe(200)
    const before = Number(await countRequests(server))
    await postgres.kill()
    for (let count = 0; count < 5; count++) expect(await generate(server, key)).toBe(200)
    server.child.kill('SIGKILL')
    await server.ended
    expect(waitingBytes(dataDir)).toBeGreaterThan(0)
    await postgres.start()

    expect(await countRequests(await start(dataDir))).toBe(before + 5)
  })
})
