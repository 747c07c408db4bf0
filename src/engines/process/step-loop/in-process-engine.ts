/** An engine inside this process: for runners with nothing native to isolate, and for tests. */
import type { Clock } from '../../../core/clock.ts'
import { systemClock } from '../../../core/clock.ts'
import { ServiceError, toServiceError } from '../../../core/errors.ts'
import type {
  Engine,
  EngineRequest,
  EngineStatus,
  TokenizedText,
  TokenizeRequest,
} from '../../../protocol/engine.ts'
import type { EngineEvent } from '../../../protocol/engine-events.ts'
import type { ModelInfo } from '../../../protocol/model-info.ts'
import type { ModelRunner } from '../../../protocol/model-runner.ts'
import type { SchedulePolicy } from '../../../core/choices/schedule-policy.ts'
import { RequestStream } from './request-stream.ts'
import type { RequestHandle } from './event-sink.ts'
import { StepLoop } from './step-loop.ts'

export interface InProcessEngineOptions {
  readonly runner: ModelRunner
  /** @default 'priority' */
  readonly schedulePolicy?: SchedulePolicy
  readonly clock?: Clock
}

export class InProcessEngine implements Engine {
  readonly #runner: ModelRunner
  readonly #loop: StepLoop

  constructor(options: InProcessEngineOptions) {
    this.#runner = options.runner
    this.#loop = new StepLoop({
      runner: options.runner,
      schedulePolicy: options.schedulePolicy ?? 'priority',
      clock: options.clock ?? systemClock,
      onBroken: (error) => this.#loop.stop(error),
    })
  }

  /** Begins when its events are asked for. */
  generate(request: EngineRequest, signal: AbortSignal): AsyncIterable<readonly EngineEvent[]> {
    return { [Symbol.asyncIterator]: () => this.#submit(request, signal)[Symbol.asyncIterator]() }
  }

  #submit(request: EngineRequest, signal: AbortSignal): RequestStream {
    signal.throwIfAborted()
    let handle: RequestHandle | null = null
    const onCancel = (): void => handle?.abort()
    const stream = new RequestStream({ signal, onCancel })
    try {
      handle = this.#loop.submit(request, stream)
    } catch (error) {
      stream.fail(toServiceError(error, request.reqId))
    }
    return stream
  }

  async tokenize(request: TokenizeRequest, signal: AbortSignal): Promise<TokenizedText> {
    signal.throwIfAborted()
    let handle: RequestHandle | null = null
    const stream = new RequestStream<TokenizedText>({ signal, onCancel: () => handle?.abort() })
    handle = this.#loop.tokenize(request, stream)
    let result: TokenizedText | undefined
    for await (const texts of stream) result = texts[0]
    if (result === undefined) throw new ServiceError('engine_failed')
    return result
  }

  detokenize(tokenIds: ArrayLike<number>): Promise<string> {
    return Promise.resolve(this.#loop.detokenize(tokenIds))
  }

  info(): ModelInfo {
    return this.#runner.info()
  }

  status(): EngineStatus {
    const { preemptions } = this.#loop.cache
    return { state: 'ready', ...(preemptions > 0 && { preemptions }) }
  }

  close(): Promise<void> {
    this.#loop.stop(new ServiceError('shutting_down'))
    this.#runner.close()
    return Promise.resolve()
  }
}
