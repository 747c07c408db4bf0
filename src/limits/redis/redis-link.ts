/**
 * The connection to Redis, and whether what is asked there gets answers. It is away from the first question that fails until a
 * lease was renewed again; connections are tried with back-off meanwhile.
 *
 *   connected ──a question fails──▶ away: every question fails at once ──`onConnect` succeeds──▶ connected
 *
 * Used by the parts of this folder. Invariant: while it is away no caller waits; at other times `SILENCE_MS` at most.
 */
import { Redis } from 'ioredis'
import { ServiceError, StartError } from '../../core/errors.ts'
import type { LogWriter } from '../../core/log-writer.ts'
import { errorCode } from '../../core/system-error.ts'
import { listScripts, type Script } from './scripts.ts'

export interface RedisLinkOptions {
  /** `redis://` or `rediss://`, perhaps with user, password and the number of a database. */
  readonly url: string
  readonly log: Pick<LogWriter, 'error' | 'info'>
  /** Of all keys. @default sluice: */
  readonly prefix?: string
  /** A test's time, in microseconds. @default the server's */
  readonly nowUs?: () => number
}

/** Without an answer, while something was asked. In ticks: a process here that was too busy to read has one, however long. */
const SILENCE_MS = 1500
const TICK_MS = 250
const CONNECT_TIMEOUT_MS = 2000
const RECONNECT_MS = { first: 50, longest: 1000 }

const NOT_YET = 'the connection failed'

export class RedisLink {
  readonly #options: RedisLinkOptions
  readonly #client: Redis
  readonly #onConnect: (() => Promise<void>)[] = []
  /** The first since Redis was there; it is away until it was there at all. */
  #trouble: string | null = NOT_YET
  /** Whether the trouble was written into the log. */
  #isLogged = false
  #isOpened = false
  #isClosing = false
  #asked = 0
  #silentTicks = 0
  readonly #ticking: NodeJS.Timeout
  #introduction = Promise.resolve()

  constructor(options: RedisLinkOptions) {
    this.#options = options
    this.#client = new Redis(options.url, {
      lazyConnect: true,
      connectTimeout: CONNECT_TIMEOUT_MS,
      connectionName: 'sluice',
      // A question that got no answer is the caller's to decide about, and may have been carried out.
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      retryStrategy: (times) => this.#reconnectMs(times),
      // A primary that has become a replica: its name may lead to another server by now.
      reconnectOnError: tellsOfReplica,
    })
    this.#client.on('error', (error: unknown) => this.noteTrouble(error))
    this.#client.on('close', () => this.noteTrouble(new Error('the connection was cut')))
    // Keeps no process alive.
    this.#ticking = setInterval(() => this.#tick(), TICK_MS).unref()
    this.#client.on('ready', () => {
      this.#introduction = this.#introduce()
    })
  }

  get isAway(): boolean {
    return this.#trouble !== null
  }

  /** As the end of a sentence; null while Redis is there. */
  get trouble(): string | null {
    return this.#trouble
  }

  /** Called on each new connection, before anything else is asked on it. What it rejects with leaves Redis away. */
  onConnect(listener: () => Promise<void>): void {
    this.#onConnect.push(listener)
  }

  get isConnected(): boolean {
    return this.#client.status === 'ready'
  }

  /**
   * Resolves when Redis has answered, or cannot be reached and is not required.
   * @throws StartError where it refuses these credentials, or is required and away
   */
  async connect({ isRequired }: { readonly isRequired: boolean }): Promise<void> {
    await this.#client.connect().catch((error: unknown) => this.noteTrouble(error))
    // The client says that it is ready in the turn after.
    await new Promise((resolve) => setImmediate(resolve))
    await this.#introduction
    if (this.#trouble !== null && (isRequired || REFUSALS.test(this.#trouble)))
      throw new StartError(`Redis (--redis) cannot be used: ${this.#trouble}.`, 1)
    this.#isOpened = true
    this.#logTrouble()
  }

  /** @throws ServiceError `limits_unavailable` */
  async run(script: Script, words: readonly (string | number)[]): Promise<unknown> {
    if (this.isAway) throw limitsUnavailable()
    return await this.runAnyway(script, words)
  }

  /** As `run`, also while Redis counts as away: for what finds out that it is back. */
  async runAnyway(script: Script, words: readonly (string | number)[]): Promise<unknown> {
    if (!this.isConnected) throw limitsUnavailable()
    const { prefix = 'sluice:', nowUs } = this.#options
    const given = [prefix, nowUs === undefined ? '' : String(nowUs()), ...words.map(String)]
    this.#asked++
    try {
      return await this.#evaluate(script, given)
    } catch (error) {
      this.noteTrouble(error)
      throw limitsUnavailable(error)
    } finally {
      this.#asked--
      this.#silentTicks = 0
    }
  }

  noteTrouble(error: unknown): void {
    if (this.#trouble !== null && this.#trouble !== NOT_YET) return
    this.#trouble = describeTrouble(error)
    this.#logTrouble()
  }

  /** A lease was renewed: Redis takes what is written. */
  noteAnswer(): void {
    this.#trouble = null
    if (this.#isLogged) this.#options.log.info('Redis is back')
    this.#isLogged = false
  }

  async close(): Promise<void> {
    this.#isClosing = true
    clearInterval(this.#ticking)
    await this.#client.quit().catch(() => {})
    this.#client.disconnect()
  }

  #logTrouble(): void {
    if (this.#trouble === null || this.#isLogged || !this.#isOpened || this.#isClosing) return
    this.#isLogged = true
    this.#options.log.error({ code: 'limits_unavailable' }, `Redis cannot be used: ${this.#trouble}.`)
  }

  /** A connection that is silently dead, or a server that is stopped, ends here; the client tries another. */
  #tick(): void {
    const isWaiting = this.#asked > 0 || this.#client.status === 'connect'
    this.#silentTicks = isWaiting ? this.#silentTicks + 1 : 0
    if (this.#silentTicks * TICK_MS < SILENCE_MS) return
    this.#silentTicks = 0
    this.#client.stream.destroy(new Error('it does not answer'))
  }

  async #introduce(): Promise<void> {
    try {
      for (const { text } of listScripts()) void this.#client.script('LOAD', text).catch(() => {})
      for (const listener of this.#onConnect) await listener()
      this.noteAnswer()
    } catch (error) {
      this.noteTrouble(error)
    }
  }

  async #evaluate({ text, sha1 }: Script, given: readonly string[]): Promise<unknown> {
    try {
      return await this.#client.call('EVALSHA', sha1, '0', ...given)
    } catch (error) {
      // Forgotten by `SCRIPT FLUSH`; it was not carried out.
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error
      return await this.#client.call('EVAL', text, '0', ...given)
    }
  }

  /** Many instances do not come back in the same moment. */
  #reconnectMs(times: number): number | null {
    if (this.#isClosing) return null
    return Math.min(RECONNECT_MS.first * 2 ** times, RECONNECT_MS.longest) * (0.5 + Math.random() / 2)
  }
}

export function limitsUnavailable(cause?: unknown): ServiceError {
  const options = { retryAfterSeconds: 1, ...(cause === undefined ? {} : { cause }) }
  return new ServiceError('limits_unavailable', { seconds: 1 }, options)
}

export function isLimitsUnavailable(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'limits_unavailable'
}

/** Redis 6 puts the errors of what a script calls behind one of its own. */
export function tellsOfReplica({ message }: Error): boolean {
  return /(?:^|-)READONLY /.test(message)
}

/** What the client says of questions that lost their connection. */
const LOST = /isn't writeable|max retries|connection is closed/i

const TROUBLES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'its host is not known',
  EAI_AGAIN: 'its host cannot be looked up',
  ETIMEDOUT: 'its host does not answer',
  ECONNRESET: 'the connection was cut',
}

/** As the end of a sentence. */
function describeTrouble(error: unknown): string {
  if (error instanceof ServiceError && error.cause !== undefined) return describeTrouble(error.cause)
  const known = TROUBLES[errorCode(error) ?? '']
  if (known !== undefined) return known
  const message = error instanceof Error ? error.message : String(error)
  if (LOST.test(message)) return 'the connection was cut'
  return message.replace(/\.$/, '') || 'the connection failed'
}

/** What no later try would change. */
const REFUSALS = /WRONGPASS|NOAUTH|NOPERM|invalid password|DB index|unknown command|certificate/i
