/** Keys of a full server's database, read by a light server beside it: what the one changes holds for the other at once. */
import { copyFileSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { type AccountsApp, createAccountsApp, PASSWORD } from '../../support/servers/accounts-app.ts'
import { SQL_INJECTIONS } from '../../support/servers/account-services.ts'
import { call, createTestLightServer, type TestLightServer } from '../../support/servers/light-server.ts'
import { openSocket, readAnswer } from '../../support/net/raw-http.ts'
import { temporaryFolder } from '../../support/servers/server-process.ts'
import { shared } from '../../support/shared.ts'

interface Scene extends TestLightServer {
  readonly full: AccountsApp
  readonly file: string
  readonly statusOf: (secret: string) => Promise<number>
}

async function createScene(): Promise<Scene> {
  const file = path.join(temporaryFolder(), 'api.db')
  const full = await createAccountsApp({ config: { apiDb: file } })
  const light = createTestLightServer({ keyDb: file })
  return { ...light, full, file, statusOf: (secret) => statusOf(light, secret) }
}

async function statusOf({ server }: TestLightServer, secret: string): Promise<number> {
  const headers = { authorization: `Bearer ${secret}` }
  return (await call(server, '/v1/generate', { headers, payload: { prompt: 'a' } })).status
}

describe('a key of the database', () => {
  it('opens generating, from the moment it is made', async () => {
    const { full, statusOf } = await createScene()
    const { key } = await full.register()

    expect(await statusOf(key)).toBe(200)
    const made = (await full.as(key, 'POST', '/v1/keys')).json<{ key: string }>()
    expect(await statusOf(made.key)).toBe(200)
  })

  it('opens nothing from the moment it is revoked', async () => {
    const { full, statusOf } = await createScene()
    const { key } = await full.register()
    const { id, key: other } = (await full.as(key, 'POST', '/v1/keys')).json()
    expect(await statusOf(other)).toBe(200)

    await full.as(key, 'DELETE', `/v1/keys/${id}`)

    expect(await statusOf(other)).toBe(401)
    expect(await statusOf(key)).toBe(200)
  })

  it('opens nothing from the moment it expires', async () => {
    const { full, clock, statusOf } = await createScene()
    const { key } = await full.register()
    const made = (await full.as(key, 'POST', '/v1/keys', { expires_in_days: 1 })).json()

    clock.advance(86_399_999)
    expect(await statusOf(made.key)).toBe(200)
    clock.advance(1)
    expect(await statusOf(made.key)).toBe(401)
  })

  it('opens nothing while its user is disabled', async () => {
    const { full, statusOf } = await createScene()
    const { key, userId } = await full.register()
    const disable = (disabled: boolean) => full.admin('PATCH', `/v1/admin/users/${userId}`, { disabled })

    await disable(true)
    expect(await statusOf(key)).toBe(401)
    await disable(false)
    expect(await statusOf(key)).toBe(200)
  })

  it('may be the token of a login, until the logout', async () => {
    const { full, statusOf } = await createScene()
    await full.register('ann@example.org')
    const token = await full.login('ann@example.org')

    expect(await statusOf(token)).toBe(200)
    await full.as(token, 'POST', '/v1/auth/logout')
    expect(await statusOf(token)).toBe(401)
  })

  it('that is revoked while the body is on the way opens nothing', async () => {
    const { full, clock, listen } = await createScene()
    const { key, userId } = await full.register()
    const socket = await openSocket(await listen())
    const body = '{"prompt": "late"}'
    socket.write(
      `POST /v1/generate HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\nexpect: 100-continue\r\n\r\n`,
    )
    // Told to go on: the head has passed the gates.
    await new Promise((resolve) => socket.once('data', resolve))
    await full.admin('PATCH', `/v1/admin/users/${userId}`, { disabled: true })
    clock.advance(1000)
    const answer = readAnswer(socket)

    socket.write(body)

    expect((await answer).status).toBe(401)
  })

  it('says to a route whose it is', async () => {
    const { full, server } = await createScene()
    const { key, userId } = await full.register()
    server.route('GET', '/me', ({ credential }) => credential)

    const answer = await call(server, '/me', { headers: { authorization: `Bearer ${key}` } })

    expect(answer.json).toMatchObject({ userId, accountId: userId, kind: 'key', tier: 'free' })
  })

  it('is asked for on no public path', async () => {
    const { server } = await createScene()

    expect((await call(server, '/v1/models')).status).toBe(200)
  })
})

describe('what is no key of the database', () => {
  const sceneOfWrongKeys = shared(createScene)

  it.each([
    'sk-svc-0123',
    `sk-svc-${'0'.repeat(64)}`,
    `sk-svc-${'%'.repeat(64)}`,
    'test-key',
    ...SQL_INJECTIONS,
    ...SQL_INJECTIONS.map((text) => `sk-svc-${text}`),
  ])('%j opens nothing', async (secret) => {
    const { full, statusOf } = sceneOfWrongKeys()
    await full.register()

    expect(await statusOf(secret)).toBe(401)
  })

  it('the hash of a key, or its prefix, opens nothing', async () => {
    const { full, statusOf } = await createScene()
    const { key } = await full.register()
    const [row] = (await full.as(key, 'GET', '/v1/keys')).json().keys

    expect(await statusOf(row.key_prefix)).toBe(401)
    expect(await statusOf(row.id)).toBe(401)
  })
})

describe('a database that is replaced', () => {
  it('by another file of its name is read instead, from the next request on', async () => {
    const { full, file, statusOf } = await createScene()
    const { key } = await full.register()
    expect(await statusOf(key)).toBe(200)
    const other = await createSnapshot()

    renameSync(other.file, file)

    expect(await statusOf(key)).toBe(401)
    expect(await statusOf(other.key)).toBe(200)
  })

  it('by a copy over it is read anew', async () => {
    const [first, second] = [await createSnapshot(), await createSnapshot()]
    const light = createTestLightServer({ keyDb: first.file })
    expect(await statusOf(light, first.key)).toBe(200)

    copyFileSync(second.file, first.file)

    expect(await statusOf(light, first.key)).toBe(401)
    expect(await statusOf(light, second.key)).toBe(200)
  })

  it('while requests come answers each of them by the one or the other', async () => {
    const [first, second] = [await createSnapshot(), await createSnapshot()]
    const light = createTestLightServer({ keyDb: first.file })
    const ask = () =>
      Array.from({ length: 20 }, (_, index) => statusOf(light, index % 2 === 0 ? first.key : second.key))
    await light.listen()

    const before = ask()
    renameSync(second.file, first.file)
    const statuses = await Promise.all([...before, ...ask()])

    expect(statuses.filter((status) => status !== 200 && status !== 401)).toEqual([])
    expect(await statusOf(light, second.key)).toBe(200)
    expect(light.failures).toEqual([])
  })
})

describe('a database that cannot be read', () => {
  it.each([
    ['is gone', (file: string) => rmSync(file)],
    ['is garbage', (file: string) => replace(file, 'x'.repeat(10_000))],
    ['is empty', (file: string) => replace(file, '')],
    [
      'is a folder',
      (file: string) => {
        rmSync(file)
        mkdirSync(file)
      },
    ],
  ])('because it %s is 500, never 401, until it can be read again', async (_, spoil) => {
    const { file, key } = await createSnapshot()
    const saved = `${file}.saved`
    copyFileSync(file, saved)
    const light = createTestLightServer({ keyDb: file })
    expect(await statusOf(light, key)).toBe(200)

    spoil(file)

    expect([await statusOf(light, key), await statusOf(light, `sk-svc-${'0'.repeat(64)}`)]).toEqual([
      500, 500,
    ])
    expect(light.failures).toHaveLength(2)
    rmSync(file, { recursive: true, force: true })
    renameSync(saved, file)
    expect(await statusOf(light, key)).toBe(200)
  })

  it('shows nothing of itself to the caller', async () => {
    const { file, key } = await createSnapshot()
    const { server } = createTestLightServer({ keyDb: file })
    await server.listen()
    rmSync(file)

    const headers = { authorization: `Bearer ${key}`, 'x-request-id': 'r-1' }
    const answer = await call(server, '/v1/generate', { headers, payload: { prompt: 'a' } })

    expect(answer.json).toEqual({ detail: 'Internal server error. Request id: r-1' })
  })

  it.each([
    ['is not there', null, 'there is no such file'],
    ['is garbage', 'x'.repeat(10_000), 'it is not a SQLite database'],
    ['is empty', '', "it has no table 'api_keys'; start the full server on it once"],
  ])('because it %s lets no server begin', async (_, content, reason) => {
    const file = path.join(temporaryFolder(), 'api.db')
    if (content !== null) writeFileSync(file, content)

    await expect(createTestLightServer({ keyDb: file }).server.listen()).rejects.toThrow(
      `The database of accounts and keys '${file}' (keyDb) cannot be read: ${reason}.`,
    )
  })
})

it('a database is left as it was by the light server that reads it', async () => {
  const { file, key } = await createSnapshot()
  const light = createTestLightServer({ keyDb: file })
  await statusOf(light, key)
  await light.server.close()

  // A full server still opens it and finds what was there.
  const full = await createAccountsApp({ config: { apiDb: file } })
  expect((await full.as(key, 'GET', '/v1/keys')).statusCode).toBe(200)
})

/** A database of one user, whose server has stopped. */
async function createSnapshot(): Promise<{ readonly file: string; readonly key: string }> {
  const file = path.join(temporaryFolder(), 'api.db')
  const full = await createAccountsApp({ config: { apiDb: file } })
  const { key } = await full.register(`${PASSWORD}@example.org`.replaceAll(/[^a-z@.]/g, ''))
  await full.state.close()
  return { file, key }
}

function replace(file: string, content: string): void {
  writeFileSync(`${file}.new`, content)
  renameSync(`${file}.new`, file)
}
