/**
 * A PostgreSQL server for tests: a folder, a Unix socket and a port of its own, nothing written through to disk. One for each
 * process of the tests, started when the first test asks for a database and stopped with the process, however that ends.
 */
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, copyFileSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { whenUnused } from '../shared.ts'
import { openPostgresApiDatabase } from '../../../src/storage/postgres/postgres-api-database.ts'
import { openPostgresUsageDatabase } from '../../../src/storage/postgres/postgres-usage-database.ts'
import { POSTGRES_BIN } from '../../../tools/optional-programs.mjs'
import type { CertificateFiles } from '../../../src/net/tls/certificate.ts'
import { type KeptProcess, startKept } from './kept-process.ts'

export interface PostgresServer {
  /** Of one of its databases. */
  urlOf(database: string): string
  /** A new database, empty or a copy of another to which nobody is connected. Gives its URL. */
  createDatabase(template?: string): Promise<string>
  /** Ends the connections to it too. @param url as `createDatabase` gave it */
  dropDatabase(url: string): Promise<void>
  start(): Promise<void>
  /** At once, as a crash does. */
  kill(): Promise<void>
  /** Stops its main process, which takes no connection then; those that are open go on. */
  signal(name: 'SIGSTOP' | 'SIGCONT'): void
}

interface OfProcess {
  readonly server: PostgresServer
  readonly template: string
  /** What `SCHEMA` says of the template. */
  readonly schema: string
  /** URLs of databases that tests have left and that are as new. */
  readonly emptied: string[]
}

let ofProcess: Promise<OfProcess> | null = null

/**
 * The URL of an empty database of the server of this process, with the tables of accounts and of usage. After the test another gets it,
 * since one is emptied quicker than copied, unless the test has changed its tables.
 */
export async function createPostgresDatabase(): Promise<string> {
  ofProcess ??= startWithTemplate()
  const { server, template, schema, emptied } = await ofProcess
  const url = emptied.pop() ?? (await server.createDatabase(template))
  whenUnused(async () => {
    if ((await schemaOfEmptied(url)) === schema) emptied.push(url)
    else await server.dropDatabase(url)
  })
  return url
}

/**
 * Ends the other connections and deletes all rows but the migrations'; a large table is cut, so that no dead rows are read.
 * `pg_terminate_backend` with a time to wait looks only each 100 ms whether the connection has gone.
 */
const EMPTY = `
  set session_replication_role = replica;
  do $$ declare found record; begin
    loop
      perform pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid();
      exit when not found;
      perform pg_sleep(0.002);
      perform pg_stat_clear_snapshot();
    end loop;
    for found in select relname, pg_relation_size(oid) as bytes from pg_class
      where relkind = 'r' and relnamespace = 'public'::regnamespace and relname <> 'sluice_migrations' loop
      if found.bytes > 65536 then execute format('truncate %I cascade', found.relname);
      elsif found.bytes > 0 then execute format('delete from %I', found.relname); end if;
    end loop;
    for found in select sequencename from pg_sequences where last_value is not null loop
      execute format('alter sequence %I restart', found.sequencename);
    end loop;
  end $$`

/** All that a test may have changed of the tables, in one line. */
const SCHEMA = `select md5(string_agg(line, '|' order by line)) as schema from (
  select concat_ws(' ', attrelid::regclass, attname, atttypid, attnotnull, atthasdef) as line from pg_attribute
    join pg_class on pg_class.oid = attrelid where relnamespace = 'public'::regnamespace and not attisdropped
  union all select concat_ws(' ', conrelid::regclass, pg_get_constraintdef(oid)) from pg_constraint
    where connamespace = 'public'::regnamespace
  union all select indexdef from pg_indexes where schemaname = 'public'
  union all select concat_ws(' ', tgrelid::regclass, tgname) from pg_trigger where not tgisinternal
  union all select sluice_migrations::text from sluice_migrations) as lines`

/** @returns null of one that cannot be emptied */
async function schemaOfEmptied(url: string): Promise<unknown> {
  try {
    return (await runSql(url, `${EMPTY}; ${SCHEMA}`))[0]?.['schema']
  } catch {
    return null
  }
}

const IN_MEMORY = '/dev/shm'
const MIN_FREE_BYTES = 2 ** 30

/** In memory where there is room: a new database is some 10 MB that a disk would have to write. */
function newFolder(): string {
  let freeBytes = 0
  try {
    const { bavail, bsize } = statfsSync(IN_MEMORY)
    freeBytes = bavail * bsize
  } catch {
    // Not on this system.
  }
  return mkdtempSync(path.join(freeBytes < MIN_FREE_BYTES ? tmpdir() : IN_MEMORY, 'sluice-pg-'))
}

/** Copying tables takes a tenth of the time of making them. */
async function startWithTemplate(): Promise<OfProcess> {
  const server = await startPostgres(newFolder(), { isRemoved: true })
  const url = await server.createDatabase()
  const log = { error: () => {}, info: () => {} }
  for (const open of [openPostgresApiDatabase, openPostgresUsageDatabase])
    await (await open({ url, log })).destroy()
  const [row] = await runSql(url, SCHEMA)
  return { server, template: path.basename(url), schema: String(row?.['schema']), emptied: [] }
}

/** A server of the test's own, which it may kill; it ends with the test. @param tls shown to clients, which may do without */
export async function startOwnPostgres(tls: CertificateFiles | null = null): Promise<PostgresServer> {
  const folder = newFolder()
  const server = await startPostgres(folder, { tls })
  whenUnused(async () => {
    await server.kill()
    rmSync(folder, { recursive: true })
  })
  return server
}

/** PostgreSQL refuses to run as root; `nobody` is on every Linux. */
const NOBODY = 65_534
const unprivileged = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}

interface PostgresOptions {
  readonly tls?: CertificateFiles | null
  /** Whether the folder goes when the server ends. */
  readonly isRemoved?: boolean
}

async function startPostgres(
  folder: string,
  { tls = null, isRemoved = false }: PostgresOptions,
): Promise<PostgresServer> {
  if (POSTGRES_BIN === null) throw new Error('PostgreSQL is not installed.')
  const bin = POSTGRES_BIN
  if (unprivileged.uid !== undefined) chownSync(folder, NOBODY, NOBODY)
  const data = path.join(folder, 'data')
  const words = ['-D', data, '-U', 'sluice', '--auth=trust', '--no-sync', '--locale=C', '--encoding=UTF8']
  execFileSync(path.join(bin, 'initdb'), words, { ...unprivileged, stdio: 'ignore', cwd: '/' })
  const port = await freePort()
  const settings = [`port=${port}`, `listen_addresses=127.0.0.1`, `unix_socket_directories=${folder}`]
  const quick = [
    'fsync=off',
    'max_connections=200',
    'autovacuum=off',
    'shared_buffers=16MB',
    'max_wal_size=64MB',
  ]
  const secured = tls === null ? [] : installCertificate(tls, folder)
  const options = [...settings, ...quick, ...secured].flatMap((setting) => ['-c', setting])
  const url = (database: string) => `postgres://sluice@127.0.0.1:${port}/${database}`
  let running: KeptProcess | null = null
  let databases = 0

  const start = async () => {
    running = startKept([path.join(bin, 'postgres'), '-D', data, ...options], {
      ...unprivileged,
      ...(isRemoved && { folder }),
    })
    for (let tries = 0; ; tries++) {
      try {
        await runSql(url('postgres'), 'select 1')
        return
      } catch (error) {
        if (tries > 200) throw error
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    }
  }
  const kill = async () => {
    await running?.end()
    running = null
  }
  await start()
  return {
    urlOf: url,
    start,
    kill,
    signal: (name) => void process.kill(mainProcess(data), name),
    createDatabase: async (template = 'template1') => {
      const name = `test_${++databases}`
      await runSql(url('postgres'), `create database ${name} template ${template}`)
      return url(name)
    },
    dropDatabase: async (dropped) => {
      await runSql(url('postgres'), `drop database ${path.basename(dropped)} with (force)`)
    },
  }
}

/** Its key must be the server's own. Gives the settings. */
function installCertificate({ certfile, keyfile }: CertificateFiles, folder: string): readonly string[] {
  const files = { cert: path.join(folder, 'server.crt'), key: path.join(folder, 'server.key') }
  copyFileSync(certfile, files.cert)
  copyFileSync(keyfile, files.key)
  chmodSync(files.key, 0o600)
  if (unprivileged.uid !== undefined) for (const file of Object.values(files)) chownSync(file, NOBODY, NOBODY)
  return ['ssl=on', `ssl_cert_file=${files.cert}`, `ssl_key_file=${files.key}`]
}

/** Of a server that runs in this folder. */
function mainProcess(data: string): number {
  return Number(execFileSync('head', ['-1', path.join(data, 'postmaster.pid')]))
}

/** @returns the rows of the last statement */
export async function runSql(url: string, sql: string): Promise<readonly Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  try {
    const results = [await client.query<Record<string, unknown>>(sql)].flat() // of several statements it is a list
    return results.at(-1)?.rows ?? []
  } finally {
    await client.end()
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('It listens on no port.')
  return address.port
}
