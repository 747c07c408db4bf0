/**
 * Queries of the hot path are built once, with anything in the places of their values, and run with other values:
 * building one costs more than running it.
 */
import type { CompiledQuery, Kysely } from 'kysely'

/** Runs `query` with these values in place of those it was built with, in order. */
export async function runCompiled<Row>(
  db: Pick<Kysely<unknown>, 'executeQuery'>,
  query: CompiledQuery<Row>,
  values: readonly unknown[],
): Promise<readonly Row[]> {
  const { rows } = await db.executeQuery<Row>({ ...query, parameters: values })
  return rows
}
