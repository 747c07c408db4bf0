/**
 * Replaces the served certificate when its files change. The files are read every second, which also detects retargeted
 * links and swapped folders, and when the operator asks for it (SIGHUP). Unusable files cause a warning in the log, and
 * the old certificate stays in use. Tools write the two files one after the other, so a problem is logged only when it
 * lasts.
 */
import type { Clock } from '../../core/clock.ts'
import type { LogWriter } from '../../core/log-writer.ts'
import { type Certificate, checkPair, readPair, type TlsIdentity } from './certificate.ts'

const READ_EVERY_MS = 1000
/** Consecutive readings with the same problem before it is logged. */
const LASTING_READINGS = 10
const DAY_SECONDS = 86_400
const WARN_BEFORE_SECONDS = 14 * DAY_SECONDS

export interface CertificateReloaderOptions extends TlsIdentity {
  /** Called with each new certificate. */
  readonly onNew: (certificate: Certificate) => void
  readonly clock: Clock
  readonly log: LogWriter
  /** @default 1000 */
  readonly readEveryMs?: number
}

type Outcome = { readonly kind: 'same' | 'new' } | { readonly kind: 'problem'; readonly problem: string }

export class CertificateReloader {
  readonly #options: CertificateReloaderOptions
  #certificate: Certificate
  #timer: NodeJS.Timeout | null = null
  #reading: Promise<unknown> = Promise.resolve()
  #lastProblem: string | null = null
  /** Consecutive readings that ended in `#lastProblem`. */
  #problemReadings = 0
  #warnedAtUnixSeconds = Number.NEGATIVE_INFINITY
  #isClosed = false

  constructor(options: CertificateReloaderOptions) {
    this.#options = options
    this.#certificate = options.certificate
    this.#warnOfExpiry()
    this.#schedule()
  }

  /** Reads the files at once and logs the result, success or failure. */
  async reload(): Promise<void> {
    const outcome = await this.#read()
    if (outcome.kind === 'same') this.#options.log.info('the TLS files are unchanged')
    if (outcome.kind !== 'problem') return
    this.#logProblem(outcome.problem)
    this.#problemReadings = LASTING_READINGS
  }

  /** The periodic reading. */
  async check(): Promise<void> {
    this.#warnOfExpiry()
    const outcome = await this.#read()
    if (outcome.kind === 'problem' && this.#problemReadings === LASTING_READINGS) {
      this.#logProblem(outcome.problem)
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    await this.#reading
  }

  #schedule(): void {
    if (this.#isClosed) return
    const { readEveryMs = READ_EVERY_MS } = this.#options
    this.#timer = setTimeout(() => void this.check().then(() => this.#schedule()), readEveryMs).unref()
  }

  /** One at a time, so that an older reading never replaces a newer one. */
  #read(): Promise<Outcome> {
    const reading = this.#reading.then(() => this.#readNow())
    this.#reading = reading
    return reading
  }

  async #readNow(): Promise<Outcome> {
    const { files, clock, log, onNew } = this.#options
    try {
      const pair = await readPair(files)
      const isSame = pair.digest === this.#certificate.digest
      if (!isSame) {
        const certificate = checkPair(pair, files, clock)
        // When the server rejects it, the next reading tries again.
        onNew(certificate)
        this.#certificate = certificate
        log.info({ validTo: dateOf(this.#certificate) }, 'the TLS certificate was replaced')
        this.#warnedAtUnixSeconds = Number.NEGATIVE_INFINITY
        this.#warnOfExpiry()
      }
      this.#lastProblem = null
      return { kind: isSame ? 'same' : 'new' }
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error)
      this.#problemReadings = problem === this.#lastProblem ? this.#problemReadings + 1 : 1
      this.#lastProblem = problem
      return { kind: 'problem', problem }
    }
  }

  #logProblem(problem: string): void {
    this.#options.log.warn(
      { problem },
      'the TLS files cannot be used; the certificate from before goes on serving',
    )
  }

  /** Once a day. */
  #warnOfExpiry(): void {
    const { clock, log } = this.#options
    const nowUnixSeconds = clock.unixSeconds()
    const leftSeconds = this.#certificate.validToUnixSeconds - nowUnixSeconds
    if (leftSeconds > WARN_BEFORE_SECONDS || nowUnixSeconds - this.#warnedAtUnixSeconds < DAY_SECONDS) return
    this.#warnedAtUnixSeconds = nowUnixSeconds
    const daysLeft = Math.floor(leftSeconds / DAY_SECONDS)
    log.warn(
      { validTo: dateOf(this.#certificate), daysLeft },
      leftSeconds > 0 ? 'the TLS certificate ends soon' : 'the TLS certificate has expired',
    )
  }
}

function dateOf({ validToUnixSeconds }: Certificate): string {
  return new Date(validToUnixSeconds * 1000).toISOString()
}
