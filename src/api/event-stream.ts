/**
 * Writes a generation's events as server-sent events: opens the answer with the first frame, waits for `drain` for a bounded
 * time when the client reads slowly, and pings in silences so that proxies keep the connection. The dialect formats the
 * frames. Called by the routes that stream. While the model is loaded for the request, comments say how far that is
 * (`load-comments.ts`).
 *
 * Invariant: an answer that was opened ends with the dialect's last frames, which leave only once the generation is billed. An
 * error before the opening is an ordinary answer, one after it an event (spec: decisions, Errors).
 */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { FastifyReply } from 'fastify'
import { withResolvers } from '../core/concurrency/with-resolvers.ts'
import { InvariantError, toServiceError } from '../core/errors.ts'
import type { Generation, GenerationEvent } from '../generation/generation.ts'
import { mayAwaitLoad } from '../models/lease-model.ts'
import { onExchangeEnd } from '../net/connections/client-presence.ts'
import { type Log, logCause } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { FrameFormat } from './dialects/frames.ts'
import { type SilenceTimer, type StartSilenceTimer, startSystemSilenceTimer } from './silence-timer.ts'
import { commentOnLoad, type LoadCommentsDeps } from './load-comments.ts'

const PING_AFTER_SILENCE_MS = 15_000

/** Time a client has to take what is buffered for it, a few kB, before it is cut off and its permit is released. */
const SLOW_READER_MS = 30_000

/** A line that clients skip. */
const COMMENT_PING = ': ping\n\n'

const SSE_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
} as const

export interface StreamDeps extends LoadCommentsDeps {
  readonly metrics: Pick<Metrics, 'countGuardHit'>
  readonly log: Pick<Log, 'error'>
}

/** What a route streams. */
export interface GenerationStream {
  /** Null is the default model. */
  readonly modelId: string | null
  readonly open: () => Promise<Generation>
  /** Whether the answer repeats the prompts. */
  readonly isEchoed?: boolean
  /** @param echoedTexts null unless the answer repeats the prompts */
  readonly createFormat: (generation: Generation, echoedTexts: readonly string[] | null) => FrameFormat
  /** The last frames of an answer that was opened, and failed before there was a format. */
  readonly fail: FrameFormat['fail']
}

/** @throws ServiceError while the answer is not open yet */
export async function streamEvents(
  deps: StreamDeps,
  reply: FastifyReply,
  stream: GenerationStream,
): Promise<void> {
  let failing: Pick<FrameFormat, 'fail'> = stream
  // Only a load has something to say before there is a generation.
  let writer = mayAwaitLoad(deps.registry, stream.modelId) ? new SseWriter(reply, deps) : null
  try {
    using generation = await (writer === null
      ? stream.open()
      : openCommented(deps, writer, { stream, reply }))
    const echoedTexts = stream.isEchoed === true ? await generation.promptTexts() : null
    const running = generation.run((events) => frames.write(events))
    // What an answer needs is made while the engine begins; no event comes before this function waits.
    const format = stream.createFormat(generation, echoedTexts)
    failing = format
    writer ??= new SseWriter(reply, deps)
    writer.pingWith(format.ping ?? COMMENT_PING)
    const frames = new EventFrames(format, writer)
    await running
    const lastFrames = frames.finish()
    reply.request.context.releasePermit()
    writer.end(lastFrames)
  } catch (thrown) {
    if (writer === null || !writer.isOpen) throw thrown
    // The client has left.
    if (writer.isOver) return
    const requestId = reply.request.id
    const error = toServiceError(thrown, requestId)
    logCause(error, requestId, deps.log)
    reply.request.context.streamErrorCode = error.code
    reply.request.context.releasePermit()
    writer.end(failing.fail(error))
  } finally {
    writer?.[Symbol.dispose]()
  }
}

function openCommented(
  deps: StreamDeps,
  writer: SseWriter,
  { stream, reply }: { readonly stream: GenerationStream; readonly reply: FastifyReply },
): Promise<Generation> {
  const { context } = reply.request
  const awaitedId = () => context.fallbackId ?? stream.modelId
  return commentOnLoad(deps, { awaitedId, write: (comment) => writer.comment(comment) }, stream.open)
}

/** Writes the frames of events that came together in one go: a write costs more than a frame. */
class EventFrames {
  readonly #format: FrameFormat
  readonly #writer: SseWriter
  /** Of a sequence that has ended, until the next event shows that it was not the last one. */
  #lastFrames: string | null = null

  constructor(format: FrameFormat, writer: SseWriter) {
    this.#format = format
    this.#writer = writer
  }

  write(events: readonly GenerationEvent[]): Promise<void> | undefined {
    let frames = ''
    for (const event of events) {
      if (this.#lastFrames !== null) frames += this.#lastFrames
      this.#lastFrames = null
      switch (event.type) {
        case 'sequence-start':
          this.#writer.open()
          frames += this.#format.start(event)
          break
        case 'sequence-end':
          this.#lastFrames = this.#format.end(event)
          break
        case 'text-delta':
        case 'reasoning-delta':
        case 'tool-call-start':
        case 'tool-call-delta':
          frames += this.#format.delta(event)
      }
    }
    return this.#writer.write(frames)
  }

  /** The frames that have not been written yet, which leave last. */
  finish(): string {
    if (this.#lastFrames === null) throw new InvariantError('The last sequence never ended.')
    return this.#lastFrames + this.#format.finish()
  }
}

class SseWriter implements Disposable {
  readonly #reply: FastifyReply
  readonly #raw: ServerResponse
  #silence: SilenceTimer | null = null
  readonly #startTimer: StartSilenceTimer
  readonly #metrics: StreamDeps['metrics']
  #pingFrame = COMMENT_PING
  #isOpen = false
  #isHeadSent = false
  #isOver = false
  /** While the client must read what there is. */
  #room: { readonly made: Promise<void>; readonly resume: () => void } | null = null

  constructor(reply: FastifyReply, { startSilenceTimer = startSystemSilenceTimer, metrics }: StreamDeps) {
    this.#reply = reply
    this.#raw = reply.raw
    this.#startTimer = startSilenceTimer
    this.#metrics = metrics
    this.#raw.on('drain', this.#onRoom)
    onExchangeEnd(reply.request.raw, this.#raw, () => {
      this.#isOver = true
      this.#onRoom()
    })
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  /** Whether the client has left, or all is written: nothing that is written now is ever read. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** From now on silences are filled. The first ping also opens the answer, for a client whose request waits in the queue. */
  pingWith(frame: string): void {
    this.#pingFrame = frame
    this.#silence = this.#startTimer(() => this.#ping(), PING_AFTER_SILENCE_MS)
  }

  /** Sends a line that clients skip, unless the client has not read what is there already. */
  comment(text: string): void {
    if (!this.#isOver && this.#room === null) void this.write(`: ${text}\n\n`)
  }

  /** Makes the head, once; it leaves with the first frames, or with `write` where there are none. */
  open(): void {
    if (this.#isOpen) return
    this.#isOpen = true
    const headers = this.#reply.getHeaders() as OutgoingHttpHeaders
    this.#reply.hijack()
    // All at once: set one by one, each is looked at and kept twice.
    this.#raw.writeHead(200, { ...headers, ...SSE_HEADERS })
  }

  /** Sends whole frames, if there are any. A promise only when the client must read first, so that most tokens cost no await. */
  write(frames: string): Promise<void> | undefined {
    if (this.#isOver) return undefined
    if (frames === '') return this.#sendHead()
    this.open()
    this.#isHeadSent = true
    this.#silence?.refresh()
    if (this.#raw.write(frames)) return undefined
    // A ping may have filled what there was.
    this.#room ??= this.#awaitRoom()
    return this.#room.made
  }

  #awaitRoom() {
    const { promise, resolve } = withResolvers<void>()
    const deadline = this.#startTimer(() => this.#cutSlowReader(), SLOW_READER_MS)
    const resume = () => {
      deadline.stop()
      resolve()
    }
    return { made: promise, resume }
  }

  /** Of an answer that is open, and has nothing to say yet. */
  #sendHead(): undefined {
    if (!this.#isOpen || this.#isHeadSent) return
    this.#isHeadSent = true
    this.#raw.flushHeaders()
  }

  /** Sends the last frames and ends the answer. */
  end(frames: string): void {
    this.open()
    this.#raw.end(frames)
  }

  [Symbol.dispose](): void {
    this.#silence?.stop()
    this.#raw.off('drain', this.#onRoom)
    this.#onRoom()
  }

  readonly #onRoom = (): void => {
    this.#room?.resume()
    this.#room = null
  }

  /** The rest of the server sees a client that has left. */
  #cutSlowReader(): void {
    this.#metrics.countGuardHit({ guard: 'http', rule: 'slow-reader' })
    this.#raw.destroy()
  }

  #ping(): void {
    // A client that does not read what is there already needs no ping on top.
    if (this.#isOver || this.#room !== null) return
    void this.write(this.#pingFrame)
  }
}
