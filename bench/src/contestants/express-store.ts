import type { Options } from 'express-rate-limit'
import type { Redis } from 'ioredis'
import { RedisStore, type RedisReply } from 'rate-limit-redis'
import type { TraceEntry } from 'sluice/testing'
import { openWire } from '../wire.ts'
import { type Contestant, isTrue, windowOf } from './contestant.ts'
import { serverTime } from './server-time.ts'

/**
 * rate-limit-redis as its page sets it up for ioredis, called as express-rate-limit calls it: `increment`, then the comparison with the
 * limit, but without the middleware.
 */
export const expressStore: Contestant = {
  name: 'rate-limit-redis',
  kind: 'peer',
  promise: 'window',
  instants: 'before',
  open: async (url, quota, { note = false, wire: shared }) => {
    const wire = shared ?? (await openWire(url, 1))
    const client = wire.clients[0] as Redis
    const admitted: TraceEntry[] = []
    const store = new RedisStore({
      sendCommand: (command: string, ...args: string[]) => client.call(command, ...args) as Promise<RedisReply>,
    })
    // The store reads only the window of the options that the middleware passes.
    await store.init({ windowMs: windowOf(quota) * 1_000 } as Options)
    return {
      wire,
      ...(note ? { admitted } : {}),
      invoke: async (key) => {
        const time = note ? serverTime(client) : undefined
        const { totalHits } = await store.increment(key)
        const at = await time
        const allowed = totalHits <= quota.burst
        if (at !== undefined && allowed) admitted.push({ at, cost: 1, allowed })
        return allowed
      },
      passed: isTrue,
      close: async (keys) => {
        for (const key of keys) await store.resetKey(key)
        await wire.close()
      },
    }
  },
}
