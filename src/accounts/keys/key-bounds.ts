/** Bounds of a key's fields, wherever they are set (interface, "Limits"; decisions, Accounts and keys). */
export const MAX_KEY_NAME_LENGTH = 64
export const MAX_RATE_LIMIT_RPM = 1_000_000
/** Of keys, users and teams. A million tokens a second for a month are 2.6e12. */
export const MAX_BUDGET_TOKENS = 1_000_000_000_000_000
/** Of keys that users create. */
export const MAX_OWN_EXPIRY_DAYS = 365
/** Of keys that the admin creates. */
export const MAX_EXPIRY_DAYS = 3650
