/**
 * The services behind the operator commands, over the server's database; the server may be running. The database is
 * always closed again, so that SQLite removes its write-ahead log when no other process has the file open.
 */
import { existsSync } from 'node:fs'
import { AccountService } from '../accounts/account-service.ts'
import { TeamService } from '../accounts/team-service.ts'
import { AuditLog } from '../accounts/audit-log.ts'
import { createGroupNames, type FindGroupNames } from '../accounts/group-names.ts'
import { InvitationService } from '../accounts/sessions/invitation-service.ts'
import { KeyService } from '../accounts/keys/key-service.ts'
import { PasswordHasher } from '../accounts/password-hasher.ts'
import type { Clock } from '../core/clock.ts'
import { isPostgresUrl } from '../core/text/database-location.ts'
import { StartError } from '../core/errors.ts'
import { AttemptThrottle } from '../limits/attempt-throttle.ts'
import { MemoryState } from '../limits/memory/memory-state.ts'
import { accountsLocation, openAccounts } from '../app/open-databases.ts'
import type { ApiDatabase } from '../storage/api-database.ts'
import { databaseTrouble, sqliteCode } from '../storage/database-errors.ts'
import { IN_MEMORY } from '../storage/sqlite/open-database.ts'
import type { Page, PageRequest } from '../storage/pages.ts'
import type { CommandContext } from './terminal/terminal.ts'

export interface Services {
  readonly keys: KeyService
  readonly accounts: AccountService
  readonly invitations: InvitationService
  readonly teams: TeamService
  readonly auditLog: AuditLog
  readonly findGroupNames: FindGroupNames
}

/**
 * @param createsDatabase whether a missing database is created, or ends the command
 * @throws StartError when the database cannot be used, and what `act` throws.
 */
export async function withServices(
  { config, clock }: CommandContext<'apiDb' | 'dataDir'>,
  { createsDatabase }: { readonly createsDatabase: boolean },
  act: (services: Services) => Promise<void>,
): Promise<void> {
  const location = accountsLocation(config)
  requireUsable(location, createsDatabase)
  // What goes wrong ends the command with a sentence of its own.
  const log = { error: () => {}, info: () => {} }
  const { database } = await openAccounts(config, { clock, log })
  try {
    await act(createServices(database, clock))
  } catch (error) {
    if (sqliteCode(error) === null) throw error
    const trouble = databaseTrouble(error)
    throw new StartError(`The database of accounts and keys '${location}' (--api-db) failed: ${trouble}.`, 1)
  } finally {
    await database.destroy()
  }
}

/** @throws StartError for a database in memory, which ends with this process, or one that does not exist. */
function requireUsable(location: string, createsDatabase: boolean): void {
  if (location === IN_MEMORY) {
    throw new StartError(
      `The database of accounts and keys '${IN_MEMORY}' (--api-db) is the server's alone; give a file.`,
      2,
    )
  }
  if (createsDatabase || isPostgresUrl(location) || existsSync(location)) return
  throw new StartError(
    `There is no database of accounts and keys at '${location}' (--api-db, --data-dir); ` +
      `the server makes it, and 'sluice keys create' does.`,
    1,
  )
}

function createServices(database: ApiDatabase, clock: Clock): Services {
  const { requests, attempts } = new MemoryState(clock)
  const throttle = new AttemptThrottle(attempts)
  const accounts = new AccountService({
    database,
    passwords: new PasswordHasher(),
    throttle,
    clock,
    isRegistrationOpen: false,
  })
  return {
    findGroupNames: createGroupNames(database),
    // A row without an outcome says so itself.
    auditLog: new AuditLog({ database, clock, log: { error: () => {} } }),
    teams: new TeamService({ database, clock }),
    keys: new KeyService({ database, requests, clock }),
    accounts,
    invitations: new InvitationService({ database, accounts, throttle, clock }),
  }
}

/** All rows of a listing, however many pages they take. */
export async function listAllPages<Item>(list: (page: PageRequest) => Promise<Page<Item>>): Promise<Item[]> {
  const rows: Item[] = []
  let cursor: string | null = null
  do {
    const page: Page<Item> = await list({ limit: null, cursor })
    rows.push(...page.items)
    cursor = page.nextCursor
  } while (cursor !== null)
  return rows
}
