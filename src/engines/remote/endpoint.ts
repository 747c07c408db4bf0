/**
 * One server behind a remote model: its connections, its outstanding requests, its circuit breaker. Sends what `remote-engine.ts`
 * asks for and gives the answer as soon as its first byte is there.
 *
 * Invariant: whatever becomes of a request, it counts as outstanding until its answer is read, failed or left.
 */
import { type Dispatcher, Pool } from 'undici'
import type { Clock } from '../../core/clock.ts'
import type { SecretText } from '../../core/text/secret-text.ts'
import type { EndpointObserver, UpstreamOutcome } from '../../telemetry/upstream-metrics.ts'
import { CircuitBreaker } from './circuit-breaker.ts'
import { answerLost, type UpstreamRefusal } from './upstream-errors.ts'

/** How long an upstream may take. */
export interface RemoteTimeouts {
  readonly connectMs: number
  readonly firstByteMs: number
  /** Between two pieces of an answer. */
  readonly betweenMs: number
}

export const REMOTE_TIMEOUTS: RemoteTimeouts = { connectMs: 5000, firstByteMs: 300_000, betweenMs: 60_000 }

const PROBE_MS = 5000
/** From the end of what matters of an answer to its last byte. */
const LAST_BYTES_MS = 1000
const MAX_ERROR_BYTES = 65_536

/** Where an endpoint is. */
export interface EndpointAddress {
  /** With `/v1` at its end. */
  readonly url: string
  /** The host's name where `url` has one of its addresses. */
  readonly hostName: string | null
}

export interface EndpointOptions {
  readonly apiKey: SecretText | null
  readonly timeouts: RemoteTimeouts
  readonly clock: Clock
  /** @default nothing is observed */
  readonly observer?: EndpointObserver
}

export interface SentRequest {
  /** With its `/v1`. */
  readonly path: string
  /** Its body. */
  readonly json: string
  readonly traceparent?: string
}

interface RequestOptions extends Pick<SentRequest, 'traceparent'> {
  readonly method: 'GET' | 'POST'
  readonly body?: string
  readonly signal: AbortSignal
}

/** A refusal, or an answer whose first byte has come. */
export type EndpointAnswer =
  | { readonly kind: 'refused'; readonly refusal: UpstreamRefusal }
  | {
      readonly kind: 'answered'
      readonly body: AsyncIterable<Uint8Array>
      /** All that matters has been read: what little follows is read too, so that the connection can be used again. */
      readonly finish: () => void
    }

export class Endpoint {
  readonly url: string
  readonly breaker: CircuitBreaker
  /** In front of `/v1`. */
  readonly #root: string
  readonly #pool: Pool
  readonly #headers: Readonly<Record<string, string>>
  readonly #timeouts: RemoteTimeouts
  readonly #observer: EndpointObserver | undefined
  readonly #onGone: (() => void) | undefined
  #outstanding = 0
  /** Whether it has the route of vLLM, SGLang and llama-server. */
  #hasHealth = true
  /** Set by the probes; null until the first one. */
  isHealthy: boolean | null = null

  constructor({ url, hostName }: EndpointAddress, { apiKey, timeouts, clock, observer }: EndpointOptions) {
    const { origin, pathname } = new URL(url)
    this.url = url
    this.#root = pathname.replace(/\/v1$/, '')
    this.#timeouts = timeouts
    this.breaker = new CircuitBreaker(clock)
    this.#observer = observer
    this.#onGone = observer?.onOpen(url, () => this)
    this.#pool = new Pool(origin, {
      connect: { timeout: timeouts.connectMs, ...(hostName !== null && { servername: hostName }) },
      // The timers below know what is waited for.
      headersTimeout: 0,
      bodyTimeout: 0,
    })
    this.#headers = {
      'accept-encoding': 'identity',
      ...(hostName !== null && {
        host: new URL(url).port === '' ? hostName : `${hostName}:${new URL(url).port}`,
      }),
      ...(apiKey !== null && { authorization: `Bearer ${apiKey.reveal()}` }),
    }
  }

  /** Whether its last probe was answered and its breaker is closed. */
  get takesWork(): boolean {
    return this.isHealthy !== false && this.breaker.isClosed
  }

  get outstanding(): number {
    return this.#outstanding
  }

  /** @throws the signal's reason; an error of the connection, or that nothing came in time */
  async send({ path, json, traceparent }: SentRequest, signal: AbortSignal): Promise<EndpointAnswer> {
    const stop = new AbortController()
    const onAbort = (): void => stop.abort(signal.reason)
    signal.throwIfAborted()
    signal.addEventListener('abort', onAbort, { once: true })
    const timer = setTimeout(() => stop.abort(new Error('nothing came in time')), this.#timeouts.firstByteMs)
    this.#outstanding++
    const sentMs = performance.now()
    const observe = (outcome: UpstreamOutcome): void =>
      this.#observer?.onAnswer(this.url, outcome, (performance.now() - sentMs) / 1000)
    let isOver = false
    const finish = (): void => {
      if (isOver) return
      isOver = true
      this.#outstanding--
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
    }
    try {
      const response = await this.#request(path, {
        ...{ method: 'POST', body: json, signal: stop.signal },
        ...(traceparent !== undefined && { traceparent }),
      })
      if (response.statusCode !== 200) {
        const refusal = await readRefusal(response)
        observe('refused')
        finish()
        return { kind: 'refused', refusal }
      }
      const pieces: AsyncIterator<Uint8Array> = response.body[Symbol.asyncIterator]()
      const first = await pieces.next()
      clearTimeout(timer)
      observe('answered')
      const answer: OpenAnswer = { pieces, first, stop, signal, finish, isFinished: false }
      return {
        kind: 'answered',
        body: this.#readOn(answer),
        finish: () => {
          answer.isFinished = true
        },
      }
    } catch (error) {
      finish()
      observe(signal.aborted ? 'left' : 'failed')
      signal.throwIfAborted()
      throw stop.signal.aborted ? stop.signal.reason : error
    }
  }

  /** Whether it can take work: its `/health`, or where it has none its list of models. Feeds the breaker. */
  async probe(): Promise<boolean> {
    try {
      this.isHealthy = (await this.#healthStatus()) < 500
    } catch {
      this.isHealthy = false
    }
    if (this.isHealthy) this.breaker.recordSuccess()
    else this.breaker.recordFailure()
    return this.isHealthy
  }

  /** What a `GET` of a path with its `/v1` answers as JSON; null for anything but a 200. @throws an error of the connection */
  async read(path: string): Promise<unknown> {
    const signal = AbortSignal.timeout(PROBE_MS)
    const response = await this.#request(path, { method: 'GET', signal })
    if (response.statusCode !== 200) {
      await response.body.dump()
      return null
    }
    return await response.body.json()
  }

  async close(): Promise<void> {
    this.#onGone?.()
    await this.#pool.destroy()
  }

  async #healthStatus(): Promise<number> {
    if (this.#hasHealth) {
      const status = await this.#statusOf('/health')
      if (status !== 404 && status !== 401) return status
      this.#hasHealth = false
    }
    return await this.#statusOf('/v1/models')
  }

  async #statusOf(path: string): Promise<number> {
    const signal = AbortSignal.timeout(PROBE_MS)
    const { statusCode, body } = await this.#pool.request({
      path: this.#root + path,
      method: 'GET',
      headers: this.#headers,
      signal,
    })
    await body.dump()
    return statusCode
  }

  #request(path: string, { traceparent, ...options }: RequestOptions): Promise<Dispatcher.ResponseData> {
    const headers = {
      ...this.#headers,
      ...(options.body !== undefined && { 'content-type': 'application/json' }),
      ...(traceparent !== undefined && { traceparent }),
    }
    return this.#pool.request({ path: this.#root + path, ...options, headers })
  }

  /** The rest of an answer. Leaving it early ends the request at the upstream. */
  async *#readOn(answer: OpenAnswer): AsyncGenerator<Uint8Array, void, void> {
    const { pieces, first, stop, signal, finish } = answer
    let isRead = false
    try {
      for (let next = first; next.done !== true;) {
        yield next.value
        // Counted only while the upstream is waited for: a slow reader is no fault of its.
        const timer = setTimeout(
          () => stop.abort(new Error('it was silent for too long')),
          this.#timeouts.betweenMs,
        )
        try {
          next = await pieces.next()
        } finally {
          clearTimeout(timer)
        }
      }
      isRead = true
    } catch (error) {
      signal.throwIfAborted()
      throw answerLost('broke off', stop.signal.aborted ? stop.signal.reason : error)
    } finally {
      finish()
      if (answer.isFinished && !isRead) void readRest(answer)
      else if (!isRead) stop.abort(new Error('the answer was left'))
    }
  }
}

interface OpenAnswer {
  readonly pieces: AsyncIterator<Uint8Array>
  readonly first: IteratorResult<Uint8Array>
  /** Ends the request. */
  readonly stop: AbortController
  /** The caller's. */
  readonly signal: AbortSignal
  readonly finish: () => void
  isFinished: boolean
}

async function readRest({ pieces, stop }: OpenAnswer): Promise<void> {
  const timer = setTimeout(() => stop.abort(new Error('the answer does not end')), LAST_BYTES_MS)
  try {
    while ((await pieces.next()).done !== true) continue
  } catch {
    // Nothing that is waited for.
  } finally {
    clearTimeout(timer)
  }
}

async function readRefusal({ statusCode, headers, body }: Dispatcher.ResponseData): Promise<UpstreamRefusal> {
  const retryAfter = headers['retry-after']
  const pieces: Uint8Array[] = []
  let length = 0
  for await (const piece of body as AsyncIterable<Uint8Array>) {
    pieces.push(piece)
    length += piece.length
    if (length > MAX_ERROR_BYTES) break
  }
  const text = Buffer.concat(pieces).subarray(0, MAX_ERROR_BYTES).toString('utf8')
  return {
    status: statusCode,
    retryAfter: typeof retryAfter === 'string' ? retryAfter : undefined,
    body: text,
  }
}
