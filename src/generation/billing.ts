/**
 * The usage row of one request: what its timeline counted, under the status that it ends with. Called by generations and
 * embeddings.
 * Invariant: what went to an engine leaves at most one row, committed before the caller goes on. Only what the engine refused
 * before any sequence started leaves none.
 */
import type { Credential } from '../core/credential.ts'
import { toServiceError } from '../core/errors.ts'
import type { TokenBudgets } from '../limits/token-budgets.ts'
import { CLIENT_GONE_STATUS } from '../net/connections/client-presence.ts'
import type { Log } from '../telemetry/log.ts'
import type { RequestTimeline } from '../telemetry/request-timeline.ts'
import type { UsageEntry, UsageRecorder } from '../usage/usage-recorder.ts'

export interface BillingDeps {
  readonly usageRecorder: Pick<UsageRecorder, 'record'>
  readonly tokenBudgets: Pick<TokenBudgets, 'spend'>
  readonly log: Pick<Log, 'error'>
}

/** The request that is billed. */
export interface BilledContext {
  readonly requestId: string
  /** W3C trace context, for the server that it is passed on to; undefined where it has none. */
  readonly traceparent?: string | undefined
  readonly caller: Pick<UsageEntry, 'accountId' | 'keyId' | 'path' | 'teamId'> & Pick<Credential, 'budgets'>
  /** Aborts when the client leaves. */
  readonly signal: AbortSignal
  /** Counts tokens and times; began when the request was received. */
  readonly timeline: RequestTimeline
}

/** With these an engine refuses a request: wrong, too much, not now. */
const REFUSAL_STATUSES: ReadonlySet<number> = new Set([400, 404, 429, 503])

/** Settles as the work does, once what it used is on record. @throws also what the recorder throws */
export async function bill<T>(deps: BillingDeps, context: BilledContext, work: Promise<T>): Promise<T> {
  let result: T
  try {
    result = await work
  } catch (thrown) {
    await billFailure(deps, context, thrown)
    throw thrown
  }
  // All prompts of a batch may have been refused.
  if (context.timeline.hasStarted) await recordUsage(deps, context, 200)
  return result
}

/** The client gets the original failure, also where recording fails. */
async function billFailure(deps: BillingDeps, context: BilledContext, thrown: unknown): Promise<void> {
  const { requestId, signal, timeline } = context
  const status = signal.aborted ? CLIENT_GONE_STATUS : toServiceError(thrown, requestId).status
  if (REFUSAL_STATUSES.has(status) && !timeline.hasStarted) return
  try {
    await recordUsage(deps, context, status)
  } catch (error) {
    const whose = signal.aborted ? 'a client that left' : 'a request that failed'
    deps.log.error({ requestId, err: error }, `the usage of ${whose} is lost`)
  }
}

/** The most that the columns of usage hold. */
const MAX_ROW_TOKENS = 2 ** 31 - 1

async function recordUsage(
  { usageRecorder, tokenBudgets }: BillingDeps,
  { caller, timeline }: BilledContext,
  status: number,
): Promise<void> {
  // Upstreams tell what they like, and a request may be many of theirs: one row that has no room would fail those of others.
  const tokensIn = Math.min(timeline.promptTokens, MAX_ROW_TOKENS)
  const tokensOut = Math.min(timeline.completionTokens, MAX_ROW_TOKENS)
  await usageRecorder.record({
    keyId: caller.keyId,
    accountId: caller.accountId,
    teamId: caller.teamId,
    model: timeline.modelId ?? '',
    path: caller.path,
    status,
    tokensIn,
    tokensOut,
    responseMs: timeline.elapsedMs(),
  })
  // Not before: what is not on record is read as not spent.
  tokenBudgets.spend(caller.budgets, tokensIn + tokensOut)
}
