/** What a key may be given, wherever it is asked for (interface, "Limits"; decisions, Accounts and keys). */
export const MAX_KEY_NAME_LENGTH = 64
export const MAX_RATE_LIMIT_RPM = 1_000_000
/** Of keys that users make themselves. */
export const MAX_OWN_EXPIRY_DAYS = 365
/** Of keys that the admin makes. */
export const MAX_EXPIRY_DAYS = 3650
