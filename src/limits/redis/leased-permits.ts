/**
 * What this instance holds in Redis: permits, and attempts whose result is open. All of it stands under one lease, which is
 * renewed while the instance lives: when it dies, its permits return after `LEASE_MS`. Each connection has a lease of its own,
 * under which everything that is held is registered anew; so nothing that was lost on the way from or to Redis stays behind.
 * Invariant: what Redis counts under the lease is what is held here, but for what is under way.
 */
import { randomUUID } from 'node:crypto'
import type { RedisLink } from './redis-link.ts'
import { type Script, script } from './scripts.ts'

/** ARGV: lease, milliseconds. Gives 1 where the lease was still there. */
const RENEW_LEASE = script(`
local key = prefix .. 'lease:' .. ARGV[3]
local was_there = redis.call('EXISTS', key)
redis.call('SET', key, '', 'PX', ARGV[4])
return was_there`)

/** Ends a lease, and what it holds with it. ARGV: lease. */
const END_LEASE = script(`redis.call('DEL', prefix .. 'lease:' .. ARGV[3])`)

/** ARGV: lease, then each id and its number. */
const HOLD = script(`for i = 4, #ARGV, 2 do hold(ARGV[i], ARGV[3], ARGV[i + 1]) end`)

/** ARGV: lease, ids. */
const DROP = script(`for i = 4, #ARGV do drop(ARGV[i], ARGV[3]) end`)

/** How long a dead instance's permits are held: a client that tries again after three seconds finds them free. */
const LEASE_MS = 2500
const RENEW_EVERY_MS = 750

/** In one script, so that none takes long. */
const MAX_REGISTERED = 1000

interface Held {
  readonly ids: readonly string[]
  /** Whether Redis counts it, as far as it is known here. */
  isRegistered: boolean
}

export class LeasedPermits {
  readonly #link: RedisLink
  readonly #held = new Map<string, Held>()
  readonly #timer: NodeJS.Timeout
  #leaseId = randomUUID()
  #heldCount = 0

  constructor(link: RedisLink) {
    this.#link = link
    link.onConnect(() => this.#registerAll())
    // Keeps no process alive.
    this.#timer = setInterval(() => void this.#renew(), RENEW_EVERY_MS).unref()
  }

  get leaseId(): string {
    return this.#leaseId
  }

  /**
   * Holds what Redis has counted under these ids, or could not be asked about. Gives the name to drop it by.
   * @param leaseId the lease that it was counted under; null when Redis was not asked
   */
  hold(ids: readonly string[], leaseId: string | null): string {
    const name = `${this.#leaseId}:${++this.#heldCount}`
    this.#held.set(name, { ids, isRegistered: leaseId !== null })
    // Another lease has begun meanwhile, and this was not yet held when that was registered.
    if (leaseId !== null && leaseId !== this.#leaseId) {
      this.#tell(HOLD, [this.#leaseId, ...ids.flatMap((id) => [id, 1])])
    }
    return name
  }

  /** Forgets it; the caller drops it in Redis. False where Redis does not count it. */
  forget(name: string): boolean {
    const held = this.#held.get(name)
    this.#held.delete(name)
    return held?.isRegistered === true
  }

  /** One-way. */
  drop(name: string): void {
    const ids = this.#held.get(name)?.ids ?? []
    if (this.forget(name)) this.#tell(DROP, [this.#leaseId, ...ids])
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#link.runAnyway(END_LEASE, [this.#leaseId]).catch(() => {})
  }

  /** What Redis is not told stands under this lease alone, which ends with the connection. */
  #tell(script: Script, words: readonly (string | number)[]): void {
    void this.#link.runAnyway(script, words).catch(() => {})
  }

  async #renew(): Promise<void> {
    if (!this.#link.isConnected) return
    try {
      const wasThere = await this.#link.runAnyway(RENEW_LEASE, [this.#leaseId, LEASE_MS])
      // Too late, or Redis has lost its data: other instances no longer count what is held here.
      // While it was away, what is held here was not registered.
      if (wasThere !== 1 || this.#link.isAway) await this.#registerAll()
      this.#link.noteAnswer()
    } catch {
      // The link has noted it, and tries again with the next connection.
    }
  }

  async #registerAll(): Promise<void> {
    const lastLeaseId = this.#leaseId
    this.#leaseId = randomUUID()
    const words = [...countById(this.#held.values())].flat()
    for (const held of this.#held.values()) held.isRegistered = true
    // In the order of one connection: none waits for the one before.
    const asked = [this.#link.runAnyway(RENEW_LEASE, [this.#leaseId, LEASE_MS])]
    for (let start = 0; start < words.length; start += MAX_REGISTERED) {
      const some = words.slice(start, start + MAX_REGISTERED)
      asked.push(this.#link.runAnyway(HOLD, [this.#leaseId, ...some]))
    }
    asked.push(this.#link.runAnyway(END_LEASE, [lastLeaseId]))
    await Promise.all(asked)
  }
}

function countById(held: Iterable<Held>): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { ids } of held) for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1)
  return counts
}
