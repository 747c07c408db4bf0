/**
 * An engine in a process of its own, kept alive. When the process dies, the requests it was running fail, those
 * still waiting in it are run by the next one, and a new process is started, at once and then with growing pauses.
 *
 *   serving ──process ends──▶ restarting ──started──▶ serving
 *                                 │ several starts failed: requests are refused, the tries go on
 *   any ──close()──▶ closed
 *
 * Lives in the HTTP process. Invariant: every request gets its events or exactly one error.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { ServiceError, StartError } from '../../core/errors.ts'
import type { Engine, EngineEvent, EngineRequest, EngineStatus, ModelInfo } from '../../protocol/engine.ts'
import { EngineClient, type PendingRequest } from './engine-client.ts'
import {
  startEngineProcess,
  type EngineProcess,
  type EngineProcessHooks,
  type EngineStartOptions,
} from './engine-process.ts'
import { RequestStream } from './request-stream.ts'
import type { RequestHandle } from './step-loop.ts'

const FIRST_PAUSE_MS = 100
const MAX_PAUSE_MS = 10_000
/** Starts that may fail in a row before requests are refused instead of parked. */
const MAX_FAILED_STARTS = 3

export interface EngineHostHooks extends EngineProcessHooks {
  /** The process has ended by itself; a new one is being started. */
  readonly onCrash: (how: string) => void
  readonly onRestart: (pid: number) => void
}

interface HostedRequest extends PendingRequest {
  /** What aborts it in the engine process; null while it is parked. */
  handle: RequestHandle | null
  hasBeenRerun: boolean
}

export class EngineHost implements Engine {
  readonly #options: EngineStartOptions
  readonly #hooks: EngineHostHooks
  readonly #closing = new AbortController()
  #process: EngineProcess
  /** Null while no process serves. */
  #client: EngineClient<HostedRequest> | null = null
  /** Requests that wait for the next process. */
  #parked: HostedRequest[] = []
  #failedStarts = 0
  #lastFailure = ''
  #restarting: Promise<void> = Promise.resolve()

  private constructor(options: EngineStartOptions, hooks: EngineHostHooks, process: EngineProcess) {
    this.#options = options
    this.#hooks = hooks
    this.#process = process
    this.#serve(process)
  }

  /** Aborting the signal ends a start under way. @throws StartError when the model cannot be opened. */
  static async start(
    options: EngineStartOptions,
    hooks: EngineHostHooks,
    signal: AbortSignal,
  ): Promise<EngineHost> {
    return new EngineHost(options, hooks, await startEngineProcess(options, hooks, signal))
  }

  async *generate(request: EngineRequest, signal: AbortSignal): AsyncGenerator<EngineEvent, void, void> {
    signal.throwIfAborted()
    this.#refuseIfUnavailable(request)
    const onCancel = (): void => this.#cancel(hosted)
    const stream = new RequestStream({ sequences: request.prompts.length, signal, onCancel })
    const hosted: HostedRequest = { request, stream, hasStarted: false, handle: null, hasBeenRerun: false }
    this.#place(hosted)
    yield* stream
  }

  info(): ModelInfo {
    return this.#process.info
  }

  status(): EngineStatus {
    if (this.#client !== null) return { state: 'ready' }
    if (this.#failedStarts < MAX_FAILED_STARTS) return { state: 'restarting' }
    return { state: 'failed', message: this.#lastFailure }
  }

  /** The process that serves now, or served last. */
  get pid(): number {
    return this.#process.pid
  }

  async close(): Promise<void> {
    this.#closing.abort()
    for (const { stream } of this.#parked.splice(0)) stream.fail(new ServiceError('shutting_down'))
    this.#process.kill()
    await this.#process.exited
    await this.#restarting
  }

  #refuseIfUnavailable(request: EngineRequest): void {
    if (this.#closing.signal.aborted) throw new ServiceError('shutting_down')
    if (this.#client !== null) return
    const retryAfterSeconds = Math.ceil(MAX_PAUSE_MS / 1000)
    if (this.#failedStarts >= MAX_FAILED_STARTS) {
      throw new ServiceError('engine_unavailable', { message: this.#lastFailure }, { retryAfterSeconds })
    }
    const waiting = this.#parked.reduce((sum, hosted) => sum + hosted.request.prompts.length, 0)
    const max = this.#options.maxQueue
    if (waiting > 0 && waiting + request.prompts.length > max) {
      throw new ServiceError(
        'queue_full',
        { waiting, max, given: request.prompts.length },
        { retryAfterSeconds },
      )
    }
  }

  #place(hosted: HostedRequest): void {
    if (this.#client === null) this.#parked.push(hosted)
    else hosted.handle = this.#client.submit(hosted)
  }

  #cancel(hosted: HostedRequest): void {
    hosted.handle?.abort()
    this.#parked = this.#parked.filter((other) => other !== hosted)
  }

  #serve(process: EngineProcess): void {
    this.#process = process
    this.#client = new EngineClient(process.socket, (unfinished) => {
      this.#client = null
      for (const hosted of unfinished) this.#failOrPark(hosted)
      this.#restarting = this.#restart(process)
    })
    for (const hosted of this.#parked.splice(0)) this.#place(hosted)
  }

  #failOrPark(hosted: HostedRequest): void {
    // A request that never started is innocent of the crash, but only once: it might be the cause after all.
    const mayRerun = !hosted.hasStarted && !hosted.hasBeenRerun && !this.#closing.signal.aborted
    if (!mayRerun) {
      const code = this.#closing.signal.aborted ? 'shutting_down' : 'engine_failed'
      hosted.stream.fail(new ServiceError(code))
      return
    }
    hosted.hasBeenRerun = true
    hosted.handle = null
    this.#parked.push(hosted)
  }

  async #restart(ended: EngineProcess): Promise<void> {
    // The socket is closed; make sure that the process, and with it its memory, is gone before the next one starts.
    ended.kill()
    const how = await ended.exited
    if (this.#closing.signal.aborted) return
    this.#hooks.onCrash(how)
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
      try {
        await sleep(pauseMs, undefined, { signal: this.#closing.signal })
        const process = await startEngineProcess(this.#options, this.#hooks, this.#closing.signal)
        if (this.#closing.signal.aborted) {
          process.kill()
          return
        }
        this.#failedStarts = 0
        this.#serve(process)
        this.#hooks.onRestart(process.pid)
        return
      } catch (error) {
        if (this.#closing.signal.aborted) return
        this.#recordFailedStart(error)
      }
    }
  }

  #recordFailedStart(error: unknown): void {
    this.#failedStarts++
    this.#lastFailure = error instanceof StartError ? error.message : 'its process could not be started.'
    this.#hooks.onCrash(`could not be started again: ${this.#lastFailure}`)
    if (this.#failedStarts < MAX_FAILED_STARTS) return
    for (const { stream } of this.#parked.splice(0)) {
      stream.fail(new ServiceError('engine_unavailable', { message: this.#lastFailure }))
    }
  }
}
