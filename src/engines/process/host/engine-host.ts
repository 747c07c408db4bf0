/**
 * An engine in a process of its own, kept alive. When the process dies, the requests it had fail, and a new process is
 * started, at once and then with growing pauses; requests that come meanwhile wait for it. One that has work and says
 * nothing for too long is hung, and ended as if it had died.
 *
 *   serving ──process ends──▶ restarting ──started──▶ serving
 *      │                          │ several starts failed: requests are refused, the tries go on
 *      └──third end in a minute──▶ given up: requests are refused; tried again after a pause where others serve
 *   any ──close()──▶ closed
 *
 * Lives in the HTTP process. Invariant: every request gets its events or exactly one error.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Clock, systemClock } from '../../../core/clock.ts'
import { ServiceError, StartError } from '../../../core/errors.ts'
import type { Engine, EngineEvent, EngineRequest, EngineStatus, ModelInfo } from '../../../protocol/engine.ts'
import { EngineClient, type PendingRequest } from '../connection/engine-client.ts'
import {
  startEngineProcess,
  type EngineProcess,
  type EngineProcessHooks,
  type EngineStartOptions,
} from './engine-process.ts'
import { RequestStream } from '../step-loop/request-stream.ts'
import type { RequestHandle } from '../step-loop/step-loop.ts'

const FIRST_PAUSE_MS = 100
const MAX_PAUSE_MS = 10_000
/** Starts that may fail in a row before requests are refused instead of parked. */
const MAX_FAILED_STARTS = 3
/** An engine that ends this often within the time is not started again. */
const MAX_DEATHS = 3
const DEATHS_WITHIN_MS = 60_000
/** Between tries of one that was given up. */
const LONG_PAUSE_MS = 300_000
/** An engine says something after every step, or at least once a second; a step of a large model takes longer. */
const HANG_MS = 60_000
const HANG_MS_PER_BILLION_PARAMETERS = 60_000

export interface EngineHostOptions extends EngineStartOptions {
  /** Silence, while it has work, after which an engine is hung. @default a minute, and more for a large model */
  readonly hangMs?: number
  /** Between tries of an engine that was given up. @default 5 minutes */
  readonly longPauseMs?: number
  /** @default the system's */
  readonly clock?: Clock
}

export interface EngineHostHooks extends EngineProcessHooks {
  /** The process has ended by itself; a new one is being started. */
  readonly onCrash: (how: string) => void
  readonly onRestart: (pid: number) => void
  /** Whether one that was given up is worth another try: other replicas serve, so nobody need wait for it. */
  readonly mayTryAgain?: () => boolean
}

interface HostedRequest extends PendingRequest {
  /** What aborts it in the engine process; null while it is parked. */
  handle: RequestHandle | null
}

export class EngineHost implements Engine {
  readonly #options: EngineStartOptions
  readonly #hangMs: number | null
  readonly #longPauseMs: number
  readonly #clock: Clock
  readonly #hooks: EngineHostHooks
  readonly #closing = new AbortController()
  #process: EngineProcess
  /** Null while no process serves. */
  #client: EngineClient<HostedRequest> | null = null
  /** Requests that wait for the next process. */
  #parked: HostedRequest[] = []
  #failedStarts = 0
  #lastFailure = ''
  /** When processes have ended, those of the last minute. */
  #deathsMs: number[] = []
  #isGivenUp = false
  /** When it came back after it had been given up. */
  #revivedMs: number | null = null
  #isHung = false
  #restarting: Promise<void> = Promise.resolve()

  private constructor(options: EngineHostOptions, hooks: EngineHostHooks, process: EngineProcess) {
    const { hangMs = null, longPauseMs = LONG_PAUSE_MS, clock = systemClock, ...start } = options
    this.#options = start
    this.#hangMs = hangMs
    this.#longPauseMs = longPauseMs
    this.#clock = clock
    this.#hooks = hooks
    this.#process = process
    this.#serve(process)
  }

  /** Aborting the signal ends a start under way. @throws StartError when the model cannot be opened. */
  static async start(
    options: EngineHostOptions,
    hooks: EngineHostHooks,
    signal: AbortSignal,
  ): Promise<EngineHost> {
    const { hangMs: _hangMs, longPauseMs: _longPauseMs, clock: _clock, ...start } = options
    return new EngineHost(options, hooks, await startEngineProcess(start, hooks, signal))
  }

  async *generate(
    request: EngineRequest,
    signal: AbortSignal,
  ): AsyncGenerator<readonly EngineEvent[], void, void> {
    signal.throwIfAborted()
    this.#refuseIfUnavailable()
    const onCancel = (): void => this.#cancel(hosted)
    const stream = new RequestStream({ sequences: request.prompts.length, signal, onCancel })
    const hosted: HostedRequest = { request, stream, handle: null }
    this.#place(hosted)
    yield* stream
  }

  info(): ModelInfo {
    return this.#process.info
  }

  status(): EngineStatus {
    if (this.#client !== null) return { state: 'ready' }
    if (!this.#isUnavailable) return { state: 'restarting' }
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

  get #isUnavailable(): boolean {
    return this.#isGivenUp || this.#failedStarts >= MAX_FAILED_STARTS
  }

  #refuseIfUnavailable(): void {
    if (this.#closing.signal.aborted) throw new ServiceError('shutting_down')
    if (this.#client !== null || !this.#isUnavailable) return
    const retryAfterSeconds = Math.ceil(MAX_PAUSE_MS / 1000)
    throw new ServiceError('engine_unavailable', { message: this.#lastFailure }, { retryAfterSeconds })
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
    this.#client = new EngineClient(process.socket, {
      onClose: (unfinished) => {
        this.#client = null
        const code = this.#closing.signal.aborted ? 'shutting_down' : 'engine_failed'
        for (const { stream } of unfinished) stream.fail(new ServiceError(code))
        this.#restarting = this.#restart(process)
      },
      silenceMs: this.#hangMs ?? hangMsOf(process.info),
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
    if (this.#closing.signal.aborted) return
    const how = this.#isHung ? 'hung, and was ended' : exit
    this.#isHung = false
    this.#hooks.onCrash(how)
    this.#recordDeath(how)
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
      try {
        await (this.#isGivenUp ? this.#longPause() : this.#pause(pauseMs))
        const process = await startEngineProcess(this.#options, this.#hooks, this.#closing.signal)
        if (this.#closing.signal.aborted) {
          process.kill()
          await process.exited
          return
        }
        this.#revivedMs = this.#isGivenUp ? this.#clock.nowMs() : this.#revivedMs
        this.#isGivenUp = false
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

  #pause(ms: number): Promise<void> {
    return sleep(ms, undefined, { signal: this.#closing.signal })
  }

  async #longPause(): Promise<void> {
    do await this.#pause(this.#longPauseMs)
    while (this.#hooks.mayTryAgain?.() !== true)
  }

  /** Gives the engine up when there were too many. */
  #recordDeath(how: string): void {
    const nowMs = this.#clock.nowMs()
    this.#deathsMs = [...this.#deathsMs.filter((atMs) => nowMs - atMs < DEATHS_WITHIN_MS), nowMs]
    // One that dies as soon as it is back has had its chance: every death fails requests.
    const wasJustRevived = this.#revivedMs !== null && nowMs - this.#revivedMs < DEATHS_WITHIN_MS
    if (this.#deathsMs.length < MAX_DEATHS && !wasJustRevived) return
    this.#isGivenUp = true
    const often = wasJustRevived ? 'again after a pause' : `${MAX_DEATHS} times within a minute`
    this.#lastFailure = `its process died ${often} (the last one ${how}); register the model again.`
    const minutes = this.#longPauseMs / 60_000
    this.#hooks.onCrash(
      this.#hooks.mayTryAgain?.() === true
        ? `died too often; it is started again after ${minutes} minutes if other replicas still serve`
        : 'is not started again: it died too often',
    )
    this.#refuseParked()
  }

  #recordFailedStart(error: unknown): void {
    this.#failedStarts++
    this.#lastFailure = error instanceof StartError ? error.message : 'its process could not be started.'
    this.#hooks.onCrash(`could not be started again: ${this.#lastFailure}`)
    if (!this.#isUnavailable) return
    this.#refuseParked()
  }

  #refuseParked(): void {
    for (const { stream } of this.#parked.splice(0)) {
      stream.fail(new ServiceError('engine_unavailable', { message: this.#lastFailure }))
    }
  }
}

function hangMsOf({ parameters }: ModelInfo): number {
  return HANG_MS + HANG_MS_PER_BILLION_PARAMETERS * (parameters / 1e9)
}
