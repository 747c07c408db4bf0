/** The audit log: a row for each action of the admin, written before it is done and given its outcome afterwards. */
import type { ApiDatabase } from './api-database.ts'
import { listPage, type Page, type PageRequest } from './pages.ts'

export interface AuditRecord {
  readonly id: string
  readonly createdAtUnixSeconds: number
  /** `admin`, or `command-line:` and the name of the system's user. */
  readonly actor: string
  readonly action: string
  readonly target: string | null
  /** JSON. */
  readonly details: string
  readonly status: number | null
  readonly requestId: string | null
}

export interface AuditFilter {
  readonly sinceUnixSeconds: number | null
  /** Exclusive. */
  readonly untilUnixSeconds: number | null
  readonly action: string | null
}

const COLUMNS = [
  'id',
  'created_at as createdAtUnixSeconds',
  'actor',
  'action',
  'target',
  'details',
  'status',
  'request_id as requestId',
] as const

export async function insertAuditRecord(db: ApiDatabase, record: AuditRecord): Promise<void> {
  const { createdAtUnixSeconds, requestId, ...rest } = record
  await db
    .insertInto('audit_log')
    .values({ ...rest, created_at: createdAtUnixSeconds, request_id: requestId })
    .execute()
}

export async function setAuditOutcome(
  db: ApiDatabase,
  id: string,
  { target, status }: Pick<AuditRecord, 'target' | 'status'>,
): Promise<void> {
  await db.updateTable('audit_log').set({ target, status }).where('id', '=', id).execute()
}

/** Oldest first. */
export async function listAuditRecords(
  db: ApiDatabase,
  { sinceUnixSeconds, untilUnixSeconds, action }: AuditFilter,
  page: PageRequest,
): Promise<Page<AuditRecord>> {
  let query = db.selectFrom('audit_log').select(COLUMNS)
  if (sinceUnixSeconds !== null) query = query.where('created_at', '>=', sinceUnixSeconds)
  if (untilUnixSeconds !== null) query = query.where('created_at', '<', untilUnixSeconds)
  if (action !== null) query = query.where('action', '=', action)
  return await listPage(query, page)
}
