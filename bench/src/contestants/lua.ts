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
 * KEYS[1] the bucket; ARGV: the client's time (ms), tokens a second, burst, cost, time to live (ms). Returns 1 if the request is granted,
 * otherwise 0.
 */
export const PROGRAM: string = `${DECIDE}return granted and 1 or 0\n`

/** As `PROGRAM`, with the server's time after the result. */
const NOTING = `${DECIDE}return { granted and 1 or 0, unpack(redis.call('TIME')) }\n`

interface ArticleVariant {
  /** Lua text for the time in milliseconds. */
  readonly now: string
  /** Lua text for the instant that is stored. */
  readonly kept: string
}

const CLIENT_TIME = 'tonumber(ARGV[1])'
const SERVER_TIME = 'time[1] * 1000 + time[2] / 1000'
/** Before Redis 7.2, TIME advances while a program runs. So it is read once. */
const READ_TIME = `local time = redis.call('TIME')\n`

/**
 * A program with the contract of the one in the article "Benchmarking Token Bucket Rate Limiters": two reads, two writes, and with the
 * answer the wait of a denied request (ms).
 */
const asInTheArticle = ({ now, kept }: ArticleVariant): string => `
local now = ${now}
local rate, burst, cost = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local level = tonumber(redis.call('HGET', KEYS[1], 'tokens') or burst)
local since = tonumber(redis.call('HGET', KEYS[1], 'at') or now)
if now > since then
  level = level + (now - since) * rate / 1000
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
redis.call('HSET', KEYS[1], 'at', ${kept})
redis.call('PEXPIRE', KEYS[1], ARGV[5])
`

interface Sources {
  readonly plain: string
  readonly noting: string
  /** Whether the plain program returns a list. */
  readonly list: boolean
  /** Default `client`. */
  readonly clock?: 'server'
}

const LEAN: Sources = { plain: PROGRAM, noting: NOTING, list: false }
function articleSources(variant: ArticleVariant): Sources {
  const decide = asInTheArticle(variant)
  const plain = `${variant.now === SERVER_TIME ? READ_TIME : ''}${decide}return { granted, wait }\n`
  return { plain, noting: `${READ_TIME}${decide}return { granted, unpack(time) }\n`, list: true }
}

const LATEST = 'math.max(now, since)'

/**
 * One program for each decision, called by its digest, on a hash of two fields with the client's time. All callers share a connection. The
 * program does the minimum: one read, one write, and an answer without a wait.
 */
export const lua: Contestant = contestant('Lua EVALSHA', LEAN)

/** As `lua`, but with the contract of the program in the article "Benchmarking Token Bucket Rate Limiters". */
export const luaArticle: Contestant = contestant('Lua EVALSHA, as in the article', articleSources({ now: CLIENT_TIME, kept: LATEST }))

/**
 * The first version of the program in the article "Benchmarking Token Bucket Rate Limiters". It stores the time of the last request, even
 * if an earlier request had a later time.
 */
export const luaLastTime: Contestant = contestant('Lua EVALSHA, ts = now', articleSources({ now: CLIENT_TIME, kept: 'now' }))

/** As `luaArticle`, but with the server's time instead of the client's. */
export const luaServerTime: Contestant = contestant('Lua EVALSHA, TIME', {
  ...articleSources({ now: SERVER_TIME, kept: LATEST }),
  clock: 'server',
})

/** As `lua`, with the client's option to write all commands of one tick of the event loop together. */
export const luaPipelined: Contestant = contestant('Lua EVALSHA, auto-pipelined', LEAN, { enableAutoPipelining: true })

function contestant(name: string, sources: Sources, options?: WireOptions): Contestant {
  const { plain, noting, list } = sources
  return {
    name,
    kind: 'baseline',
    clock: sources.clock ?? 'client',
    open: async (url, quota, { note = false, clock = Date.now, wire: shared }) => {
      const wire = shared ?? (await openWire(url, 1, options))
      const client = wire.clients[0] as Redis
      const [rate, { burst }] = [perSecondOf(quota), quota]
      const digest = (await client.script('LOAD', note === false ? plain : noting)) as string
      const admitted: TraceEntry[] = []
      const invoke = (key: string): Promise<unknown> => client.evalsha(digest, 1, key, clock(), rate, burst, 1, TIME_TO_LIVE)
      return {
        wire,
        ...(note === false ? {} : { admitted }),
        invoke,
        passed: (answer) => {
          if (note === false) return (list ? (answer as readonly number[])[0] : answer) === 1
          const [granted, ...time] = answer as [number, string, string]
          const allowed = granted === 1
          if (allowed || note === 'all') admitted.push({ at: microsOf(time), cost: 1, allowed })
          return allowed
        },
        close: async (keys) => {
          if (keys.length > 0) await client.del(...keys)
          await wire.close()
        },
      }
    },
  }
}
