/** E-mail addresses: shown as they were registered, compared without regard to case (spec: decisions, Accounts and keys). */

/** RFC 5321, section 4.5.3.1.3, without the angle brackets. */
export const MAX_EMAIL_LENGTH = 254

/** Equal for two spellings of one address. A text too long for an address is cut to a length that no address has. */
export function emailKey(email: string): string {
  return email
    .trim()
    .slice(0, MAX_EMAIL_LENGTH + 1)
    .toLowerCase()
}
