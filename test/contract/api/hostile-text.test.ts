/** Text that would be a command somewhere else: in SQL, in a header, in a terminal. Here it is text, or it is refused. */
import { describe, expect, it } from 'vitest'
import { type AccountsApp, createAccountsApp, PASSWORD } from '../../support/servers/accounts-app.ts'
import { SQL_INJECTIONS } from '../../support/servers/account-services.ts'
import { openSocket, readAnswer } from '../../support/net/raw-http.ts'
import { ADMIN_KEY } from '../../support/servers/test-app.ts'
import { shared } from '../../support/shared.ts'

const HEADER_INJECTIONS = ['a\r\nset-cookie: x=y', 'a\nx-injected: 1', 'a\r\n\r\n{"key":"forged"}']

/** Everything that somebody could see of the database, to be compared with itself later. */
async function snapshot({ admin }: AccountsApp): Promise<string> {
  const answers = [
    await admin('GET', '/v1/admin/keys'),
    await admin('GET', '/v1/admin/users'),
    await admin('GET', '/v1/admin/usage'),
  ]
  return answers.map(({ body }) => body).join('\n')
}

describe.each([...SQL_INJECTIONS, ...HEADER_INJECTIONS])('%j', (hostile) => {
  const encoded = encodeURIComponent(hostile)
  const sharedWorld = shared(() => createAccountsApp())

  it('as the name of a key is a name', async () => {
    const world = await createAccountsApp()
    const { key } = await world.register()

    const own = await world.as(key, 'POST', '/v1/keys', { name: hostile })
    const byAdmin = await world.admin('POST', `/v1/admin/keys?name=${encoded}`)
    const changed = await world.admin('PATCH', `/v1/admin/keys/${own.json().id}?name=${encoded}x`)

    expect([own.json().name, byAdmin.json().name, changed.json().name]).toEqual([
      hostile,
      hostile,
      `${hostile}x`,
    ])
    const { keys } = (await world.admin('GET', '/v1/admin/keys')).json()
    expect(keys.map(({ name }: { name: string }) => name).toSorted()).toEqual(['', hostile, `${hostile}x`])
  })

  it('as an id finds nothing and changes nothing', async () => {
    const world = sharedWorld()
    await world.register()
    const before = await snapshot(world)

    const answers = [
      await world.call({ method: 'DELETE', url: `/v1/keys/${encoded}` }),
      await world.admin('GET', `/v1/admin/keys/${encoded}`),
      await world.admin('DELETE', `/v1/admin/keys/${encoded}`),
      await world.admin('PATCH', `/v1/admin/keys/${encoded}?name=x`),
      await world.admin('GET', `/v1/admin/keys/${encoded}/usage`),
      await world.admin('PATCH', `/v1/admin/users/${encoded}`, { disabled: true }),
      await world.admin('DELETE', `/v1/admin/users/${encoded}`),
      await world.admin('POST', `/v1/admin/keys?user_id=${encoded}`),
    ]

    expect(answers.map(({ statusCode }) => statusCode)).toEqual(answers.map(() => 404))
    expect(answers.flatMap(({ headers }) => Object.keys(headers))).not.toContain('set-cookie')
    expect(await snapshot(world)).toBe(before)
  })

  it('as a parameter of a query is refused', async () => {
    const world = sharedWorld()
    await world.register()
    const before = await snapshot(world)

    const answers = [
      await world.call(`/v1/keys?cursor=${encoded}`),
      await world.call(`/v1/keys?limit=${encoded}`),
      await world.call(`/v1/usage?since=${encoded}`),
      await world.admin('GET', `/v1/admin/users?cursor=${encoded}`),
      await world.admin('POST', `/v1/admin/keys?tier=${encoded}`),
    ]

    expect(answers.map(({ statusCode }) => statusCode)).toEqual(answers.map(() => 400))
    expect(await snapshot(world)).toBe(before)
  })

  it('as an e-mail, a password or a login lets nobody in', async () => {
    const world = sharedWorld()
    await world.register('ann@example.org')
    const auth = async (route: string, email: string, password: string) =>
      (await world.app.inject({ method: 'POST', url: `/v1/auth/${route}`, payload: { email, password } }))
        .statusCode

    expect(await auth('register', hostile, PASSWORD)).toBe(400)
    // A single `%` is an address that people have; whatever it makes, it is no way into another account.
    const isAddress = hostile === '%'
    expect(await auth('register', `${hostile}@example.org`, PASSWORD)).toBe(isAddress ? 200 : 400)
    expect(await auth('login', hostile, hostile)).toBe(401)
    expect(await auth('login', `ann@example.org${hostile}`, PASSWORD)).toBe(401)
    expect(await auth('login', 'ann@example.org', hostile)).toBe(401)
  })

  it('as a password is a password', async () => {
    const world = sharedWorld()
    const password = hostile.padEnd(8, '!')
    const email = 'bob@example.org'
    const payload = { email, password }

    await world.app.inject({ method: 'POST', url: '/v1/auth/register', payload })

    const login = (given: object) =>
      world.app.inject({ method: 'POST', url: '/v1/auth/login', payload: given })
    expect((await login(payload)).statusCode).toBe(200)
    expect((await login({ email, password: `${password} ` })).statusCode).toBe(401)
  })
})

describe('a bearer secret', () => {
  const sharedWorld = shared(() => createAccountsApp())

  it.each([...SQL_INJECTIONS, '%', '_', '*', `sk-svc-${'%'.repeat(64)}`, `sk-svc-${'_'.repeat(64)}`])(
    '%j opens nothing',
    async (secret) => {
      const world = sharedWorld()
      await world.register()

      expect((await world.as(secret, 'GET', '/v1/keys')).statusCode).toBe(401)
      expect((await world.as(secret, 'GET', '/v1/admin/keys')).statusCode).toBe(401)
    },
  )

  it('with a line break is a malformed request, and what follows is no header', async () => {
    const world = await createAccountsApp()
    const socket = await openSocket(await world.listen())
    const answer = readAnswer(socket)

    socket.write(`GET /v1/admin/keys HTTP/1.1\r\nhost: x\r\nauthorization: Bearer a\n ${ADMIN_KEY}\r\n\r\n`)

    expect((await answer).status).toBe(400)
  })
})

describe('the name of a key', () => {
  const sharedWorld = shared(() => createAccountsApp())

  it.each([
    '😀'.repeat(64),
    'e\u0301',
    '\u202e\u200b\ufeff',
    'line\nbreak\ttab\u001b[31mred\u0007',
    '\u007f\u0085\u2028',
    ' blanks around ',
    '{"key":"x"}',
    '<script>alert(1)</script>',
  ])('%j comes back as it was given', async (name) => {
    const world = sharedWorld()
    const { key } = await world.register()

    const made = await world.as(key, 'POST', '/v1/keys', { name })
    const byAdmin = await world.admin('POST', `/v1/admin/keys?name=${encodeURIComponent(name)}`)

    expect([made.json().name, byAdmin.json().name]).toEqual([name, name])
    expect((await world.admin('GET', `/v1/admin/keys/${made.json().id}`)).json().name).toBe(name)
    expect(made.headers['content-type']).toBe('application/json; charset=utf-8')
  })

  it.each([
    ['😀'.repeat(65), 'name must be a string of 0 to 64 characters'],
    ['a\0b', 'name must not contain a null character.'],
  ])('is refused when it is %j', async (name, detail) => {
    const world = sharedWorld()
    const { key } = await world.register()

    const own = await world.as(key, 'POST', '/v1/keys', { name })
    const byAdmin = await world.admin('POST', `/v1/admin/keys?name=${encodeURIComponent(name)}`)

    for (const answer of [own, byAdmin]) {
      expect(answer.statusCode).toBe(400)
      expect(answer.json().detail).toContain(detail)
    }
  })

  it('is refused with half a character', async () => {
    const world = sharedWorld()

    const answer = await world.call({
      method: 'POST',
      url: '/v1/keys',
      headers: { 'content-type': 'application/json' },
      payload: '{"name":"\\ud83d"}',
    })

    expect(answer.statusCode).toBe(400)
    expect(answer.json().detail).toContain('lone surrogate')
  })
})

describe('a null character', () => {
  it('is refused where text is kept, and finds nothing elsewhere', async () => {
    const world = await createAccountsApp()
    await world.register('ann@example.org')
    const before = await snapshot(world)
    const post = async (route: string, payload: object) =>
      (await world.app.inject({ method: 'POST', url: `/v1/auth/${route}`, payload })).statusCode

    expect(await post('register', { email: 'ann\0@example.org', password: PASSWORD })).toBe(400)
    expect(await post('login', { email: 'ann@example.org', password: `${PASSWORD}\0` })).toBe(401)
    expect((await world.admin('POST', '/v1/admin/keys?user_id=a%00b')).statusCode).toBe(400)
    expect((await world.admin('GET', '/v1/admin/keys?cursor=a%00b')).statusCode).toBe(400)
    expect(await snapshot(world)).toBe(before)
  })

  it('does not end a text: what stands before it is not found', async () => {
    const world = await createAccountsApp()
    const { userId } = await world.register('ann@example.org')
    const id = (await world.admin('GET', '/v1/admin/keys')).json().keys[0].id
    const before = await snapshot(world)

    const email = 'ann@example.org\0x'
    const login = { method: 'POST', url: '/v1/auth/login', payload: { email, password: PASSWORD } } as const
    expect((await world.app.inject(login)).statusCode).toBe(401)
    expect((await world.admin('GET', `/v1/admin/keys/${id}%00x`)).statusCode).toBe(404)
    expect((await world.admin('DELETE', `/v1/admin/keys/${id}%00x`)).statusCode).toBe(404)
    expect((await world.admin('DELETE', `/v1/admin/users/${userId}%00x`)).statusCode).toBe(404)
    expect(await snapshot(world)).toBe(before)
    const { records } = (await world.admin('GET', '/v1/admin/audit')).json<{
      records: { target: unknown }[]
    }>()
    const targets = records.map(({ target }) => target)
    expect(targets).toEqual(expect.arrayContaining([`${id}\ufffdx`, `${userId}\ufffdx`]))
  })
})
