/** Which budgets bind a key that a key made, and whose tokens count under them. */
import { describe, expect, it } from 'vitest'
import { findBudgetKeyIds, gatherFamily } from '../../storage/budgets/key-families.ts'
import { findKey, insertKey, type StoredKey } from '../../storage/keys-repository.ts'
import { createAccountServices, DAY_MS } from '../../../test/support/servers/account-services.ts'

const PLAIN = { name: '', expiresInDays: null }

interface Made {
  readonly id: string
  readonly keySecret: string
}

async function setUp() {
  const services = await createAccountServices()
  const { keys, credentialOf, database, clock } = services
  const { record, keySecret } = await keys.createFor({ ...PLAIN, tier: 'enterprise', userId: null })
  const top: Made = { id: record.id, keySecret }
  const make = async (maker: Made): Promise<Made> => {
    const made = await keys.create(await credentialOf(maker.keySecret), PLAIN)
    return { id: made.record.id, keySecret: made.keySecret }
  }
  const chain = [top]
  while (chain.length < 5) chain.push(await make(chain.at(-1) ?? top))
  const setBudget = ({ id }: Made, dailyTokenBudget: number | null) => keys.change(id, { dailyTokenBudget })
  const boundsOf = async ({ keySecret: secret }: Made) =>
    (await credentialOf(secret)).budgets.map(({ id, maxTokens }) => [id, maxTokens])
  const membersOf = async ({ id }: Made, since = clock.unixSeconds()) => {
    const ids: string[] = []
    for await (const piece of findBudgetKeyIds(database, id, since)) ids.push(...piece)
    return ids
  }
  return { ...services, chain: chain as [Made, Made, Made, Made, Made], make, setBudget, boundsOf, membersOf }
}

const idsOf = (keys: readonly Made[]) => keys.map(({ id }) => id).toSorted()

describe('a first budget of a key that a key made', () => {
  it('binds what descends from it, each budget once and the nearest first, and sums what they spend', async () => {
    const { chain, make, setBudget, boundsOf, membersOf } = await setUp()
    const [top, second, third, fourth, fifth] = chain
    const sibling = await make(top)
    const cousin = await make(second)

    await setBudget(fourth, 4)
    await setBudget(second, 2)
    await setBudget(top, 1)

    expect(await boundsOf(fifth)).toEqual([
      [fourth.id, 4],
      [second.id, 2],
      [top.id, 1],
    ])
    expect(await boundsOf(fourth)).toEqual(await boundsOf(fifth))
    for (const key of [third, cousin])
      expect(await boundsOf(key)).toEqual([
        [second.id, 2],
        [top.id, 1],
      ])
    expect(await boundsOf(sibling)).toEqual([[top.id, 1]])
    expect((await membersOf(fourth)).toSorted()).toEqual(idsOf([fourth, fifth]))
    expect((await membersOf(second)).toSorted()).toEqual(idsOf([second, cousin, third, fourth, fifth]))
    expect((await membersOf(top)).toSorted()).toEqual(idsOf([...chain, sibling, cousin]))
  })

  it('goes on through keys that ended long ago, whose own tokens are not read', async () => {
    const { chain, keys, clock, setBudget, boundsOf, membersOf } = await setUp()
    const [, second, third, fourth, fifth] = chain
    for (const { id } of [third, fourth]) await keys.revokeAny(id)
    clock.advance(40 * DAY_MS)

    await setBudget(third, 3)
    await setBudget(second, 2)

    expect(await boundsOf(fifth)).toEqual([
      [third.id, 3],
      [second.id, 2],
    ])
    expect((await membersOf(second)).toSorted()).toEqual(idsOf([second, fifth]))
  })

  it('finds more children than are read in one turn, and the generations below any of them', async () => {
    const { chain, clock, database, setBudget, boundsOf, membersOf, make } = await setUp()
    const [, second] = chain
    const row = (await findKey(database, chain[2].id)) as StoredKey
    const ended = { ...row, revokedAtUnixSeconds: clock.unixSeconds() }
    const children = Array.from({ length: 600 }, (_, index) => ({ ...ended, id: `made-${1000 + index}` }))
    await database.transaction().execute(async (transaction) => {
      for (const child of children) await insertKey(transaction, child, child.id)
    })
    const later = { ...ended, id: 'below', makerKeyId: 'made-1550' }
    await insertKey(database, later, later.id)

    await setBudget(second, 2)

    expect(await membersOf(second)).toHaveLength(1 + 3 + children.length + 1)
    expect(await findKey(database, 'below')).toMatchObject({ budgetKeyId: second.id })
    expect(await boundsOf(await make(chain[4]))).toEqual([[second.id, 2]])
  })

  it('holds through hundreds of generations, each of which names the nearest key with a budget', async () => {
    const { chain, database, setBudget, boundsOf } = await setUp()
    const [, second, third, , fifth] = chain
    const row = (await findKey(database, third.id)) as StoredKey
    let makerKeyId = third.id
    for (let generation = 0; generation < 300; generation++) {
      const id = `generation-${generation}`
      await insertKey(database, { ...row, id, makerKeyId, revokedAtUnixSeconds: 1 }, id)
      makerKeyId = id
    }
    await database
      .updateTable('api_keys')
      .set({ maker_key_id: makerKeyId })
      .where('id', '=', fifth.id)
      .execute()

    await setBudget(second, 2)

    expect(await boundsOf(fifth)).toEqual([[second.id, 2]])
    const named = database.selectFrom('api_keys').select('budget_key_id').where('id', 'like', 'generation-%')
    expect(await named.distinct().execute()).toEqual([{ budget_key_id: second.id }])
  })

  it('is gathered again where the first attempt was cut off', async () => {
    const { chain, database, setBudget, boundsOf } = await setUp()
    const [top, second, , , fifth] = chain
    await gatherFamily(database, second.id, 1)
    await database
      .updateTable('api_keys')
      .set({ budget_key_id: top.id })
      .where('id', 'in', idsOf(chain.slice(3)))
      .execute()

    await setBudget(second, 2)

    expect(await boundsOf(fifth)).toEqual([[second.id, 2]])
  })

  it('is set together with those of keys above and below, and while others are made', async () => {
    const { chain, setBudget, boundsOf, make } = await setUp()
    const [, second, third, fourth, fifth] = chain

    const [made] = await Promise.all([
      make(fifth),
      setBudget(fourth, 4),
      setBudget(second, 2),
      setBudget(third, 3),
    ])

    for (const key of [made, fifth, fourth])
      expect(await boundsOf(key)).toEqual([
        [fourth.id, 4],
        [third.id, 3],
        [second.id, 2],
      ])
  })
})

it('a key in a circle of makers, which no server makes, is found nevertheless', async () => {
  const { chain, database, setBudget, boundsOf, membersOf } = await setUp()
  const [top, second, , fourth] = chain
  await setBudget(second, 2)
  await setBudget(top, 1)
  await database
    .updateTable('api_keys')
    .set({ budget_key_id: fourth.id, budgeted_at: 1 })
    .where('id', '=', top.id)
    .execute()

  expect(await boundsOf(fourth)).toEqual([
    [second.id, 2],
    [top.id, 1],
  ])
  expect((await membersOf(second)).toSorted()).toEqual(idsOf(chain.slice(1)))
})
