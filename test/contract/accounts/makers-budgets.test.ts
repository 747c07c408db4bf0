/** Budgets of keys that made other keys: they hold for all that descends from a key, whenever they were set. */
import { describe, expect, it } from 'vitest'
import { SPENT_KNOWN_MS } from '../../../src/core/shared-state.ts'
import {
  type AccountsApp,
  type AccountsAppOptions,
  createAccountsApp,
} from '../../support/servers/accounts-app.ts'

/** Spends six tokens: three in, three out. */
const GENERATE = { prompt: 'abc' }
const SPENT = 6

interface Made {
  readonly id: string
  readonly key: string
}

/** A key of the admin's with keys that each made the next one. */
async function setUp(generations: number, options: AccountsAppOptions = {}) {
  const world = await createAccountsApp(options)
  const first = (await world.admin('POST', '/v1/admin/keys?tier=pro')).json<Made>()
  const family = [first]
  for (let generation = 0; generation < generations; generation++)
    family.push(await makeKey(world, family.at(-1) ?? first))
  const statuses = async (count: number, { key }: Made) => {
    const all: number[] = []
    for (let turn = 0; turn < count; turn++)
      all.push((await world.as(key, 'POST', '/v1/generate', GENERATE)).statusCode)
    return all
  }
  const setBudget = async ({ id }: Made, daily_token_budget: number | null) => {
    const answer = await world.admin('PATCH', `/v1/admin/keys/${id}`, { daily_token_budget })
    expect(answer.json()).toMatchObject({ id, daily_token_budget })
  }
  return { ...world, family: family as [Made, Made, Made, Made, Made], statuses, setBudget }
}

async function makeKey({ as }: Pick<AccountsApp, 'as'>, maker: Made): Promise<Made> {
  const answer = await as(maker.key, 'POST', '/v1/keys', {})
  expect(answer.statusCode).toBe(200)
  return answer.json<Made>()
}

describe.each([
  ['in this process', {}],
  ['in another process', { isDistant: true }],
])('a budget of a key that a key made, counted %s', (_, options) => {
  it('holds for what that one had made before it was set, deeper generations too, and for nobody above', async () => {
    const { family, statuses, setBudget } = await setUp(4, options)
    const [first, second, third, fourth, fifth] = family
    for (const key of family) expect(await statuses(1, key)).toEqual([200])

    await setBudget(second, 5 * SPENT)

    expect(await statuses(2, fifth)).toEqual([200, 429])
    for (const key of [second, third, fourth]) expect(await statuses(1, key)).toEqual([429])
    expect(await statuses(1, first)).toEqual([200])
  })

  it('counts beside those of the keys above and below, in whatever order they were set', async () => {
    const { as, family, statuses, setBudget } = await setUp(4, options)
    const [first, second, third, fourth, fifth] = family
    await setBudget(fourth, 2 * SPENT)
    await setBudget(second, 4 * SPENT)
    await setBudget(first, 6 * SPENT)
    await setBudget(third, 3 * SPENT)

    expect(await statuses(3, fifth)).toEqual([200, 200, 429])
    expect((await as(fifth.key, 'GET', '/v1/usage')).json().budgets).toMatchObject(
      [2, 3, 4, 6].map((share) => ({ scope: 'key', max_tokens: share * SPENT, spent_tokens: 2 * SPENT })),
    )
    expect(await statuses(1, fourth)).toEqual([429])
    expect(await statuses(2, third)).toEqual([200, 429])
    expect(await statuses(2, second)).toEqual([200, 429])
    expect(await statuses(3, first)).toEqual([200, 200, 429])
  })

  it('is changed, taken away and set again for all of them', async () => {
    const { clock, family, statuses, setBudget } = await setUp(3, options)
    const [, second, , fourth] = family
    await setBudget(second, SPENT)
    expect(await statuses(2, fourth)).toEqual([200, 429])
    await setBudget(second, 2 * SPENT)
    expect(await statuses(2, fourth)).toEqual([200, 429])
    await setBudget(second, null)
    expect(await statuses(1, fourth)).toEqual([200])
    // What was spent meanwhile is in the database.
    clock.advance(SPENT_KNOWN_MS)
    await setBudget(second, 4 * SPENT)
    expect(await statuses(2, fourth)).toEqual([200, 429])
  })

  it('holds for keys that are made later, and when those between them are revoked', async () => {
    const world = await setUp(2, options)
    const { admin, family, statuses, setBudget } = world
    const [, second, third] = family
    await setBudget(second, 2 * SPENT)
    const own = await makeKey(world, second)
    const later = await makeKey(world, third)
    for (const { id } of [second, third])
      expect((await admin('DELETE', `/v1/admin/keys/${id}`)).statusCode).toBe(200)

    expect(await statuses(1, own)).toEqual([200])
    expect(await statuses(2, later)).toEqual([200, 429])
    expect(await statuses(1, own)).toEqual([429])
  })

  it('holds for what a key had made that is revoked when it is set', async () => {
    const { admin, family, statuses, setBudget } = await setUp(3, options)
    const [, second, third, fourth] = family
    for (const { id } of [second, third]) await admin('DELETE', `/v1/admin/keys/${id}`)

    await setBudget(second, SPENT)

    expect(await statuses(2, fourth)).toEqual([200, 429])
  })
})
