/**
 * Which keys count under the budgets of which others: those that descend from one, through any number of generations. Each key names
 * the nearest key above it that has, or had, a budget of its own, and where none has the one at the top; so a request asks as many rows
 * as there are budgets above its key, and not as there are keys. Called where budgets are set, at each look-up of a credential and
 * where what is spent is read.
 *
 * Invariant: `budget_key_id` of a key that a key made is `familyOf` its maker. A first budget breaks it for what its key had made, and
 * `gatherFamily` mends it from one generation to the next; the database lets one writer at a time through, so several may do so.
 */
import { sql } from 'kysely'
import { ownTurn } from '../../core/concurrency/turns.ts'
import { type ApiDatabase, KEY_END } from '../api-database.ts'
import { findKey, type StoredKey } from '../keys-repository.ts'

/** The key under whose budgets counts what a key makes. */
export function familyOf(maker: Pick<StoredKey, 'id' | 'budgetKeyId' | 'budgetedAtUnixSeconds'>): string {
  return maker.budgetedAtUnixSeconds === null ? (maker.budgetKeyId ?? maker.id) : maker.id
}

/** `familyOf`, of the table `makers`. */
const FAMILY = sql<string>`case when makers.budgeted_at is null
  then coalesce(makers.budget_key_id, makers.id) else makers.id end`

/** Read in one turn of the event loop, which takes a few milliseconds with what is then asked of each. */
const IDS_PER_TURN = 500

/**
 * Before a key gets a budget: all that descends from it counts under it from now on. Where this is cut off the key has no budget yet,
 * and the next attempt does it all.
 */
export async function gatherFamily(db: ApiDatabase, keyId: string, unixSeconds: number): Promise<void> {
  const key = await findKey(db, keyId)
  // At the top all count under it already.
  if (key === null || key.budgetKeyId === null) return
  const hasBudget = key.dailyTokenBudget !== null || key.monthlyTokenBudget !== null
  if (hasBudget && key.budgetedAtUnixSeconds !== null) return
  await db
    .updateTable('api_keys')
    .set({ budgeted_at: unixSeconds })
    .where('id', '=', keyId)
    .where('budgeted_at', 'is', null)
    .execute()
  const makerIds = [keyId]
  for (let makerId = makerIds.pop(); makerId !== undefined; makerId = makerIds.pop()) {
    let lastId: string | undefined = ''
    while (lastId !== undefined) {
      const piece = await gatherChildren(db, makerId, lastId)
      makerIds.push(...piece.makerIds)
      lastId = piece.lastId
      await ownTurn()
    }
  }
}

interface GatheredPiece {
  /** Of the children, those whose own children are to follow them. */
  readonly makerIds: readonly string[]
  /** Undefined where there are no others. */
  readonly lastId: string | undefined
}

function gatherChildren(db: ApiDatabase, makerId: string, lastId: string): Promise<GatheredPiece> {
  return db.transaction().execute(async (transaction) => {
    const children = await transaction
      .selectFrom('api_keys')
      .innerJoin('api_keys as makers', 'makers.id', 'api_keys.maker_key_id')
      .select((key) => [
        'api_keys.id',
        'api_keys.budget_key_id as budgetKeyId',
        'api_keys.budgeted_at as budgetedAt',
        FAMILY.as('familyId'),
        key
          .selectFrom('api_keys as made')
          .select('made.id')
          .whereRef('made.maker_key_id', '=', 'api_keys.id')
          .limit(1)
          .as('madeId'),
      ])
      .where('api_keys.maker_key_id', '=', makerId)
      .where('api_keys.id', '>', lastId)
      .orderBy('api_keys.id')
      .limit(IDS_PER_TURN)
      .execute()
    const strayed = children.filter(({ budgetKeyId, familyId }) => budgetKeyId !== familyId)
    const [first] = strayed
    if (first !== undefined) {
      const ids = strayed.map(({ id }) => id)
      const update = transaction.updateTable('api_keys').set({ budget_key_id: first.familyId })
      await update.where('id', 'in', ids).execute()
    }
    // What descends from a key with budgets counts under that one, and so under those above it.
    const makers = children.filter(({ budgetedAt, madeId }) => budgetedAt === null && madeId !== null)
    return { makerIds: makers.map(({ id }) => id), lastId: children[IDS_PER_TURN - 1]?.id }
  })
}

/** So long a request may still run, and then be billed, when its key has ended. */
const LAST_REQUEST_SECONDS = 24 * 60 * 60

/**
 * The key, and then those that count under its budgets and may have spent something since a moment: any number, though without those
 * that had ended before.
 */
export async function* findBudgetKeyIds(
  db: ApiDatabase,
  keyId: string,
  sinceUnixSeconds: number,
): AsyncGenerator<readonly string[]> {
  yield [keyId]
  // A set goes on through what is added to it.
  const familyIds = new Set([keyId])
  for (const id of familyIds) {
    yield* findMembers(db, id, sinceUnixSeconds - LAST_REQUEST_SECONDS)
    const below = db.selectFrom('api_keys').select('id').where('budget_key_id', '=', id)
    for (const row of await below.where('budgeted_at', 'is not', null).execute()) familyIds.add(row.id)
  }
}

/** The keys that name this one, and had not ended before a moment. */
async function* findMembers(
  db: ApiDatabase,
  keyId: string,
  earliest: number,
): AsyncGenerator<readonly string[]> {
  const family = db
    .selectFrom('api_keys')
    .select(['id', KEY_END.as('end')])
    .where('budget_key_id', '=', keyId)
    .orderBy(KEY_END)
    .orderBy('id')
    .limit(IDS_PER_TURN)
  const lasting = family.where(KEY_END, 'is', null)
  yield* inPieces(({ id }) => lasting.where('id', '>', id), { end: null, id: '' })
  yield* inPieces(
    ({ end, id }) =>
      // The first bound alone is one that an index takes.
      family.where(KEY_END, '>=', end).where((row) => row.or([row(KEY_END, '>', end), row('id', '>', id)])),
    { end: earliest, id: '' },
  )
}

interface EndedKey {
  readonly id: string
  readonly end: number | null
}

/** @param after the query of the keys that come behind one */
async function* inPieces(
  after: (last: EndedKey) => { execute(): Promise<readonly EndedKey[]> },
  first: EndedKey,
): AsyncGenerator<readonly string[]> {
  let last: EndedKey | undefined = first
  while (last !== undefined) {
    const keys: readonly EndedKey[] = await after(last).execute()
    if (keys.length > 0) yield keys.map(({ id }) => id)
    last = keys[IDS_PER_TURN - 1]
    if (last !== undefined) await ownTurn()
  }
}
