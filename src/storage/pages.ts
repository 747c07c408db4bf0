/**
 * Pages of listings: oldest first, each beginning behind the last row of the one before, so that rows that come
 * later or go meanwhile neither repeat nor hide another. A cursor is that last row's place, opaque to whoever carries it.
 */
import { type Expression, sql, type SqlBool } from 'kysely'
import { ServiceError } from '../core/errors.ts'

export interface PageRequest {
  /** Null takes all there are, up to what one answer can hold. */
  readonly limit: number | null
  /** Null begins at the beginning. */
  readonly cursor: string | null
}

export interface Page<Item> {
  readonly items: readonly Item[]
  /** Null on the last page. */
  readonly nextCursor: string | null
  /** Of all pages. */
  readonly count: number
}

interface RowPlace {
  readonly createdAtUnixSeconds: number
  readonly id: string
}

/** Making an answer of more rows would keep everyone else waiting. */
const MAX_ROWS = 10_000

/** Rows to ask the database for: one more than the page holds tells whether another follows. */
export function rowsToRead({ limit }: PageRequest): number {
  return (limit ?? MAX_ROWS) + 1
}

/** Makes a page of the rows that `rowsToRead` asked for. */
export function toPage<Item extends RowPlace>(
  rows: readonly Item[],
  { limit, count }: { readonly limit: number | null; readonly count: number },
): Page<Item> {
  const items = rows.slice(0, limit ?? MAX_ROWS)
  const last = items.at(-1)
  const isLastPage = items.length === rows.length || last === undefined
  return { items, nextCursor: isLastPage ? null : formatCursor(last), count }
}

function formatCursor({ createdAtUnixSeconds, id }: RowPlace): string {
  return Buffer.from(JSON.stringify([createdAtUnixSeconds, id])).toString('base64url')
}

/**
 * Where the page begins; null at the beginning.
 * @throws ServiceError `invalid_request` for a cursor that no page has given.
 */
export function parseCursor({ cursor }: PageRequest): RowPlace | null {
  if (cursor === null) return null
  const place = decodePlace(cursor)
  if (place !== null && formatCursor(place) === cursor) return place
  const shown = JSON.stringify(cursor.length > 64 ? `${cursor.slice(0, 64)}…` : cursor)
  const message = `cursor must be the next_cursor of a page, but was ${shown}.`
  throw new ServiceError('invalid_request', { message }, { param: 'cursor' })
}

/**
 * The condition that rows stand on the page or behind it, for a query in the order of `created_at` and `id`.
 * @throws ServiceError `invalid_request` for a cursor that no page has given.
 */
export function isBehindCursor(page: PageRequest): Expression<SqlBool> {
  const after = parseCursor(page)
  if (after === null) return sql.lit(true)
  return sql`(created_at, id) > (${after.createdAtUnixSeconds}, ${after.id})`
}

function decodePlace(cursor: string): RowPlace | null {
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
