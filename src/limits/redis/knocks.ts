/** Knocks in Redis. While it is away, an address is open that has knocked at this instance since. */
import type { KnockOutcome, Knocks } from '../../core/shared-state.ts'
import { type KnockSequence, MAX_OPEN } from '../memory/knocks.ts'
import { AWAY, type RedisParts, toAway } from './redis-parts.ts'
import { script } from './scripts.ts'

/** ARGV: address. */
const IS_OPEN = script(`
local ends = redis.call('ZSCORE', prefix .. 'open', ARGV[3])
return ends and tonumber(ends) > now and 1 or 0`)

/** ARGV: address, port, window, opening, most that are open, then the ports in order. Gives 0 knocking, 1 opened, 2 full. */
const KNOCK = script(`
local address, window, opening, most = ARGV[3], tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
local key, open, port_count = prefix .. 'knock:' .. address, prefix .. 'open', #ARGV - 7
local knocks, started = unpack(redis.call('HMGET', key, 'knocks', 'started'))
redis.call('DEL', key)
local in_time = knocks and now - tonumber(started) <= window
if in_time and ARGV[4] == ARGV[8 + tonumber(knocks)] then
  knocks = tonumber(knocks) + 1
elseif ARGV[4] == ARGV[8] then
  knocks, started = 1, string.format('%.0f', now)
else
  return 0
end
if knocks < port_count then
  redis.call('HSET', key, 'knocks', knocks, 'started', started)
  redis.call('PEXPIRE', key, math.ceil(window / 1000) + 1)
  return 0
end
redis.call('ZREM', open, address)
redis.call('ZREMRANGEBYSCORE', open, '-inf', string.format('%.0f', now))
if redis.call('ZCARD', open) >= most then return 2 end
redis.call('ZADD', open, string.format('%.0f', now + opening), address)
redis.call('PEXPIRE', open, math.ceil(opening / 1000) + 1)
return 1`)

const OUTCOMES: readonly KnockOutcome[] = ['knocking', 'opened', 'full']

export class RedisKnocks implements Knocks {
  readonly #parts: RedisParts
  readonly #numbers: readonly number[]

  constructor(parts: RedisParts, { ports, windowMs, openMs }: KnockSequence) {
    this.#parts = parts
    this.#numbers = [windowMs * 1000, openMs * 1000, MAX_OPEN, ...ports]
  }

  async isOpen(addressKey: string): Promise<boolean> {
    const { link, memory } = this.#parts
    const answer = await link.run(IS_OPEN, [addressKey]).catch(toAway)
    return answer === AWAY ? memory.knocks.isOpen(addressKey) : answer === 1
  }

  async knock(addressKey: string, port: number): Promise<KnockOutcome> {
    const { link, memory } = this.#parts
    const answer = await link.run(KNOCK, [addressKey, port, ...this.#numbers]).catch(toAway)
    if (answer === AWAY) return memory.knocks.knock(addressKey, port)
    return OUTCOMES[Number(answer)] ?? 'knocking'
  }
}
