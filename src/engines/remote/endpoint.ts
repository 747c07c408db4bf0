/**
 * One server behind a remote model: its connections, its outstanding requests, its circuit breaker. Sends what `remote-engine.ts`
 * asks for and gives the answer as soon as its first byte is there.
 *
 * Invariant: whatever becomes of a request, it counts as outstanding until its answer has come whole, failed or was left.
 */
import { type Dispatcher, Pool } from 'undici'
import type { Clock } from '../../core/clock.ts'
import { ServiceError } from '../../core/errors.ts'
import type { SecretText } from '../../core/text/secret-text.ts'
import type { EndpointObserver, UpstreamOutcome } from '../../telemetry/upstream-metrics.ts'
import { CircuitBreaker } from './circuit-breaker.ts'
import type { UpstreamRefusal } from './upstream-errors.ts'
import { type AnswerHead, UpstreamExchange } from './upstream-exchange.ts'

/** How long an upstream may take. */
export interface RemoteTimeouts {
  readonly connectMs: number
  readonly firstByteMs: number
  /** Between two pieces of an answer. */
  readonly betweenMs: number
}

export const REMOTE_TIMEOUTS: RemoteTimeouts = { connectMs: 5000, firstByteMs: 300_000, betweenMs: 60_000 }

const PROBE_MS = 5000
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
  readonly onSent?: () => void
}

/** A refusal, or an answer whose first byte has come. */
export type EndpointAnswer =
  | { readonly kind: 'refused'; readonly refusal: UpstreamRefusal }
  | { readonly kind: 'answered'; readonly body: UpstreamExchange }

export class Endpoint {
  readonly url: string
  readonly breaker: CircuitBreaker
  /** In front of `/v1`. */
  readonly #root: string
  readonly #pool: Pool
  readonly #headers: Readonly<Record<string, string>>
  readonly #postHeaders: Readonly<Record<string, string>>
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
    this.#postHeaders = { ...this.#headers, 'content-type': 'application/json' }
  }

  /** Whether its last probe was answered and its breaker is closed. */
  get takesWork(): boolean {
    return this.isHealthy !== false && this.breaker.isClosed
  }

  get outstanding(): number {
    return this.#outstanding
  }

  /** @throws the signal's reason; an error of the connection, or that nothing came in time; ServiceError `shutting_down` */
  async send(request: SentRequest, signal: AbortSignal): Promise<EndpointAnswer> {
    signal.throwIfAborted()
    this.#outstanding++
    const sentMs = performance.now()
    const observe = (outcome: UpstreamOutcome): void =>
      this.#observer?.onAnswer(this.url, outcome, (performance.now() - sentMs) / 1000)
    const onOver = (): void => void this.#outstanding--
    const { onSent } = request
    const body = new UpstreamExchange({ ...this.#timeouts, signal, onOver, onSent })
    this.#pool.dispatch(this.#toDispatch(request), body)
    try {
      const head = await body.head()
      if (head.status === 200) {
        observe('answered')
        return { kind: 'answered', body }
      }
      const refusal = await readRefusal(head, body)
      observe('refused')
      return { kind: 'refused', refusal }
    } catch (error) {
      observe(signal.aborted ? 'left' : 'failed')
      signal.throwIfAborted()
      throw error
    }
  }

  /** Whether it can take work: its `/health`, or where it has none its list of models. Feeds the breaker. */
  async probe(): Promise<boolean> {
    const wasAway = this.isHealthy === false
    try {
      this.isHealthy = (await this.#healthStatus()) < 500
    } catch {
      this.isHealthy = false
    }
    if (this.isHealthy) this.breaker.recordPresence({ isBack: wasAway })
    else this.breaker.recordFailure({ isAway: true })
    return this.isHealthy
  }

  /** What a `GET` of a path with its `/v1` answers as JSON; null for anything but a 200. @throws an error of the connection */
  async read(path: string): Promise<unknown> {
    const signal = AbortSignal.timeout(PROBE_MS)
    const response = await this.#get(path, signal)
    if (response.statusCode !== 200) {
      await response.body.dump()
      return null
    }
    return await response.body.json()
  }

  /** What it has not answered fails with `shutting_down`. */
  async close(): Promise<void> {
    this.#onGone?.()
    await this.#pool.destroy(new ServiceError('shutting_down'))
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
    const { statusCode, body } = await this.#get(path, signal)
    await body.dump()
    return statusCode
  }

  #get(path: string, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    return this.#pool.request({ path: this.#root + path, method: 'GET', headers: this.#headers, signal })
  }

  #toDispatch({ path, json, traceparent }: SentRequest): Dispatcher.DispatchOptions {
    const headers = traceparent === undefined ? this.#postHeaders : { ...this.#postHeaders, traceparent }
    return { path: this.#root + path, method: 'POST', headers, body: json }
  }
}

async function readRefusal(
  { status, retryAfter }: AnswerHead,
  answer: UpstreamExchange,
): Promise<UpstreamRefusal> {
  const pieces: Uint8Array[] = []
  let length = 0
  for await (const piece of answer) {
    pieces.push(piece)
    length += piece.length
    if (length > MAX_ERROR_BYTES) break
  }
  const body = Buffer.concat(pieces).subarray(0, MAX_ERROR_BYTES).toString('utf8')
  return { status, retryAfter, body }
}
