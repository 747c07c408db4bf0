/**
 * Runs embedding requests over a runner: their texts are tokenized, wait in the queue of the configured policy, and are computed
 * in batches that are full of tokens, over all requests. Between two batches it yields to the event loop. Used by the engine
 * server in the place of the step loop, where the model makes vectors.
 * Invariant: as the step loop's; a sequence is a start and an end with its vector.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { ServiceError } from '../../../core/errors.ts'
import type { EmbeddingRunner } from '../../../protocol/embedding-runner.ts'
import type { EmbeddingRequest, QueuePlace, TokenPrompt } from '../../../protocol/engine.ts'
import type { EngineEvent } from '../../../protocol/engine-events.ts'
import type { LongPrompt } from '../../../protocol/model-runner.ts'
import { WaitingQueue } from '../../../scheduler/queue/waiting-queue.ts'
import { Sequence } from '../../../scheduler/sequence.ts'
import { PromptTokenizer } from '../../tokenizing/prompt-tokenizer.ts'
import type { Tokenized } from '../../tokenizing/tokenizing-queue.ts'
import type { EventSink, RequestHandle } from './event-sink.ts'
import { type OpenRequest, OpenRequests, type RefusedSequence } from './open-requests.ts'
import type { StepLoopOptions } from './step-loop.ts'

export interface EmbeddingLoopOptions extends Omit<StepLoopOptions, 'runner'> {
  readonly runner: EmbeddingRunner
}

/** A request as it came: its texts may still be the bytes of a socket. */
export interface EmbeddingLoopRequest extends Omit<EmbeddingRequest, 'prompts'> {
  readonly prompts: readonly (LongPrompt | TokenPrompt)[]
}

/** What a batch says of each of its sequences. */
type BatchEvent = { readonly sequence: Sequence } & (
  | { readonly type: 'start'; readonly queueMs: number }
  | { readonly type: 'end'; readonly vector: Float32Array }
)

/** With the index of each sequence. */
type SubmittedRequest = OpenRequest<Sequence, number>

export class EmbeddingLoop {
  readonly #options: EmbeddingLoopOptions
  readonly #queue: WaitingQueue
  readonly #requests: OpenRequests<Sequence, number, BatchEvent>
  readonly #tokenizer: PromptTokenizer
  #arrivals = 0
  #isRunning = false
  #failure: ServiceError | null = null

  constructor(options: EmbeddingLoopOptions) {
    const { maxSeqLen } = options.runner.info()
    this.#options = options
    this.#queue = new WaitingQueue({ policy: options.schedulePolicy, maxSeqLen })
    this.#requests = new OpenRequests({
      keyOf: ({ sequence }) => sequence,
      toEngineEvent,
      onEnd: (sequence) => this.#queue.settle(sequence, sequence.promptTokens),
      // A batch is computed within one turn of the event loop, so what is dropped has not started.
      onDrop: (sequence) => this.#queue.remove(sequence),
    })
    this.#tokenizer = new PromptTokenizer({
      runner: options.runner,
      onSlice: () => {
        options.onStepEnd?.()
        options.onStep?.()
      },
      onBroken: (cause) => this.#break(cause),
    })
  }

  /** Queues a request. @throws what broke the engine; ServiceError `tokenizing_queue_full` */
  submit(request: EmbeddingLoopRequest, sink: EventSink): RequestHandle {
    if (this.#failure !== null) throw this.#failure
    const arrivalMs = this.#options.clock.nowMs()
    const openRequest: SubmittedRequest = { sink, arrivalMs, drop: null, open: new Map() }
    openRequest.drop = this.#tokenizer.add({
      accountId: request.place.accountId,
      prompts: request.prompts,
      onDone: (outcomes) => {
        openRequest.drop = null
        this.#schedule(openRequest, request.place, outcomes)
      },
      onDropped: () => sink.end(),
      onFailed: (error) => sink.fail(error),
    })
    return { abort: () => this.#requests.abort(openRequest) }
  }

  /** Fails every open request and every later one with `error`; the loop ends. */
  stop(error: ServiceError): void {
    this.#failure = error
    this.#requests.failAll(error)
    this.#tokenizer.close(error)
    this.#options.onStepEnd?.()
  }

  /** The tokens, or why they cannot be computed. */
  #check(ids: Int32Array): Tokenized {
    const { maxSeqLen } = this.#options.runner.info()
    if (maxSeqLen === null || ids.length <= maxSeqLen) return ids
    return new ServiceError('context_length_exceeded', { given: ids.length, max: maxSeqLen })
  }

  #schedule(request: SubmittedRequest, place: QueuePlace, outcomes: readonly Tokenized[]): void {
    const refused: RefusedSequence[] = []
    for (const [index, outcome] of outcomes.entries()) {
      const ids = outcome instanceof ServiceError ? outcome : this.#check(outcome)
      if (ids instanceof ServiceError) {
        refused.push({ index, error: ids })
        continue
      }
      const order = this.#arrivals++
      const arrival = { ms: request.arrivalMs, order }
      const sequence = new Sequence({ ids, reqId: order, maxNewTokens: 0, place }, arrival)
      this.#requests.add(request, sequence, index)
      this.#queue.add(sequence)
    }
    this.#requests.begin(request, refused)
    void this.#run()
  }

  async #run(): Promise<void> {
    if (this.#isRunning) return
    this.#isRunning = true
    try {
      // The first turn lets everything that arrived together be computed together.
      for (;;) {
        await nextTurn()
        const batch = this.#takeBatch()
        if (batch.length === 0) break
        this.#compute(batch)
        this.#options.onStep?.()
      }
    } catch (error) {
      this.#break(error)
    } finally {
      this.#isRunning = false
    }
  }

  /** The next texts by the policy, as long as their tokens fit together. */
  #takeBatch(): readonly Sequence[] {
    const { runner, clock } = this.#options
    const batch: Sequence[] = []
    let tokens = 0
    while (batch.length < runner.info().maxBatchSize) {
      const next = this.#queue.peek({ nowMs: clock.nowMs() })
      if (next === null) break
      tokens += next.promptTokens
      if (batch.length > 0 && tokens > runner.maxBatchTokens) break
      this.#queue.take(next)
      batch.push(next)
    }
    return batch
  }

  #compute(batch: readonly Sequence[]): void {
    const { runner, clock } = this.#options
    const startedMs = clock.nowMs()
    // Sent before the step: if the process dies in it, the host knows which requests were running.
    this.#deliver(
      batch.map((sequence) => ({ sequence, type: 'start', queueMs: startedMs - sequence.arrivalMs })),
    )
    const vectors = runner.execute(batch.map(({ promptTokenIds }) => promptTokenIds))
    this.#deliver(
      batch.map((sequence, position) => {
        return { sequence, type: 'end', vector: vectors[position] ?? new Float32Array() }
      }),
    )
  }

  #deliver(events: readonly BatchEvent[]): void {
    this.#requests.deliver(events)
    this.#options.onStepEnd?.()
  }

  #break(cause: unknown): void {
    this.#failure = new ServiceError('engine_failed', {}, { cause })
    this.#options.onBroken(this.#failure)
  }
}

function toEngineEvent(event: BatchEvent, index: number): EngineEvent {
  if (event.type === 'end') {
    return { type: 'sequence-end', index, finishReason: 'stop', error: null, vector: toBase64(event.vector) }
  }
  const { promptTokens } = event.sequence
  return { type: 'sequence-start', index, promptTokens, cachedTokens: 0, queueMs: event.queueMs }
}

function toBase64(vector: Float32Array): string {
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString('base64')
}
