import type { Redis } from 'ioredis'
import type { TraceEntry } from 'sluice/testing'
import { openWire } from '../wire.ts'
import { type Contestant, type Quota, windowOf } from './contestant.ts'
import { microsOf } from './server-time.ts'

/**
 * A program that behaves as the one in the article "Rate limiting in Clojure and Redis Lua". KEYS: the instant of the last granted
 * request, and the tokens left after it; ARGV: tokens of a full bucket, milliseconds in which it fills, and the client's time (ms).
 * Refilled tokens are rounded to whole ones, halves up. A refused request changes nothing, each later one is logged as a warning, and no
 * key expires.
 */
const DECIDE = `
local since, had = tonumber(redis.call('GET', KEYS[1])), tonumber(redis.call('GET', KEYS[2]))
local full, now = tonumber(ARGV[1]), tonumber(ARGV[3])
local left = full - 1
if since then
  local gained = math.floor(full * (now - since) / tonumber(ARGV[2]) + 0.5)
  left = math.min(had + gained - 1, full - 1)
  redis.log(redis.LOG_WARNING, left)
end
local refused = left < 0
if not refused then
  redis.call('SET', KEYS[2], left)
  redis.call('SET', KEYS[1], ARGV[3])
end
`

/** Returns 1 if the request is refused, otherwise nil, because Redis converts true and false of Lua to these. */
export const CLOJURE_PROGRAM: string = `${DECIDE}return refused\n`
const NOTING = `${DECIDE}return { refused and 1 or 0, unpack(redis.call('TIME')) }\n`

export function clojureKeys(key: string): [at: string, tokens: string] {
  return [`${key}:last-checked`, `${key}:tokens`]
}

/** Tokens of a full bucket, and the milliseconds in which it fills. */
export function clojureLimit(quota: Quota): [tokens: number, intervalMs: number] {
  return [quota.burst, windowOf(quota) * 1_000]
}

export const clojureLua: Contestant = {
  name: 'Lua with two keys, as in the article',
  kind: 'baseline',
  clock: 'client',
  open: async (url, quota, { note = false }) => {
    const wire = await openWire(url, 1)
    const client = wire.clients[0] as Redis
    const limit = clojureLimit(quota)
    const admitted: TraceEntry[] = []
    const digest = (await client.script('LOAD', note ? NOTING : CLOJURE_PROGRAM)) as string
    return {
      wire,
      ...(note ? { admitted } : {}),
      invoke: (key) => client.evalsha(digest, 2, ...clojureKeys(key), ...limit, Date.now()),
      passed: (answer) => {
        if (!note) return answer !== 1
        const [refused, ...time] = answer as [number, string, string]
        if (refused === 0) admitted.push({ at: microsOf(time), cost: 1, allowed: true })
        return refused === 0
      },
      close: async (keys) => {
        if (keys.length > 0) await client.del(...keys.flatMap(clojureKeys))
        await wire.close()
      },
    }
  },
}
