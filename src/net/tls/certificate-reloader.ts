/**
 * Keeps the certificate that is served up to date with its files: they are read again when the operator says so
 * (SIGHUP), when something happens in their folders, and each minute in case nothing was told. Whatever is wrong with
 * the new ones is logged, and the old certificate goes on serving. Tools write the two files one after the other, so
 * that they do not match for a moment: a change is given time before anything is said.
 */
import { type FSWatcher, watch } from 'node:fs'
import path from 'node:path'
import type { Clock } from '../../core/clock.ts'
import type { Log } from '../../core/log.ts'
import {
  type Certificate,
  type CertificateFiles,
  CertificateProblem,
  readCertificate,
} from './certificate.ts'

/** From the last event to the reading: several belong to one change. */
const SETTLE_MS = 100
const RETRY_MS = 500
const MAX_TRIES = 20
const LOOK_EVERY_MS = 60_000
const DAY_SECONDS = 86_400
const WARN_BEFORE_SECONDS = 14 * DAY_SECONDS

export interface CertificateReloaderOptions {
  readonly files: CertificateFiles
  readonly certificate: Certificate
  /** Told each time that there is another one. */
  readonly onNew: (certificate: Certificate) => void
  readonly clock: Clock
  readonly log: Log
  /** Between two tries to read files that do not fit together yet. @default 500 */
  readonly retryMs?: number
}

export class CertificateReloader {
  readonly #files: CertificateFiles
  readonly #onNew: (certificate: Certificate) => void
  readonly #clock: Clock
  readonly #log: Log
  readonly #retryMs: number
  readonly #watchers: readonly FSWatcher[]
  readonly #lookTimer: NodeJS.Timeout
  #certificate: Certificate
  #settleTimer: NodeJS.Timeout | null = null
  #triesLeft = 0
  #reading: Promise<unknown> = Promise.resolve()
  /** What was said of the files last, so that it is said once. */
  #lastProblem: string | null = null
  #warnedAtUnixSeconds = Number.NEGATIVE_INFINITY
  #isClosed = false

  constructor({ files, certificate, onNew, clock, log, retryMs = RETRY_MS }: CertificateReloaderOptions) {
    this.#files = files
    this.#certificate = certificate
    this.#onNew = onNew
    this.#clock = clock
    this.#log = log
    this.#retryMs = retryMs
    this.#watchers = this.#watchFolders()
    this.#lookTimer = setInterval(() => this.look(), LOOK_EVERY_MS).unref()
    this.#warnOfEnd()
  }

  /** Reads the files now and says in the log what came of it. */
  async reload(): Promise<void> {
    const outcome = await this.#read()
    if (outcome === 'same') this.#log.info('the TLS files are unchanged')
    else if (outcome !== 'new') this.#complain(outcome.problem)
  }

  /** What is done each minute. */
  look(): void {
    this.#warnOfEnd()
    this.#expectChange()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#lookTimer)
    if (this.#settleTimer !== null) clearTimeout(this.#settleTimer)
    for (const watcher of this.#watchers) watcher.close()
    await this.#reading
  }

  /** Folders, because files are replaced by others, and links by links. */
  #watchFolders(): readonly FSWatcher[] {
    const folders = new Set([this.#files.certfile, this.#files.keyfile].map((file) => path.dirname(file)))
    return [...folders].flatMap((folder) => {
      const giveUp = (error: Error) =>
        this.#log.warn(
          { err: error },
          'the folder of the TLS files cannot be watched; they are read each minute',
        )
      try {
        const watcher = watch(folder, { persistent: false }, () => this.#expectChange())
        return [watcher.on('error', giveUp)]
      } catch (error) {
        giveUp(error as Error)
        return []
      }
    })
  }

  #expectChange(): void {
    this.#triesLeft = MAX_TRIES
    this.#tryIn(SETTLE_MS)
  }

  #tryIn(delayMs: number): void {
    if (this.#isClosed) return
    if (this.#settleTimer !== null) clearTimeout(this.#settleTimer)
    this.#settleTimer = setTimeout(() => void this.#try(), delayMs).unref()
  }

  async #try(): Promise<void> {
    this.#triesLeft--
    const outcome = await this.#read()
    if (outcome === 'same' || outcome === 'new') return
    if (this.#triesLeft > 0) this.#tryIn(this.#retryMs)
    else if (outcome.problem !== this.#lastProblem) this.#complain(outcome.problem)
  }

  /** One at a time, so that an older reading never replaces a newer one. */
  #read(): Promise<'same' | 'new' | { readonly problem: string }> {
    const reading = this.#reading.then(() => this.#readNow())
    this.#reading = reading
    return reading
  }

  async #readNow(): Promise<'same' | 'new' | { readonly problem: string }> {
    try {
      const certificate = await readCertificate(this.#files, this.#clock)
      this.#lastProblem = null
      if (certificate.digest === this.#certificate.digest) return 'same'
      this.#onNew(certificate)
      this.#certificate = certificate
      this.#log.info({ validTo: dateOf(certificate) }, 'the TLS certificate was replaced')
      this.#warnedAtUnixSeconds = Number.NEGATIVE_INFINITY
      this.#warnOfEnd()
      return 'new'
    } catch (error) {
      return { problem: error instanceof CertificateProblem ? error.message : String(error) }
    }
  }

  #complain(problem: string): void {
    this.#lastProblem = problem
    this.#log.warn({ problem }, 'the TLS files cannot be used; the certificate from before goes on serving')
  }

  /** Once a day. */
  #warnOfEnd(): void {
    const nowUnixSeconds = this.#clock.unixSeconds()
    const leftSeconds = this.#certificate.validToUnixSeconds - nowUnixSeconds
    if (leftSeconds > WARN_BEFORE_SECONDS || nowUnixSeconds - this.#warnedAtUnixSeconds < DAY_SECONDS) return
    this.#warnedAtUnixSeconds = nowUnixSeconds
    const daysLeft = Math.floor(leftSeconds / DAY_SECONDS)
    const validTo = dateOf(this.#certificate)
    this.#log.warn(
      { validTo, daysLeft },
      leftSeconds > 0 ? 'the TLS certificate ends soon' : 'the TLS certificate has expired',
    )
  }
}

function dateOf({ validToUnixSeconds }: Certificate): string {
  return new Date(validToUnixSeconds * 1000).toISOString()
}
