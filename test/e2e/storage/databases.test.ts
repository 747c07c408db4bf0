/** The database files of the built program: what survives, what is refused untouched, and a disk that is full. */
import { chmodSync, existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { DatabaseSync } from '@photostructure/sqlite'
import { openApiDatabase } from '../../../src/storage/api-database.ts'
import {
  call,
  KEY,
  listening,
  logged,
  post,
  readStream,
  spawnServer,
  startServer,
  temporaryFolder,
} from '../../support/servers/server-process.ts'
import { shared } from '../../support/shared.ts'

const ADMIN_KEY = 'admin-key-of-this-test'
const PASSWORD = 'correct horse'

/** Blocks of 512 bytes: room for the tables and some dozens of requests. */
const SMALL_DISK = { maxFileBlocks: 1000 }

async function json(answer: Promise<Response>): Promise<Record<string, unknown>> {
  return (await (await answer).json()) as Record<string, unknown>
}

/** A folder in which this process and its children may make nothing. */
function unwritableFolder(): string {
  // Permissions of files do not bind the superuser, but those of the kernel's own do.
  if (process.getuid?.() === 0) return '/sys/kernel'
  const folder = temporaryFolder()
  chmodSync(folder, 0o555)
  return folder
}

describe('a second start on the same files', () => {
  it('keeps accounts, keys, passwords, custom rates and usage, and leaves one file of each', async () => {
    const folder = temporaryFolder()
    const words = ['--admin-key', ADMIN_KEY, '--data-dir', folder]
    const first = await startServer(words)
    const account = { email: 'ann@example.org', password: PASSWORD }
    const { api_key: key } = await json(call(first, 'POST /v1/auth/register', { body: account }))
    const secret = String(key)
    const made = await json(
      call(first, 'POST /v1/keys', { secret, body: { name: 'ci', expires_in_days: 9 } }),
    )
    await call(first, `PATCH /v1/admin/keys/${String(made['id'])}?rate_limit_rpm=7`, { secret: ADMIN_KEY })
    await call(first, 'POST /v1/generate', { secret, body: { prompt: 'ab' } })
    const { token } = await json(call(first, 'POST /v1/auth/login', { body: account }))
    const before = await json(call(first, 'GET /v1/admin/keys', { secret: ADMIN_KEY }))
    first.child.kill('SIGTERM')
    expect(await first.ended).toEqual({ code: 0, signal: null })
    expect(readdirSync(folder).toSorted()).toEqual(['api.db', 'usage.db'])
    expect(['api.db', 'usage.db'].map((file) => statSync(path.join(folder, file)).mode & 0o777)).toEqual([
      0o600, 0o600,
    ])

    const second = await startServer(words)

    expect(await json(call(second, 'GET /v1/admin/keys', { secret: ADMIN_KEY }))).toEqual(before)
    expect(await json(call(second, 'GET /v1/usage', { secret }))).toMatchObject({ requests: 1, tokens_in: 2 })
    expect((await call(second, 'GET /v1/keys', { secret: String(token) })).status).toBe(200)
    expect((await call(second, 'POST /v1/auth/login', { body: account })).status).toBe(200)
    expect((await call(second, 'POST /v1/auth/register', { body: account })).status).toBe(409)
  })
})

/** Makes a file of our own that says a later version has changed it. */
async function newerFile(file: string): Promise<void> {
  await (await openApiDatabase(file)).destroy()
  const database = new DatabaseSync(file)
  database.exec(`insert into kysely_migration (name, timestamp) values ('9999-from-the-future', '')`)
  database.close()
}

function foreignFile(file: string): void {
  const database = new DatabaseSync(file)
  database.exec('create table recipes (name text)')
  database.close()
}

/** A part: all that can be wrong with a file is tried in the tests of what opens it. */
const UNUSABLE: readonly [string, (folder: string) => string | Promise<string>, RegExp][] = [
  [
    'was written by a newer version',
    (folder) => make(folder, newerFile),
    /newer version of Sluice.*9999-from-the-future/,
  ],
  ['may not be made there', () => path.join(unwritableFolder(), 'api.db'), /not permitted|read-only/],
]

async function make(folder: string, write: (file: string) => void | Promise<void>): Promise<string> {
  const file = path.join(folder, 'api.db')
  await write(file)
  return file
}

describe('a database that', () => {
  it.each(UNUSABLE)('%s ends the start with one line and is left as it was', async (_, prepare, reason) => {
    const file = await prepare(temporaryFolder())
    const isFile = existsSync(file) && statSync(file).isFile()
    const before = isFile ? readFileSync(file) : null

    const server = spawnServer(['--api-db', file])

    expect(await server.ended).toEqual({ code: 1, signal: null })
    expect(server.stdout).toEqual([])
    expect(server.stderr).toHaveLength(1)
    expect(server.stderr[0]).toMatch(reason)
    expect(server.stderr[0]).toContain(file)
    if (before !== null) {
      expect(readFileSync(file).equals(before)).toBe(true)
      expect(readdirSync(path.dirname(file))).toEqual([path.basename(file)])
    }
  })

  it('is the other one ends the start as well', async () => {
    const folder = temporaryFolder()
    const usageDb = await make(folder, foreignFile)

    const server = spawnServer(['--usage-db', usageDb])

    expect(await server.ended).toEqual({ code: 1, signal: null })
    expect(server.stderr).toHaveLength(1)
    expect(server.stderr[0]).toMatch(/\(--usage-db\) holds something else/)
  })
})

describe('a full disk', () => {
  const full = shared(() => listening(spawnServer(['--api-keys', KEY, '--admin-key', ADMIN_KEY], SMALL_DISK)))

  it('makes no account by halves', async () => {
    const server = full()
    const create = () => call(server, 'POST /v1/admin/keys', { secret: ADMIN_KEY })

    let made = 0
    let failed = await create()
    for (; failed.status === 200 && made < 2000; made++) failed = await create()

    expect(failed.status).toBe(500)
    expect((await json(call(server, 'GET /v1/admin/keys', { secret: ADMIN_KEY })))['count']).toBe(made)
    const account = { email: 'ann@example.org', password: PASSWORD }
    const registration = await call(server, 'POST /v1/auth/register', { body: account })
    const isMade = registration.status === 200 ? 1 : 0
    expect((await json(call(server, 'GET /v1/admin/users', { secret: ADMIN_KEY })))['count']).toBe(isMade)
    expect((await json(call(server, 'GET /v1/admin/keys', { secret: ADMIN_KEY })))['count']).toBe(
      made + isMade,
    )
  })

  it('fails what must be recorded with 500, names the cause in the log alone, and ends nothing else', async () => {
    const server = full()
    const generate = () => post(server, '/v1/generate', { body: { prompt: 'a' } })

    let failed = await generate()
    for (let sent = 0; failed.status === 200 && sent < 2000; sent++) failed = await generate()

    expect(failed.status).toBe(500)
    const requestId = String(failed.headers.get('x-request-id'))
    expect(await failed.json()).toEqual({ detail: `Internal server error. Request id: ${requestId}` })
    const line = await logged(server, 'request failed', (fields) => fields['requestId'] === requestId)
    expect(JSON.stringify(line['err'])).toMatch(/full|disk I\/O error/)
    const stream = await readStream(await post(server, '/v1/generate/stream', { body: { prompt: 'a' } }))
    expect(stream).toMatchObject({ finishReason: null, error: { code: 'internal_error' } })
    expect((await call(server, 'GET /v1/health')).status).toBe(200)
    expect((await call(server, 'GET /v1/keys', { secret: KEY })).status).toBe(200)
    expect((await call(server, 'GET /v1/admin/usage', { secret: ADMIN_KEY })).status).toBe(200)
    server.child.kill('SIGTERM')
    expect(await server.ended).toEqual({ code: 0, signal: null })
  })
})
