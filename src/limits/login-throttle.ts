/**
 * Limits the guessing of passwords: at most 10 failed logins a minute for one e-mail from one address, and 100 from one
 * address. Only failures count, so a right password is refused only after as many wrong ones. Called by the account
 * service around every check of a password; the counts are in the shared state.
 */
import { ServiceError } from '../core/errors.ts'
import type { FailedLogins, LoginAttempt } from '../core/shared-state.ts'

const LIMITS = {
  maxPerEmail: 10,
  maxPerAddress: 100,
  /** As many as wait for a password to be checked. */
  maxWaiting: 128,
}

const QUEUE_RETRY_SECONDS = 1

type LoginSubject = Pick<LoginAttempt, 'emailKey' | 'addressKey'>

export class LoginThrottle {
  readonly #logins: FailedLogins

  constructor(logins: FailedLogins) {
    this.#logins = logins
  }

  /**
   * Runs `check`, which resolves with whether the password is right, and counts a failure when it is not. An error is no
   * result and counts as no failure.
   * @throws ServiceError `too_many_logins`, `password_queue_full`, or what `check` throws.
   */
  async attempt(subject: LoginSubject, check: () => Promise<boolean>): Promise<boolean> {
    const attemptId = await this.#begin(subject)
    let result: 'passed' | 'failed' | 'unknown' = 'unknown'
    try {
      const isRight = await check()
      result = isRight ? 'passed' : 'failed'
      return isRight
    } finally {
      this.#logins.end(attemptId, result)
    }
  }

  async #begin(subject: LoginSubject): Promise<string> {
    const decision = await this.#logins.begin({ ...subject, ...LIMITS })
    switch (decision.outcome) {
      case 'begun':
        return decision.attemptId
      case 'refused': {
        const { maxPerEmail, maxPerAddress } = LIMITS
        const { retryAfterSeconds: seconds } = decision
        const params = { maxPerEmail, maxPerAddress, seconds }
        throw new ServiceError('too_many_logins', params, { retryAfterSeconds: seconds })
      }
      case 'queue-full': {
        const params = { max: LIMITS.maxWaiting, seconds: QUEUE_RETRY_SECONDS }
        throw new ServiceError('password_queue_full', params, { retryAfterSeconds: QUEUE_RETRY_SECONDS })
      }
    }
  }
}
