/**
 * An engine in a process of its own, kept alive. When the process dies, the requests it had fail, and a new process is
 * started, at once and then with growing pauses; requests that come meanwhile wait for it. One that has work and sends
 * nothing for too long is hung: the host kills it.
 *
 *   serving ──process ends──▶ restarting ──started──▶ serving
 *      │                          │ several starts failed: requests are refused, the tries go on
 *      └──third end in a minute──▶ suspended: requests are refused; started again after pauses that grow
 *   any ──close()──▶ closed
 *
 * Lives in the HTTP process. Invariant: every request gets its events or exactly one error.
 */
import { abortReason } from '../../../core/abort.ts'
import { type SleepingClock, systemClock } from '../../../core/clock.ts'
import { Supervisor } from '../../../core/concurrency/supervisor.ts'
import { ServiceError, StartError } from '../../../core/errors.ts'
import type {
  EmbeddingRequest,
  Engine,
  EngineEvent,
  EngineRequest,
  EngineStatus,
  ModelInfo,
  TokenizedText,
  TokenizeRequest,
  TokenPrompt,
} from '../../../protocol/engine.ts'
import { EngineClient, type PendingRequest } from '../connection/engine-client.ts'
import { type EngineWork, toTokenizedText, type WorkEvent } from '../connection/messages.ts'
import { processCores, type CoreSharing, type OnShare } from './core-sharing.ts'
import { RequestStream } from '../step-loop/request-stream.ts'
import type { RequestHandle } from '../step-loop/event-sink.ts'
import {
  startEngineProcess,
  type EngineProcess,
  type EngineProcessHooks,
  type EngineStartOptions,
} from './engine-process.ts'

/** An engine sends a message after every step, or at least once a second; a step of a large model takes longer. */
const HANG_MS = 60_000
const HANG_MS_PER_BILLION_PARAMETERS = 60_000

const OVERLOAD_REPORT_MS = 60_000

export interface EngineHostOptions {
  /** What is started, each time. */
  readonly start: EngineStartOptions
  /** Silence, while it has work, after which an engine is hung. @default a minute, and more for a large model */
  readonly hangMs?: number
  /** @default the system's */
  readonly clock?: SleepingClock
  /** @default that of this process */
  readonly cores?: CoreSharing
}

export interface EngineHostHooks extends EngineProcessHooks {
  /** The process has ended by itself; a new one is being started. */
  readonly onCrash: (how: string) => void
  readonly onRestart: (pid: number) => void
  /** Requests are refused because too much text waits to be tokenized; called once a minute at most. */
  readonly onOverload: (message: string) => void
}

interface HostedRequest extends PendingRequest {
  /** What aborts it in the engine process; null while it is parked. */
  handle: RequestHandle | null
}

export class EngineHost implements Engine {
  readonly #options: EngineHostOptions
  readonly #clock: SleepingClock
  readonly #hooks: EngineHostHooks
  readonly #cores: CoreSharing
  readonly #onShare: OnShare = (busyEngines) => this.#client?.share(busyEngines)
  readonly #supervisor: Supervisor
  #process: EngineProcess
  /** Null while no process serves. */
  #client: EngineClient<HostedRequest> | null = null
  /** Requests that wait for the next process. */
  #parked: HostedRequest[] = []
  #lastFailure = ''
  #deaths = 0
  #isHung = false
  #overloadReportedMs = Number.NEGATIVE_INFINITY
  #isClosed = false
  /** Until the process that ended last is gone. */
  #ending: Promise<void> = Promise.resolve()

  private constructor(options: EngineHostOptions, hooks: EngineHostHooks, process: EngineProcess) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
    this.#hooks = hooks
    this.#cores = options.cores ?? processCores
    this.#supervisor = new Supervisor({
      clock: this.#clock,
      start: (signal) => this.#startAgain(signal),
      onFailedStart: (error) => this.#recordFailedStart(error),
      onSuspended: (how, pauseMs) => this.#suspend(how, pauseMs),
    })
    this.#process = process
    this.#serve(process)
  }

  /** Aborting the signal ends a start under way. @throws StartError when the model cannot be opened. */
  static async start(
    options: EngineHostOptions,
    hooks: EngineHostHooks,
    signal: AbortSignal,
  ): Promise<EngineHost> {
    return new EngineHost(options, hooks, await startEngineProcess(options.start, hooks, signal))
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
    this.#refuseIfUnavailable()
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

  info(): ModelInfo {
    return this.#process.info
  }

  status(): EngineStatus {
    const deaths = this.#deaths
    if (this.#client !== null) return { state: 'ready', deaths }
    if (!this.#supervisor.isUnavailable) return { state: 'restarting', deaths }
    return { state: 'failed', message: this.#describeFailure(), deaths }
  }

  /** The process that serves now, or served last. */
  get pid(): number {
    return this.#process.pid
  }

  /** Where the process that serves now listens for more clients, or the last one did. */
  get socketPath(): string {
    return this.#process.socketPath
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const supervisorClosed = this.#supervisor.close()
    for (const { stream } of this.#parked.splice(0)) stream.fail(new ServiceError('shutting_down'))
    this.#process.kill()
    await this.#process.exited
    await this.#ending
    await supervisorClosed
  }

  /** Not for each request: the queue may refuse many. */
  #reportOverload(error: unknown): void {
    if (!(error instanceof ServiceError) || error.code !== 'tokenizing_queue_full') return
    const nowMs = this.#clock.nowMs()
    if (nowMs - this.#overloadReportedMs < OVERLOAD_REPORT_MS) return
    this.#overloadReportedMs = nowMs
    this.#hooks.onOverload(error.message)
  }

  #refuseIfUnavailable(): void {
    if (this.#isClosed) throw new ServiceError('shutting_down')
    if (this.#client !== null || !this.#supervisor.isUnavailable) return
    throw this.#unavailable()
  }

  #unavailable(): ServiceError {
    const { retryAfterSeconds } = this.#supervisor
    return new ServiceError('engine_unavailable', { message: this.#describeFailure() }, { retryAfterSeconds })
  }

  #describeFailure(): string {
    const seconds = this.#supervisor.suspendedSeconds
    if (seconds === null) return this.#lastFailure
    const reason = this.#lastFailure.replace(/\.$/, '')
    return `${reason}; ${seconds === 0 ? 'it is being started again' : `it is started again in ${seconds} s`}.`
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

  #serve(process: EngineProcess): void {
    this.#process = process
    this.#client = new EngineClient(process.socket, {
      onClose: (unfinished) => {
        this.#client = null
        const code = this.#isClosed ? 'shutting_down' : 'engine_failed'
        for (const { stream } of unfinished) stream.fail(new ServiceError(code))
        this.#ending = this.#restart(process)
      },
      onBusy: (isBusy) => (isBusy ? this.#cores.enter(this.#onShare) : this.#cores.leave(this.#onShare)),
      silenceMs: this.#options.hangMs ?? hangMsOf(process.info),
      clock: this.#clock,
      onSilence: () => {
        this.#isHung = true
        process.kill()
      },
    })
    for (const hosted of this.#parked.splice(0)) this.#place(hosted)
  }

  async #restart(ended: EngineProcess): Promise<void> {
    // The socket is closed; make sure that the process, and with it its memory, is gone before the next one starts.
    ended.kill()
    const exit = await ended.exited
    if (this.#isClosed) return
    const how = this.#isHung ? 'hung, and was ended' : exit
    this.#isHung = false
    this.#deaths++
    this.#lastFailure = how
    this.#hooks.onCrash(how)
    this.#supervisor.restart()
  }

  async #startAgain(signal: AbortSignal): Promise<void> {
    const process = await startEngineProcess(this.#options.start, this.#hooks, signal)
    if (signal.aborted) {
      process.kill()
      await process.exited
      throw abortReason(signal)
    }
    this.#serve(process)
    this.#hooks.onRestart(process.pid)
  }

  #suspend(howOften: string, pauseMs: number): void {
    const death = `died ${howOften} (the last one ${this.#lastFailure})`
    this.#lastFailure = `its process ${death}`
    this.#hooks.onCrash(`${death}; it is started again in ${pauseMs / 1000} s`)
    this.#refuseParked()
  }

  #recordFailedStart(error: unknown): void {
    this.#lastFailure = error instanceof StartError ? error.message : 'its process could not be started.'
    this.#hooks.onCrash(`could not be started again: ${this.#lastFailure}`)
    if (this.#supervisor.isUnavailable) this.#refuseParked()
  }

  #refuseParked(): void {
    for (const { stream } of this.#parked.splice(0)) stream.fail(this.#unavailable())
  }
}

function hangMsOf({ parameters }: ModelInfo): number {
  return HANG_MS + HANG_MS_PER_BILLION_PARAMETERS * (parameters / 1e9)
}
