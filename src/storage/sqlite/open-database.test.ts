import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { type Kysely, type Migration, sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { StartError } from '../../core/errors.ts'
import { isUniqueViolation } from '../database-errors.ts'
import { IN_MEMORY, openDatabase, type DatabaseKind, type OpenDatabaseOptions } from './open-database.ts'

interface Schema {
  readonly notes: { readonly id: number; readonly text: string }
}

const createNotes: Migration = {
  up: async (db: Kysely<unknown>) => {
    await db.schema
      .createTable('notes')
      .addColumn('id', 'integer', (column) => column.primaryKey())
      .addColumn('text', 'text', (column) => column.notNull().unique())
      .execute()
  },
}

const NOTES: DatabaseKind = {
  holds: 'notes',
  option: '--notes-db',
  applicationId: 77,
  migrations: { '0001-notes': createNotes },
}

const addColour: Migration = {
  up: async (db: Kysely<unknown>) => {
    await db.schema.alterTable('notes').addColumn('colour', 'text').execute()
  },
}

/** Of the version after it. */
const COLOURED_NOTES: DatabaseKind = {
  ...NOTES,
  migrations: { ...NOTES.migrations, '0002-colour': addColour },
}

let folder: string
let file: string
const open: Kysely<Schema>[] = []

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'sluice-storage-'))
  file = path.join(folder, 'notes.db')
})

afterEach(async () => {
  await Promise.all(open.splice(0).map((database) => database.destroy()))
  rmSync(folder, { recursive: true, force: true })
})

async function openNotes(
  location = file,
  kind = NOTES,
  options: OpenDatabaseOptions = {},
): Promise<Kysely<Schema>> {
  const database = await openDatabase<Schema>(location, kind, options)
  open.push(database)
  return database
}

async function refusal(location = file, kind = NOTES): Promise<StartError> {
  const error: unknown = await openNotes(location, kind).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(StartError)
  return error as StartError
}

describe('openDatabase', () => {
  it('makes a file, and finds what was written to it when it is opened again', async () => {
    const first = await openNotes()
    await first.insertInto('notes').values({ id: 1, text: 'kept' }).execute()
    await first.destroy()

    const second = await openNotes()

    expect(await second.selectFrom('notes').selectAll().execute()).toEqual([{ id: 1, text: 'kept' }])
  })

  it('leaves one file behind', async () => {
    const database = await openNotes()
    await database.insertInto('notes').values({ id: 1, text: 'kept' }).execute()

    await database.destroy()

    expect(readdirSync(folder)).toEqual(['notes.db'])
  })

  it('makes a file that nobody else may read', async () => {
    await openNotes()

    expect(statSync(file).mode & 0o077).toBe(0)
  })

  it('works in memory', async () => {
    const database = await openNotes(IN_MEMORY)
    await database.insertInto('notes').values({ id: 1, text: 'gone tomorrow' }).execute()

    expect(await database.selectFrom('notes').select('text').execute()).toHaveLength(1)
  })

  it('makes in memory what the migrations make in a file, and nothing that another one holds', async () => {
    const fill: Migration = {
      up: async (db: Kysely<unknown>) => {
        await sql`create table moods (id integer primary key, "a name" text, depth real, raw blob)`.execute(
          db,
        )
        await sql`insert into moods values (7, 'it''s; "fine"', 1.5, x'00ff'), (9, null, -2, null)`.execute(
          db,
        )
        await sql`create unique index moods_by_name on moods ("a name") where depth > 0`.execute(db)
      },
    }
    const kind = { ...COLOURED_NOTES, migrations: { ...COLOURED_NOTES.migrations, '0003-moods': fill } }
    const contents = async (location: string) => {
      const database = await openNotes(location, kind)
      const read = async (table: string) =>
        (await sql`select * from ${sql.table(table)}`.execute(database)).rows
      const applied = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(
        database,
      )
      const made = await sql`select type, name, sql from sqlite_master order by name`.execute(database)
      const locks = await read('kysely_migration_lock')
      const held = { moods: await read('moods'), notes: await read('notes'), locks }
      await database.insertInto('notes').values({ id: 1, text: 'of this one' }).execute()
      return { made: made.rows, applied: applied.rows, ...held }
    }

    const inFile = await contents(file)

    expect(inFile.applied).toHaveLength(3)
    for (let opened = 0; opened < 3; opened++) expect(await contents(IN_MEMORY)).toEqual(inFile)
  })

  it('applies a new migration to an old file where a server opens it', async () => {
    await (await openNotes()).destroy()

    const database = await openNotes(file, COLOURED_NOTES, { isServer: true })

    const [table] = await database.introspection.getTables()
    expect(table?.columns.map(({ name }) => name)).toContain('colour')
  })

  it('refuses an old file where no server opens it, and leaves it as it was', async () => {
    await (await openNotes()).destroy()
    const before = readFileSync(file)

    const error = await refusal(file, COLOURED_NOTES)

    expect(error.message).toBe(
      `The database of notes '${file}' (--notes-db) was written by an older version of Sluice (it lacks '0002-colour') and was not changed: start the server of this version once, which brings it up to date.`,
    )
    expect(error.exitCode).toBe(1)
    expect(readFileSync(file).equals(before)).toBe(true)
  })

  it('leaves nothing of a migration that fails', async () => {
    const failing: Migration = {
      up: async (db: Kysely<unknown>) => {
        await db.schema.createTable('half').addColumn('id', 'integer').execute()
        throw new Error('it went wrong')
      },
    }
    const error = await refusal(file, { ...NOTES, migrations: { ...NOTES.migrations, '0002-half': failing } })
    expect(error.message).toContain('it went wrong')

    const tables = await (await openNotes()).introspection.getTables()

    expect(tables.map(({ name }) => name)).not.toContain('half')
  })

  it('lets many open a new file at once', async () => {
    const databases = await Promise.all(Array.from({ length: 8 }, () => openNotes()))

    await Promise.all(
      databases.map((database, id) =>
        database
          .insertInto('notes')
          .values({ id, text: `${id}` })
          .execute(),
      ),
    )
    expect(await databases[0]?.selectFrom('notes').selectAll().execute()).toHaveLength(8)
  })

  it('refuses a file of a newer version and leaves it as it was', async () => {
    const newer = { ...NOTES, migrations: { ...NOTES.migrations, '0009-future': { up: async () => {} } } }
    await (await openNotes(file, newer)).destroy()
    const before = readFileSync(file)

    const error = await refusal()

    expect(error.message).toBe(
      `The database of notes '${file}' (--notes-db) was written by a newer version of Sluice (it has '0009-future'); nothing in it was changed.`,
    )
    expect(error.exitCode).toBe(1)
    expect(readFileSync(file).equals(before)).toBe(true)
  })

  it('refuses a file that is no database and leaves it as it was', async () => {
    writeFileSync(file, 'Dear diary, '.repeat(500))

    expect((await refusal()).message).toBe(
      `The database of notes '${file}' (--notes-db) cannot be used: it is not a SQLite database.`,
    )
    expect(readFileSync(file, 'utf8')).toBe('Dear diary, '.repeat(500))
  })

  it.each([0, 12])("refuses another program's database (application id %i)", async (applicationId) => {
    const foreign = new DatabaseSync(file)
    foreign.exec(`create table bookmarks (url text); pragma application_id = ${applicationId}`)
    foreign.close()
    const before = readFileSync(file)

    expect((await refusal()).message).toContain('holds something else; nothing in it was changed.')
    expect(readFileSync(file).equals(before)).toBe(true)
  })

  it('takes two names of one file for one file, and a name for a name', async () => {
    symlinkSync(folder, path.join(folder, 'link'))
    const [one, two] = [await openNotes(), await openNotes(path.join(folder, 'link', 'notes.db'))]
    const insert = (database: Kysely<Schema>, id: number) =>
      database.transaction().execute((inside) =>
        inside
          .insertInto('notes')
          .values({ id, text: `${id}` })
          .execute(),
      )
    await Promise.all([insert(one, 1), insert(two, 2)])
    expect(await one.selectFrom('notes').selectAll().execute()).toHaveLength(2)

    await openNotes(path.join(folder, 'file:odd.db'))
    expect(statSync(path.join(folder, 'file:odd.db')).size).toBeGreaterThan(0)
  })

  it('says what is wrong with a place where no file can be', async () => {
    expect((await refusal(path.join(folder, 'nowhere', 'notes.db'))).message).toContain(
      'its folder does not exist.',
    )
    mkdirSync(path.join(folder, 'folder'))
    expect((await refusal(path.join(folder, 'folder'))).message).toContain('it is a folder.')
    writeFileSync(path.join(folder, 'a-file'), '')
    expect((await refusal(path.join(folder, 'a-file', 'notes.db'))).message).toContain(
      'its folder is not a folder.',
    )
  })
})

describe('a database that another process holds locked', () => {
  /** A process that holds the write lock until the returned function is called. */
  async function lockElsewhere(): Promise<() => Promise<void>> {
    const script = `
      const { DatabaseSync } = require('@photostructure/sqlite')
      const database = new DatabaseSync(process.argv[1])
      database.exec('begin immediate')
      process.stdout.write('locked')
      process.stdin.on('end', () => (database.exec('commit'), process.exit())).resume()`
    const child = spawn(process.execPath, ['-e', script, file], { stdio: ['pipe', 'pipe', 'inherit'] })
    await once(child.stdout, 'data')
    return async () => {
      child.stdin.end()
      await once(child, 'exit')
    }
  }

  it('is waited for while the event loop goes on', async () => {
    const database = await openNotes()
    const unlock = await lockElsewhere()
    const written = database.insertInto('notes').values({ id: 1, text: 'at last' }).execute()
    const transaction = database
      .transaction()
      .execute((inside) => inside.insertInto('notes').values({ id: 2, text: 'and this' }).execute())

    // Only a loop that goes on can hear of the other process's end.
    await unlock()
    await Promise.all([written, transaction])

    expect(await database.selectFrom('notes').select('id').execute()).toEqual([{ id: 1 }, { id: 2 }])
  })
})

describe('a transaction', () => {
  it('keeps others out from its beginning to its end', async () => {
    const [one, two] = [await openNotes(), await openNotes()]
    const countAndInsert = (database: Kysely<Schema>) =>
      database.transaction().execute(async (transaction) => {
        const { count } = await transaction
          .selectFrom('notes')
          .select(({ fn }) => fn.countAll<number>().as('count'))
          .executeTakeFirstOrThrow()
        if (count < 5) {
          await transaction
            .insertInto('notes')
            .values({ id: count, text: `note ${count}` })
            .execute()
        }
      })

    await Promise.all(Array.from({ length: 40 }, (_, turn) => countAndInsert(turn % 2 === 0 ? one : two)))

    expect(await one.selectFrom('notes').selectAll().execute()).toHaveLength(5)
  })

  it('is undone whole when it fails, and the connection serves on', async () => {
    const database = await openNotes()
    const failing = database.transaction().execute(async (transaction) => {
      await transaction.insertInto('notes').values({ id: 1, text: 'same' }).execute()
      await transaction.insertInto('notes').values({ id: 2, text: 'same' }).execute()
    })

    const error: unknown = await failing.catch((thrown: unknown) => thrown)

    expect(isUniqueViolation(error)).toBe(true)
    expect(await database.selectFrom('notes').selectAll().execute()).toEqual([])
  })
})
