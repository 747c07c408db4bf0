/**
 * Queries of the hot path are built once, with anything in the places of their values, and run with other values:
 * building one costs more than running it. So do the promises of the query builder: where nobody else has the connection,
 * they are done without.
 */
import { type CompiledQuery, Kysely } from 'kysely'
import { createSqliteDialect, type SqliteDriver, type Statement } from './sqlite-dialect.ts'

export type { Statement }

/** The query builder, and the driver below it. */
export class SqliteKysely<Schema> extends Kysely<Schema> {
  readonly driver: SqliteDriver

  constructor(driver: SqliteDriver) {
    super({ dialect: createSqliteDialect(driver) })
    this.driver = driver
  }
}

/** Runs `query` with these values in place of those it was built with, in order. */
export async function runCompiled<Row>(
  db: Pick<Kysely<unknown>, 'executeQuery'>,
  query: CompiledQuery<Row>,
  values: readonly unknown[],
): Promise<readonly Row[]> {
  const now = db instanceof SqliteKysely ? db.driver.runNow({ query, values }) : null
  if (now !== null) return now
  const { rows } = await db.executeQuery<Row>({ ...query, parameters: values })
  return rows
}

/** What each of them reads, of one state of the database where nobody else has the connection. */
export async function runReads<Row>(
  db: Pick<Kysely<unknown>, 'executeQuery'>,
  statements: readonly Statement<Row>[],
): Promise<readonly (readonly Row[])[]> {
  const now = db instanceof SqliteKysely ? db.driver.readNow(statements) : null
  if (now !== null) return now
  return Promise.all(statements.map(({ query, values }) => runCompiled(db, query, values)))
}

/** Runs all of them or, when it rejects, none. They are asked for when the lock is held. */
export async function runTransaction<Schema>(
  db: Kysely<Schema>,
  statements: () => readonly Statement[],
): Promise<void> {
  if (db instanceof SqliteKysely && db.driver.transactNow(statements)) return
  await db.transaction().execute(async (transaction) => {
    for (const { query, values } of statements()) await runCompiled(transaction, query, values)
  })
}
