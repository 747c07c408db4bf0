/** Sessions of browsers: the cookie, what protects it from other sites' pages, and the link that makes the first admin. */
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { TrustedProxies } from '../../../src/guards/trusted-proxies.ts'
import { type AccountsApp, createAccountsApp, PASSWORD } from '../../support/servers/accounts-app.ts'
import { ADMIN_KEY, KEY } from '../../support/servers/test-app.ts'

const EMAIL = 'ann@example.org'
const ADMIN = { email: 'root@example.org', password: PASSWORD }

interface Browser {
  readonly cookie: string
  readonly csrf: string
  readonly setCookie: string
}

interface Call {
  readonly headers?: Readonly<Record<string, string>>
  readonly payload?: object
}

/** Without any credential but what is given. */
async function send(world: AccountsApp, endpoint: string, { headers = {}, payload }: Call = {}) {
  const [method, url = ''] = endpoint.split(' ')
  return await world.app.inject({
    method: method as 'GET',
    url,
    headers,
    ...(payload && { payload }),
  })
}

function toBrowser(answer: Awaited<ReturnType<typeof send>>): Browser {
  expect(answer.statusCode).toBe(200)
  const setCookie = String(answer.headers['set-cookie'])
  return { setCookie, cookie: setCookie.split(';', 1)[0] ?? '', csrf: answer.json().csrf_token }
}

async function signIn(world: AccountsApp, email = EMAIL): Promise<Browser> {
  const payload = { email, password: PASSWORD, cookie: true }
  return toBrowser(await send(world, 'POST /v1/auth/login', { payload }))
}

async function openGuest(world: AccountsApp): Promise<Browser> {
  const token = await world.state.guests.createLink()
  return toBrowser(await send(world, 'POST /v1/auth/sign-in', { payload: { token } }))
}

const withCsrf = ({ cookie, csrf }: Browser) => ({ cookie, 'x-csrf-token': csrf })

async function createAdmin(world: AccountsApp): Promise<Browser> {
  const guest = await openGuest(world)
  const headers = withCsrf(guest)
  return toBrowser(await send(world, 'POST /v1/auth/first-admin', { headers, payload: ADMIN }))
}

let world: AccountsApp
beforeEach(async () => {
  world = await createAccountsApp()
})

describe('the cookie of a login', () => {
  it('is kept from scripts and from other sites, and the answer holds no token', async () => {
    const { userId } = await world.register(EMAIL)
    const payload = { email: EMAIL, password: PASSWORD, cookie: true }

    const answer = await send(world, 'POST /v1/auth/login', { payload })

    expect(answer.headers['set-cookie']).toMatch(
      /^sluice_session=sk-svc-[0-9a-f]{64}; Path=\/; Max-Age=86400; HttpOnly; SameSite=Strict$/,
    )
    expect(answer.json()).toEqual({
      kind: 'account',
      user_id: userId,
      email: EMAIL,
      tier: 'free',
      role: 'user',
      csrf_token: expect.stringMatching(/^[\w-]{43}$/),
      expires_at: world.clock.unixSeconds() + 86_400,
    })
  })

  it('is a credential of every route that takes a key, and says whose it is', async () => {
    await world.register(EMAIL)
    const { cookie, csrf } = await signIn(world)

    const session = await send(world, 'GET /v1/auth/session', { headers: { cookie } })
    const payload = { messages: [{ role: 'user', content: 'hi' }] }
    const chat = await send(world, 'POST /v1/chat/completions', {
      headers: { cookie, 'x-csrf-token': csrf },
      payload,
    })

    expect(session.json()).toMatchObject({ kind: 'account', email: EMAIL, csrf_token: csrf })
    expect(session.headers['cache-control']).toBe('no-store')
    expect(chat.statusCode).toBe(200)
  })

  it.each([
    ['without a token', {}],
    ['with a token of another session', { 'x-csrf-token': 'A'.repeat(43) }],
    ['from another site', { csrf: 'own', 'sec-fetch-site': 'cross-site' }],
    ['from a neighbouring host', { csrf: 'own', 'sec-fetch-site': 'same-site' }],
    ['of another origin', { csrf: 'own', origin: 'http://evil.example' }],
    ['of a page without an origin', { csrf: 'own', origin: 'null' }],
    ['of another port', { csrf: 'own', origin: 'http://localhost:81' }],
  ])('changes nothing %s', async (_, { csrf, ...more }: Record<string, string>) => {
    await world.register(EMAIL)
    const browser = await signIn(world)
    const headers = { host: 'localhost:80', cookie: browser.cookie, ...more }

    const answer = await send(world, 'POST /v1/keys', {
      headers: csrf === 'own' ? { ...headers, 'x-csrf-token': browser.csrf } : headers,
      payload: { name: 'stolen' },
    })

    expect(answer.statusCode).toBe(403)
    expect(answer.headers['x-error-code']).toBe('csrf_failed')
  })

  it.each([
    ['the same origin', { 'sec-fetch-site': 'same-origin', origin: 'http://renamed.example' }],
    ['its own host', { host: 'sluice.example:8080', origin: 'http://sluice.example:8080' }],
    ['the default port', { host: 'sluice.example', origin: 'http://sluice.example:80' }],
  ])('changes what it asks for from %s', async (_, more: Record<string, string>) => {
    await world.register(EMAIL)
    const headers = { ...withCsrf(await signIn(world)), ...more }

    expect((await send(world, 'POST /v1/keys', { headers, payload: { name: 'x' } })).statusCode).toBe(200)
  })

  it('yields to any other credential, which needs no token, and never takes the place of a wrong one', async () => {
    const { key } = await world.register(EMAIL)
    const { cookie } = await signIn(world)
    const authorization = `Bearer ${key}`

    const byKey = await send(world, 'POST /v1/keys', {
      headers: { cookie, authorization },
      payload: { name: 'a' },
    })
    const byWrongKey = await send(world, 'GET /v1/keys', { headers: { cookie, 'x-api-key': 'sk-wrong' } })
    const byWrongBearer = await send(world, 'GET /v1/keys', {
      headers: { cookie, authorization: 'Bearer sk-wrong' },
    })

    expect(byKey.statusCode).toBe(200)
    expect(byWrongKey.statusCode).toBe(401)
    expect(byWrongBearer.statusCode).toBe(401)
  })

  it('does not open a session to an API key that stands in it', async () => {
    const { key } = await world.register(EMAIL)

    for (const secret of [key, KEY, '', 'guest-x']) {
      const headers = { cookie: `sluice_session=${secret}` }
      expect((await send(world, 'GET /v1/keys', { headers })).statusCode).toBe(401)
    }
  })

  it('is not set for a page of another site, which would sign its visitor in as another', async () => {
    await world.register(EMAIL)
    const payload = { email: EMAIL, password: PASSWORD, cookie: true }
    const headers = { 'sec-fetch-site': 'cross-site' }

    const answer = await send(world, 'POST /v1/auth/login', { headers, payload })

    expect(answer.statusCode).toBe(403)
    expect(answer.headers['set-cookie']).toBeUndefined()
  })

  it('is another one for each login: what a browser had before is never taken over', async () => {
    await world.register(EMAIL)
    const before = await signIn(world)
    const payload = { email: EMAIL, password: PASSWORD, cookie: true }

    const again = toBrowser(
      await send(world, 'POST /v1/auth/login', { headers: { cookie: before.cookie }, payload }),
    )

    expect(again.cookie).not.toBe(before.cookie)
    expect(again.csrf).not.toBe(before.csrf)
  })

  it('ends with the logout, in the browser as well', async () => {
    await world.register(EMAIL)
    const browser = await signIn(world)

    const answer = await send(world, 'POST /v1/auth/logout', { headers: withCsrf(browser) })

    expect(answer.statusCode).toBe(200)
    expect(answer.headers['set-cookie']).toMatch(/^sluice_session=; Path=\/; Max-Age=0;/)
    const { cookie } = browser
    expect((await send(world, 'GET /v1/auth/session', { headers: { cookie } })).statusCode).toBe(401)
  })

  it('is 401 for a visitor, or says that it is one to the page that asks', async () => {
    const none = { headers: { cookie: 'sluice_session=of-no-session' } }

    expect((await send(world, 'GET /v1/auth/session', none)).statusCode).toBe(401)
    const answer = await send(world, 'GET /v1/auth/session?visitor=true', none)
    expect([answer.statusCode, answer.json()]).toEqual([200, { kind: 'visitor' }])
    const wrong = { headers: { authorization: 'Bearer wrong' } }
    expect((await send(world, 'GET /v1/auth/session?visitor=true', wrong)).statusCode).toBe(401)
  })

  it('is 401 for a key, which is no session', async () => {
    const answer = await world.call('/v1/auth/session')

    expect(answer.statusCode).toBe(401)
  })

  it('is never allowed to pages of other origins', async () => {
    const open = await createAccountsApp({ corsOrigins: ['*'] })
    const headers = { origin: 'http://evil.example', 'access-control-request-method': 'POST' }

    const preflight = await send(open, 'OPTIONS /v1/keys', { headers })

    expect(preflight.headers['access-control-allow-origin']).toBe('*')
    expect(preflight.headers['access-control-allow-credentials']).toBeUndefined()
  })
})

describe('over TLS at a proxy', () => {
  const proxied = { 'x-forwarded-proto': 'https' }

  it('the cookie is for this host and TLS alone, where the proxy is trusted', async () => {
    const trusting = await createAccountsApp({ trustedProxies: new TrustedProxies(['127.0.0.1']) })
    await trusting.register(EMAIL)
    const payload = { email: EMAIL, password: PASSWORD, cookie: true }

    const answer = await send(trusting, 'POST /v1/auth/login', { headers: proxied, payload })
    const { cookie, setCookie } = toBrowser(answer)

    expect(setCookie).toMatch(/^__Host-sluice_session=.*; SameSite=Strict; Secure$/)
    const statusWith = async (headers: Record<string, string>) =>
      (await send(trusting, 'GET /v1/auth/session', { headers })).statusCode
    expect(await statusWith({ cookie, ...proxied })).toBe(200)
    // A page of another host of the domain can set this one.
    expect(await statusWith({ cookie: cookie.replace('__Host-', ''), ...proxied })).toBe(401)
    expect(await statusWith({ cookie })).toBe(401)
  })

  it.each([
    ['https, http', /^sluice_session=.*; SameSite=Strict$/],
    ['http, https', /^__Host-sluice_session=.*; SameSite=Strict; Secure$/],
  ])('the nearest proxy says whether it is, of %j', async (proto, setCookie) => {
    const trusting = await createAccountsApp({ trustedProxies: new TrustedProxies(['127.0.0.1']) })
    await trusting.register(EMAIL)
    const payload = { email: EMAIL, password: PASSWORD, cookie: true }

    const answer = await send(trusting, 'POST /v1/auth/login', {
      headers: { 'x-forwarded-proto': proto },
      payload,
    })

    expect(toBrowser(answer).setCookie).toMatch(setCookie)
  })

  it('a page is of this server by the name that the nearest proxy gives it, and by no other', async () => {
    const trusting = await createAccountsApp({ trustedProxies: new TrustedProxies(['127.0.0.1']) })
    await trusting.register(EMAIL)
    const payload = { email: EMAIL, password: PASSWORD, cookie: true }
    const forwarded = { ...proxied, 'x-forwarded-host': 'evil.example, own.example' }
    const codeFrom = async (origin: string) => {
      const headers = { ...forwarded, origin }
      const answer = await send(trusting, 'POST /v1/auth/login', { headers, payload })
      return answer.headers['x-error-code']
    }

    expect(await codeFrom('https://evil.example')).toBe('csrf_failed')
    expect(await codeFrom('https://own.example')).toBeUndefined()
  })

  it('a client that is no trusted proxy cannot say so', async () => {
    await world.register(EMAIL)
    const payload = { email: EMAIL, password: PASSWORD, cookie: true }

    const answer = await send(world, 'POST /v1/auth/login', { headers: proxied, payload })

    expect(answer.headers['set-cookie']).not.toContain('Secure')
  })
})

describe('the link of a start', () => {
  it('opens once, as the operator without an account', async () => {
    const token = await world.state.guests.createLink()

    const first = await send(world, 'POST /v1/auth/sign-in', { payload: { token } })
    const second = await send(world, 'POST /v1/auth/sign-in', { payload: { token } })

    expect(first.json()).toMatchObject({ kind: 'guest', user_id: null, tier: 'enterprise', role: 'user' })
    expect(second.statusCode).toBe(401)
    expect(second.headers['x-error-code']).toBe('invalid_link')
    const headers = withCsrf(toBrowser(first))
    const chat = { messages: [{ role: 'user', content: 'hi' }] }
    expect((await send(world, 'POST /v1/chat/completions', { headers, payload: chat })).statusCode).toBe(200)
    expect((await send(world, 'GET /v1/admin/users', { headers })).statusCode).toBe(403)
    expect((await send(world, 'POST /v1/auth/logout', { headers })).statusCode).toBe(200)
    expect((await send(world, 'GET /v1/auth/session', { headers })).statusCode).toBe(401)
  })

  it('is out of date after an hour, and its guest after a day', async () => {
    const late = await world.state.guests.createLink()
    const guest = await openGuest(world)
    world.clock.advance(3_600_001)

    expect((await send(world, 'POST /v1/auth/sign-in', { payload: { token: late } })).statusCode).toBe(401)
    const { cookie } = guest
    expect((await send(world, 'GET /v1/auth/session', { headers: { cookie } })).statusCode).toBe(200)
    world.clock.advance(23 * 3_600_000)
    expect((await send(world, 'GET /v1/auth/session', { headers: { cookie } })).statusCode).toBe(401)
  })

  it('cannot be guessed: ten wrong ones, and the right one waits as well', async () => {
    const token = await world.state.guests.createLink()
    for (let count = 0; count < 10; count++)
      await send(world, 'POST /v1/auth/sign-in', { payload: { token: `wrong-${count}` } })

    const answer = await send(world, 'POST /v1/auth/sign-in', { payload: { token } })

    expect(answer.statusCode).toBe(429)
    expect(answer.headers['x-error-code']).toBe('too_many_logins')
  })

  it('makes the first admin, and then neither link nor guest is good for anything', async () => {
    const link = await world.state.guests.createLink()
    const other = await openGuest(world)

    const admin = await createAdmin(world)

    const session = await send(world, 'GET /v1/auth/session', { headers: { cookie: admin.cookie } })
    expect(session.json()).toMatchObject({ kind: 'account', email: ADMIN.email, role: 'admin' })
    expect((await send(world, 'POST /v1/auth/sign-in', { payload: { token: link } })).statusCode).toBe(401)
    const late = await send(world, 'POST /v1/auth/first-admin', {
      headers: withCsrf(other),
      payload: { ...ADMIN, email: 'late@example.org' },
    })
    expect(late.statusCode).toBe(401)
    expect(await world.state.guests.createLink()).toBeNull()
    const { records } = (await world.admin('GET', '/v1/admin/audit')).json()
    expect(records).toMatchObject([
      { actor: 'guest', action: 'user.first-admin', target: session.json().user_id, status: 200 },
    ])
    expect(JSON.stringify(records)).not.toContain(PASSWORD)
  })

  it('makes no admin of who holds a key or a session of a user', async () => {
    const { key } = await world.register(EMAIL)

    for (const secret of [key, KEY]) {
      const answer = await world.as(secret, 'POST', '/v1/auth/first-admin', ADMIN)
      expect(answer.statusCode).toBe(403)
      expect(answer.headers['x-error-code']).toBe('guest_required')
    }
  })
})

describe('an admin', () => {
  it('uses the admin API with a session, by cookie or token, and never with a key', async () => {
    const browser = await createAdmin(world)
    const { key, userId } = await world.register(EMAIL)
    await world.admin('PATCH', `/v1/admin/users/${userId}`, { role: 'admin' })

    const listed = await send(world, 'GET /v1/admin/users', { headers: { cookie: browser.cookie } })
    const byToken = await world.as(await world.login(EMAIL), 'GET', '/v1/admin/users')

    const users = listed.json<{ users: { email: string; role: string }[] }>().users
    expect(new Set(users.map(({ email, role }) => `${email} ${role}`))).toEqual(
      new Set([`${ADMIN.email} admin`, `${EMAIL} admin`]),
    )
    expect(byToken.statusCode).toBe(200)
    expect((await world.as(key, 'GET', '/v1/admin/users')).statusCode).toBe(401)
  })

  it('names no file and no variable of the server as the key of an upstream, as the admin key may', async () => {
    const { userId } = await world.register(EMAIL)
    await world.admin('PATCH', `/v1/admin/users/${userId}`, { role: 'admin' })
    const token = await world.login(EMAIL)
    vi.stubEnv('KEY_OF_THIS_TEST', 'upstream-key')
    const body = { id: 'far', engine: 'openai', endpoints: ['http://127.0.0.1:1/v1'] }
    const register = async (secret: string, key: string) => {
      const given = { ...body, api_key: key }
      const answer = await world.as(secret, 'POST', '/v1/admin/models?wait=false', given)
      return answer.statusCode === 200 ? 200 : answer.json<{ detail: string }>().detail
    }

    for (const key of ['@/etc/hostname', 'env:KEY_OF_THIS_TEST'])
      expect(await register(token, key)).toBe(
        'api_key must be the key itself: only the admin key may name a file or a variable of the server.',
      )
    expect(await register(token, 'a b')).toMatch(/^api_key must give a key of 1 to 4096 printable/)
    expect(await register(token, 'plain-key')).toBe(200)
    expect(await register(ADMIN_KEY, 'env:KEY_OF_THIS_TEST')).toBe(200)
    expect(await register(ADMIN_KEY, '@/no/such/file')).toMatch(/^api_key names a file after @, but/)
    vi.unstubAllEnvs()
  })

  it('needs no admin key on the server', async () => {
    const keyless = await createAccountsApp({ config: { adminKey: null } })
    const { cookie } = await createAdmin(keyless)

    expect((await send(keyless, 'GET /v1/admin/users', { headers: { cookie } })).statusCode).toBe(200)
    expect((await send(keyless, 'GET /v1/admin/users')).headers['x-error-code']).toBe('admin_disabled')
  })

  it('stands in the audit log by name, and its changes need the token', async () => {
    const browser = await createAdmin(world)
    const payload = { email: EMAIL, password: PASSWORD }

    const without = await send(world, 'POST /v1/admin/users', {
      headers: { cookie: browser.cookie },
      payload,
    })
    const made = await send(world, 'POST /v1/admin/users', { headers: withCsrf(browser), payload })

    expect(without.headers['x-error-code']).toBe('csrf_failed')
    expect(made.statusCode).toBe(200)
    const { records } = (await world.admin('GET', '/v1/admin/audit?action=user.create')).json()
    expect(records).toMatchObject([{ actor: ADMIN.email, action: 'user.create' }])
  })

  it('is none from the next request on when demoted or disabled', async () => {
    await createAdmin(world)
    const { userId } = await world.register(EMAIL)
    const change = (payload: object) => world.admin('PATCH', `/v1/admin/users/${userId}`, payload)
    await change({ role: 'admin' })
    const { cookie } = await signIn(world)
    const status = async () => (await send(world, 'GET /v1/admin/users', { headers: { cookie } })).statusCode

    expect(await status()).toBe(200)
    await change({ role: 'user' })
    expect(await status()).toBe(403)
    await change({ role: 'admin' })
    expect(await status()).toBe(200)
    await change({ disabled: true })
    expect(await status()).toBe(401)
  })

  it('is neither demoted, disabled nor deleted while there is no other', async () => {
    await createAdmin(world)
    const [{ user_id: id }] = (await world.admin('GET', '/v1/admin/users')).json().users
    const url = `/v1/admin/users/${id}`
    const refused = async () => [
      (await world.admin('PATCH', url, { role: 'user' })).headers['x-error-code'],
      (await world.admin('PATCH', url, { disabled: true })).headers['x-error-code'],
      (await world.admin('DELETE', url)).headers['x-error-code'],
    ]

    expect(await refused()).toEqual(['last_admin', 'last_admin', 'last_admin'])
    const { userId } = await world.register(EMAIL)
    await world.admin('PATCH', `/v1/admin/users/${userId}`, { role: 'admin' })
    expect((await world.admin('DELETE', url)).statusCode).toBe(200)
  })
})

it('answers every caller of a server without authentication, which has no session', async () => {
  const open = await createAccountsApp({ config: { authMode: 'none', apiKeys: [] } })

  const answer = await send(open, 'GET /v1/auth/session', { headers: { host: 'localhost' } })

  expect(answer.json()).toMatchObject({ kind: 'open', user_id: null, csrf_token: null, expires_at: null })
})
