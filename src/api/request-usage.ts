/**
 * The usage of one generation request: recorded once, however the request ends. Whoever sends the last bytes settles it
 * first and waits, so that nothing is answered that is not on record; a client that leaves settles it with what was
 * made so far. A request that the engine refused has used nothing and leaves no row.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { onExchangeEnd } from '../net/client-presence.ts'
import type { RequestTimeline } from '../telemetry/request-timeline.ts'
import type { UsageEntry, UsageRecorder } from '../usage/usage-recorder.ts'
import type { AppDeps } from './deps.ts'
import { CLIENT_GONE_STATUS } from './request-log.ts'

/** What an engine answers that does not begin: wrong, too much, not now. */
const REFUSALS: ReadonlySet<number> = new Set([400, 404, 429, 503])

type Caller = Pick<UsageEntry, 'keyId' | 'accountId' | 'path'>

export class RequestUsage {
  readonly #recorder: Pick<UsageRecorder, 'record'>
  readonly #caller: Caller
  readonly #timeline: RequestTimeline
  #isSettled = false

  private constructor(recorder: Pick<UsageRecorder, 'record'>, caller: Caller, timeline: RequestTimeline) {
    this.#recorder = recorder
    this.#caller = caller
    this.#timeline = timeline
  }

  /** Begins when the request goes to an engine. */
  static begin(deps: AppDeps, request: FastifyRequest, reply: FastifyReply): RequestUsage {
    const { keyId, accountId } = request.credential
    const path = request.routeOptions.url ?? ''
    const usage = new RequestUsage(deps.usageRecorder, { keyId, accountId, path }, request.timeline)
    onExchangeEnd(request.raw, reply.raw, () => {
      usage.settle(CLIENT_GONE_STATUS).catch((error: unknown) => {
        deps.log.error({ requestId: request.id, err: error }, 'the usage of a client that left is lost')
      })
    })
    return usage
  }

  /** Resolves when the row is committed. @throws what the database throws; the request must then fail too. */
  async settle(status: number): Promise<void> {
    if (this.#isSettled) return
    this.#isSettled = true
    if (REFUSALS.has(status) && !this.#timeline.hasStarted) return
    const { promptTokens, completionTokens } = this.#timeline
    const { keyId, accountId, path } = this.#caller
    await this.#recorder.record({
      keyId,
      accountId,
      path,
      status,
      tokensIn: promptTokens,
      tokensOut: completionTokens,
      responseMs: this.#timeline.elapsedMs(),
    })
  }
}
