import type { Redis } from 'ioredis'
import { createLimiter, type Store, tokenBucket } from 'sluice'
import { ioredis, redisStore } from 'sluice/redis'
import type { TraceEntry } from 'sluice/testing'
import { openWire } from '../wire.ts'
import type { Contestant } from './contestant.ts'

/** Sluice as it is published, defaults and deadline included, on the server's clock. All callers share a connection. */
export const sluice: Contestant = {
  name: 'Sluice',
  open: async (url, { key, rate, burst }, { note = false }) => {
    const wire = await openWire(url, 1)
    const admitted: TraceEntry[] = []
    const plain = redisStore({ client: ioredis(wire.clients[0] as Redis) })
    const store = note ? listening(plain, admitted) : plain
    const limiter = createLimiter({ name: 'bench', limit: tokenBucket({ rate: { tokens: rate, per: '1s' }, burst }), store })
    // Brings the program to the server, so that no request of the run has to.
    await limiter.ready()
    return {
      wire,
      ...(note ? { admitted } : {}),
      ask: async () => {
        const decision = await limiter.check(key)
        if (decision.outcome === 'undecided') throw new Error(decision.degraded.message)
        return decision.allowed
      },
      close: async () => {
        await limiter.reset(key)
        await limiter.close()
        await wire.close()
      },
    }
  },
}

/** Notes what the store admitted: its verdicts know the microsecond, a decision the millisecond. */
function listening(store: Store, admitted: TraceEntry[]): Store {
  return {
    ...store,
    consume: async (groups, options) => {
      const verdicts = await store.consume(groups, options)
      for (const { allowed, at } of verdicts) if (allowed) admitted.push({ at, cost: 1, allowed })
      return verdicts
    },
  }
}
