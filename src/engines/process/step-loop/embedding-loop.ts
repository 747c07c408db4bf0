/**
 * Runs embedding requests over a runner: their texts are tokenized, wait in the queue of the configured policy, and are computed
 * in batches that are full of tokens, over all requests. Between two batches it yields to the event loop. Used by the engine
 * server in the place of the step loop, where the model makes vectors.
 * Invariant: as the step loop's; a sequence is a start and an end with its vector.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { ServiceError } from '../../../core/errors.ts'
import type { EmbeddingRunner } from '../../../protocol/embedding-runner.ts'
import type { EmbeddingRequest, EngineEvent, QueuePlace, TokenPrompt } from '../../../protocol/engine.ts'
import type { LongPrompt } from '../../../protocol/model-runner.ts'
import { WaitingQueue } from '../../../scheduler/queue/waiting-queue.ts'
import { Sequence } from '../../../scheduler/sequence.ts'
import { PromptTokenizer } from '../../tokenizing/prompt-tokenizer.ts'
import type { Tokenized } from '../../tokenizing/tokenizing-queue.ts'
import type { EventSink, RequestHandle, StepLoopOptions } from './step-loop.ts'

export interface EmbeddingLoopOptions extends Omit<StepLoopOptions, 'runner'> {
  readonly runner: EmbeddingRunner
}

/** A request as it came: its texts may still be the bytes of a socket. */
export interface EmbeddingLoopRequest extends Omit<EmbeddingRequest, 'prompts'> {
  readonly prompts: readonly (LongPrompt | TokenPrompt)[]
}

interface OpenRequest {
  readonly sink: EventSink
  readonly arrivalMs: number
  readonly place: QueuePlace
  /** Drops it while its texts are tokenized; null at other times. */
  drop: (() => void) | null
  /** Indices of the sequences that have not ended. */
  readonly open: Map<Sequence, number>
}

export class EmbeddingLoop {
  readonly #options: EmbeddingLoopOptions
  readonly #queue: WaitingQueue
  readonly #requests = new Map<Sequence, OpenRequest>()
  readonly #tokenizer: PromptTokenizer
  #arrivals = 0
  #isRunning = false
  #failure: ServiceError | null = null

  constructor(options: EmbeddingLoopOptions) {
    const { maxSeqLen } = options.runner.info()
    this.#options = options
    this.#queue = new WaitingQueue({ policy: options.schedulePolicy, maxSeqLen })
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
    const openRequest: OpenRequest = { sink, arrivalMs, place: request.place, drop: null, open: new Map() }
    openRequest.drop = this.#tokenizer.add({
      accountId: request.place.accountId,
      prompts: request.prompts,
      onDone: (outcomes) => {
        openRequest.drop = null
        this.#schedule(openRequest, outcomes)
      },
      onDropped: () => sink.end(),
      onFailed: (error) => sink.fail(error),
    })
    return { abort: () => this.#abort(openRequest) }
  }

  /** Fails every open request and every later one with `error`; the loop ends. */
  stop(error: ServiceError): void {
    this.#failure = error
    for (const request of new Set(this.#requests.values())) {
      this.#drop(request)
      request.sink.fail(error)
    }
    this.#tokenizer.close(error)
    this.#options.onStepEnd?.()
  }

  /** Why a text of so many tokens cannot be computed, or null. */
  #check(tokens: number): ServiceError | null {
    const { maxSeqLen } = this.#options.runner.info()
    if (maxSeqLen === null || tokens <= maxSeqLen) return null
    return new ServiceError('context_length_exceeded', { given: tokens, max: maxSeqLen })
  }

  #schedule(request: OpenRequest, outcomes: readonly Tokenized[]): void {
    const { sink, open, place, arrivalMs: ms } = request
    const refused: EngineEvent[] = []
    for (const [index, outcome] of outcomes.entries()) {
      const refusal = outcome instanceof ServiceError ? outcome : this.#check(outcome.length)
      if (refusal !== null) {
        const error = { code: refusal.code, params: refusal.params }
        refused.push({ type: 'sequence-end', index, finishReason: 'error', error })
      } else if (!(outcome instanceof ServiceError)) {
        const order = this.#arrivals++
        const sequence = new Sequence({ ids: outcome, reqId: order, maxNewTokens: 0, place }, { ms, order })
        open.set(sequence, index)
        this.#requests.set(sequence, request)
        this.#queue.add(sequence)
      }
    }
    if (refused.length > 0) sink.deliver(refused)
    if (open.size === 0) sink.end()
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
    this.#deliver(batch, ({ promptTokens, arrivalMs }, index) => {
      const queueMs = startedMs - arrivalMs
      return { type: 'sequence-start', index, promptTokens, cachedTokens: 0, queueMs }
    })
    const vectors = runner.execute(batch.map(({ promptTokenIds }) => promptTokenIds))
    this.#deliver(batch, (_, index, position) => {
      const vector = toBase64(vectors[position] ?? new Float32Array())
      return { type: 'sequence-end', index, finishReason: 'stop', error: null, vector }
    })
    for (const sequence of batch) this.#end(sequence)
    this.#options.onStepEnd?.()
  }

  /** One event of each sequence, those of a request together. */
  #deliver(
    batch: readonly Sequence[],
    toEvent: (sequence: Sequence, index: number, position: number) => EngineEvent,
  ): void {
    const byRequest = new Map<OpenRequest, EngineEvent[]>()
    for (const [position, sequence] of batch.entries()) {
      const request = this.#requests.get(sequence)
      const index = request?.open.get(sequence)
      if (request === undefined || index === undefined) continue
      const events = byRequest.get(request) ?? []
      byRequest.set(request, events)
      events.push(toEvent(sequence, index, position))
    }
    for (const [{ sink }, events] of byRequest) sink.deliver(events)
    this.#options.onStepEnd?.()
  }

  #end(sequence: Sequence): void {
    this.#queue.settle(sequence, sequence.promptTokens)
    const request = this.#requests.get(sequence)
    this.#requests.delete(sequence)
    request?.open.delete(sequence)
    if (request?.open.size === 0) request.sink.end()
  }

  #abort(request: OpenRequest): void {
    if (request.drop !== null) return request.drop()
    if (request.open.size === 0) return
    this.#drop(request)
    request.sink.end()
  }

  /** A batch is computed within one turn of the event loop, so what is dropped has not started. */
  #drop(request: OpenRequest): void {
    for (const sequence of request.open.keys()) {
      this.#queue.remove(sequence)
      this.#requests.delete(sequence)
    }
    request.open.clear()
  }

  #break(cause: unknown): void {
    this.#failure = new ServiceError('engine_failed', {}, { cause })
    this.#options.onBroken(this.#failure)
  }
}

function toBase64(vector: Float32Array): string {
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString('base64')
}
