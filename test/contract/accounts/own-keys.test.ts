/** What owners see and change of their own keys and usage. */
import { beforeEach, describe, expect, it } from 'vitest'
import { type AccountsApp, createAccountsApp } from '../../support/servers/accounts-app.ts'

const EMAIL = 'ann@example.org'

interface Key {
  readonly id: string
  readonly name: string
}

let world: AccountsApp
let key: string
let session: string
beforeEach(async () => {
  world = await createAccountsApp()
  ;({ key } = await world.register(EMAIL))
  session = await world.login(EMAIL)
})

const keysOf = async (secret: string) =>
  (await world.as(secret, 'GET', '/v1/keys')).json<{ keys: Key[] }>().keys

const generate = async (secret: string) => {
  const answer = await world.as(secret, 'POST', '/v1/generate', { prompt: 'ab', max_new_tokens: 2 })
  expect(answer.statusCode).toBe(200)
}

describe('PATCH /v1/keys/{key_id}', () => {
  it('gives a key of the account another name', async () => {
    const [{ id }] = (await keysOf(key)) as [Key]

    const answer = await world.as(session, 'PATCH', `/v1/keys/${id}`, { name: 'ci' })

    expect(answer.json()).toMatchObject({ id, name: 'ci', is_active: true })
    expect(await keysOf(key)).toMatchObject([{ name: 'ci' }])
  })

  it('is 404 for a key of another account, which keeps its name', async () => {
    const eve = await world.register('eve@example.org')
    const [{ id }] = (await keysOf(key)) as [Key]

    const answer = await world.as(eve.key, 'PATCH', `/v1/keys/${id}`, { name: 'mine' })

    expect([answer.statusCode, answer.headers['x-error-code']]).toEqual([404, 'key_not_found'])
    expect(await keysOf(key)).toMatchObject([{ name: '' }])
  })

  it.each([{}, { name: 1 }, { name: 'x'.repeat(1000) }])('refuses %j', async (payload) => {
    const [{ id }] = (await keysOf(key)) as [Key]

    expect((await world.as(key, 'PATCH', `/v1/keys/${id}`, payload)).statusCode).toBe(400)
  })
})

describe('a budget of an own key', () => {
  it('is shown with what is spent of it and when it begins again, and holds', async () => {
    const made = (await world.as(session, 'POST', '/v1/keys', { name: 'ci', daily_token_budget: 4 })).json()
    await generate(made.key)

    const listed = (await keysOf(session)).find(({ name }) => name === 'ci')
    const refused = await world.as(made.key, 'POST', '/v1/generate', { prompt: 'ab' })

    const day = 86_400
    expect(listed).toMatchObject({
      max_concurrent_requests: 1,
      // It began with the request of the session that made it.
      ...{ requests_this_minute: 2, open_requests: 0 },
      budgets: [
        {
          ...{ scope: 'key', period: 'day', max_tokens: 4, spent_tokens: 4 },
          resets_at: (Math.floor(world.clock.unixSeconds() / day) + 1) * day,
        },
      ],
    })
    expect(refused.headers['x-error-code']).toBe('budget_exceeded')
  })

  it('is not made by a key, whose own budget those of the new one would leave', async () => {
    const answer = await world.as(key, 'POST', '/v1/keys', { monthly_token_budget: 1000 })

    expect([answer.statusCode, answer.headers['x-error-code']]).toEqual([400, 'key_budget_by_key'])
  })
})

describe('GET /v1/usage by group', () => {
  it('has rows of the account alone, by key, model, endpoint and day', async () => {
    const eve = await world.register('eve@example.org')
    await generate(key)
    await generate(session)
    await generate(eve.key)

    const byKey = (await world.as(session, 'GET', '/v1/usage?group_by=key&bucket=day')).json()
    const byModel = (await world.as(key, 'GET', '/v1/usage?group_by=model')).json()

    const [{ id }] = (await keysOf(key)) as [Key]
    expect(byKey).toMatchObject({ group_by: 'key', bucket: 'day' })
    expect(byKey.data).toHaveLength(2)
    expect(byKey.data.map((row: { key: string }) => row.key)).toContain(id)
    expect(byModel.data).toMatchObject([{ model: 'default', requests: 2, tokens_in: 4, tokens_out: 4 }])
    expect((await world.as(session, 'GET', '/v1/usage')).json()).toMatchObject({ requests: 2 })
  })

  it('is CSV where that is asked for', async () => {
    await generate(key)

    const answer = await world.as(key, 'GET', '/v1/usage?group_by=endpoint&format=csv')

    expect(answer.headers['content-type']).toMatch(/^text\/csv/)
    expect(answer.body.split('\r\n').slice(0, 2)).toEqual([
      'endpoint,requests,tokens_in,tokens_out,avg_response_ms,p50_response_ms,p95_response_ms,errors',
      expect.stringMatching(/^\/v1\/generate,1,2,2,/),
    ])
  })

  it.each(['group_by=user', 'group_by=team', 'user=x', 'since=2&until=1'])('refuses %s', async (query) => {
    expect((await world.as(key, 'GET', `/v1/usage?${query}`)).statusCode).toBe(400)
  })
})
