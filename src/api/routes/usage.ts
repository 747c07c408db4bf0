/** `GET /v1/usage`: what the caller's account has used; `GET /v1/admin/usage`: what all have. */
import type { FastifyInstance, FastifyReply } from 'fastify'
import { z } from 'zod'
import { formatCursor, parseCursor, type RowPosition } from '../../storage/pages.ts'
import type { GroupPosition } from '../../usage/grouped-usage.ts'
import type { DetailedUsage } from '../../usage/usage-reports.ts'
import { createUsageTable, toUsageCsv, toUsageTableBody, type UsageTable } from '../../usage/usage-table.ts'
import { prefersNamed } from '../accepts.ts'
import type { AppDeps } from '../deps.ts'
import { addRoute } from '../openapi/add-route.ts'
import type { RequestContext } from '../pipeline/request-context.ts'
import { toSpentBudgetBody } from '../schemas/spending.ts'
import { requireSpan, toListing, toPage } from '../schemas/query.ts'
import {
  adminUsageQuery,
  detailedUsage,
  toDetailedUsageBody,
  toUsageBody,
  ownUsageQuery,
  usageSummary,
  usageTable,
} from '../schemas/usage.ts'

type UsageDeps = Pick<AppDeps, 'accounts' | 'usageReports' | 'findGroupNames' | 'tokenBudgets'>

export function registerUsageRoutes(app: FastifyInstance, deps: UsageDeps): void {
  addRoute(app, 'GET /v1/usage', {
    operationId: 'getUsage',
    summary: "Usage of all the account's keys, revoked ones too, in sum or by group and time",
    tag: 'Usage',
    access: 'key',
    query: ownUsageQuery,
    ok: z.union([usageSummary, usageTable]),
    textType: 'text/csv',
    handler: async ({ context, query }, reply) => {
      requireSpan(query)
      const { accountId } = context.credential
      const isCsv = wantsCsv(query, context)
      if (isCsv || isTable(query)) return await sendTable(deps, query, { accountId, isCsv, reply })
      const budgets = await deps.tokenBudgets.report(context.credential.budgets)
      return {
        ...toUsageBody(await summarize(deps, query, accountId)),
        ...(budgets.length > 0 && { budgets: budgets.map(toSpentBudgetBody) }),
      }
    },
  })

  addRoute(app, 'GET /v1/admin/usage', {
    operationId: 'getTotalUsage',
    summary: 'Usage of all accounts or of one user, in sum or by group and time',
    tag: 'Admin',
    access: 'admin',
    query: adminUsageQuery,
    ok: z.union([detailedUsage, usageTable]),
    textType: 'text/csv',
    errors: ['user_not_found'],
    handler: async ({ query, context }, reply) => {
      requireSpan(query)
      const accountId = query.user === undefined ? null : await deps.accounts.findAccountId(query.user)
      const isCsv = wantsCsv(query, context)
      if (isCsv || isTable(query)) return await sendTable(deps, query, { accountId, isCsv, reply })
      return toDetailedUsageBody(await summarize(deps, query, accountId))
    },
  })
}

const CSV_TYPE = 'text/csv; charset=utf-8; header=present'

/** Rows of an answer without `limit`. */
const MAX_ROWS = 10_000

type ReportQuery = z.output<typeof ownUsageQuery> | z.output<typeof adminUsageQuery>

interface TableAnswer {
  /** Null for all accounts. */
  readonly accountId: string | null
  readonly isCsv: boolean
  readonly reply: FastifyReply
}

async function sendTable(deps: UsageDeps, query: ReportQuery, { accountId, isCsv, reply }: TableAnswer) {
  const { table, next } = await readTable(deps, query, accountId)
  if (!isCsv) return { ...toUsageTableBody(table), ...toListing(query, { nextCursor: next }) }
  reply.type(CSV_TYPE).header('content-disposition', 'attachment; filename="usage.csv"')
  if (next !== null) reply.header('x-next-cursor', next)
  return reply.serializer(String).send(toUsageCsv(table))
}

function wantsCsv({ format }: ReportQuery, { request }: RequestContext): boolean {
  return format === 'csv' || (format === undefined && prefersNamed(request.headers.accept, 'text/csv'))
}

/** With any of these an answer is made of rows. */
function isTable({ group_by: groupBy, bucket, limit, cursor }: ReportQuery): boolean {
  return [groupBy, bucket, limit, cursor].some((given) => given !== undefined)
}

function summarize(
  { usageReports }: UsageDeps,
  { since: given, until }: ReportQuery,
  accountId: string | null,
): Promise<DetailedUsage> {
  const since = given ?? null
  if (until !== undefined) return usageReports.between({ since, until, accountId })
  return accountId === null ? usageReports.total(since) : usageReports.ofAccount(accountId, since)
}

async function readTable(
  { usageReports, findGroupNames }: UsageDeps,
  query: ReportQuery,
  accountId: string | null,
): Promise<{ table: UsageTable; next: string | null }> {
  const { group_by: groupBy = null, bucket = null } = query
  const { limit, cursor } = toPage(query)
  const { groups, next } = await usageReports.groups({
    groupBy,
    bucket,
    sinceUnixSeconds: query.since ?? null,
    untilUnixSeconds: query.until ?? null,
    accountId,
    limit: limit ?? MAX_ROWS,
    after: cursor === null ? null : toPosition(parseCursor(cursor)),
  })
  const ids = [...new Set(groups.map(({ group }) => group))]
  const names = groupBy === null ? null : await findGroupNames(groupBy, ids)
  const table = createUsageTable({ groupBy, bucket, groups, names })
  return { table, next: next === null ? null : formatCursor(fromPosition(next)) }
}

const toPosition = ({ createdAtUnixSeconds, id }: RowPosition) => ({
  bucketStart: createdAtUnixSeconds,
  group: id,
})

const fromPosition = ({ bucketStart, group }: GroupPosition) => ({
  createdAtUnixSeconds: bucketStart,
  id: group,
})
