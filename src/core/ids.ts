/** Identifiers that leave the process. Not secrets: keys come from `accounts/`. */

const ID_CHARACTERS = 24
/** Random bytes, and their characters, cost most by the call; and Node's module for them by its import, which the global is without. */
const POOL = Buffer.alloc((ID_CHARACTERS / 2) * 256)
let characters = ''
let used = 0

/** 24 hex characters, unique enough for a log line or a `chatcmpl-` id. */
export function newId(): string {
  if (used === characters.length) {
    characters = crypto.getRandomValues(POOL).toString('hex')
    used = 0
  }
  used += ID_CHARACTERS
  return characters.slice(used - ID_CHARACTERS, used)
}
