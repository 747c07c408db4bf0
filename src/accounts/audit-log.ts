/**
 * Who did what as the admin, through the admin API or on the command line. The row is written before the action, so that none
 * is done without one, and gets its outcome afterwards; one without an outcome was cut off, or the database failed meanwhile.
 * No secret is in it.
 */
import { randomUUID } from 'node:crypto'
import type { Clock } from '../core/clock.ts'
import { StartError, toServiceError } from '../core/errors.ts'
import type { LogWriter } from '../core/log-writer.ts'
import type { ApiDatabase } from '../storage/api-database.ts'
import {
  type AuditFilter,
  type AuditRecord,
  insertAuditRecord,
  listAuditRecords,
  setAuditOutcome,
} from '../storage/audit-repository.ts'
import type { Page, PageRequest } from '../storage/pages.ts'

export interface AuditedAction {
  readonly actor: string
  /** Such as `key.revoke`. */
  readonly action: string
  /** What was asked for. */
  readonly details: object
  readonly requestId: string | null
  /** Asked before the action and after it, when what it made has its id. */
  readonly target: () => string | null
}

export interface AuditLogDeps {
  readonly database: ApiDatabase
  readonly clock: Clock
  readonly log: Pick<LogWriter, 'error'>
}

/** Their values never leave the request. */
const SECRET_FIELDS: ReadonlySet<string> = new Set(['password', 'api_key', 'token'])

export class AuditLog {
  readonly #database: ApiDatabase
  readonly #clock: Clock
  readonly #log: Pick<LogWriter, 'error'>

  constructor({ database, clock, log }: AuditLogDeps) {
    this.#database = database
    this.#clock = clock
    this.#log = log
  }

  /**
   * Does `act` and answers as it does, also where its outcome cannot be written: what was done is done, and a new secret is shown
   * once. @throws also what the database throws before, and then nothing was done
   */
  async record<Result>(
    { actor, action, details, requestId, target }: AuditedAction,
    act: () => Promise<Result> | Result,
  ): Promise<Result> {
    const id = randomUUID()
    await insertAuditRecord(this.#database, {
      ...{ id, actor, action, requestId, target: target(), status: null },
      createdAtUnixSeconds: this.#clock.unixSeconds(),
      details: JSON.stringify(details, hideSecrets),
    })
    const end = async (status: number): Promise<void> => {
      try {
        await setAuditOutcome(this.#database, id, { target: target(), status })
      } catch (err) {
        const fields = { err, requestId, action, target: target(), status }
        this.#log.error(fields, 'the outcome of an action is not in the audit log')
      }
    }
    let result: Result
    try {
      result = await act()
    } catch (error) {
      const answered = error instanceof StartError ? error.cause : error
      await end(toServiceError(answered, requestId ?? '').status)
      throw error
    }
    await end(200)
    return result
  }

  /** Oldest first. */
  list(filter: AuditFilter, page: PageRequest): Promise<Page<AuditRecord>> {
    return listAuditRecords(this.#database, filter, page)
  }
}

function hideSecrets(name: string, value: unknown): unknown {
  return SECRET_FIELDS.has(name) && value !== null && value !== undefined ? '[hidden]' : value
}
