/** Usage since a moment, summed up for display. Only reads; the routes convert it to the wire format. */
import type { UsageReader, UsageSubject, UsageSums } from '../storage/usage-store.ts'
import { readUsageGroups, type UsageGroupsPage, type UsageGroupsRequest } from './grouped-usage.ts'

export interface UsageSummary {
  readonly requests: number
  readonly tokensIn: number
  readonly tokensOut: number
  /** 0 when there was no request. */
  readonly avgResponseMs: number
}

export interface DetailedUsage extends UsageSummary {
  /** By route path; only those with a request. */
  readonly byEndpoint: Readonly<Record<string, { readonly count: number; readonly avgMs: number }>>
}

interface UsageSpan {
  readonly since: number | null
  readonly until: number
  readonly accountId: string | null
}

/** `since` is a moment in Unix seconds, inclusive and exact to the row; null takes all there is. */
export class UsageReports {
  readonly #store: UsageReader

  constructor(store: UsageReader) {
    this.#store = store
  }

  /** Over all keys that the account has or had. */
  ofAccount(accountId: string, since: number | null): Promise<DetailedUsage> {
    return this.#summarize({ scope: 'account', id: accountId }, since)
  }

  ofKey(keyId: string, since: number | null): Promise<DetailedUsage> {
    return this.#summarize({ scope: 'key', id: keyId }, since)
  }

  ofTeam(teamId: string, since: number | null): Promise<DetailedUsage> {
    return this.#summarize({ scope: 'team', id: teamId }, since)
  }

  total(since: number | null): Promise<DetailedUsage> {
    return this.#summarize({ scope: 'all', id: '' }, since)
  }

  /** Over the rows of a span of time, whose end is exclusive; of all accounts where `accountId` is null. */
  async between({ since, until, accountId }: UsageSpan): Promise<DetailedUsage> {
    const { groups } = await this.groups({
      ...{ groupBy: 'endpoint', bucket: null, after: null, limit: Number.MAX_SAFE_INTEGER },
      ...{ sinceUnixSeconds: since, untilUnixSeconds: until, accountId },
    })
    return toDetailedUsage(new Map(groups.map((sums) => [sums.group, sums])))
  }

  /** By hour or day and by key, user, team, model or endpoint. */
  groups(request: UsageGroupsRequest): Promise<UsageGroupsPage> {
    return readUsageGroups(this.#store, request)
  }

  async #summarize(subject: UsageSubject, since: number | null): Promise<DetailedUsage> {
    return toDetailedUsage(await this.#store.sumByPath(subject, since))
  }
}

function toDetailedUsage(sumsByPath: ReadonlyMap<string, UsageSums>): DetailedUsage {
  const total = (field: keyof UsageSums) =>
    [...sumsByPath.values()].reduce((sum, sums) => sum + sums[field], 0)
  const requests = total('requests')
  return {
    requests,
    tokensIn: total('tokensIn'),
    tokensOut: total('tokensOut'),
    avgResponseMs: averageMs({ requests, responseUs: total('responseUs') }),
    byEndpoint: Object.fromEntries(
      [...sumsByPath].map(([path, sums]) => [path, { count: sums.requests, avgMs: averageMs(sums) }]),
    ),
  }
}

export function averageMs({ requests, responseUs }: Pick<UsageSums, 'requests' | 'responseUs'>): number {
  return requests === 0 ? 0 : responseUs / requests / 1000
}
