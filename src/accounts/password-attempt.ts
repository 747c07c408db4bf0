/** A password that may be wrong, checked under the throttle that ends guessing. */
import type { FailedLoginThrottle } from '../limits/failed-login-throttle.ts'

export interface Attempter {
  /** Of the account that is tried, whether it exists or not. */
  readonly emailKey: string
  readonly addressKey: string
}

/**
 * Takes a place among the failures before `check` looks at the password, so that attempts that run at once cannot pass
 * together. A right password gives it back, and so does an error, which says nothing of the password.
 * @throws ServiceError `too_many_logins`, or what `check` throws.
 */
export async function attemptPassword(
  throttle: FailedLoginThrottle,
  { emailKey, addressKey }: Attempter,
  check: () => Promise<boolean>,
): Promise<boolean> {
  const admission = throttle.begin(emailKey, addressKey)
  if (admission.outcome === 'refused') throw admission.error
  let isWrong = false
  try {
    isWrong = !(await check())
    return !isWrong
  } finally {
    if (!isWrong) admission.attempt.succeed()
  }
}
