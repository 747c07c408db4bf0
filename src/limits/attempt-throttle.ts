/**
 * Limits how often an address may try what costs a password's hashing or could guess a secret: logins, registrations and the
 * admin key. Owns the numbers and the errors; the counts are in the shared state, under the client's address. Called by the
 * account service and by the check of the admin key.
 */
import { createHash } from 'node:crypto'
import { type ErrorCode, ServiceError } from '../core/errors.ts'
import type { AttemptLimits, AttemptResult, LimitedAttempt } from '../core/shared-state.ts'

const LOGINS = {
  /** Failures of one e-mail from one address; right passwords do not count. */
  maxPerEmail: 10,
  /** Of one address, successful ones too: each takes a turn at the hashing of passwords. */
  maxPerAddress: 100,
}

const MAX_REGISTRATIONS = 100

const MAX_WRONG_ADMIN_KEYS = 30

/** Attempts that wait for the result of others under the same limit. */
const MAX_WAITING = 128

const QUEUE_RETRY_SECONDS = 1

interface LoginSubject {
  /** In the form in which e-mails are compared, of an account that exists or not. */
  readonly emailKey: string
  readonly addressKey: string
}

export class AttemptThrottle {
  readonly #attempts: AttemptLimits

  constructor(attempts: AttemptLimits) {
    this.#attempts = attempts
  }

  /**
   * Runs `check`, which resolves with whether the password is right. An error is no result and does not count.
   * @throws ServiceError `too_many_logins`, `password_queue_full`, or what `check` throws.
   */
  async login({ emailKey, addressKey }: LoginSubject, check: () => Promise<boolean>): Promise<boolean> {
    const limits = [
      { id: hashPair(emailKey, addressKey), maxPerMinute: LOGINS.maxPerEmail, counts: 'failures' },
      { id: `login:${addressKey}`, maxPerMinute: LOGINS.maxPerAddress, counts: 'all' },
    ] as const
    return await this.#attempt(limits, check, (seconds) => refusal('too_many_logins', { ...LOGINS, seconds }))
  }

  /**
   * As `login`, of the token of a link: wrong ones count as failures of one e-mail.
   * @throws ServiceError `too_many_logins`, or what `check` throws.
   */
  async token(addressKey: string, check: () => Promise<boolean>): Promise<boolean> {
    return await this.login({ emailKey: 'token of a link', addressKey }, check)
  }

  /**
   * Counts a registration, whatever becomes of it: an e-mail that is taken answers without hashing.
   * @throws ServiceError `too_many_registrations`
   */
  async registration(addressKey: string): Promise<void> {
    const limits = [{ id: `register:${addressKey}`, maxPerMinute: MAX_REGISTRATIONS, counts: 'all' }] as const
    const refuse = (seconds: number) => refusal('too_many_registrations', { max: MAX_REGISTRATIONS, seconds })
    await this.#attempt(limits, async () => true, refuse)
  }

  /**
   * Whether `check` finds the admin key right; a wrong one counts.
   * @throws ServiceError `too_many_admin_keys`, to the right key as well: nothing is learnt by trying on.
   */
  async adminKey(addressKey: string, check: () => boolean): Promise<boolean> {
    const limits = [
      { id: `admin:${addressKey}`, maxPerMinute: MAX_WRONG_ADMIN_KEYS, counts: 'failures' },
    ] as const
    const refuse = (seconds: number) => refusal('too_many_admin_keys', { max: MAX_WRONG_ADMIN_KEYS, seconds })
    return await this.#attempt(limits, async () => check(), refuse)
  }

  async #attempt(
    limits: LimitedAttempt['limits'],
    check: () => Promise<boolean>,
    refuse: (seconds: number) => ServiceError,
  ): Promise<boolean> {
    const decision = await this.#attempts.begin({ limits, maxWaiting: MAX_WAITING })
    if (decision.outcome === 'refused') throw refuse(decision.retryAfterSeconds)
    if (decision.outcome === 'queue-full') throw passwordQueueFull(MAX_WAITING)
    let result: AttemptResult = 'unknown'
    try {
      const isRight = await check()
      result = isRight ? 'passed' : 'failed'
      return isRight
    } finally {
      this.#attempts.end(decision.attemptId, result)
    }
  }
}

export function passwordQueueFull(max: number): ServiceError {
  return refusal('password_queue_full', { max, seconds: QUEUE_RETRY_SECONDS })
}

function refusal(code: ErrorCode, params: { readonly seconds: number; readonly [name: string]: number }) {
  return new ServiceError(code, params, { retryAfterSeconds: params.seconds })
}

/** One short id however long the e-mail is, and no e-mail stays in memory. */
function hashPair(emailKey: string, addressKey: string): string {
  return createHash('sha256').update(`${addressKey}\0${emailKey}`, 'utf8').digest('base64')
}
