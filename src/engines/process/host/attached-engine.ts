/**
 * An engine process that another process owns: a client of its socket that follows it from one start to the next, by what the
 * owner says of it. Starts and ends nothing itself: a hung engine is reported. Used in worker processes.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Socket } from 'node:net'
import { systemClock } from '../../../core/clock.ts'
import { ServiceError } from '../../../core/errors.ts'
import type {
  EmbeddingRequest,
  Engine,
  EnginePlace,
  EngineRequest,
  EngineStatus,
  TokenizedText,
  TokenizeRequest,
  TokenPrompt,
} from '../../../protocol/engine.ts'
import type { EngineEvent } from '../../../protocol/engine-events.ts'
import type { ModelInfo } from '../../../protocol/model-info.ts'
import { DurableClient } from '../connection/durable-client.ts'
import { connectToEngine } from '../connection/engine-client.ts'

/** Between tries to connect to an engine that is gone, until its owner says so. */
const RETRY_MS = 50

export interface AttachedEngineHooks {
  /** The engine with this process id has work and sends nothing. */
  readonly onHung: (pid: number) => void
  /** Called when it gets its first request and when it has ended the last. */
  readonly onBusy: (isBusy: boolean) => void
  readonly onOverload: (message: string) => void
}

type ReadyPlace = Extract<EnginePlace, { readonly state: 'ready' }>

export class AttachedEngine implements Engine {
  readonly #hooks: AttachedEngineHooks
  readonly #client: DurableClient
  #place: EnginePlace
  #socket: Socket | null = null
  #isConnecting = false
  #isClosed = false

  constructor(place: EnginePlace, hooks: AttachedEngineHooks) {
    this.#hooks = hooks
    this.#client = new DurableClient({
      clock: systemClock,
      whyRefused: () => this.#whyRefused(),
      onOverload: hooks.onOverload,
    })
    this.#place = place
    this.update(place)
  }

  /** What its owner says of it by now. */
  update(place: EnginePlace): void {
    this.#place = place
    const refusal = this.#whyRefused()
    if (refusal !== null) this.#client.refuseParked(refusal)
    void this.#connect()
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

  info(): ModelInfo {
    return this.#place.info
  }

  status(): EngineStatus {
    if (this.#client.isConnected) return { state: 'ready' }
    const { state } = this.#place
    return state === 'failed' ? { state, message: this.#place.message } : { state: 'restarting' }
  }

  /** Leaves the engine; requests that are still open fail with `shutting_down`. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#client.refuseParked(new ServiceError('shutting_down'))
    this.#socket?.destroy()
  }

  #whyRefused(): ServiceError | null {
    if (this.#isClosed) return new ServiceError('shutting_down')
    if (this.#client.isConnected || this.#place.state !== 'failed') return null
    const { message, retryAfterSeconds } = this.#place
    return new ServiceError('engine_unavailable', { message }, { retryAfterSeconds })
  }

  async #connect(): Promise<void> {
    if (this.#isConnecting) return
    this.#isConnecting = true
    for (;;) {
      const place = this.#place
      if (this.#isClosed || this.#client.isConnected || place.state !== 'ready') break
      const socket = await connectToEngine(place.socketPath).catch(() => null)
      if (socket === null) await sleep(RETRY_MS)
      else if (this.#isClosed) socket.destroy()
      else this.#attach(socket, place)
    }
    this.#isConnecting = false
  }

  #attach(socket: Socket, { pid, silenceMs }: ReadyPlace): void {
    this.#socket = socket
    this.#client.connect(socket, {
      silenceMs,
      onSilence: () => this.#hooks.onHung(pid),
      onBusy: this.#hooks.onBusy,
      onClose: () => {
        void this.#connect()
        return new ServiceError(this.#isClosed ? 'shutting_down' : 'engine_failed')
      },
    })
  }
}
