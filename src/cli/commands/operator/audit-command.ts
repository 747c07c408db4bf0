/** `sluice audit`: the audit log of the admin API, read from the database itself. */
import type { AuditRecord } from '../../../storage/audit-repository.ts'
import { listAllPages, withServices } from '../../open-services.ts'
import { renderTable } from '../../terminal/table.ts'
import type { CommandContext } from '../../terminal/terminal.ts'
import { toJsonLine } from '../../terminal/terminal-text.ts'
import type { AuditCommand } from './report-command-line.ts'

const COLUMNS = ['time', 'actor', 'action', 'target', 'status', 'details']

/** Resolves with the exit code. */
export async function runAuditCommand(
  { since, until, only, printsJson }: AuditCommand,
  context: CommandContext<'apiDb' | 'dataDir'>,
): Promise<number> {
  await withServices(context, { createsDatabase: false }, async ({ auditLog }) => {
    const filter = { sinceUnixSeconds: since, untilUnixSeconds: until, action: only }
    const records = await listAllPages((page) => auditLog.list(filter, page))
    context.terminal.print(printsJson ? toJson(records) : toTable(records))
  })
  return 0
}

function toTable(records: readonly AuditRecord[]): string {
  if (records.length === 0) return 'Nothing was done.'
  const rows = records.map(({ createdAtUnixSeconds, actor, action, target, status, details }) => [
    new Date(createdAtUnixSeconds * 1000).toISOString(),
    ...[actor, action, target ?? '', String(status ?? ''), details],
  ])
  return renderTable(COLUMNS, rows).join('\n')
}

/** The answer of the admin API. */
function toJson(records: readonly AuditRecord[]): string {
  const shown = records.map(({ createdAtUnixSeconds, requestId, details, ...record }) => ({
    ...{ ...record, created_at: createdAtUnixSeconds, request_id: requestId },
    details: JSON.parse(details) as unknown,
  }))
  return toJsonLine({ records: shown, count: shown.length })
}
