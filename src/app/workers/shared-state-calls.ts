/**
 * The shared state of a service with several workers: it is the supervisor's, and each question of a worker is one call. What a
 * worker that has died held returns: its permits, and its open attempts without a result.
 */
import { setImmediate } from 'node:timers/promises'
import type { ChannelHandler } from '../../core/channel/channel.ts'
import {
  type CallingChannel,
  handlersOf,
  type RemoteMethods,
  remoteObject,
} from '../../core/channel/remote-object.ts'
import {
  afterAnswer,
  type Answer,
  type AttemptDecision,
  type AttemptLimits,
  type Bans,
  type Knocks,
  type LimitedRequest,
  type RequestDecision,
  type RequestLimits,
  type SharedState,
} from '../../core/shared-state.ts'

const METHODS: { readonly [Part in keyof SharedState]: RemoteMethods<SharedState[Part]> } = {
  requests: {
    admit: 'call',
    release: 'castAtOnce',
    inUse: 'call',
    openWindow: 'call',
    revokeWindow: 'call',
    restoreSpent: 'call',
    spend: 'castAtOnce',
  } satisfies RemoteMethods<RequestLimits>,
  attempts: { begin: 'call', end: 'cast' } satisfies RemoteMethods<AttemptLimits>,
  bans: { find: 'call', recordOffence: 'call', list: 'call', lift: 'call' } satisfies RemoteMethods<Bans>,
  knocks: { isOpen: 'call', knock: 'call' } satisfies RemoteMethods<Knocks>,
}

export function remoteSharedState(channel: CallingChannel): SharedState {
  return {
    requests: {
      ...remoteObject(channel, 'requests', METHODS.requests),
      admit: (request) => channel.call('requests.admit', [toFinite(request)]),
    },
    attempts: remoteObject(channel, 'attempts', METHODS.attempts),
    bans: remoteObject(channel, 'bans', METHODS.bans),
    knocks: remoteObject(channel, 'knocks', METHODS.knocks),
  }
}

/** JSON has no infinity. */
function toFinite(request: LimitedRequest): LimitedRequest {
  return request.maxConcurrent === Infinity ? { ...request, maxConcurrent: Number.MAX_SAFE_INTEGER } : request
}

/**
 * Until this process has read, on all of its channels, what was sent before now. A client that has an answer and asks again may reach
 * another worker, and what the first one gave back or spent for it lies in another channel, which a loop that is late may come to second.
 */
async function untilAllIsRead(): Promise<void> {
  // Behind what is read in this turn, which may not know the other channel yet, and behind what is read in the next.
  await setImmediate()
  await setImmediate()
}

/** The supervisor's side, for one worker. */
export class WorkerShare {
  readonly #shared: SharedState
  readonly #permits = new Set<string>()
  readonly #attempts = new Set<string>()
  #isEnded = false

  constructor(shared: SharedState) {
    this.#shared = shared
  }

  handlers(): Readonly<Record<string, ChannelHandler>> {
    const { requests, attempts, bans, knocks } = this.#shared
    return {
      ...handlersOf('requests', requests, METHODS.requests),
      ...handlersOf('attempts', attempts, METHODS.attempts),
      ...handlersOf('bans', bans, METHODS.bans),
      ...handlersOf('knocks', knocks, METHODS.knocks),
      'requests.admit': async ([request]) => {
        await untilAllIsRead()
        const decision = await requests.admit(request as Parameters<RequestLimits['admit']>[0])
        return this.#keepPermit(decision)
      },
      'requests.release': ([permitId]) => this.#release(String(permitId)),
      'attempts.begin': ([attempt]) =>
        afterAnswer(attempts.begin(attempt as Parameters<AttemptLimits['begin']>[0]), (decision) =>
          this.#keepAttempt(decision),
        ),
      'attempts.end': ([attemptId, result]) =>
        this.#end(String(attemptId), result as Parameters<AttemptLimits['end']>[1]),
    }
  }

  /** The worker is gone. */
  end(): void {
    this.#isEnded = true
    for (const permitId of [...this.#permits]) this.#release(permitId)
    for (const attemptId of [...this.#attempts]) this.#end(attemptId, 'unknown')
  }

  #keepPermit(decision: RequestDecision): Answer<RequestDecision> {
    if (decision.outcome !== 'admitted' || decision.permitId === null) return decision
    this.#permits.add(decision.permitId)
    if (this.#isEnded) this.#release(decision.permitId)
    return decision
  }

  /** Only what this worker holds. */
  #release(permitId: string): void {
    if (this.#permits.delete(permitId)) this.#shared.requests.release(permitId)
  }

  #keepAttempt(decision: AttemptDecision): Answer<AttemptDecision> {
    if (decision.outcome !== 'begun') return decision
    this.#attempts.add(decision.attemptId)
    if (this.#isEnded) this.#end(decision.attemptId, 'unknown')
    return decision
  }

  #end(attemptId: string, result: Parameters<AttemptLimits['end']>[1]): void {
    if (this.#attempts.delete(attemptId)) this.#shared.attempts.end(attemptId, result)
  }
}
