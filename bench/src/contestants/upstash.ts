import { createHash } from 'node:crypto'
import { Ratelimit } from '@upstash/ratelimit'
import type { Redis } from 'ioredis'
import type { TraceEntry } from 'sluice/testing'
import { openWire } from '../wire.ts'
import { type Contestant, isTrue, type Promised, type Quota, windowOf } from './contestant.ts'
import { serverTime } from './server-time.ts'

type Config = ConstructorParameters<typeof Ratelimit>[0]

/**
 * @upstash/ratelimit with the sliding window and the cache of its first example, over a client for Redis itself. It weights the count of
 * the window before, and rounds the result down, so compared with Sluice's sliding window counter it may let pass more, but less than one
 * request more.
 */
export const upstash: Contestant = contestant('@upstash/ratelimit', 'counter', ({ burst }, windowMs) =>
  Ratelimit.slidingWindow(burst, `${windowMs} ms`),
)

/**
 * As `upstash`, with the token bucket of its page on algorithms. It refills in steps: all tokens of an interval come at its end. A burst
 * before a step and the step's tokens may pass at once, as around the end of a window.
 */
export const upstashBucket: Contestant = contestant('@upstash/ratelimit, token bucket', 'window', ({ tokens, per, burst }) =>
  Ratelimit.tokenBucket(tokens, INTERVALS[per], burst),
)

const INTERVALS = { '1s': '1 s', '1m': '1 m', '1d': '1 d' } as const

function contestant(name: string, promise: Promised, limiterOf: (quota: Quota, windowMs: number) => Config['limiter']): Contestant {
  return {
    name,
    kind: 'peer',
    promise,
    instants: 'before',
    clock: 'client',
    open: async (url, quota, { note = false, wire: shared }) => {
      const wire = shared ?? (await openWire(url, 1))
      const client = wire.clients[0] as Redis
      const admitted: TraceEntry[] = []
      const limiter = new Ratelimit({
        // The library calls only these commands of its own client, which speaks the REST protocol of Upstash.
        redis: commandsOf(client) as unknown as Config['redis'],
        limiter: limiterOf(quota, Math.round(windowOf(quota) * 1_000)),
        enableTelemetry: false,
      })
      return {
        wire,
        ...(note ? { admitted } : {}),
        invoke: async (key) => {
          const time = note ? serverTime(client) : undefined
          const { success, reason } = await limiter.limit(key)
          const at = await time
          // After five seconds the library lets a request pass without an answer of the store.
          if (reason === 'timeout') throw new Error('timeout')
          if (at !== undefined && success) admitted.push({ at, cost: 1, allowed: true })
          return success
        },
        passed: isTrue,
        close: async (keys) => {
          for (const key of keys) await limiter.resetUsedTokens(key)
          await wire.close()
        },
      }
    },
  }
}

/**
 * The commands that the library needs, on ioredis. The library's programs begin with a flag that only Upstash's servers know. So each
 * program is loaded without that line, and called by the digest that it has then.
 */
function commandsOf(client: Redis) {
  const digests = new Map<string, string>()
  const call = (digest: string, keys: readonly string[], args: readonly unknown[]): Promise<unknown> =>
    client.evalsha(digest, keys.length, ...keys, ...args.map(String))
  return {
    evalsha: async (digest: string, keys: readonly string[], args: readonly unknown[]): Promise<unknown> => {
      const own = digests.get(digest)
      if (own === undefined) throw new Error('NOSCRIPT')
      return call(own, keys, args)
    },
    eval: async (program: string, keys: readonly string[], args: readonly unknown[]): Promise<unknown> => {
      const own = (await client.script('LOAD', program.replace(/^#!lua[^\n]*\n/, ''))) as string
      digests.set(createHash('sha1').update(program).digest('hex'), own)
      return call(own, keys, args)
    },
  }
}
