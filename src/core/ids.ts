/** Identifiers that leave the process. Not secrets: keys come from `accounts/`. */

const ID_BYTES = 12
/** Random bytes cost most by the call; and Node's module for them by its import, which the global is without. */
const POOL = Buffer.alloc(ID_BYTES * 256)
let usedBytes = POOL.length

/** 24 hex characters, unique enough for a log line or a `chatcmpl-` id. */
export function newId(): string {
  if (usedBytes === POOL.length) {
    crypto.getRandomValues(POOL)
    usedBytes = 0
  }
  usedBytes += ID_BYTES
  return POOL.toString('hex', usedBytes - ID_BYTES, usedBytes)
}
