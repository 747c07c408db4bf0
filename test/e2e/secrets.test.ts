/** Secrets and passwords of the built program: where they are shown once, and that they are nowhere else. */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { createServer } from 'sluice'
import { describe, expect, it } from 'vitest'
import {
  call,
  listening,
  logged,
  type RunningServerProcess,
  type ServerProcess,
  spawnServer,
  temporaryFolder,
} from '../support/servers/server-process.ts'

const STATIC_KEY = 'static-key-of-this-test'
const ADMIN_KEY = 'admin-key-of-this-test'

const output = ({ stdout, stderr }: ServerProcess) => [...stdout, ...stderr].join('\n')

/** The key that a run printed for itself; null when it printed none. */
const printedKey = ({ stdout }: ServerProcess) => /sk-svc-[0-9a-f]{64}/.exec(stdout.join('\n'))?.[0] ?? null

async function readFields(answer: Response): Promise<Record<string, string>> {
  return (await answer.json()) as Record<string, string>
}

/** What anybody could read of a run: all that it wrote to its terminal, its files and into errors. */
class Traces {
  readonly #server: RunningServerProcess
  readonly #errors: string[] = []

  constructor(server: RunningServerProcess) {
    this.#server = server
  }

  /** Calls, and keeps what is answered when it is an error. */
  async fail(route: string, options: Parameters<typeof call>[2] = {}): Promise<void> {
    const answer = await call(this.#server, route, options)
    expect(answer.status, route).toBeGreaterThanOrEqual(400)
    this.#errors.push(JSON.stringify([...answer.headers]) + (await answer.text()))
  }

  read(folder: string): string {
    const files = readdirSync(folder).map((file) => readFileSync(path.join(folder, file), 'latin1'))
    return [output(this.#server), ...this.#errors, ...files].join('\n')
  }
}

describe('with every line of the log', () => {
  it('no secret and no password is in the log, in an error or in a file', async () => {
    const folder = temporaryFolder()
    const words = ['--log-level', 'trace', '--api-keys', STATIC_KEY, '--admin-key', ADMIN_KEY]
    const server = await listening(spawnServer([...words, '--data-dir', folder]))
    const traces = new Traces(server)
    const [password, newPassword, wrongPassword] = ['first-password', 'second-password', 'wrong-password']
    const email = 'ann@example.org'

    const account = { email, password }
    const { api_key: key = '' } = await readFields(
      await call(server, 'POST /v1/auth/register', { body: account }),
    )
    const { token = '' } = await readFields(await call(server, 'POST /v1/auth/login', { body: account }))
    const made = await readFields(await call(server, 'POST /v1/keys', { secret: token, body: {} }))
    const robot = await readFields(await call(server, 'POST /v1/admin/keys', { secret: ADMIN_KEY }))
    const secrets = [key, token, made['key'], robot['key'], STATIC_KEY].map(String)
    for (const secret of secrets) {
      const generated = await call(server, 'POST /v1/generate', { secret, body: { prompt: 'a' } })
      expect(generated.status).toBe(200)
    }

    await traces.fail('POST /v1/auth/register', { body: account })
    await traces.fail('POST /v1/auth/register', { body: { email: 'x', password } })
    await traces.fail('POST /v1/auth/register', { body: { email, password: wrongPassword.slice(0, 7) } })
    await traces.fail('POST /v1/auth/register', { body: { email: [password], password: { password } } })
    await traces.fail('POST /v1/auth/login', { body: { email, password: wrongPassword } })
    await traces.fail('POST /v1/auth/login', { body: { email, password: [password] } })
    await traces.fail('POST /v1/auth/login', { body: JSON.stringify(account) })
    const change = { current_password: wrongPassword, new_password: newPassword }
    await traces.fail('POST /v1/auth/password', { secret: key, body: change })
    const weak = { current_password: password, new_password: newPassword.slice(0, 7) }
    await traces.fail('POST /v1/auth/password', { secret: key, body: weak })
    await traces.fail('GET /v1/admin/keys', { secret: key })
    await traces.fail('GET /v1/keys', { secret: ADMIN_KEY })
    await traces.fail('GET /v1/keys', { secret: `${key}x` })
    await traces.fail('POST /v1/keys', { secret: key, body: {} })
    await traces.fail('POST /v1/generate', { secret: key, body: { prompt: 7 } })
    const right = { current_password: password, new_password: newPassword }
    expect((await call(server, 'POST /v1/auth/password', { secret: token, body: right })).status).toBe(200)
    expect((await call(server, 'POST /v1/auth/logout', { secret: token })).status).toBe(200)
    await logged(server, 'request', ({ route }) => route === '/v1/auth/logout')

    const running = traces.read(folder)
    server.child.kill('SIGTERM')
    expect(await server.ended).toEqual({ code: 0, signal: null })
    const stopped = traces.read(folder)

    // Here is what was to be searched: the log, and the rows of the account.
    expect(server.stderr.length).toBeGreaterThan(20)
    expect(stopped).toContain(email)
    expect(stopped).toContain('$argon2id$')
    const hidden = [...secrets, ADMIN_KEY, password, newPassword, wrongPassword].flatMap(spellings)
    for (const trace of [running, stopped]) {
      expect(hidden.filter((spelling) => trace.includes(spelling))).toEqual([])
    }
  })
})

/** A secret as it is, and as it would be in bytes that somebody encoded. */
function spellings(secret: string): string[] {
  const bytes = Buffer.from(secret)
  return [
    secret,
    bytes.toString('base64').replaceAll('=', ''),
    bytes.toString('hex'),
    secret.slice('sk-svc-'.length + 8),
  ].filter((spelling) => spelling.length >= 7)
}

describe("a run's own key", () => {
  it('is printed to standard output alone, is good, is in no file, and is another in each run until there is an account', async () => {
    const folder = temporaryFolder()
    const start = (...words: string[]) => listening(spawnServer([...words, '--data-dir', folder]))
    const stop = async ({ child, ended }: ServerProcess) => {
      child.kill('SIGTERM')
      await ended
    }
    const first = await start('--log-level', 'trace')
    await expect.poll(() => printedKey(first)).not.toBeNull()
    const key = printedKey(first) ?? ''
    expect((await call(first, 'POST /v1/generate', { secret: key, body: { prompt: 'a' } })).status).toBe(200)
    await logged(first, 'request')
    await stop(first)
    expect(first.stdout.filter((line) => line.includes(key))).toHaveLength(1)
    expect(first.stderr.join('\n')).not.toContain(key.slice(7))
    expect(new Traces({ ...first, stdout: [] }).read(folder)).not.toContain(key.slice(7))

    const second = await start()
    const body = { email: 'ann@example.org', password: 'correct horse' }
    const { user_id: id } = await readFields(await call(second, 'POST /v1/auth/register', { body }))
    await stop(second)
    const third = await start()
    const oldKey = await call(third, 'GET /v1/keys', { secret: printedKey(second) ?? '' })
    await stop(third)

    expect(printedKey(second)).toEqual(expect.any(String))
    expect(printedKey(second)).not.toBe(key)
    expect(id).toBeDefined()
    expect(output(third)).not.toContain('sk-svc-')
    expect(output(third)).toContain(
      `no key is printed because there are accounts or keys already; sluice keys create --data-dir ${folder} makes one.`,
    )
    expect(oldKey.status).toBe(401)
  })

  it.each([
    ['a static key', { apiKeys: [STATIC_KEY] }],
    ['no authentication', { authMode: 'none' }],
    ['an admin key', { adminKey: ADMIN_KEY }],
  ] as const)('is not made with %s', async (_, options) => {
    const databases = { apiDb: ':memory:', usageDb: ':memory:', dataDir: temporaryFolder() }
    const server = await createServer({ ...databases, ...options, port: 0, logLevel: 'silent' })
    await server.close()

    expect(server.operatorKey).toBeNull()
  })
})
