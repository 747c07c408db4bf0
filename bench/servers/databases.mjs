// @ts-check
/** Databases with many keys or much usage, filled through the server's own storage, so that what is measured is what it would have made. */
import path from 'node:path'
import { hashSecret, newKeySecret, shownPrefix } from '../../dist/accounts/keys/key-secret.js'
import { openApiDatabase } from '../../dist/storage/api-database.js'
import { insertKey } from '../../dist/storage/keys-repository.js'
import { openUsageDatabase } from '../../dist/storage/usage-database.js'
import { SqliteUsageStore } from '../../dist/storage/sqlite/sqlite-usage-store.js'
import { createRandom } from '../report/statistics.mjs'

const KEYS_PER_ACCOUNT = 10
/** More than one client can ask for: the limit is counted, and never reached. */
const RATE_LIMIT_RPM = 1_000_000
const PATHS = ['/v1/generate', '/v1/generate/stream', '/v1/chat/completions']
const ENTRIES_PER_MINUTE = 100
const SECONDS_PER_MINUTE = 60

/** @typedef {{ id: string, secret: string, accountId: string }} MadeKey */

/**
 * Ten keys to an account, a second apart, the last one now.
 * @param {string} file @param {number} count @returns {Promise<MadeKey[]>}
 */
export async function makeKeys(file, count) {
  const nowUnixSeconds = Date.now() / 1000
  const database = await openApiDatabase(file)
  /** @type {MadeKey[]} */
  const keys = []
  await database.transaction().execute(async (transaction) => {
    for (let index = 0; index < count; index++) {
      const secret = newKeySecret()
      const id = `key-${index}`
      const accountId = `key-${index - (index % KEYS_PER_ACCOUNT)}`
      const stored = {
        ...{ id, accountId, keyPrefix: shownPrefix(secret), name: `Key ${index}`, userId: null },
        ...{ tier: /** @type {const} */ ('enterprise'), customRateLimitRpm: RATE_LIMIT_RPM },
        ...{ createdAtUnixSeconds: nowUnixSeconds - (count - index), expiresAtUnixSeconds: null },
        revokedAtUnixSeconds: null,
        lastUsedAtUnixSeconds: null,
        ...{ teamId: null, dailyTokenBudget: null, monthlyTokenBudget: null },
        ...{ makerKeyId: null, budgetKeyId: null, budgetedAtUnixSeconds: null },
      }
      await insertKey(transaction, stored, hashSecret(secret))
      keys.push({ id, secret, accountId })
    }
  })
  await database.destroy()
  return keys
}

/**
 * Rows of random ones of these keys, 100 in each minute up to now.
 * @param {string} file @param {number} rows @param {readonly MadeKey[]} keys
 */
export async function makeUsage(file, rows, keys) {
  const random = createRandom(rows)
  const database = await openUsageDatabase(file)
  const nowUnixSeconds = Date.now() / 1000
  const minutes = Math.ceil(rows / ENTRIES_PER_MINUTE)
  let unixSeconds = nowUnixSeconds - minutes * SECONDS_PER_MINUTE
  const store = new SqliteUsageStore(database, { nowMs: () => 0, unixSeconds: () => unixSeconds })
  for (let made = 0; made < rows; made += ENTRIES_PER_MINUTE) {
    const entries = Array.from({ length: Math.min(ENTRIES_PER_MINUTE, rows - made) }, () => ({
      ...{ ...ownerOf(keys, random), teamId: null, model: 'model' },
      path: PATHS[Math.floor(random() * PATHS.length)] ?? '',
      ...{ status: 200, tokensIn: Math.floor(random() * 1000), tokensOut: 64, responseMs: random() * 2000 },
    }))
    await store.insert(entries)
    unixSeconds += SECONDS_PER_MINUTE
  }
  await database.destroy()
}

/** @param {readonly MadeKey[]} keys @param {() => number} random */
function ownerOf(keys, random) {
  const { id: keyId = '', accountId = '' } = keys[Math.floor(random() * keys.length)] ?? {}
  return { keyId, accountId }
}

/** @param {string} folder */
export function databaseFiles(folder) {
  return { apiDb: path.join(folder, 'api.db'), usageDb: path.join(folder, 'usage.db') }
}
