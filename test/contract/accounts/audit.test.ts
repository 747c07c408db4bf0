/** What the admin did is in the audit log: who, what, when, with which outcome, and no secret. */
import { describe, expect, it } from 'vitest'
import { createAccountsApp, PASSWORD } from '../../support/servers/accounts-app.ts'

interface AuditBody {
  readonly records: readonly {
    readonly action: string
    readonly status: number | null
    readonly target: string | null
  }[]
  readonly count: number
  readonly next_cursor?: string | null
}

describe('the audit log', () => {
  it('has a row for each action of the admin, with its outcome and without secrets', async () => {
    const { admin, clock } = await createAccountsApp()
    const made = await admin('POST', '/v1/admin/users', { email: 'ann@example.org', password: PASSWORD })
    const { user_id: userId } = made.json<{ user_id: string }>()
    clock.advance(1000)
    await admin('PATCH', `/v1/admin/users/${userId}`, { tier: 'pro', password: `new ${PASSWORD}` })
    clock.advance(1000)
    await admin('DELETE', '/v1/admin/keys/none')
    clock.advance(1000)
    const team = (await admin('POST', '/v1/admin/teams', { name: 'search' })).json<{ team_id: string }>()

    const answer = await admin('GET', '/v1/admin/audit')
    const record = { id: expect.any(String), actor: 'admin', request_id: expect.any(String) }
    const at = clock.unixSeconds()
    expect(answer.json()).toEqual({
      count: 4,
      records: [
        {
          ...{ ...record, action: 'user.create', target: userId, status: 200, created_at: at - 3 },
          details: { email: 'ann@example.org', password: '[hidden]', tier: 'free', role: 'user' },
        },
        {
          ...{ ...record, action: 'user.change', target: userId, status: 200, created_at: at - 2 },
          details: { tier: 'pro', password: '[hidden]' },
        },
        { ...record, action: 'key.revoke', target: 'none', status: 404, created_at: at - 1, details: {} },
        {
          ...{ ...record, action: 'team.create', target: team.team_id, status: 200, created_at: at },
          details: { name: 'search' },
        },
      ],
    })
    expect(answer.body).not.toContain(PASSWORD)
    expect(answer.json<{ records: { request_id: string }[] }>().records[0]?.request_id).toBe(
      made.headers['x-request-id'],
    )
  })

  it('names the address whose ban was to be lifted', async () => {
    const { admin } = await createAccountsApp()
    await admin('DELETE', '/v1/admin/bans/203.0.113.7')

    expect((await admin('GET', '/v1/admin/audit')).json()).toMatchObject({
      records: [{ action: 'ban.lift', target: '203.0.113.7', status: 404 }],
    })
  })

  it('is filtered by time and action, and comes in pages', async () => {
    const { admin, clock } = await createAccountsApp()
    for (const name of ['a', 'b', 'c']) {
      await admin('POST', '/v1/admin/teams', { name })
      clock.advance(1000)
    }
    await admin('POST', '/v1/admin/keys')
    const list = async (query: string) => (await admin('GET', `/v1/admin/audit?${query}`)).json<AuditBody>()
    const first = clock.unixSeconds() - 3

    expect((await list('action=team.create')).count).toBe(3)
    expect((await list(`since=${first + 1}&until=${first + 3}`)).records).toHaveLength(2)
    const page = await list('limit=3')
    expect(page.records).toHaveLength(3)
    expect((await list(`limit=3&cursor=${page.next_cursor}`)).records).toMatchObject([
      { action: 'key.create' },
    ])
    expect((await admin('GET', '/v1/admin/audit?since=2&until=1')).statusCode).toBe(400)
  })

  it('has none for what is only read, what is refused before it begins, and what keys do', async () => {
    const { admin, as, register } = await createAccountsApp()
    const { key } = await register()
    await as(key, 'POST', '/v1/keys', {})
    await as(key, 'POST', '/v1/admin/keys')
    await admin('GET', '/v1/admin/keys')
    await admin('POST', '/v1/admin/teams', {})
    expect((await admin('GET', '/v1/admin/audit')).json()).toEqual({ records: [], count: 0 })
  })
})
