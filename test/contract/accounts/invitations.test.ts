/** Invitations: links that make accounts once, also where registration is closed. */
import { beforeEach, describe, expect, it } from 'vitest'
import { type AccountsApp, createAccountsApp, PASSWORD } from '../../support/servers/accounts-app.ts'

const URL_ALL = '/v1/admin/invitations'
const EMAIL = 'ann@example.org'

interface Made {
  readonly id: string
  readonly link_path: string
}

let world: AccountsApp
beforeEach(async () => {
  world = await createAccountsApp({ config: { registration: 'closed' } })
})

async function invite(payload: object = {}): Promise<Made> {
  const answer = await world.admin('POST', URL_ALL, { emails: [EMAIL], ...payload })
  const [made] = answer.json<{ invitations: [Made] }>().invitations
  return made
}

const tokenOf = ({ link_path: path }: Made) => path.replace('#invite=', '')

const accept = (payload: object) =>
  world.app.inject({ method: 'POST', url: '/v1/auth/accept-invitation', payload })

const stateOfFirst = async () => (await world.admin('GET', URL_ALL)).json().invitations[0].state

describe('an invitation', () => {
  it('becomes the account that it offers, with a session, where registration is closed', async () => {
    const team = (await world.admin('POST', '/v1/admin/teams', { name: 'search' })).json()
    const made = await invite({ tier: 'pro', role: 'admin', team_id: team.team_id })

    const answer = await accept({ token: tokenOf(made), password: PASSWORD })

    expect(answer.json()).toMatchObject({ email: EMAIL, tier: 'pro', token: expect.any(String) })
    const { users } = (await world.admin('GET', '/v1/admin/users')).json()
    expect(users).toMatchObject([{ email: EMAIL, tier: 'pro', role: 'admin', team_id: team.team_id }])
    expect((await world.as(answer.json().token, 'GET', URL_ALL)).json()).toMatchObject({
      invitations: [{ id: made.id, email: EMAIL, state: 'accepted' }],
      count: 1,
    })
  })

  it.each([
    ['demoted', (url: string) => world.admin('PATCH', url, { role: 'user' })],
    ['disabled', (url: string) => world.admin('PATCH', url, { disabled: true })],
    ['deleted', (url: string) => world.admin('DELETE', url)],
  ])('of an admin is revoked when an admin is %s, and no other is', async (_, remove) => {
    const users: { user_id: string }[] = []
    for (const email of ['a@example.org', 'b@example.org']) {
      const made = await invite({ emails: [email], role: 'admin' })
      users.push((await accept({ token: tokenOf(made), password: PASSWORD })).json())
    }
    const [back, plain] = [await invite({ role: 'admin' }), await invite({ emails: ['c@example.org'] })]

    expect((await remove(`/v1/admin/users/${users[0]?.user_id}`)).statusCode).toBe(200)

    expect((await accept({ token: tokenOf(back), password: PASSWORD })).statusCode).toBe(401)
    expect((await accept({ token: tokenOf(plain), password: PASSWORD })).statusCode).toBe(200)
  })

  it('signs a browser in with a cookie, but not for a page of another site', async () => {
    const token = tokenOf(await invite())
    const payload = { token, password: PASSWORD, cookie: true }
    const foreign = await world.app.inject({
      ...{ method: 'POST', url: '/v1/auth/accept-invitation', payload },
      headers: { 'sec-fetch-site': 'cross-site' },
    })

    const own = await accept(payload)

    expect(foreign.statusCode).toBe(403)
    expect(own.json()).toMatchObject({ kind: 'account', email: EMAIL, role: 'user' })
    expect(own.headers['set-cookie']).toContain('HttpOnly; SameSite=Strict')
  })

  it('works once', async () => {
    const token = tokenOf(await invite())
    const both = await Promise.all([1, 2].map(() => accept({ token, password: PASSWORD })))

    expect(both.filter(({ statusCode }) => statusCode === 200)).toHaveLength(1)
    const late = await accept({ token, password: PASSWORD })
    expect([late.statusCode, late.headers['x-error-code']]).toEqual([401, 'invalid_invitation'])
  })

  it('is not used up by a password that is refused', async () => {
    const token = tokenOf(await invite())

    expect((await accept({ token, password: 'short' })).statusCode).toBe(400)
    expect((await accept({ token, password: PASSWORD })).statusCode).toBe(200)
  })

  it('expires', async () => {
    const token = tokenOf(await invite({ expires_in_days: 1 }))
    world.clock.advance(24 * 3_600_000 + 1)

    expect((await accept({ token, password: PASSWORD })).statusCode).toBe(401)
    expect(await stateOfFirst()).toBe('expired')
  })

  it('is revoked by the admin, and by a newer one for the same address', async () => {
    const first = await invite()
    const second = await invite({ emails: [EMAIL.toUpperCase()] })
    expect((await accept({ token: tokenOf(first), password: PASSWORD })).statusCode).toBe(401)

    const revoked = await world.admin('DELETE', `${URL_ALL}/${second.id}`)
    const again = await world.admin('DELETE', `${URL_ALL}/${second.id}`)

    expect(revoked.json()).toEqual({ status: 'revoked', id: second.id })
    expect([again.statusCode, again.headers['x-error-code']]).toEqual([404, 'invitation_not_found'])
    expect((await accept({ token: tokenOf(second), password: PASSWORD })).statusCode).toBe(401)
    expect(await stateOfFirst()).toBe('revoked')
  })

  it('is counted as a failed login when its token is wrong', async () => {
    const token = tokenOf(await invite())
    for (let count = 0; count < 10; count++) await accept({ token: `wrong-${count}`, password: PASSWORD })

    expect((await accept({ token, password: PASSWORD })).headers['x-error-code']).toBe('too_many_logins')
  })
})

describe('POST /v1/admin/invitations', () => {
  it('invites a hundred at once, each once, and says which have an account already', async () => {
    await world.admin('POST', '/v1/admin/users', { email: EMAIL, password: PASSWORD })
    const others = Array.from({ length: 98 }, (_, index) => `user-${index}@example.org`)

    const answer = await world.admin('POST', URL_ALL, { emails: [EMAIL, ...others, 'USER-0@example.org'] })

    const { invitations, errors } = answer.json<{ invitations: Made[]; errors: object[] }>()
    expect(new Set(invitations.map(({ link_path: link }) => link)).size).toBe(98)
    expect(invitations[0]).toMatchObject({
      ...{ tier: 'free', role: 'user', state: 'pending', team_id: null },
      expires_at: world.clock.unixSeconds() + 7 * 86_400,
    })
    expect(errors).toEqual([
      { email: EMAIL, code: 'email_taken', detail: `The e-mail address ${EMAIL} is registered already.` },
    ])
  })

  it.each([
    [{ emails: [] }, /^emails /],
    [{ emails: Array.from({ length: 101 }, () => EMAIL) }, /^emails /],
    [{ emails: ['ann'] }, /^emails\[0\] must be an e-mail address/],
    [{ emails: [EMAIL], expires_in_days: 91 }, /^expires_in_days must be/],
    [{ emails: [EMAIL], role: 'root' }, /^role must be one of user, admin/],
  ])('refuses %j', async (payload, detail) => {
    const answer = await world.admin('POST', URL_ALL, payload)

    expect(answer.statusCode).toBe(400)
    expect(answer.json().detail).toMatch(detail)
  })

  it('leaves a row in the audit log, and no token of a link', async () => {
    const made = await invite()

    const audit = await world.admin('GET', '/v1/admin/audit')

    expect(audit.json().records).toMatchObject([
      { action: 'invitation.create', details: { emails: [EMAIL] }, status: 200 },
    ])
    expect(audit.body).not.toContain(tokenOf(made))
  })
})
