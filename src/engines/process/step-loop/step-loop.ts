/**
 * The engine's main loop: plan, execute, update, while there is work. Owns one runner, its scheduler and its tokenizer, and
 * hands out events by request. Knows no transport: the engine process feeds it from a socket, the in-process engine from calls.
 * Between two steps, or a few where they are quick, it yields to the event loop, so that requests, aborts and, with the
 * passthrough model, HTTP are served.
 * Invariant: every sequence of an accepted request gets exactly one `sequence-end`, unless it is aborted.
 */
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '../../../core/clock.ts'
import { InvariantError, ServiceError, toServiceError } from '../../../core/errors.ts'
import type {
  EngineRequest,
  Sampling,
  SequenceOptions,
  TokenizedText,
  TokenizeRequest,
  TokenPrompt,
} from '../../../protocol/engine.ts'
import type { NumberedAdapter } from '../../../protocol/adapter.ts'
import type { HeldPrefix, LongPrompt, ModelRunner } from '../../../protocol/model-runner.ts'
import {
  ContinuousBatchScheduler,
  type SchedulerEvent,
} from '../../../scheduler/continuous-batch-scheduler.ts'
import type { CacheState } from '../../../scheduler/scheduler-options.ts'
import type { ScheduledRequest } from '../../../scheduler/sequence.ts'
import type { PrefixCacheScope } from '../../../core/choices/prefix-cache-scope.ts'
import type { SchedulePolicy } from '../../../core/choices/schedule-policy.ts'
import { AdapterUses } from './adapter-uses.ts'
import { awaitConstraint, awaitPreparation } from './await-preparation.ts'
import type { EventSink, RequestHandle } from './event-sink.ts'
import { type OpenRequest, OpenRequests, type RefusedSequence } from './open-requests.ts'
import { type OpenSequence, toEngineEvent } from './open-sequence.ts'
import { PromptTokenizer } from '../../tokenizing/prompt-tokenizer.ts'
import type { Tokenized } from '../../tokenizing/tokenizing-queue.ts'

/** Between two looks at whether a sequence may start, where nothing runs. */
const IDLE_MS = 2

export interface StepLoopOptions {
  readonly runner: ModelRunner
  readonly schedulePolicy: SchedulePolicy
  /** @default 'shared' */
  readonly prefixCacheScope?: PrefixCacheScope
  readonly clock: Clock
  /** Called when all events of a step, or of a slice, have been delivered. */
  readonly onStepEnd?: () => void
  /** Called after each step and each slice, with or without events. */
  readonly onStep?: () => void
  /** Called when nothing runs or waits any more. */
  readonly onRest?: () => void
  /**
   * The runner failed in the middle of a step and the loop is dead. The owner either ends the process or calls `stop`.
   */
  readonly onBroken: (error: ServiceError) => void
}

/** A request as it came: its prompts may still be the bytes of a socket. */
export interface LoopRequest extends Omit<EngineRequest, 'prompts'> {
  readonly prompts: readonly (LongPrompt | TokenPrompt)[]
}

/** A text to tokenize as it came. */
export interface LoopText extends Omit<TokenizeRequest, 'prompt'> {
  readonly prompt: LongPrompt
}

/** Where the tokens of a text go; called as an `EventSink` is. */
export type TextSink = EventSink<TokenizedText>

/** By the ids of the scheduler's sequences. */
type LoopRequests = OpenRequests<number, OpenSequence, SchedulerEvent>
type SubmittedRequest = OpenRequest<number, OpenSequence>

/** What is known of a request's sequences when they are queued. */
interface Prepared {
  readonly outcomes: readonly Tokenized[]
  /** Of their constraint; empty where they have none. */
  readonly matcherIds: readonly number[]
  /** Why its beams cannot run. */
  readonly beamsError?: ServiceError | null
}

export class StepLoop {
  readonly #options: StepLoopOptions
  readonly #scheduler: ContinuousBatchScheduler
  readonly #requests: LoopRequests
  readonly #tokenizer: PromptTokenizer
  readonly #adapters: AdapterUses
  /** Those whose constraint is compiled, or whose beams have no KV cache yet. */
  readonly #unscheduled = new Set<SubmittedRequest>()
  #nextSequenceId = 0
  #isRunning = false
  /** Whether all that waits waits for the threads that match constraints. */
  #isIdle = false
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
      canContinueSlots: runner.canContinueSlots ?? false,
      canCopySlots: runner.canCopySlots,
      sharedTokens: runner.sharedTokens ?? null,
      hostRoom: runner.hostRoom ?? null,
      prefixCacheScope: options.prefixCacheScope ?? 'shared',
      maxDraftTokens: runner.maxDraftTokens ?? 0,
      draftRoom: runner.draftRoom ?? null,
      beamRoom: runner.beamRoom ?? null,
      isEndOfGeneration: (tokenId) => runner.isEndOfGeneration(tokenId),
      tokenBytes: (tokenId) => runner.tokenBytes(tokenId),
      isMatcherReady: (matcherId) => runner.constraints?.isReady(matcherId) ?? true,
      clock: options.clock,
    })
    this.#requests = new OpenRequests({
      keyOf: ({ reqId }) => reqId,
      toEngineEvent,
      onEnd: (_, sequence) => this.#letGo(sequence),
      onDrop: (sequenceId, sequence) => {
        this.#scheduler.abort(sequenceId)
        this.#letGo(sequence)
      },
    })
    this.#adapters = new AdapterUses(runner.adapters ?? null)
    this.#tokenizer = new PromptTokenizer({
      runner,
      onSlice: () => {
        options.onStepEnd?.()
        options.onStep?.()
      },
      onBroken: (cause) => this.#break(cause),
    })
  }

  get cache(): CacheState {
    const { hostBytes, preemptions } = this.#scheduler
    return { hostBytes, preemptions }
  }

  /** What sequences that have ended hold, the most recently used first; null while any runs or waits. */
  held(): readonly HeldPrefix[] | null {
    return this.#scheduler.hasWork || this.#failure !== null ? null : this.#scheduler.held()
  }

  /**
   * Queues a request. Its events start with a later turn of the event loop, except those of prompts that cannot run.
   * @throws what broke the engine; ServiceError `tokenizing_queue_full`, `engine_unavailable` where its adapter is not loaded
   */
  submit(request: LoopRequest, sink: EventSink): RequestHandle {
    if (this.#failure !== null) throw this.#failure
    const refusal = this.#whyNotWith(request.adapterId)
    if (refusal !== null) throw refusal
    const arrivalMs = this.#options.clock.nowMs()
    const openRequest: SubmittedRequest = { sink, open: new Map(), arrivalMs, drop: null }
    const drop = this.#tokenizer.add({
      accountId: request.place.accountId,
      prompts: request.prompts,
      onDone: (outcomes) => {
        openRequest.drop = null
        this.#schedule(openRequest, request, outcomes)
      },
      onDropped: () => sink.end(),
      onFailed: (error) => sink.fail(error),
    })
    // What is done already may wait for its constraint by now.
    if (drop !== null) openRequest.drop = drop
    return { abort: () => this.#requests.abort(openRequest) }
  }

  /** Tokenizes a text as `submit` does a prompt. @throws as `submit` */
  tokenize({ accountId, prompt, wantsTexts = false }: LoopText, sink: TextSink): RequestHandle {
    if (this.#failure !== null) throw this.#failure
    const drop = this.#tokenizer.add({
      accountId,
      prompts: [prompt],
      onDone: ([outcome]) => {
        if (outcome instanceof ServiceError) return sink.fail(outcome)
        if (outcome !== undefined) sink.deliver([this.#toTokenizedText(outcome, wantsTexts)])
        sink.end()
      },
      onDropped: () => sink.end(),
      onFailed: (error) => sink.fail(error),
    })
    return { abort: () => drop?.() }
  }

  /** Resolves when sequences may be computed with it. @throws what broke the engine; ServiceError `model_not_loadable` */
  loadAdapter(adapter: NumberedAdapter): void {
    if (this.#failure !== null) throw this.#failure
    const { adapters } = this.#options.runner
    if (adapters === undefined) throw new InvariantError('This model takes no adapters.')
    adapters.load(adapter)
  }

  /** Frees an adapter after the last sequence that has it; a new one finds it no more. */
  freeAdapter(adapterId: number): void {
    this.#adapters.release(adapterId)
  }

  #whyNotWith(adapterId: number | undefined): ServiceError | null {
    if (adapterId === undefined || this.#adapters.isUsable(adapterId)) return null
    const message = 'its adapter could not be loaded again.'
    return new ServiceError('engine_unavailable', { message }, { retryAfterSeconds: 10 })
  }

  /** The text of tokens. @throws what broke the engine */
  detokenize(tokenIds: ArrayLike<number>): string {
    if (this.#failure !== null) throw this.#failure
    return this.#options.runner.detokenize(tokenIds)
  }

  #toTokenizedText(tokenIds: Int32Array, wantsTexts: boolean): TokenizedText {
    const { runner } = this.#options
    return { tokenIds, texts: wantsTexts ? Array.from(tokenIds, (id) => runner.tokenText(id)) : null }
  }

  /** Queues the sequences, once what constrains them has been compiled and beams have a KV cache. No request has both. */
  #schedule(openRequest: SubmittedRequest, request: LoopRequest, outcomes: readonly Tokenized[]): void {
    const { constraint, numBeams = 1 } = request.options
    const { choices = 1 } = request
    const { runner } = this.#options
    const opening = numBeams > 1 ? runner.prepareBeams?.() : null
    if (opening) {
      openRequest.drop = awaitPreparation(opening, {
        ...this.#waitOf(openRequest),
        onDone: (beamsError) => {
          this.#endWait(openRequest)
          this.#enqueue(openRequest, request, { outcomes, matcherIds: [], beamsError })
          this.#options.onStepEnd?.()
        },
      })
    } else if (constraint === undefined) {
      this.#enqueue(openRequest, request, { outcomes, matcherIds: [] })
    } else {
      openRequest.drop = awaitConstraint(runner.constraints, {
        ...this.#waitOf(openRequest),
        constraint,
        count: outcomes.length * choices,
        accountId: request.place.accountId,
        onCompiled: (matcherIds) => {
          this.#endWait(openRequest)
          this.#enqueue(openRequest, request, { outcomes, matcherIds })
          // Where no sequence can run, no step follows that sends why.
          this.#options.onStepEnd?.()
        },
        onRefused: (error) => {
          this.#endWait(openRequest)
          openRequest.sink.fail(error)
          this.#options.onStepEnd?.()
        },
      })
    }
  }

  #waitOf(openRequest: SubmittedRequest) {
    this.#unscheduled.add(openRequest)
    return {
      onWaiting: () => this.#options.onStep?.(),
      onDropped: () => {
        this.#unscheduled.delete(openRequest)
        openRequest.sink.end()
      },
    }
  }

  #endWait(openRequest: SubmittedRequest): void {
    openRequest.drop = null
    this.#unscheduled.delete(openRequest)
  }

  #enqueue(openRequest: SubmittedRequest, request: LoopRequest, prepared: Prepared): void {
    // It was stopped while the request waited.
    if (this.#failure !== null) return
    const { outcomes, matcherIds, beamsError } = prepared
    const { options, place, choices = 1, adapterId } = request
    const ofAdapter = adapterId === undefined ? {} : { adapterId }
    // It may have gone while the request waited.
    const refusal = this.#whyNotWith(adapterId) ?? beamsError
    const { shownSpecialTexts = [] } = options
    const shownTokens =
      shownSpecialTexts.length > 0 && this.#options.runner.specialTokens?.(shownSpecialTexts)
    const ofText = shownTokens ? { shownTokens } : {}
    const scheduled: ScheduledRequest[] = []
    const refused: RefusedSequence[] = []
    const sequences = outcomes.flatMap((outcome) => Array.from({ length: choices }, () => outcome))
    for (const [index, outcome] of sequences.entries()) {
      const checked = outcome instanceof ServiceError ? outcome : this.#check(outcome, options)
      const ids = checked instanceof ServiceError ? checked : (refusal ?? checked)
      if (ids instanceof ServiceError) {
        refused.push({ index, error: ids })
        this.#dropMatcher(matcherIds[index])
        continue
      }
      const sequenceId = this.#nextSequenceId++
      const matcherId = matcherIds[index]
      const ofConstraint = matcherId === undefined ? {} : { matcherId }
      this.#requests.add(openRequest, sequenceId, { index, ...ofConstraint, ...ofAdapter })
      if (adapterId !== undefined) this.#adapters.begin(adapterId)
      const sampling = samplingOf(options.sampling, index % choices)
      const own = { ...ofText, ...ofConstraint, ...ofAdapter }
      scheduled.push({ ids, reqId: sequenceId, ...options, sampling, place, ...own })
    }
    this.#scheduler.addBlock(scheduled, openRequest.arrivalMs)
    this.#requests.begin(openRequest, refused)
    void this.#run()
  }

  /** The tokens, or why no sequence can run with them. */
  #check(ids: Int32Array, { maxNewTokens, numBeams = 1 }: SequenceOptions): Tokenized {
    try {
      this.#scheduler.check({ promptTokens: ids.length, maxNewTokens, numBeams })
      return ids
    } catch (error) {
      return toServiceError(error, '')
    }
  }

  /** What its sequence held; once the scheduler holds it no more. */
  #letGo({ matcherId, adapterId }: OpenSequence): void {
    this.#dropMatcher(matcherId)
    if (adapterId !== undefined) this.#adapters.end(adapterId)
  }

  #dropMatcher(matcherId: number | undefined): void {
    if (matcherId !== undefined) this.#options.runner.constraints?.drop(matcherId)
  }

  async #run(): Promise<void> {
    if (this.#isRunning) return
    this.#isRunning = true
    const { stepsPerTurn = 1 } = this.#options.runner
    try {
      // The first turn lets everything that arrived together start together.
      while (this.#scheduler.hasWork) {
        await (this.#isIdle ? delay(IDLE_MS) : nextTurn())
        for (let steps = 0; steps < stepsPerTurn && this.#scheduler.hasWork; steps++) {
          this.#step()
          this.#options.onStep?.()
        }
      }
      this.#options.onRest?.()
    } catch (error) {
      this.#break(error)
    } finally {
      this.#isRunning = false
    }
  }

  #step(): void {
    const plan = this.#scheduler.plan()
    // Sent before the step: if the process dies in it, the host knows which requests were running.
    this.#dispatch(this.#scheduler.takeEvents())
    this.#isIdle = plan === null
    if (plan === null) return
    this.#dispatch(this.#scheduler.update(this.#options.runner.execute(plan)))
  }

  #dispatch(events: readonly SchedulerEvent[]): void {
    if (events.length === 0) return
    this.#requests.deliver(events)
    this.#options.onStepEnd?.()
  }

  /** Fails every open request and every later one with `error`; the loop ends. */
  stop(error: ServiceError): void {
    this.#failure = error
    this.#requests.failAll(error)
    this.#tokenizer.close(error)
    for (const { sink } of this.#unscheduled) sink.fail(error)
    this.#unscheduled.clear()
    this.#options.onStepEnd?.()
  }

  #break(cause: unknown): void {
    this.#failure = new ServiceError('engine_failed', {}, { cause })
    this.#options.onBroken(this.#failure)
  }
}

/** Choices of one prompt with one seed would all be the same text. */
function samplingOf(sampling: Sampling, choice: number): Sampling {
  return sampling.seed === null || choice === 0 ? sampling : { ...sampling, seed: sampling.seed + choice }
}
