/** Usage since a moment, summed up for display. Only reads; the routes convert it to the wire format. */
import type { UsageStore, UsageSubject, UsageSums } from '../storage/usage-store.ts'

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

/** `since` is a moment in Unix seconds, inclusive and exact to the row; null takes all there is. */
export class UsageReports {
  readonly #store: Pick<UsageStore, 'sumByPath'>

  constructor(store: Pick<UsageStore, 'sumByPath'>) {
    this.#store = store
  }

  /** Over all keys that the account has or had. */
  ofAccount(accountId: string, since: number | null): Promise<DetailedUsage> {
    return this.#summarize({ scope: 'account', id: accountId }, since)
  }

  ofKey(keyId: string, since: number | null): Promise<DetailedUsage> {
    return this.#summarize({ scope: 'key', id: keyId }, since)
  }

  total(since: number | null): Promise<DetailedUsage> {
    return this.#summarize({ scope: 'all', id: '' }, since)
  }

  async #summarize(subject: UsageSubject, since: number | null): Promise<DetailedUsage> {
    const sumsByPath = await this.#store.sumByPath(subject, since)
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
}

function averageMs({ requests, responseUs }: Pick<UsageSums, 'requests' | 'responseUs'>): number {
  return requests === 0 ? 0 : responseUs / requests / 1000
}
