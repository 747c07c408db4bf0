/**
 * What all Lua scripts that Redis runs have in common; each is beside the part that runs it, is atomic, and runs on the clock of
 * its server (or on that of a test). Times are whole microseconds, as text where they are stored.
 *
 * Keys, all with the prefix of the state:
 *   window:<id>       list of the times of the last 60 seconds: requests, counted attempts, offences
 *   permits:<id>      hash of lease id → number held by that instance; also of open attempts
 *   lease:<lease id>  expires when its instance has stopped to renew it; what it holds then counts no longer
 *   moved:<id>        the id that the permits of a revoked key count under
 *   inherits:<id>     the id whose permits count for this new key too; heirs:<id> is the set of those keys
 *   spent:<counter>   tokens under a budget: hash of restored (from the usage database), added (since), until and last (before)
 *   ban:<address>, bans; knock:<address>, open
 */
import { createHash } from 'node:crypto'

export interface Script {
  readonly text: string
  readonly sha1: string
}

/** Of everything that lies in Redis only as long as a request runs, whatever becomes of its instance. */
const DAY_MS = 24 * 60 * 60 * 1000

/** ARGV[1] is the prefix of all keys, ARGV[2] the time of a test, else empty. */
const LIBRARY = `
local prefix, now = ARGV[1], tonumber(ARGV[2])
if now == nil then
  local time = redis.call('TIME')
  now = tonumber(time[1]) * 1000000 + tonumber(time[2])
end
local WINDOW, DAY_MS = 60000000, ${DAY_MS}

local function at(key, position) return tonumber(redis.call('LINDEX', key, position)) end

-- Drops what has left the window; gives the number that is in it.
local function trim(key)
  local size = redis.call('LLEN', key)
  if size == 0 or at(key, 0) > now - WINDOW then return size end
  local old, live = 0, size
  while live - old > 1 do
    local middle = math.floor((old + live) / 2)
    if at(key, middle) > now - WINDOW then live = middle else old = middle end
  end
  redis.call('LTRIM', key, live, -1)
  return size - live
end

local function add(key)
  -- A clock that was set back must not put the times out of order.
  local last = at(key, -1)
  local time = now
  if last ~= nil and last > now then time = last end
  redis.call('RPUSH', key, string.format('%.0f', time))
  redis.call('PEXPIRE', key, WINDOW / 1000)
end

-- Counts the times of one window in another as well; those that both have from one copy count once.
local function merge(from, to)
  if trim(from) == 0 then return end
  trim(to)
  local mine, theirs = redis.call('LRANGE', to, 0, -1), redis.call('LRANGE', from, 0, -1)
  redis.call('DEL', to)
  local i, j = 1, 1
  while i <= #mine or j <= #theirs do
    local one, other = tonumber(mine[i]), tonumber(theirs[j])
    local time = math.min(one or math.huge, other or math.huge)
    if one == time then i = i + 1 end
    if other == time then j = j + 1 end
    redis.call('RPUSH', to, string.format('%.0f', time))
  end
  redis.call('PEXPIRE', to, WINDOW / 1000)
end

-- What living instances hold.
local function held(key)
  local total, counts = 0, redis.call('HGETALL', key)
  for i = 1, #counts, 2 do
    if redis.call('EXISTS', prefix .. 'lease:' .. counts[i]) == 1 then
      total = total + tonumber(counts[i + 1])
    else
      redis.call('HDEL', key, counts[i])
    end
  end
  return total
end

local function current(id) return redis.call('GET', prefix .. 'moved:' .. id) or id end

local function hold(id, lease, count)
  local key = prefix .. 'permits:' .. current(id)
  redis.call('HINCRBY', key, lease, count)
  redis.call('PEXPIRE', key, DAY_MS)
end

local function drop(id, lease)
  local now_under = current(id)
  local key = prefix .. 'permits:' .. now_under
  if redis.call('HEXISTS', key, lease) == 0 then return end
  if redis.call('HINCRBY', key, lease, -1) <= 0 then redis.call('HDEL', key, lease) end
  if redis.call('EXISTS', key) == 1 then return end
  local heirs = prefix .. 'heirs:' .. now_under
  for _, heir in ipairs(redis.call('SMEMBERS', heirs)) do redis.call('DEL', prefix .. 'inherits:' .. heir) end
  redis.call('DEL', heirs)
end
`

const scripts: Script[] = []

/** Call as a module is loaded: every connection makes all scripts known to Redis. */
export function script(body: string): Script {
  const text = LIBRARY + body
  const made = { text, sha1: createHash('sha1').update(text, 'utf8').digest('hex') }
  scripts.push(made)
  return made
}

export const listScripts = (): readonly Script[] => scripts
