/**
 * The requests to one engine, whichever of its processes serves: a client that outlives its connections. Requests that come while
 * there is none wait for the next; those that an engine had when it died fail. Used by the engine host, and in worker processes,
 * which have no process of their own to start again.
 * Invariant: every request gets its events or exactly one error.
 */
import type { Socket } from 'node:net'
import type { Clock } from '../../../core/clock.ts'
import { ServiceError } from '../../../core/errors.ts'
import type {
  EmbeddingRequest,
  EngineRequest,
  TokenizedText,
  TokenizeRequest,
  TokenPrompt,
} from '../../../protocol/engine.ts'
import type { EngineEvent } from '../../../protocol/engine-events.ts'
import type { NumberedAdapter } from '../../../protocol/adapter.ts'
import type { RequestHandle } from '../step-loop/event-sink.ts'
import { RequestStream } from '../step-loop/request-stream.ts'
import { EngineClient, type EngineClientHooks, type PendingRequest } from './engine-client.ts'
import { type EngineWork, toTokenizedText, type WorkEvent } from './messages.ts'

const OVERLOAD_REPORT_MS = 60_000

export interface DurableClientOptions {
  readonly clock: Clock
  /** Why no request is taken now; null while one is sent, or waits. */
  readonly whyRefused: () => ServiceError | null
  /** Requests are refused because too much text waits to be tokenized; called once a minute at most. */
  readonly onOverload: (message: string) => void
}

interface ConnectionHooks extends Pick<
  EngineClientHooks<HostedRequest>,
  'onBusy' | 'onSilence' | 'onCache' | 'silenceMs'
> {
  /** Gives the error of the requests that the engine had not finished. */
  readonly onClose: () => ServiceError
}

interface HostedRequest extends PendingRequest {
  /** What aborts it in the engine process; null while it is parked. */
  handle: RequestHandle | null
}

export class DurableClient {
  readonly #options: DurableClientOptions
  /** Null while no process serves. */
  #client: EngineClient<HostedRequest> | null = null
  /** Requests that wait for the next process. */
  #parked: HostedRequest[] = []
  #overloadReportedMs = Number.NEGATIVE_INFINITY

  constructor(options: DurableClientOptions) {
    this.#options = options
  }

  get isConnected(): boolean {
    return this.#client !== null
  }

  generate(
    request: EngineRequest | EmbeddingRequest,
    signal: AbortSignal,
  ): AsyncGenerator<readonly EngineEvent[], void, void> {
    return this.#run<EngineEvent>({ type: 'generate', request }, signal)
  }

  async tokenize(request: TokenizeRequest, signal: AbortSignal): Promise<TokenizedText> {
    const result = await this.#resultOf({ type: 'tokenize', request }, signal)
    if (result?.type !== 'tokens') throw new ServiceError('engine_failed')
    return toTokenizedText(result)
  }

  async detokenize(tokenIds: TokenPrompt['tokenIds'], signal: AbortSignal): Promise<string> {
    const result = await this.#resultOf({ type: 'detokenize', tokenIds }, signal)
    if (result?.type !== 'text') throw new ServiceError('engine_failed')
    return result.text
  }

  /** Resolves when the process that serves, or the next one, has it. @throws ServiceError `model_not_loadable`, and as a request */
  async loadAdapter(adapter: NumberedAdapter, signal: AbortSignal): Promise<void> {
    await this.#resultOf({ type: 'load-adapter', adapter }, signal)
  }

  /** No effect while no process serves. */
  freeAdapter(adapterId: number): void {
    this.#client?.freeAdapter(adapterId)
  }

  /** A process serves: sends it what waits and what comes, until the socket closes. */
  connect(socket: Socket, { onClose, ...hooks }: ConnectionHooks): void {
    this.#client = new EngineClient<HostedRequest>(socket, {
      ...hooks,
      clock: this.#options.clock,
      onClose: (unfinished) => {
        this.#client = null
        const error = onClose()
        for (const { stream } of unfinished) stream.fail(error)
      },
    })
    for (const hosted of this.#parked.splice(0)) this.#place(hosted)
  }

  /** Says how many engines on this machine have work, this one included. */
  share(busyEngines: number): void {
    this.#client?.share(busyEngines)
  }

  /** Fails what waits for the next process. */
  refuseParked(error: ServiceError): void {
    for (const { stream } of this.#parked.splice(0)) stream.fail(error)
  }

  /** The one event of such work. */
  async #resultOf(work: EngineWork, signal: AbortSignal): Promise<WorkEvent | undefined> {
    let result: WorkEvent | undefined
    for await (const events of this.#run<WorkEvent>(work, signal)) result = events[0]
    return result
  }

  async *#run<Event extends WorkEvent>(
    work: EngineWork,
    signal: AbortSignal,
  ): AsyncGenerator<readonly Event[], void, void> {
    signal.throwIfAborted()
    const refusal = this.#options.whyRefused()
    if (refusal !== null) throw refusal
    const onCancel = (): void => this.#cancel(hosted)
    const stream = new RequestStream<Event>({ signal, onCancel })
    const hosted: HostedRequest = { work, stream, handle: null }
    this.#place(hosted)
    try {
      yield* stream
    } catch (error) {
      this.#reportOverload(error)
      throw error
    }
  }

  /** Not for each request: the queue may refuse many. */
  #reportOverload(error: unknown): void {
    if (!(error instanceof ServiceError) || error.code !== 'tokenizing_queue_full') return
    const { clock, onOverload } = this.#options
    const nowMs = clock.nowMs()
    if (nowMs - this.#overloadReportedMs < OVERLOAD_REPORT_MS) return
    this.#overloadReportedMs = nowMs
    onOverload(error.message)
  }

  #place(hosted: HostedRequest): void {
    if (this.#client === null) this.#parked.push(hosted)
    else hosted.handle = this.#client.submit(hosted)
  }

  #cancel(hosted: HostedRequest): void {
    if (hosted.handle !== null) return hosted.handle.abort()
    this.#parked = this.#parked.filter((other) => other !== hosted)
    hosted.stream.end()
  }
}
