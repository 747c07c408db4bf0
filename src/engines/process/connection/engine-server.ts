/**
 * An engine as a service: one step loop, or embedding loop, and any number of clients that connect to its socket. A request belongs to the
 * connection it came on: its events go there and nowhere else, and it ends with that connection. Who may connect is decided
 * by the folder in which the socket lies.
 */
import { type CacheState, NO_CACHE_STATE } from '../../../scheduler/scheduler-options.ts'
import { createServer, type Server, type Socket } from 'node:net'
import type { Clock } from '../../../core/clock.ts'
import { InvariantError, toServiceError, type ServiceError } from '../../../core/errors.ts'
import { type EmbeddingRunner, isEmbeddingRunner } from '../../../protocol/embedding-runner.ts'
import type { ModelRunner } from '../../../protocol/model-runner.ts'
import { StepLoop, type LoopRequest, type StepLoopOptions, type TextSink } from '../step-loop/step-loop.ts'
import type { EventSink, RequestHandle } from '../step-loop/event-sink.ts'
import { PrefixKeeper } from '../step-loop/prefix-keeper.ts'
import { EmbeddingLoop, type EmbeddingLoopRequest } from '../step-loop/embedding-loop.ts'
import {
  encodeFrame,
  FrameReader,
  toLoopRequest,
  toLoopText,
  toTokenIds,
  toTokensResult,
  type ReceivedMessage,
  type Refusal,
  type WorkEvent,
} from './messages.ts'

/** Longest silence of an engine that works: a long prompt takes many steps without events. */
const HEARTBEAT_MS = 1000

export interface EngineServerOptions extends Omit<
  StepLoopOptions,
  'runner' | 'onStep' | 'onStepEnd' | 'onRest'
> {
  readonly runner: ModelRunner | EmbeddingRunner
  /** Takes what the operator should know. @default dropped */
  readonly onNote?: (note: string) => void
  /** How long nothing must have run before something is written to the disk. @default as of `PrefixKeeper` */
  readonly restMs?: number | undefined
}

/** What the requests of a connection go to; each kind of model has its own. */
interface EngineLoop extends Partial<
  Pick<StepLoop, 'tokenize' | 'detokenize' | 'loadAdapter' | 'freeAdapter'>
> {
  submit(request: LoopRequest | EmbeddingLoopRequest, sink: EventSink): RequestHandle
  /** @default none */
  readonly cache?: CacheState
}

export class EngineServer {
  readonly #connections = new Set<EngineConnection>()
  readonly #server: Server
  /** Null where nothing is kept on the disk. */
  #keeper: PrefixKeeper | null = null

  constructor({ runner, onNote = () => {}, restMs, ...options }: EngineServerOptions) {
    const loopOptions = {
      ...options,
      onStepEnd: () => {
        for (const connection of this.#connections) connection.flush()
      },
      onStep: () => {
        for (const connection of this.#connections) connection.beat()
      },
    }
    const createStepLoop = (textRunner: ModelRunner): StepLoop => {
      const stepLoop = new StepLoop({
        ...loopOptions,
        runner: textRunner,
        onRest: () => this.#keeper?.onRest(),
      })
      this.#keeper = new PrefixKeeper({ runner: textRunner, held: () => stepLoop.held(), onNote, restMs })
      return stepLoop
    }
    const loop = isEmbeddingRunner(runner)
      ? new EmbeddingLoop({ ...loopOptions, runner })
      : createStepLoop(runner)
    this.#server = createServer({ noDelay: true }, (socket) => {
      const connection = new EngineConnection(socket, {
        loop,
        clock: options.clock,
        onShare: (busyEngines) => runner.shareCores?.(busyEngines),
      })
      this.#connections.add(connection)
      socket.on('close', () => this.#connections.delete(connection))
    })
  }

  /** Resolves when clients can connect. */
  listen(socketPath: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject).listen(socketPath, resolve)
    })
  }

  /** Ends what runs for its clients, and writes what the next process of the model may use. */
  async finish(): Promise<void> {
    this.close()
    for (const connection of this.#connections) connection.end()
    await this.#keeper?.finish()
  }

  /** Takes no more clients; those that are connected stay until they leave. */
  close(): void {
    this.#server.close()
  }
}

export interface EngineConnectionOptions {
  readonly loop: EngineLoop
  readonly clock: Clock
  /** So many engines on this machine have work. */
  readonly onShare?: (busyEngines: number) => void
}

/**
 * One client's connection: reads its requests, passes them to the step loop, and writes one message for each step. The
 * client numbers its requests.
 */
export class EngineConnection {
  readonly #socket: Socket
  readonly #loop: EngineLoop
  readonly #clock: Clock
  readonly #onShare: EngineConnectionOptions['onShare']
  /** By the client's id; null while the step loop takes the request in. */
  readonly #requests = new Map<number, RequestHandle | null>()
  #lastSentMs = 0
  #events: [id: number, events: readonly WorkEvent[]][] = []
  #refusals: [id: number, refusal: Refusal][] = []
  #ended: number[] = []
  /** As said last. */
  #cache = NO_CACHE_STATE

  constructor(socket: Socket, { loop, clock, onShare }: EngineConnectionOptions) {
    this.#socket = socket
    this.#loop = loop
    this.#clock = clock
    this.#onShare = onShare
    const reader = new FrameReader<ReceivedMessage>()
    socket.on('data', (chunk: Buffer) => {
      for (const message of reader.push(chunk)) this.#receive(message)
      // Not our frames: what follows cannot be read either.
      if (reader.isBroken) socket.destroy()
      this.flush()
    })
    // 'close' follows every error.
    socket.on('error', () => {})
    socket.on('close', () => this.#abortAll())
  }

  end(): void {
    this.#socket.destroy()
    this.#abortAll()
  }

  #abortAll(): void {
    for (const request of this.#requests.values()) request?.abort()
  }

  /** Sends what has come since the last call as one message. */
  flush(): void {
    const isEmpty = this.#events.length === 0 && this.#refusals.length === 0 && this.#ended.length === 0
    if (isEmpty && this.#newCache() === null) return
    this.#send()
  }

  /** After a step: an empty message from time to time shows the client that the engine works. */
  beat(): void {
    if (this.#requests.size > 0 && this.#clock.nowMs() - this.#lastSentMs >= HEARTBEAT_MS) this.#send()
  }

  #send(): void {
    this.#lastSentMs = this.#clock.nowMs()
    const cache = this.#newCache()
    this.#cache = cache ?? this.#cache
    this.#socket.write(
      encodeFrame({
        ...{ events: this.#events, refusals: this.#refusals, ended: this.#ended },
        ...(cache !== null && { cache }),
      }),
    )
    this.#events = []
    this.#refusals = []
    this.#ended = []
  }

  /** Null where it is as said last. */
  #newCache(): CacheState | null {
    const { cache = NO_CACHE_STATE } = this.#loop
    const { hostBytes, preemptions } = this.#cache
    return cache.hostBytes === hostBytes && cache.preemptions === preemptions ? null : cache
  }

  #receive(message: ReceivedMessage): void {
    switch (message.type) {
      case 'generate':
      case 'generate-long': {
        const request = toLoopRequest(message)
        return this.#start(message.id, request.reqId, (sink) => this.#loop.submit(request, sink))
      }
      case 'tokenize-long':
        return this.#start(message.id, '', (sink) => {
          const textSink: TextSink = {
            deliver: (texts) => sink.deliver(texts.map(toTokensResult)),
            fail: (error) => sink.fail(error),
            end: () => sink.end(),
          }
          return this.#loop.tokenize?.(toLoopText(message), textSink) ?? notOfThisLoop()
        })
      case 'detokenize-long':
        return this.#start(message.id, '', (sink) => {
          const text = this.#loop.detokenize?.(toTokenIds(message.text)) ?? notOfThisLoop()
          sink.deliver([{ type: 'text', text }])
          sink.end()
          return null
        })
      case 'load-adapter':
        return this.#start(message.id, '', (sink) => {
          if (this.#loop.loadAdapter === undefined) return notOfThisLoop()
          this.#loop.loadAdapter(message.adapter)
          sink.end()
          return null
        })
      case 'free-adapter':
        return this.#loop.freeAdapter?.(message.adapterId)
      case 'abort':
        this.#requests.get(message.id)?.abort()
        return
      case 'share':
        return this.#onShare?.(message.busyEngines)
    }
  }

  #start(id: number, reqId: string, start: (sink: EventSink<WorkEvent>) => RequestHandle | null): void {
    this.#requests.set(id, null)
    const sink: EventSink<WorkEvent> = {
      deliver: (events) => void this.#events.push([id, events]),
      fail: (error) => this.#refuse(id, error),
      end: () => {
        this.#ended.push(id)
        this.#requests.delete(id)
      },
    }
    try {
      const handle = start(sink)
      if (this.#requests.has(id)) this.#requests.set(id, handle)
    } catch (error) {
      this.#refuse(id, toServiceError(error, reqId))
    }
  }

  #refuse(id: number, error: ServiceError): void {
    const { code, params, retryAfterSeconds } = error
    this.#refusals.push([id, { code, params, retryAfterSeconds }])
    this.#requests.delete(id)
  }
}

function notOfThisLoop(): never {
  throw new InvariantError('An engine of embeddings was asked for tokens, or given an adapter.')
}
