import { readFileSync } from 'node:fs'
import type { Redis } from 'ioredis'
import type { TraceEntry } from 'sluice/testing'
import { openWire } from '../wire.ts'
import { type Contestant, perSecondOf, type Promised, type Quota, windowOf } from './contestant.ts'
import { microsOf } from './server-time.ts'

/** A limit as one program for each decision, called by its digest over one connection. */
interface Scripted {
  readonly name: string
  readonly promise: Promised
  /** `client`: the program gets the time of the client. `server`: it needs no time, because Redis expires its keys. */
  readonly clock: 'client' | 'server'
  readonly plain: string
  /** The same program, but it returns whether the request may pass (1 or 0) and the server's time (TIME). */
  readonly noting: string
  /** The arguments of a request, by the client's time in milliseconds. */
  readonly args: (quota: Quota) => (now: number, request: number) => (string | number)[]
}

/** The file of the example, in the sources as in the build. */
const FILE = readFileSync(new URL('../../../examples/quick-start/rate_limit.lua', import.meta.url), 'utf8')
const RETURN = /^return \{ allowed, .*\}$/m
const NOTE = `return { allowed, unpack(redis.call('TIME')) }\n`

/** `rate_limit.lua` of the quick start: the contract of the script in the article "Rate Limiting at Scale". */
export const rateLimitLua: Contestant = scripted({
  name: 'rate_limit.lua',
  promise: 'bucket',
  clock: 'client',
  plain: FILE,
  noting: FILE.replace(RETURN, NOTE),
  args: (quota) => {
    const rate = perSecondOf(quota)
    return (now) => [quota.burst, rate, now, 1]
  },
})

/** A counter for each key that begins with its first request and expires with its window: "INCR with EXPIRE", in one program. */
export const incrExpire: Contestant = counting({
  name: 'INCR with EXPIRE',
  promise: 'window',
  clock: 'server',
  body: `local allowed = redis.call('INCR', KEYS[1])
if allowed == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
allowed = allowed <= tonumber(ARGV[1]) and 1 or 0
`,
})

/** A sorted set with an entry for each admitted request of the last window, by the client's time. */
export const zsetLog: Contestant = counting({
  name: 'sorted set',
  promise: 'log',
  clock: 'client',
  body: `local now, window = tonumber(ARGV[3]), tonumber(ARGV[2])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - window)
local allowed = 0
if redis.call('ZCARD', KEYS[1]) < tonumber(ARGV[1]) then
  allowed = 1
  redis.call('ZADD', KEYS[1], now, ARGV[3] .. ':' .. ARGV[4])
  redis.call('PEXPIRE', KEYS[1], window)
end
`,
})

/**
 * Keeps two counts: that of the present window of the clock, and that of the previous window. The second is weighted with the share of that
 * window that still counts.
 */
export const weightedCounter: Contestant = counting({
  name: 'two counters',
  promise: 'counter',
  clock: 'client',
  body: `local limit, window, now = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local turn = math.floor(now / window)
local stored = redis.call('HMGET', KEYS[1], 'turn', 'now', 'before')
local last, count, before = tonumber(stored[1]) or turn, tonumber(stored[2]) or 0, tonumber(stored[3]) or 0
if turn > last then
  before = turn == last + 1 and count or 0
  count = 0
else
  turn = last
end
local share = 1 - (now % window) / window
local allowed = before * share + count + 1 <= limit and 1 or 0
redis.call('HSET', KEYS[1], 'turn', turn, 'now', count + allowed, 'before', before)
redis.call('PEXPIRE', KEYS[1], 2 * window)
`,
})

/** A program whose arguments are the limit, the window and the time in milliseconds, and a text that no other request has. */
function counting({ body, ...named }: Pick<Scripted, 'name' | 'promise' | 'clock'> & { readonly body: string }): Contestant {
  return scripted({
    ...named,
    plain: `${body}return allowed\n`,
    noting: `${body}${NOTE}`,
    args: (quota) => {
      const window = Math.round(windowOf(quota) * 1_000)
      const own = process.pid.toString(36)
      return (now, request) => [quota.burst, window, now, own + request.toString(36)]
    },
  })
}

function scripted({ name, promise, clock, plain, noting, args }: Scripted): Contestant {
  return {
    name,
    kind: 'baseline',
    promise,
    clock,
    open: async (url, quota, { note = false }) => {
      const wire = await openWire(url, 1)
      const client = wire.clients[0] as Redis
      const digest = (await client.script('LOAD', note ? noting : plain)) as string
      const argsOf = args(quota)
      const admitted: TraceEntry[] = []
      let requests = 0
      return {
        wire,
        ...(note ? { admitted } : {}),
        invoke: (key) => client.evalsha(digest, 1, key, ...argsOf(Date.now(), (requests += 1))),
        passed: (answer) => {
          const [granted, ...time] = Array.isArray(answer) ? (answer as [number, string, string]) : [answer]
          if (note && granted === 1) admitted.push({ at: microsOf(time as [string, string]), cost: 1, allowed: true })
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
