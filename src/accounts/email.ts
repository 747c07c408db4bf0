/** E-mail addresses: shown as they were registered, compared without regard to case (spec: decisions, Accounts and keys). */

export function trimEmail(email: string): string {
  return email.trim()
}

/** Equal for two addresses that are the same one. */
export function emailKey(email: string): string {
  return email.trim().normalize('NFC').toLowerCase().normalize('NFC')
}
