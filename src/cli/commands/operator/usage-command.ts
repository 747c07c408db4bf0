/** `sluice usage`: the report of the admin API, read from the databases themselves. */
import { openUsageReader } from '../../../app/open-databases.ts'
import { UsageReports } from '../../../usage/usage-reports.ts'
import { addUsage, type GroupPosition, type GroupUsage } from '../../../usage/grouped-usage.ts'
import {
  createUsageTable,
  toFigures,
  toIsoSecond,
  toUsageCsv,
  toUsageTableBody,
  type UsageFigures,
  type UsageTable,
} from '../../../usage/usage-table.ts'
import { withServices } from '../../open-services.ts'
import { renderTable } from '../../terminal/table.ts'
import type { CommandContext } from '../../terminal/terminal.ts'
import { toJsonLine } from '../../terminal/terminal-text.ts'
import type { UsageCommand } from './report-command-line.ts'

const PAGE_GROUPS = 10_000

/** Resolves with the exit code. */
export async function runUsageCommand(
  command: UsageCommand,
  context: CommandContext<'apiDb' | 'usageDb' | 'dataDir'>,
): Promise<number> {
  const { groupBy, bucket, user, format } = command
  await withServices(context, { createsDatabase: false }, async ({ accounts, findGroupNames }) => {
    const accountId = user === null ? null : await accounts.findAccountId(user)
    const groups = await readGroups(command, accountId, context)
    const names = await findGroupNames(groupBy, [...new Set(groups.map(({ group }) => group))])
    const table = createUsageTable({ groupBy, bucket, groups, names })
    context.terminal.print(render(table, groups, format))
  })
  return 0
}

async function readGroups(
  { groupBy, bucket, since, until }: UsageCommand,
  accountId: string | null,
  { config, clock }: CommandContext<'apiDb' | 'usageDb' | 'dataDir'>,
): Promise<readonly GroupUsage[]> {
  const usage = await openUsageReader(config, { clock, log: { error: () => {}, info: () => {} } })
  try {
    const reports = new UsageReports(usage.reader)
    const span = { sinceUnixSeconds: since, untilUnixSeconds: until }
    const groups: GroupUsage[] = []
    let after: GroupPosition | null = null
    do {
      const page = await reports.groups({ ...span, groupBy, bucket, accountId, limit: PAGE_GROUPS, after })
      groups.push(...page.groups)
      after = page.next
    } while (after !== null)
    return groups
  } finally {
    await usage.close()
  }
}

function render(table: UsageTable, groups: readonly GroupUsage[], format: UsageCommand['format']): string {
  switch (format) {
    case 'json':
      return toJsonLine(toUsageTableBody(table))
    case 'csv':
      return toUsageCsv(table).trimEnd()
    case 'table':
      return groups.length === 0
        ? 'Nothing was used.'
        : renderTable(columnsOf(table), rowsOf(table, groups)).join('\n')
  }
}

function columnsOf({ groupBy, bucket, hasNames }: UsageTable): readonly string[] {
  return [
    ...(bucket === null ? [] : ['begins']),
    ...(groupBy === null ? [] : [groupBy]),
    ...(hasNames ? ['name'] : []),
    ...['requests', 'tokens in', 'tokens out', 'avg ms', 'p50 ms', 'p95 ms', 'errors'],
  ]
}

/** With a last row of the sums. */
function rowsOf(
  { hasNames, rows }: UsageTable,
  groups: readonly GroupUsage[],
): readonly (readonly string[])[] {
  const shown = rows.map((row) => [
    ...(row.bucketStart === null ? [] : [toIsoSecond(row.bucketStart)]),
    row.group ?? '',
    ...(hasNames ? [row.name ?? ''] : []),
    ...numbersOf(row),
  ])
  const totals = numbersOf(toFigures(groups.reduce((total, usage) => addUsage(usage, total))))
  const [first] = shown
  const blank = Array.from({ length: (first?.length ?? 0) - totals.length - 1 }, () => '')
  return [...shown, ['all', ...blank, ...totals]]
}

function numbersOf(row: UsageFigures): string[] {
  const ms = [row.avgResponseMs, row.p50ResponseMs, row.p95ResponseMs].map((value) =>
    value === null ? '' : String(Math.round(value)),
  )
  return [...[row.requests, row.tokensIn, row.tokensOut].map(String), ...ms, String(row.errors)]
}
