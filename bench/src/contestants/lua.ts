import type { Redis } from 'ioredis'
import type { TraceEntry } from 'sluice/testing'
import { openWire, type WireOptions } from '../wire.ts'
import { type Contestant, perSecondOf, TIME_TO_LIVE } from './contestant.ts'
import { microsOf } from './server-time.ts'

const DECIDE = `
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
`

/**
 * KEYS[1] the bucket; ARGV: the client's time (ms), tokens a second, burst, cost, time to live (ms).
 * Returns 1 for granted, 0 for refused.
 */
export const PROGRAM: string = `${DECIDE}return granted and 1 or 0\n`

/** The same, and the server's time after it. */
const NOTING = `${DECIDE}return { granted and 1 or 0, unpack(redis.call('TIME')) }\n`

/** With the contract of the article's program: two reads, two writes, and the wait of a refused request (ms) with the answer. */
const AS_IN_THE_ARTICLE = `
local now, rate, burst, cost = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local level = tonumber(redis.call('HGET', KEYS[1], 'tokens') or burst)
local since = tonumber(redis.call('HGET', KEYS[1], 'at') or now)
if now > since then
  level = level + (now - since) * rate / 1000
  since = now
end
if level > burst then level = burst end
local granted, wait = 0, 0
if level >= cost then
  level = level - cost
  granted = 1
else
  wait = math.ceil((cost - level) * 1000 / rate)
end
redis.call('HSET', KEYS[1], 'tokens', level)
redis.call('HSET', KEYS[1], 'at', since)
redis.call('PEXPIRE', KEYS[1], ARGV[5])
`

interface Sources {
  readonly plain: string
  readonly noting: string
  /** Whether the plain program answers with a list. */
  readonly list: boolean
}

const LEAN: Sources = { plain: PROGRAM, noting: NOTING, list: false }
const ARTICLE: Sources = {
  plain: `${AS_IN_THE_ARTICLE}return { granted, wait }\n`,
  noting: `${AS_IN_THE_ARTICLE}return { granted, unpack(redis.call('TIME')) }\n`,
  list: true,
}

/**
 * One program per decision, sent by its digest; a hash of two fields; the time is the client's. All callers share a connection. The least
 * that such a program can do: one read, one write, and yes or no without a wait.
 */
export const lua: Contestant = contestant('Lua EVALSHA', LEAN)

/** The same under the contract of Benchmarking Token Bucket Rate Limiters. */
export const luaArticle: Contestant = contestant('Lua EVALSHA, as in the article', ARTICLE)

/** The lean one over a client that writes the commands of one tick of the event loop together, its own option. */
export const luaPipelined: Contestant = contestant('Lua EVALSHA, auto-pipelined', LEAN, { enableAutoPipelining: true })

function contestant(name: string, { plain, noting, list }: Sources, options?: WireOptions): Contestant {
  return {
    name,
    open: async (url, quota, { note = false }) => {
      const wire = await openWire(url, 1, options)
      const client = wire.clients[0] as Redis
      const [rate, { burst }] = [perSecondOf(quota), quota]
      const digest = (await client.script('LOAD', note ? noting : plain)) as string
      const admitted: TraceEntry[] = []
      const invoke = (key: string): Promise<unknown> => client.evalsha(digest, 1, key, Date.now(), rate, burst, 1, TIME_TO_LIVE)
      return {
        wire,
        ...(note ? { admitted } : {}),
        invoke,
        passed: (answer) => {
          if (!note) return (list ? (answer as readonly number[])[0] : answer) === 1
          const [granted, ...time] = answer as [number, string, string]
          if (granted === 1) admitted.push({ at: microsOf(time), cost: 1, allowed: true })
          return granted === 1
        },
        close: async (keys) => {
          if (keys.length > 0) await client.del(...keys)
          await wire.close()
        },
      }
    },
  }
}
