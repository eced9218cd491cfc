import type { Redis } from 'ioredis'
import { openWire } from '../wire.ts'
import { type Contestant, TIME_TO_LIVE } from './contestant.ts'

/**
 * KEYS[1] the bucket; ARGV: the client's time (ms), tokens a second, burst, cost, time to live (ms).
 * Returns 1 for granted, 0 for refused.
 */
const PROGRAM = `
local now, rate, burst, cost = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local level, since = unpack(redis.call('HMGET', KEYS[1], 'tokens', 'at'))
level, since = tonumber(level or burst), tonumber(since or now)
if now > since then
  level = level + (now - since) * rate / 1000
  since = now
end
if level > burst then level = burst end
local granted = level >= cost
if granted then level = level - cost end
redis.call('HSET', KEYS[1], 'tokens', level, 'at', since)
redis.call('PEXPIRE', KEYS[1], ARGV[5])
return granted and 1 or 0
`

/** One program per decision, sent by its digest; a hash of two fields; the time is the client's. All callers share a connection. */
export const lua: Contestant = {
  name: 'Lua EVALSHA',
  open: async (url, { key, rate, burst }) => {
    const wire = await openWire(url, 1)
    const client = wire.clients[0] as Redis
    const digest = (await client.script('LOAD', PROGRAM)) as string
    return {
      wire,
      ask: async () => (await client.evalsha(digest, 1, key, Date.now(), rate, burst, 1, TIME_TO_LIVE)) === 1,
      close: async () => {
        await client.del(key)
        await wire.close()
      },
    }
  },
}
