/**
 * Writes server-sent events: opens the answer when there is something to send, waits for `drain` when the client reads
 * slowly, for a time, and pings in silences so that proxies keep the connection. Before it is open an error can still be an
 * ordinary answer; after that it is an event. Does not know what the events hold.
 */
import type { ServerResponse } from 'node:http'
import type { FastifyReply } from 'fastify'
import { onExchangeEnd } from '../../net/client-presence.ts'
import type { SilenceTimer, StartSilenceTimer } from '../deps.ts'

const PING_AFTER_SILENCE_MS = 15_000

/** Time a client has to take what is buffered for it, a few kB, before it is cut off and its place goes to another. */
const SLOW_READER_MS = 30_000

const SSE_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
} as const

export interface SseWriterOptions {
  readonly startTimer: StartSilenceTimer
  /** Told before a client is cut off because it does not read. */
  readonly onSlowReader: () => void
}

export class SseWriter implements Disposable {
  readonly #reply: FastifyReply
  readonly #raw: ServerResponse
  readonly #silence: SilenceTimer
  readonly #startTimer: StartSilenceTimer
  readonly #onSlowReader: () => void
  #isOpen = false
  #isOver = false
  #resume: (() => void) | null = null

  /** The first ping opens the answer too: a client that waits in the queue hears that it is being served. */
  constructor(reply: FastifyReply, { startTimer, onSlowReader }: SseWriterOptions) {
    this.#reply = reply
    this.#raw = reply.raw
    this.#startTimer = startTimer
    this.#onSlowReader = onSlowReader
    this.#silence = startTimer(() => this.#ping(), PING_AFTER_SILENCE_MS)
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

  /** Sends the head, once. */
  open(): void {
    if (this.#isOpen) return
    this.#isOpen = true
    const headers = this.#reply.getHeaders()
    this.#reply.hijack()
    for (const [name, value] of Object.entries({ ...headers, ...SSE_HEADERS })) {
      if (value !== undefined) this.#raw.setHeader(name, value)
    }
    this.#raw.writeHead(200)
    this.#raw.flushHeaders()
  }

  /** Sends whole frames. A promise only when the client must read first, so that most tokens cost no await. */
  write(frames: string): Promise<void> | undefined {
    if (this.#isOver) return undefined
    this.open()
    this.#silence.refresh()
    if (this.#raw.write(frames)) return undefined
    return new Promise((resolve) => {
      const deadline = this.#startTimer(() => this.#cutSlowReader(), SLOW_READER_MS)
      this.#resume = () => {
        deadline.stop()
        resolve()
      }
    })
  }

  /** Sends the last frames and ends the answer. */
  end(frames: string): void {
    this.open()
    this.#raw.end(frames)
  }

  [Symbol.dispose](): void {
    this.#silence.stop()
    this.#raw.off('drain', this.#onRoom)
    this.#onRoom()
  }

  readonly #onRoom = (): void => {
    this.#resume?.()
    this.#resume = null
  }

  /** To everyone else it is a client that has left. */
  #cutSlowReader(): void {
    this.#onSlowReader()
    this.#raw.destroy()
  }

  #ping(): void {
    // A client that does not read what is there already needs no ping on top.
    if (this.#isOver || this.#resume !== null) return
    void this.write(': ping\n\n')
  }
}
