/** Bans in Redis, by the numbers of those in memory. While Redis is away, those of this process's memory are in force. */
import type { Ban, Bans } from '../../core/shared-state.ts'
import { BAN_MS, FORGIVEN_AFTER_MS, MAX_ADDRESSES, MAX_OFFENCES } from '../memory/bans.ts'
import { AWAY, type RedisParts, toAway } from './redis-parts.ts'
import { toWholeSeconds } from './request-limits.ts'
import { script } from './scripts.ts'

/** ARGV: address. A ban is its count, its beginning, its end and what is left of it. */
const FIND_BAN = script(`
local count, since, ends = unpack(redis.call('HMGET', prefix .. 'ban:' .. ARGV[3], 'count', 'since', 'until'))
if not ends or tonumber(ends) <= now then return false end
return {tonumber(count), tonumber(since), tonumber(ends), tonumber(ends) - now}`)

/** ARGV: address, most offences, microseconds until one is forgiven, most bans on record, then the lengths of bans. */
const RECORD_OFFENCE = script(`
local address, most, forgiven, most_bans = ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local key, offences = prefix .. 'ban:' .. address, prefix .. 'window:offences:' .. address
local count, ends = unpack(redis.call('HMGET', key, 'count', 'until'))
if ends and tonumber(ends) > now then return false end
if trim(offences) + 1 < most then
  add(offences)
  return false
end
redis.call('DEL', offences)
count = ends and now < tonumber(ends) + forgiven and tonumber(count) + 1 or 1
local length = tonumber(ARGV[math.min(6 + count, #ARGV)])
redis.call('HSET', key, 'count', count, 'since', string.format('%.0f', now), 'until', string.format('%.0f', now + length))
redis.call('PEXPIRE', key, (length + forgiven) / 1000)
redis.call('ZADD', prefix .. 'bans', string.format('%.0f', now), address)
local excess = redis.call('ZCARD', prefix .. 'bans') - most_bans
if excess > 0 then
  local popped = redis.call('ZPOPMIN', prefix .. 'bans', excess)
  for i = 1, #popped, 2 do redis.call('DEL', prefix .. 'ban:' .. popped[i]) end
end
return {count, now, now + length, length}`)

/** The latest first, each with its address. */
const LIST_BANS = script(`
local found = {}
for _, address in ipairs(redis.call('ZREVRANGE', prefix .. 'bans', 0, -1)) do
  local count, since, ends = unpack(redis.call('HMGET', prefix .. 'ban:' .. address, 'count', 'since', 'until'))
  if not ends then
    redis.call('ZREM', prefix .. 'bans', address)
  elseif tonumber(ends) > now then
    table.insert(found, {address, tonumber(count), tonumber(since), tonumber(ends), tonumber(ends) - now})
  end
end
return found`)

/** ARGV: address. Gives 1 where a ban was in force. */
const LIFT_BAN = script(`
local ends = redis.call('HGET', prefix .. 'ban:' .. ARGV[3], 'until')
if not ends or tonumber(ends) <= now then return 0 end
redis.call('ZREM', prefix .. 'bans', ARGV[3])
return redis.call('DEL', prefix .. 'ban:' .. ARGV[3])`)

/** Count, beginning, end and what is left, in microseconds. */
type BanRow = readonly [count: number, sinceUs: number, untilUs: number, leftUs: number]

const OFFENCE_NUMBERS = [
  MAX_OFFENCES,
  FORGIVEN_AFTER_MS * 1000,
  MAX_ADDRESSES,
  ...BAN_MS.map((ms) => ms * 1000),
]

export class RedisBans implements Bans {
  readonly #parts: RedisParts

  constructor(parts: RedisParts) {
    this.#parts = parts
  }

  async find(addressKey: string): Promise<Ban | null> {
    const { link, memory } = this.#parts
    const found = await link.run(FIND_BAN, [addressKey]).catch(toAway)
    if (found === AWAY) return memory.bans.find(addressKey)
    return this.#toBan(addressKey, found)
  }

  async recordOffence(addressKey: string): Promise<Ban | null> {
    const { link, memory } = this.#parts
    const begun = await link.run(RECORD_OFFENCE, [addressKey, ...OFFENCE_NUMBERS]).catch(toAway)
    if (begun === AWAY) return memory.bans.recordOffence(addressKey)
    return this.#toBan(addressKey, begun)
  }

  async list(): Promise<readonly Ban[]> {
    const { link, memory } = this.#parts
    const rows = await link.run(LIST_BANS, []).catch(toAway)
    if (rows === AWAY) return memory.bans.list()
    return (rows as readonly (readonly [string, ...BanRow])[]).flatMap(
      ([addressKey, ...row]) => this.#toBan(addressKey, row) ?? [],
    )
  }

  async lift(addressKey: string): Promise<boolean> {
    const { link, memory } = this.#parts
    const isLiftedHere = memory.bans.lift(addressKey)
    return (await link.run(LIFT_BAN, [addressKey]).catch(toAway)) === 1 || isLiftedHere
  }

  #toBan(addressKey: string, row: unknown): Ban | null {
    if (row === null) return null
    const [count, sinceUs, untilUs, leftUs] = row as BanRow
    const { toUnixSeconds } = this.#parts
    return {
      addressKey,
      count,
      sinceUnixSeconds: toUnixSeconds(sinceUs),
      untilUnixSeconds: toUnixSeconds(untilUs),
      secondsLeft: toWholeSeconds(leftUs),
    }
  }
}
