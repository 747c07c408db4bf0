/** The commands for operators beside a running server: two programs, one database. */
import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { lengthOf } from '../../support/length-of.ts'
import { call, startServer, temporaryFolder } from '../../support/servers/server-process.ts'
import { shared } from '../../support/shared.ts'

const SLUICE = path.resolve(import.meta.dirname, '../../../bin/sluice.js')
const run = promisify(execFile)
/** In each of them three commands run at once. */
const ROUNDS = lengthOf({ test: 1, soak: 40 })

/** Runs `sluice` to its end; rejects when it fails. */
async function sluice(...words: readonly string[]): Promise<string> {
  const { stdout, stderr } = await run(process.execPath, [SLUICE, ...words])
  expect(stderr).toBe('')
  return stdout
}

/** The key of the first test, beside those that another one counts. */
const SHORT_LIVED = 'short-lived'

/** A server with its data folder. */
const scene = shared(async () => {
  const dataDir = temporaryFolder()
  return { dataDir, server: await startServer(['--data-dir', dataDir, '--trusted-proxies', '127.0.0.1']) }
})

it('keys made, changed and revoked on the command line hold for the next request', async () => {
  const { server, dataDir } = scene()
  const statusOf = async (key: string) => (await call(server, 'GET /v1/models', { secret: key })).status

  const made = await sluice(
    'keys',
    'create',
    '--name',
    SHORT_LIVED,
    '--tier',
    'pro',
    '--json',
    '--data-dir',
    dataDir,
  )
  const { id, key } = JSON.parse(made) as { id: string; key: string }
  expect(await statusOf(key)).toBe(200)

  await sluice('keys', 'set-tier', id, 'free', '--data-dir', dataDir)
  const lowered = await call(server, 'GET /v1/models', { secret: key })
  expect(lowered.headers.get('x-ratelimit-limit-requests')).toBe('60')

  await sluice('keys', 'revoke', id, '--data-dir', dataDir)
  expect(await statusOf(key)).toBe(401)
})

it('a chat without a server starts the bundled model, writes its answer alone, and leaves nothing running', async () => {
  const dataDir = temporaryFolder()
  const words = [
    'chat',
    'demo',
    '--data-dir',
    dataDir,
    '--prompt',
    'What is the capital of Italy?',
    '--temperature',
    '0',
  ]
  expect(await sluice(...words)).toMatch(/\bRome\b.*\n$/)
  expect(readdirSync(dataDir)).toEqual(['models'])
})

it('neither the server nor a command ever finds the database locked', async () => {
  const { server, dataDir } = scene()
  const done = new AbortController()
  const registrations: number[] = []
  const registering = (async () => {
    for (let user = 0; !done.signal.aborted || registrations.length < 20; user++) {
      const body = { email: `user-${user}@example.org`, password: 'correct horse' }
      // One address may register 100 users a minute.
      const forwardedFor = `10.0.0.${user % 250}`
      registrations.push((await call(server, 'POST /v1/auth/register', { body, forwardedFor })).status)
    }
  })()

  for (let round = 0; round < ROUNDS; round++) {
    await Promise.all([
      sluice('keys', 'create', '--json', '--data-dir', dataDir),
      sluice('keys', 'create', '--name', 'another', '--data-dir', dataDir),
      sluice('users', 'list', '--data-dir', dataDir),
    ])
  }
  done.abort()
  await registering

  expect(new Set(registrations)).toEqual(new Set([200]))
  expect(server.stderr.join('\n')).not.toMatch(/locked|busy/i)
  const listed = JSON.parse(await sluice('keys', 'list', '--json', '--data-dir', dataDir)) as {
    keys: { name: string }[]
  }
  const others = listed.keys.filter(({ name }) => name !== SHORT_LIVED)
  expect(others).toHaveLength(registrations.length + 2 * ROUNDS)
})

it('an output that takes nothing is a failure, not an end like any other', async () => {
  // A file that may not grow stands for a disk that is full.
  const script = 'ulimit -f 0; exec "$@" > "$OUTPUT"'
  const env = { ...process.env, OUTPUT: path.join(temporaryFolder(), 'output') }

  const ended = run('sh', ['-c', script, 'sh', process.execPath, SLUICE, '--version'], { env })

  await expect(ended).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('EFBIG') })
})
