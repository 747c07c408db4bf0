/** Teams, and token budgets of keys, users and teams: what they refuse, when they begin again, and what a restart leaves of them. */
import Anthropic, { RateLimitError as AnthropicRateLimit } from '@anthropic-ai/sdk'
import OpenAI, { RateLimitError } from 'openai'
import { describe, expect, it, vi } from 'vitest'
import { SPENT_KNOWN_MS } from '../../../src/core/shared-state.ts'
import {
  type AccountsApp,
  type AccountsAppOptions,
  createAccountsApp,
} from '../../support/servers/accounts-app.ts'

/** Spends six tokens: three in, three out. */
const GENERATE = { prompt: 'abc' }
const SPENT = 6

const DAY_SECONDS = 86_400

/** At noon of the 10th of a month; a user with a key. */
async function setUp(options: AccountsAppOptions = {}) {
  const world = await createAccountsApp(options)
  const noon = Date.UTC(2024, 0, 10, 12) / 1000
  world.clock.advance((noon - world.clock.unixSeconds()) * 1000)
  const ann = await world.register('ann@example.org')
  const { id: keyId } = (await world.as(ann.key, 'GET', '/v1/keys')).json().keys[0] as { id: string }
  const generate = (secret = ann.key) => world.as(secret, 'POST', '/v1/generate', GENERATE)
  const statuses = async (count: number, secret = ann.key) => {
    const all: number[] = []
    for (let turn = 0; turn < count; turn++) all.push((await generate(secret)).statusCode)
    return all
  }
  return { ...world, ann, keyId, generate, statuses }
}

async function createTeam({ admin }: AccountsApp, fields: object): Promise<string> {
  return (await admin('POST', '/v1/admin/teams', { name: 'search', ...fields })).json<{ team_id: string }>()
    .team_id
}

describe.each([
  ['in this process', {}],
  ['in another process', { isDistant: true }],
])('a budget, counted %s', (_, options) => {
  it('of a key refuses from its last token on, in the shape of each dialect, until the day is over', async () => {
    const { admin, as, ann, keyId, generate, statuses, clock } = await setUp(options)
    const set = await admin('PATCH', `/v1/admin/keys/${keyId}`, { daily_token_budget: 2 * SPENT })
    expect(set.json()).toMatchObject({ daily_token_budget: 12, monthly_token_budget: null, team_id: null })
    expect(await statuses(2)).toEqual([200, 200])

    const midnight = Date.UTC(2024, 0, 11) / 1000
    expect((await as(ann.key, 'GET', '/v1/usage')).json().budgets).toEqual([
      { scope: 'key', period: 'day', max_tokens: 12, spent_tokens: 12, resets_at: midnight },
    ])
    const refused = await generate()
    const detail =
      'The daily_token_budget of this key is 12 tokens, and 12 are spent; it begins again at 2024-01-11T00:00:00Z.'
    expect([refused.statusCode, refused.json()]).toEqual([429, { detail }])
    expect(refused.headers).toMatchObject({
      'x-error-code': 'budget_exceeded',
      'retry-after': String(DAY_SECONDS / 2),
      'x-should-retry': 'false',
      'x-ratelimit-limit-requests': '60',
    })
    const messages = [{ role: 'user', content: 'a' }]
    const chat = await as(ann.key, 'POST', '/v1/chat/completions', { messages, stream: true })
    expect([chat.statusCode, chat.json().error]).toEqual([
      429,
      { message: detail, type: 'rate_limit_error', param: 'daily_token_budget', code: 'budget_exceeded' },
    ])
    const message = await as(ann.key, 'POST', '/v1/messages', { messages, max_tokens: 5 })
    expect(message.json()).toMatchObject({
      type: 'error',
      error: { type: 'rate_limit_error', message: detail },
    })
    expect((await as(ann.key, 'GET', '/v1/models')).statusCode).toBe(200)

    clock.advance((DAY_SECONDS / 2) * 1000)
    expect(await statuses(3)).toEqual([200, 200, 429])
  })

  it('of a month goes on over its days, and a request that is refused counts nowhere', async () => {
    const { admin, keyId, statuses, clock } = await setUp(options)
    await admin('PATCH', `/v1/admin/keys/${keyId}`, { monthly_token_budget: 3 * SPENT, rate_limit_rpm: 4 })
    expect(await statuses(2)).toEqual([200, 200])
    clock.advance(20 * DAY_SECONDS * 1000)
    expect(await statuses(6)).toEqual([200, 429, 429, 429, 429, 429])
    clock.advance(1.5 * DAY_SECONDS * 1000)
    expect(await statuses(3)).toEqual([200, 200, 200])
  })

  it('warns from 80 % on', async () => {
    const { admin, keyId, generate } = await setUp(options)
    await admin('PATCH', `/v1/admin/keys/${keyId}`, { daily_token_budget: 15, monthly_token_budget: 14 })
    const warnings = []
    for (let turn = 0; turn < 3; turn++) warnings.push((await generate()).headers['x-budget-warning'])
    const [day, month] = [Date.UTC(2024, 0, 11) / 1000, Date.UTC(2024, 1, 1) / 1000]
    expect(warnings).toEqual([
      undefined,
      undefined,
      `monthly_token_budget;scope=key;limit=14;spent=12;reset=${month}, daily_token_budget;scope=key;limit=15;spent=12;reset=${day}`,
    ])
  })

  it('of a user binds all keys and sessions, and one of a team all its users and keys', async () => {
    const world = await setUp(options)
    const { admin, ann, statuses, generate, register, login } = world
    await admin('PATCH', `/v1/admin/users/${ann.userId}`, { daily_token_budget: 2 * SPENT })
    expect(await statuses(1)).toEqual([200])
    expect(await statuses(2, await login('ann@example.org'))).toEqual([200, 429])
    expect((await generate()).json().detail).toContain('of this account is 12 tokens, and 12 are spent')

    const teamId = await createTeam(world, { daily_token_budget: 3 * SPENT })
    const bob = await register('bob@example.org')
    await admin('PATCH', `/v1/admin/users/${ann.userId}`, { daily_token_budget: null, team_id: teamId })
    await admin('PATCH', `/v1/admin/users/${bob.userId}`, { team_id: teamId })
    const own = (await admin('POST', `/v1/admin/keys?team_id=${teamId}`)).json<{ key: string }>()
    expect(await statuses(1)).toEqual([200])
    expect(await statuses(1, bob.key)).toEqual([200])
    expect(await statuses(2, own.key)).toEqual([200, 429])
    expect(await statuses(1)).toEqual([429])
    expect((await generate()).json().detail).toContain('of this team is 18 tokens, and 18 are spent')
    const usage = (await admin('GET', `/v1/admin/teams/${teamId}/usage`)).json()
    expect(usage).toMatchObject({ requests: 3, tokens_in: 9, tokens_out: 9 })
    const rows = (await admin('GET', '/v1/admin/usage?group_by=team')).json().data
    expect(rows).toMatchObject([
      { team: null, name: null, requests: 2 },
      { team: teamId, name: 'search', requests: 3 },
    ])

    await admin('PATCH', `/v1/admin/teams/${teamId}`, { daily_token_budget: null })
    expect(await statuses(1)).toEqual([200])
    await admin('PATCH', `/v1/admin/teams/${teamId}`, { daily_token_budget: 1 })
    expect(await statuses(1)).toEqual([429])
    expect((await admin('DELETE', `/v1/admin/teams/${teamId}`)).json()).toEqual({
      status: 'deleted',
      team_id: teamId,
    })
    expect(await statuses(1)).toEqual([200])
  })

  it('counts what was spent before it was set, and what keys spend that its key has made', async () => {
    const world = await setUp(options)
    const { admin, as, statuses } = world
    const own = (await admin('POST', '/v1/admin/keys?tier=pro')).json<{ id: string; key: string }>()
    const made = (await as(own.key, 'POST', '/v1/keys', {})).json<{ key: string }>()
    expect(await statuses(1, own.key)).toEqual([200])
    expect(await statuses(1, made.key)).toEqual([200])

    await admin('PATCH', `/v1/admin/keys/${own.id}`, { daily_token_budget: 3 * SPENT })
    expect(await statuses(2, made.key)).toEqual([200, 429])
    expect(await statuses(1, own.key)).toEqual([429])
  })

  it('is not left by what a key makes that was given one as well', async () => {
    const { admin, as, statuses } = await setUp(options)
    const own = (await admin('POST', '/v1/admin/keys?tier=pro')).json<{ id: string; key: string }>()
    const made = (await as(own.key, 'POST', '/v1/keys', {})).json<{ id: string; key: string }>()
    await admin('PATCH', `/v1/admin/keys/${own.id}`, { daily_token_budget: SPENT })
    await admin('PATCH', `/v1/admin/keys/${made.id}`, { daily_token_budget: 100 * SPENT })

    const second = (await as(made.key, 'POST', '/v1/keys', {})).json<{ key: string }>()
    expect(await statuses(2, second.key)).toEqual([200, 429])
    expect(await statuses(1, own.key)).toEqual([429])
  })
})

it('what a key and all that it has made have spent is read together, however many are revoked', async () => {
  const { admin, as, state } = await createAccountsApp()
  const own = (await admin('POST', '/v1/admin/keys?tier=pro&daily_token_budget=1000')).json<{
    key: string
  }>()
  for (let made = 0; made < 20; made++) {
    const { id, key } = (await as(own.key, 'POST', '/v1/keys', {})).json<{ id: string; key: string }>()
    if (made % 5 === 0) await as(key, 'POST', '/v1/generate', GENERATE)
    expect((await as(own.key, 'DELETE', `/v1/keys/${id}`)).statusCode).toBe(200)
  }
  const sums = vi.spyOn(state.usage, 'sumByPath')
  const tokens = vi.spyOn(state.usage, 'sumTokens')

  expect((await as(own.key, 'GET', '/v1/usage')).json().budgets).toMatchObject([{ spent_tokens: 4 * SPENT }])
  expect(sums.mock.calls.length + tokens.mock.calls.length).toBeLessThan(5)
})

it('what was spent is read again, and so is still spent after a restart', async () => {
  const { admin, keyId, generate, clock } = await setUp()
  await admin('PATCH', `/v1/admin/keys/${keyId}`, { daily_token_budget: 10 * SPENT })
  await generate()
  await generate()
  clock.advance(SPENT_KNOWN_MS)
  await admin('PATCH', `/v1/admin/keys/${keyId}`, { daily_token_budget: 2 * SPENT })
  expect((await generate()).json().detail).toContain('is 12 tokens, and 12 are spent')
})

describe('teams', () => {
  it('are made, listed, changed and deleted', async () => {
    const { admin, clock } = await createAccountsApp()
    const answer = await admin('POST', '/v1/admin/teams', { name: 'search', monthly_token_budget: 1000 })
    const team = answer.json<{ team_id: string }>()
    expect(team).toEqual({
      team_id: expect.any(String),
      name: 'search',
      daily_token_budget: null,
      monthly_token_budget: 1000,
      created_at: clock.unixSeconds(),
    })
    const url = `/v1/admin/teams/${team.team_id}`
    expect((await admin('GET', url)).json()).toEqual(team)
    expect((await admin('GET', '/v1/admin/teams')).json()).toEqual({ teams: [team], count: 1 })
    const changed = { ...team, name: 'find', monthly_token_budget: null, daily_token_budget: 5 }
    const change = { name: 'find', monthly_token_budget: null, daily_token_budget: 5 }
    expect((await admin('PATCH', url, change)).json()).toEqual(changed)
    await admin('POST', '/v1/admin/teams', { name: 'search' })
    const taken = await admin('PATCH', url, { name: 'search' })
    expect([taken.statusCode, taken.json().detail]).toEqual([409, "There is a team 'search' already."])
    expect((await admin('DELETE', url)).statusCode).toBe(200)
    for (const method of ['GET', 'DELETE'] as const) expect((await admin(method, url)).statusCode).toBe(404)
    expect((await admin('PATCH', url, { name: 'x' })).statusCode).toBe(404)
  })

  it.each([
    ['POST', '/v1/admin/teams', {}, 400, 'name is required.'],
    [
      'POST',
      '/v1/admin/teams',
      { name: 'a', daily_token_budget: 0 },
      400,
      'daily_token_budget must be an integer between 1 and 1000000000000000, but was 0.',
    ],
    [
      'POST',
      '/v1/admin/keys?daily_token_budget=x',
      undefined,
      400,
      'daily_token_budget must be an integer between 1 and 1000000000000000, but was "x".',
    ],
    ['POST', '/v1/admin/keys?team_id=none', undefined, 404, "Team 'none' does not exist."],
  ] as const)('%s %s %j is %d', async (method, url, body, status, detail) => {
    const { admin } = await createAccountsApp()
    const answer = await admin(method, url, body)
    expect([answer.statusCode, answer.json().detail]).toEqual([status, detail])
  })

  it('let their users go when they are deleted, and take no unknown one', async () => {
    const world = await createAccountsApp()
    const { admin, register } = world
    const { userId } = await register()
    const teamId = await createTeam(world, {})
    const url = `/v1/admin/users/${userId}`
    expect((await admin('PATCH', url, { team_id: teamId })).json()).toMatchObject({ team_id: teamId })
    expect((await admin('PATCH', url, { team_id: 'none' })).statusCode).toBe(404)
    await admin('DELETE', `/v1/admin/teams/${teamId}`)
    expect((await admin('GET', `/v1/admin/users?user=${userId}`)).json().users).toMatchObject([
      { team_id: null },
    ])
  })
})

describe('the clients of OpenAI and Anthropic', () => {
  it('say that a budget is spent, and do not ask again', async () => {
    const { admin, ann, keyId, statuses, app, listen } = await setUp()
    await admin('PATCH', `/v1/admin/keys/${keyId}`, { daily_token_budget: SPENT })
    expect(await statuses(1)).toEqual([200])
    const address = `http://127.0.0.1:${await listen()}`
    let asked = 0
    app.server.on('request', () => asked++)
    const messages = [{ role: 'user', content: 'a' }] as const
    const settings = { apiKey: ann.key, maxRetries: 5 }

    const openai = new OpenAI({ baseURL: `${address}/v1`, ...settings })
    const chat = openai.chat.completions.create({ model: 'default', messages: [...messages] })
    await expect(chat).rejects.toThrow(RateLimitError)
    await expect(chat).rejects.toMatchObject({ code: 'budget_exceeded', param: 'daily_token_budget' })

    const anthropic = new Anthropic({ baseURL: address, authToken: null, ...settings })
    const message = anthropic.messages.create({ model: 'default', max_tokens: 5, messages: [...messages] })
    await expect(message).rejects.toThrow(AnthropicRateLimit)
    await expect(message).rejects.toThrow('The daily_token_budget of this key is 6 tokens')
    expect(asked).toBe(2)
  })
})

it('and a team are set in the query of a change too, which takes none away', async () => {
  const world = await setUp({})
  const teamId = await createTeam(world, {})
  const query = `daily_token_budget=20&monthly_token_budget=30&team_id=${teamId}`
  const given = { daily_token_budget: 20, monthly_token_budget: 30, team_id: teamId }

  for (const place of [`keys/${world.keyId}`, `users/${world.ann.userId}`]) {
    expect((await world.admin('PATCH', `/v1/admin/${place}?${query}`)).json()).toMatchObject(given)
    const refused = await world.admin('PATCH', `/v1/admin/${place}?daily_token_budget=null`)
    expect([refused.statusCode, refused.json().detail]).toEqual([
      400,
      expect.stringMatching(/^daily_token_budget must be/),
    ])
  }
})
