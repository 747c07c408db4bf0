/**
 * Pages of listings, oldest rows first. Each page starts after the last row of the page before, so rows that are added
 * or deleted meanwhile neither repeat nor hide another. A cursor is the position of that last row, opaque to clients.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Expression, type SelectQueryBuilder, sql, type SqlBool } from 'kysely'
import { Mutex } from '../core/concurrency/semaphore.ts'
import { ServiceError } from '../core/errors.ts'

export interface PageRequest {
  /** Null takes all rows, up to `MAX_ROWS`. */
  readonly limit: number | null
  /** Null starts with the first row. */
  readonly cursor: string | null
}

export interface Page<Item> {
  readonly items: readonly Item[]
  /** Null on the last page. */
  readonly nextCursor: string | null
  /** Rows of all pages. */
  readonly count: number
}

/** A row's position in the order of a listing. */
export interface RowPosition {
  readonly createdAtUnixSeconds: number
  readonly id: string
}

export interface RowRequest {
  /** The row before the first one; null for the first page. */
  readonly after: RowPosition | null
  readonly limit: number
}

/** More rows would take too long to serialize. */
const MAX_ROWS = 10_000

/** Read in one turn of the event loop, which takes a few milliseconds. */
const PIECE_ROWS = 500

/** Shared by all listings of the process: one piece at a time, because each keeps the event loop from everything else. */
const reading = new Mutex()

/** Reads a page of the rows of a query, which needs no order. @throws ServiceError as `readPage` */
export async function listPage<Schema, Table extends keyof Schema, Item extends RowPosition>(
  query: SelectQueryBuilder<Schema, Table, Item>,
  page: PageRequest,
): Promise<Page<Item>> {
  const inOrder = query.orderBy(sql`created_at`).orderBy(sql`id`)
  const rows = await readPage<Item>(page, ({ after, limit }) =>
    inOrder.where(isAfter(after)).limit(limit).$castTo<Item>().execute(),
  )
  const all = query
    .clearSelect()
    .select(({ fn }) => fn.countAll().as('count'))
    .$castTo<{ count: number }>()
  const { count } = await all.executeTakeFirstOrThrow()
  return { ...rows, count }
}

/**
 * Reads a page in pieces. `readRows` gives the rows after a position, in order.
 * @throws ServiceError `invalid_request` for a cursor that no page gave.
 */
export async function readPage<Item extends RowPosition>(
  { limit, cursor }: PageRequest,
  readRows: (request: RowRequest) => Promise<readonly Item[]>,
): Promise<Omit<Page<Item>, 'count'>> {
  const length = limit ?? MAX_ROWS
  const items: Item[] = []
  let after = cursor === null ? null : parseCursor(cursor)
  for (;;) {
    // One row more than the page holds shows whether another page follows.
    const wanted = Math.min(PIECE_ROWS, length + 1 - items.length)
    const rows = await reading.run(async () => {
      await nextTurn()
      return await readRows({ after, limit: wanted })
    })
    items.push(...rows)
    if (items.length > length) {
      items.pop()
      const last = items.at(-1)
      return { items, nextCursor: last === undefined ? null : formatCursor(last) }
    }
    if (rows.length < wanted) return { items, nextCursor: null }
    after = rows.at(-1) ?? after
  }
}

export function formatCursor({ createdAtUnixSeconds, id }: RowPosition): string {
  return Buffer.from(JSON.stringify([createdAtUnixSeconds, id])).toString('base64url')
}

/** @throws ServiceError `invalid_request` for a cursor that no page gave. */
export function parseCursor(cursor: string): RowPosition {
  const position = decodePosition(cursor)
  if (position !== null && formatCursor(position) === cursor) return position
  const shown = JSON.stringify(cursor.length > 64 ? `${cursor.slice(0, 64)}…` : cursor)
  const message = `cursor must be the next_cursor of a page, but was ${shown}.`
  throw new ServiceError('invalid_request', { message }, { param: 'cursor' })
}

/** The condition that rows come after a position, for a query in the order of `created_at` and `id`. */
function isAfter(after: RowPosition | null): Expression<SqlBool> {
  if (after === null) return sql.lit(true)
  return sql`(created_at, id) > (${after.createdAtUnixSeconds}, ${after.id})`
}

function decodePosition(cursor: string): RowPosition | null {
  let decoded: unknown
  try {
    decoded = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'))
  } catch {
    return null
  }
  if (!Array.isArray(decoded)) return null
  const [createdAtUnixSeconds, id] = decoded as unknown[]
  if (typeof createdAtUnixSeconds !== 'number' || typeof id !== 'string') return null
  return { createdAtUnixSeconds, id }
}
