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
import { type CacheState, NO_CACHE_STATE } from '../../../scheduler/scheduler-options.ts'
import { abortReason } from '../../../core/concurrency/abort.ts'
import { type SleepingClock, systemClock } from '../../../core/clock.ts'
import { Supervisor } from '../../../core/concurrency/supervisor.ts'
import { ServiceError, StartError } from '../../../core/errors.ts'
import type {
  EmbeddingRequest,
  EnginePlace,
  EngineRequest,
  EngineStatus,
  SharedEngine,
  TokenizedText,
  TokenizeRequest,
  TokenPrompt,
} from '../../../protocol/engine.ts'
import type { EngineEvent } from '../../../protocol/engine-events.ts'
import type { ModelInfo } from '../../../protocol/model-info.ts'
import type { NumberedAdapter } from '../../../protocol/adapter.ts'
import { DurableClient } from '../connection/durable-client.ts'
import { processCores, type CoreSharing, type OnShare } from './core-sharing.ts'
import type { ReplicaEngine } from './replicated-engine.ts'
import {
  startEngineProcess,
  type EngineProcess,
  type EngineProcessHooks,
  type EngineStartOptions,
} from './engine-process.ts'

/** An engine sends a message after every step, or at least once a second; a step of a large model takes longer. */
const HANG_MS = 60_000
const HANG_MS_PER_BILLION_PARAMETERS = 60_000

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

export class EngineHost implements ReplicaEngine, SharedEngine {
  readonly #options: EngineHostOptions
  readonly #clock: SleepingClock
  readonly #hooks: EngineHostHooks
  readonly #cores: CoreSharing
  readonly #client: DurableClient
  readonly #onShare: OnShare = (busyEngines) => this.#client.share(busyEngines)
  /** Clients for which the process that serves now has work. */
  readonly #busyClients = new Set<object>()
  readonly #supervisor: Supervisor
  /** Those that each process is to have. */
  readonly #adapters = new Map<number, NumberedAdapter>()
  #process: EngineProcess
  #lastFailure = ''
  #deaths = 0
  /** Of the process that serves now. */
  #cache: CacheState = NO_CACHE_STATE
  #isHung = false
  #isClosed = false
  /** Until the process that ended last is gone. */
  #ending: Promise<void> = Promise.resolve()

  private constructor(options: EngineHostOptions, hooks: EngineHostHooks, process: EngineProcess) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
    this.#hooks = hooks
    this.#cores = options.cores ?? processCores
    this.#client = new DurableClient({
      clock: this.#clock,
      whyRefused: () => this.#whyRefused(),
      onOverload: (message) => hooks.onOverload(message),
    })
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
    return this.#client.generate(request, signal)
  }

  tokenize(request: TokenizeRequest, signal: AbortSignal): Promise<TokenizedText> {
    return this.#client.tokenize(request, signal)
  }

  detokenize(tokenIds: TokenPrompt['tokenIds'], signal: AbortSignal): Promise<string> {
    return this.#client.detokenize(tokenIds, signal)
  }

  async loadAdapter(adapter: NumberedAdapter, signal: AbortSignal): Promise<void> {
    this.#adapters.set(adapter.adapterId, adapter)
    try {
      await this.#client.loadAdapter(adapter, signal)
    } catch (error) {
      this.freeAdapter(adapter.adapterId)
      throw error
    }
  }

  freeAdapter(adapterId: number): void {
    this.#adapters.delete(adapterId)
    this.#client.freeAdapter(adapterId)
  }

  info(): ModelInfo {
    return this.#process.info
  }

  status(): EngineStatus {
    const deaths = this.#deaths
    const { hostBytes: prefixCacheBytes, preemptions } = this.#cache
    const cache = {
      ...(prefixCacheBytes > 0 && { prefixCacheBytes }),
      ...(preemptions > 0 && { preemptions }),
    }
    if (this.#client.isConnected) return { state: 'ready', deaths, ...cache }
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

  replicas(): readonly SharedEngine[] {
    return [this]
  }

  place(): EnginePlace {
    const { pid, socketPath, info } = this.#process
    const silenceMs = this.#silenceMs()
    const known = { info, silenceMs }
    if (this.#client.isConnected) return { ...known, state: 'ready', pid, socketPath }
    if (!this.#supervisor.isUnavailable) return { ...known, state: 'restarting' }
    const { retryAfterSeconds } = this.#supervisor
    return { ...known, state: 'failed', message: this.#describeFailure(), retryAfterSeconds }
  }

  reportHung(pid: number): void {
    if (pid === this.#process.pid && this.#client.isConnected) this.#killHung(this.#process)
  }

  reportBusy(client: object, isBusy: boolean): void {
    if (isBusy) this.#busyClients.add(client)
    else this.#busyClients.delete(client)
    if (this.#busyClients.size > 0) this.#cores.enter(this.#onShare)
    else this.#cores.leave(this.#onShare)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const supervisorClosed = this.#supervisor.close()
    this.#client.refuseParked(new ServiceError('shutting_down'))
    await this.#process.close()
    await this.#ending
    await supervisorClosed
  }

  #whyRefused(): ServiceError | null {
    if (this.#isClosed) return new ServiceError('shutting_down')
    return this.#client.isConnected || !this.#supervisor.isUnavailable ? null : this.#unavailable()
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

  #serve(process: EngineProcess): void {
    this.#process = process
    this.#cache = NO_CACHE_STATE
    this.#client.connect(process.socket, {
      onClose: () => {
        this.#busyClients.clear()
        this.#cores.leave(this.#onShare)
        this.#ending = this.#restart(process)
        return new ServiceError(this.#isClosed ? 'shutting_down' : 'engine_failed')
      },
      onBusy: (isBusy) => this.reportBusy(this, isBusy),
      onCache: (cache) => void (this.#cache = cache),
      silenceMs: this.#silenceMs(),
      onSilence: () => this.#killHung(process),
    })
  }

  #silenceMs(): number {
    return this.#options.hangMs ?? hangMsOf(this.#process.info)
  }

  #killHung(process: EngineProcess): void {
    this.#isHung = true
    process.kill()
  }

  async #restart(ended: EngineProcess): Promise<void> {
    // The socket is closed; make sure that the process, and with it its memory, is gone before the next one starts.
    if (this.#isClosed) return
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
    const adapters = [...this.#adapters.values()]
    const process = await startEngineProcess({ ...this.#options.start, adapters }, this.#hooks, signal)
    if (signal.aborted) {
      process.kill()
      await process.exited
      throw abortReason(signal)
    }
    this.#serve(process)
    for (const { adapterId } of adapters) {
      // Let go of while the process started.
      if (!this.#adapters.has(adapterId)) this.#client.freeAdapter(adapterId)
    }
    this.#hooks.onRestart(process.pid)
  }

  #suspend(howOften: string, pauseMs: number): void {
    const death = `died ${howOften} (the last one ${this.#lastFailure})`
    this.#lastFailure = `its process ${death}`
    this.#hooks.onCrash(`${death}; it is started again in ${pauseMs / 1000} s`)
    this.#client.refuseParked(this.#unavailable())
  }

  #recordFailedStart(error: unknown): void {
    this.#lastFailure = error instanceof StartError ? error.message : 'its process could not be started.'
    this.#hooks.onCrash(`could not be started again: ${this.#lastFailure}`)
    if (this.#supervisor.isUnavailable) this.#client.refuseParked(this.#unavailable())
  }
}

function hangMsOf({ parameters }: ModelInfo): number {
  return HANG_MS + HANG_MS_PER_BILLION_PARAMETERS * (parameters / 1e9)
}
