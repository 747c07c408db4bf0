/** The data folder of the built program: one server at a time, and a folder that is taken away under it. */
import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  call,
  KEY,
  listening,
  logged,
  post,
  spawnServer,
  startServer,
  temporaryFolder,
} from '../../support/servers/server-process.ts'

const WORDS = ['--api-keys', KEY]

describe('a second server on one data folder', () => {
  it('is refused with the process that holds it, changes nothing for the first, and starts once that has been killed', async () => {
    const folder = temporaryFolder()
    const first = await startServer([...WORDS, '--data-dir', folder])
    const others = [
      spawnServer([...WORDS, '--data-dir', path.join(folder, '.')]),
      // It shares a database of usage alone.
      spawnServer([...WORDS, '--api-db', ':memory:', '--data-dir', folder]),
    ] as const
    for (const { ended } of others) expect(await ended).toEqual({ code: 1, signal: null })

    const [ofBoth, ofUsage] = others
    expect(ofBoth.stdout).toEqual([])
    expect(ofBoth.stderr).toEqual([
      `sluice: The database of accounts and keys '${path.join(folder, 'api.db')}' (--api-db) is in use by the server with process id ${first.child.pid}: stop that one, or give this one files of its own (--data-dir, or --api-db and --usage-db).`,
    ])
    expect(ofUsage.stderr.join('\n')).toContain(
      `(--usage-db) is in use by the server with process id ${first.child.pid}`,
    )
    expect((await post(first, '/v1/generate', { body: { prompt: 'a' } })).status).toBe(200)

    first.child.kill('SIGKILL')
    await first.ended
    const next = await startServer([...WORDS, '--data-dir', folder])
    expect((await post(next, '/v1/generate', { body: { prompt: 'a' } })).status).toBe(200)
    next.child.kill('SIGTERM')
    expect(await next.ended).toEqual({ code: 0, signal: null })
    expect(readdirSync(folder).toSorted()).toEqual(['api.db', 'usage.db'])
  })
})

describe('a data folder that is taken away under a server', () => {
  it('is said once, refuses what could not be recorded, and serves again once it is back', async () => {
    const folder = temporaryFolder()
    const data = path.join(folder, 'data')
    const server = await listening(spawnServer([...WORDS, '--data-dir', data]))
    const generate = () => post(server, '/v1/generate', { body: { prompt: 'a' } })
    const usage = async () => (await call(server, 'GET /v1/usage', { secret: KEY })).json()
    expect((await generate()).status).toBe(200)

    renameSync(data, `${data}-away`)
    // At once, whether anything has looked yet or not.
    const refused = await generate()

    expect(refused.status).toBe(503)
    expect(refused.headers.get('x-error-code')).toBe('storage_lost')
    expect(refused.headers.get('retry-after')).not.toBeNull()
    expect(await refused.json()).toMatchObject({
      detail: expect.stringMatching(
        /^The server's database of .+ was removed or replaced while the server runs, so nothing more can be recorded\.$/,
      ),
    })
    const report = await call(server, 'GET /v1/usage', { secret: KEY })
    expect(report.status).toBe(503)
    expect(report.headers.get('x-error-code')).toBe('storage_lost')
    const ready = await call(server, 'GET /v1/ready')
    expect(ready.status).toBe(503)
    expect(ready.headers.get('x-error-code')).toBe('storage_lost')
    expect((await call(server, 'GET /v1/health')).status).toBe(200)
    const account = { email: 'ann@example.org', password: 'correct horse' }
    expect((await call(server, 'POST /v1/auth/register', { body: account })).status).toBe(503)
    await logged(
      server,
      "The server's database of accounts and keys was removed or replaced while the server runs, so nothing more can be recorded. Put the files back, or stop the server and start it again.",
    )

    // A new folder of that name is another one.
    mkdirSync(data)
    expect((await call(server, 'GET /v1/ready')).status).toBe(503)
    rmSync(data, { recursive: true })
    renameSync(`${data}-away`, data)

    expect((await call(server, 'GET /v1/ready')).status).toBe(200)
    expect((await generate()).status).toBe(200)
    expect(await usage()).toMatchObject({ requests: 2 })
    server.child.kill('SIGTERM')
    expect(await server.ended).toEqual({ code: 0, signal: null })
    expect(server.stderr.filter((line) => line.includes('was removed'))).toHaveLength(1)
  })
})
