/** `GET /v1/admin/usage` by group and by hour or day, as JSON and as CSV. */
import { describe, expect, it } from 'vitest'
import { type AccountsApp, createAccountsApp } from '../../support/servers/accounts-app.ts'

const HOUR_MS = 3_600_000

/** At half past an hour: two requests of a user, one of a nameless key an hour later. */
async function createUsage() {
  const world = await createAccountsApp()
  const { admin, as, clock, register } = world
  const ann = await register('ann@example.org')
  const made = await admin('POST', '/v1/admin/keys?name=%3D1%2B1%2C%22a%22&tier=pro')
  const own = made.json<{ id: string; key: string }>()
  clock.advance((1800 - (clock.unixSeconds() % 3600)) * 1000)
  const since = clock.unixSeconds()
  await as(ann.key, 'POST', '/v1/generate', { prompt: 'abc' })
  await as(ann.key, 'POST', '/v1/chat/completions', { messages: [{ role: 'user', content: 'ab' }] })
  clock.advance(HOUR_MS)
  await as(own.key, 'POST', '/v1/messages', { messages: [{ role: 'user', content: 'a' }], max_tokens: 5 })
  return { ...world, ann, own, since, hour: since - 1800 }
}

const usageOf = async ({ admin }: AccountsApp, query: string) => {
  const answer = await admin('GET', `/v1/admin/usage?${query}`)
  return answer.json<{ data: Record<string, unknown>[]; next_cursor?: string | null }>()
}

const sums = (requests: number, tokens: number) => ({
  requests,
  tokens_in: tokens,
  tokens_out: tokens,
  avg_response_ms: 0,
  ...{ p50_response_ms: 0.5, p95_response_ms: 0.5 },
  errors: 0,
})

describe('usage by group', () => {
  it('has one row for each key, user, model and endpoint, with names', async () => {
    const world = await createUsage()
    const { ann, own } = world
    const [annKey] = (await world.as(ann.key, 'GET', '/v1/keys')).json().keys
    const byId = (rows: Record<string, unknown>[], field: string) =>
      [...rows].sort((one, other) => (String(one[field]) < String(other[field]) ? -1 : 1))

    expect(await usageOf(world, 'group_by=key')).toEqual({
      group_by: 'key',
      bucket: null,
      data: byId(
        [
          { key: annKey.id, name: annKey.key_prefix, ...sums(2, 5) },
          { key: own.id, name: '=1+1,"a"', ...sums(1, 1) },
        ],
        'key',
      ),
    })
    expect((await usageOf(world, 'group_by=user')).data).toEqual(
      byId(
        [
          { user: ann.userId, name: 'ann@example.org', ...sums(2, 5) },
          { user: own.id, name: '=1+1,"a"', ...sums(1, 1) },
        ],
        'user',
      ),
    )
    expect((await usageOf(world, 'group_by=model')).data).toEqual([{ model: 'default', ...sums(3, 6) }])
    expect((await usageOf(world, 'group_by=endpoint')).data).toEqual([
      { endpoint: '/v1/chat/completions', ...sums(1, 2) },
      { endpoint: '/v1/generate', ...sums(1, 3) },
      { endpoint: '/v1/messages', ...sums(1, 1) },
    ])
    expect((await usageOf(world, 'group_by=team')).data).toEqual([{ team: null, name: null, ...sums(3, 6) }])
    expect((await usageOf(world, 'group_by=model&user=ann@example.org')).data).toEqual([
      { model: 'default', ...sums(2, 5) },
    ])
    const ofKey = await usageOf(world, `group_by=model&user=${own.id}`)
    expect(ofKey.data).toEqual([{ model: 'default', ...sums(1, 1) }])
    expect((await usageOf(world, 'group_by=model&user=operator')).data).toEqual([])
    expect((await world.admin('GET', '/v1/admin/usage?user=nobody')).statusCode).toBe(404)
  })

  it('has one row for each hour or day, and takes a span that is exact to the row', async () => {
    const world = await createUsage()
    const { since, hour } = world

    expect((await usageOf(world, 'bucket=hour')).data).toEqual([
      { bucket_start: hour, ...sums(2, 5) },
      { bucket_start: hour + 3600, ...sums(1, 1) },
    ])
    const days = await usageOf(world, 'bucket=day&group_by=model')
    expect(days.data.map(({ bucket_start: start }) => Number(start) % 86_400)).toEqual(days.data.map(() => 0))
    const first = `since=${since}&until=${since + 0.001}`
    expect((await usageOf(world, `bucket=hour&${first}`)).data).toEqual([
      { bucket_start: hour, ...sums(2, 5) },
    ])
    expect((await usageOf(world, `group_by=model&since=${since + 1}`)).data).toMatchObject([{ requests: 1 }])
    expect((await usageOf(world, `group_by=model&until=${since}`)).data).toEqual([])
    expect(await usageOf(world, first)).toMatchObject({
      requests: 2,
      by_endpoint: { '/v1/generate': { count: 1, avg_ms: 0 }, '/v1/chat/completions': { count: 1 } },
    })
  })

  it('comes in pages', async () => {
    const world = await createUsage()
    const all = await usageOf(world, 'group_by=endpoint&bucket=hour')
    expect(all).not.toHaveProperty('next_cursor')
    const rows = []
    let cursor = ''
    for (let page = 0; page < 3; page++) {
      const one = await usageOf(world, `group_by=endpoint&bucket=hour&limit=1${cursor}`)
      rows.push(...one.data)
      cursor = `&cursor=${one.next_cursor}`
      expect(one.next_cursor === null).toBe(page === 2)
    }
    expect(rows).toEqual(all.data)
  })

  it('comes as CSV, quoted, with no cell that a spreadsheet would run', async () => {
    const { admin, call, own, since } = await createUsage()
    const query = `/v1/admin/usage?group_by=key&bucket=hour&since=${since + 1}`
    const answer = await admin('GET', `${query}&format=csv`)

    const begin = new Date((since + 1800) * 1000).toISOString().replace('.000Z', 'Z')
    expect(answer.headers['content-type']).toBe('text/csv; charset=utf-8; header=present')
    expect(answer.headers['content-disposition']).toBe('attachment; filename="usage.csv"')
    expect(answer.body).toBe(
      'bucket_start,key,name,requests,tokens_in,tokens_out,avg_response_ms,p50_response_ms,p95_response_ms,errors\r\n' +
        `${begin},${own.id},"'=1+1,""a""",1,1,1,0,0.5,0.5,0\r\n`,
    )
    const headers = { authorization: 'Bearer test-admin-key-0123456789', accept: 'text/csv' }
    expect((await call({ url: query, headers })).body).toBe(answer.body)
    expect((await call({ url: '/v1/admin/usage', headers })).body).toBe(
      'requests,tokens_in,tokens_out,avg_response_ms,p50_response_ms,p95_response_ms,errors\r\n3,6,6,0,0.5,0.5,0\r\n',
    )
    const paged = await admin('GET', '/v1/admin/usage?group_by=endpoint&format=csv&limit=2')
    expect(paged.body.split('\r\n')).toHaveLength(4)
    const rest = `/v1/admin/usage?group_by=endpoint&format=csv&cursor=${String(paged.headers['x-next-cursor'])}`
    expect((await admin('GET', rest)).body).toContain('/v1/messages')
  })

  it.each([
    ['group_by=colour', 'group_by must be one of key, user, team, model, endpoint, but was "colour".'],
    ['bucket=week', 'bucket must be one of hour, day, but was "week".'],
    ['format=xml', 'format must be one of json, csv, but was "xml".'],
    ['since=20&until=10', 'until must be later than since, which is 20, but was 10.'],
    ['group_by=key&cursor=x', 'cursor must be the next_cursor of a page, but was "x".'],
  ])('says what is wrong with %s', async (query, detail) => {
    const { admin } = await createAccountsApp()
    const answer = await admin('GET', `/v1/admin/usage?${query}`)
    expect([answer.statusCode, answer.json().detail]).toEqual([400, detail])
  })
})
