/** Identifiers that leave the process. Not secrets: keys come from `accounts/`. */

const ID_CHARACTERS = 24
/** Filled in one call, as each call is expensive. From the global `crypto`: importing `node:crypto` takes time. */
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
