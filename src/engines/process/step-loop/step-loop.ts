/**
 * The engine's main loop: plan, execute, update, while there is work. Owns one runner and its scheduler,
 * tokenizes what comes in, and hands out events by request. Knows no transport: the engine process feeds it from a
 * socket, the in-process engine from calls. Between two steps, or a few where they are quick, it yields to the event loop,
 * so that requests, aborts and, with the passthrough model, HTTP are served.
 * Invariant: every sequence of an accepted request gets exactly one `sequence-end`, unless it is aborted; every sink is called
 * a last time, with `end` or `fail`. No other part counts which sequences are open.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../../../core/clock.ts'
import { ServiceError, toServiceError } from '../../../core/errors.ts'
import type { EngineEvent, EngineRequest, Prompt, SequenceOptions } from '../../../protocol/engine.ts'
import { isDecodeRun, type ModelRunner } from '../../../protocol/model-runner.ts'
import {
  ContinuousBatchScheduler,
  type SchedulerEvent,
} from '../../../scheduler/continuous-batch-scheduler.ts'
import type { ScheduledRequest } from '../../../scheduler/sequence.ts'
import type { SchedulePolicy } from '../../../core/schedule-policy.ts'

export interface StepLoopOptions {
  readonly runner: ModelRunner
  readonly schedulePolicy: SchedulePolicy
  readonly clock: Clock
  /**
   * Called when all events of a step have been delivered. `mayWait`: they are text only, and the next step, if there is
   * one, is quick, or is announced by another call before it begins.
   */
  readonly onStepEnd?: (mayWait: boolean) => void
  /** Called after each step, with or without events. */
  readonly onStep?: () => void
  /**
   * The runner failed in the middle of a step and the loop is dead. The owner either ends the process or calls `stop`.
   */
  readonly onBroken: (error: ServiceError) => void
}

/** Where one request's events go. */
export interface EventSink {
  /** Called with all events of one step at once. */
  deliver(events: readonly EngineEvent[]): void
  /** The request as a whole has failed; nothing follows. */
  fail(error: ServiceError): void
  /** All its sequences have ended, or it was aborted, and no work for it is left; nothing follows. */
  end(): void
}

/** The caller's hold on a request. Aborting it is harmless once it has ended. */
export interface RequestHandle {
  abort(): void
}

interface OpenRequest {
  readonly sink: EventSink
  /** The sequences that have not ended, by id. */
  readonly open: Map<number, { readonly index: number }>
}

export class StepLoop {
  readonly #options: StepLoopOptions
  readonly #scheduler: ContinuousBatchScheduler
  /** Which request a sequence belongs to, by the sequence's id. */
  readonly #requests = new Map<number, OpenRequest>()
  #nextSequenceId = 0
  #isRunning = false
  #failure: ServiceError | null = null

  constructor(options: StepLoopOptions) {
    const { runner } = options
    const { maxBatchSize, maxSeqLen } = runner.info()
    this.#options = options
    this.#scheduler = new ContinuousBatchScheduler({
      maxBatchSize,
      maxSeqLen,
      schedulePolicy: options.schedulePolicy,
      stepTokenBudget: runner.maxStepTokens,
      canReusePrefixes: runner.canReusePrefixes,
      canCopySlots: runner.canCopySlots,
      maxDraftTokens: runner.maxDraftTokens ?? 0,
      beamRoom: runner.beamRoom ?? null,
      isEndOfGeneration: (tokenId) => runner.isEndOfGeneration(tokenId),
      tokenBytes: (tokenId) => runner.tokenBytes(tokenId),
      clock: options.clock,
    })
  }

  /**
   * Queues a request. Its events start with a later turn of the event loop, except those of prompts that cannot run.
   * @throws what broke the engine.
   */
  submit(request: EngineRequest, sink: EventSink): RequestHandle {
    if (this.#failure !== null) throw this.#failure
    const openRequest: OpenRequest = { sink, open: new Map() }
    const scheduled: ScheduledRequest[] = []
    const refused: EngineEvent[] = []
    for (const [index, prompt] of request.prompts.entries()) {
      const ids = this.#tokenize(prompt, request.options)
      if (ids instanceof ServiceError) {
        const error = { code: ids.code, params: ids.params }
        refused.push({ type: 'sequence-end', index, finishReason: 'error', error })
        continue
      }
      const sequenceId = this.#nextSequenceId++
      openRequest.open.set(sequenceId, { index })
      scheduled.push({ ids, reqId: sequenceId, ...request.options, place: request.place })
    }
    this.#scheduler.addBlock(scheduled)
    for (const sequenceId of openRequest.open.keys()) this.#requests.set(sequenceId, openRequest)
    if (refused.length > 0) sink.deliver(refused)
    if (openRequest.open.size === 0) sink.end()
    void this.#run()
    return { abort: () => this.#abort(openRequest) }
  }

  /** A prompt's tokens, or why it cannot run. */
  #tokenize(prompt: Prompt, { maxNewTokens, numBeams = 1 }: SequenceOptions): Int32Array | ServiceError {
    const { runner } = this.#options
    const { maxSeqLen } = runner.info()
    try {
      if (maxSeqLen !== null) refuseLongText(prompt, maxSeqLen, runner.maxTokenBytes)
      const ids = runner.tokenize(prompt)
      this.#scheduler.check({ promptTokens: ids.length, maxNewTokens, numBeams })
      if (numBeams > 1) runner.prepareBeams?.()
      return ids
    } catch (error) {
      return toServiceError(error, '')
    }
  }

  #abort(request: OpenRequest): void {
    if (request.open.size === 0) return
    this.#drop(request)
    request.sink.end()
  }

  #drop(request: OpenRequest): void {
    for (const sequenceId of request.open.keys()) {
      this.#scheduler.abort(sequenceId)
      this.#requests.delete(sequenceId)
    }
    request.open.clear()
  }

  async #run(): Promise<void> {
    if (this.#isRunning) return
    this.#isRunning = true
    const { stepsPerTurn = 1 } = this.#options.runner
    try {
      // The first turn lets everything that arrived together start together.
      while (this.#scheduler.hasWork) {
        await nextTurn()
        for (let steps = 0; steps < stepsPerTurn && this.#scheduler.hasWork; steps++) {
          this.#step()
          this.#options.onStep?.()
        }
      }
    } catch (error) {
      this.#break(error)
    } finally {
      this.#isRunning = false
    }
  }

  #step(): void {
    const plan = this.#scheduler.plan()
    const isQuick = plan !== null && plan.beams === undefined && plan.runs.every(isDecodeRun)
    // Sent before the step: if the process dies in it, the host knows which requests were running.
    const before = this.#scheduler.takeEvents()
    this.#dispatch(before)
    if (!isQuick || before.length > 0) this.#options.onStepEnd?.(false)
    if (plan === null) return
    const events = this.#scheduler.update(this.#options.runner.execute(plan))
    if (events.length === 0) return
    this.#dispatch(events)
    this.#options.onStepEnd?.(isQuick && events.every(({ type }) => type === 'text-delta'))
  }

  #dispatch(events: readonly SchedulerEvent[]): void {
    const byRequest = new Map<OpenRequest, EngineEvent[]>()
    for (const event of events) {
      const request = this.#requests.get(event.reqId)
      const sequence = request?.open.get(event.reqId)
      if (request === undefined || sequence === undefined) continue
      const own = byRequest.get(request)
      const engineEvent = toEngineEvent(event, sequence.index)
      if (own === undefined) byRequest.set(request, [engineEvent])
      else own.push(engineEvent)
      if (event.type !== 'sequence-end') continue
      request.open.delete(event.reqId)
      this.#requests.delete(event.reqId)
    }
    for (const [{ sink, open }, own] of byRequest) {
      sink.deliver(own)
      if (open.size === 0) sink.end()
    }
  }

  /** Fails every open request and every later one with `error`; the loop ends. */
  stop(error: ServiceError): void {
    this.#failure = error
    for (const request of new Set(this.#requests.values())) {
      this.#drop(request)
      request.sink.fail(error)
    }
    this.#options.onStepEnd?.(false)
  }

  #break(cause: unknown): void {
    this.#failure = new ServiceError('engine_failed', {}, { cause })
    this.#options.onBroken(this.#failure)
  }
}

/** A text of n bytes is at least n / maxTokenBytes tokens: enough to refuse a huge one unread. */
function refuseLongText(prompt: Prompt, maxSeqLen: number, maxTokenBytes: number): void {
  const bytes = prompt.pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0)
  const leastTokens = Math.ceil(bytes / maxTokenBytes)
  if (leastTokens <= maxSeqLen) return
  throw new ServiceError('context_length_exceeded', { given: `at least ${leastTokens}`, max: maxSeqLen })
}

function toEngineEvent(event: SchedulerEvent, index: number): EngineEvent {
  switch (event.type) {
    case 'sequence-start': {
      const { promptTokens, cachedTokens, queueMs } = event
      return { type: 'sequence-start', index, promptTokens, cachedTokens, queueMs }
    }
    case 'text-delta':
      return { type: 'text-delta', index, text: event.text, tokenIds: event.tokenIds }
    case 'sequence-end': {
      const { finishReason, drafts } = event
      return { type: 'sequence-end', index, finishReason, error: null, ...(drafts && { drafts }) }
    }
  }
}
