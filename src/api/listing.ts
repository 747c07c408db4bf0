/** What a listing says about itself beside its rows: where the next page begins, for those who
 * asked for pages, or whose listing is longer than one answer can hold. */
import type { PageQuery } from './schemas/query.ts'

export function toListing(
  { limit }: PageQuery,
  { nextCursor }: { readonly nextCursor: string | null },
): { next_cursor?: string | null } {
  return limit === undefined && nextCursor === null ? {} : { next_cursor: nextCursor }
}
