import { createLimiter, tokenBucket } from 'sluice'
import { pg, postgresStore } from 'sluice/postgres'
import { type RingName, RINGS } from '../redis/rings.ts'
import type { Way } from './way.ts'

/** As it is published. Deadlines are the defaults everywhere: a request that is late is undecided, and counted as such. */
export const sluice: Way = sluiceWith('Sluice', 'sluice')
export const bare: Way = sluiceWith('Sluice, bare', 'bare')
export const coalescing: Way = sluiceWith('Sluice, coalescing', 'coalescing')

function sluiceWith(name: string, ring: RingName): Way {
  return {
    name,
    prepare: (pool) => postgresStore({ client: pg(pool) }).migrate(),
    open: async (pool, { tokens, per, burst }) => {
      const limit = tokenBucket({ rate: { tokens, per }, burst })
      const store = postgresStore({ client: pg(pool), ring: RINGS[ring] })
      const limiter = createLimiter({ name: 'bench', limit, store })
      await limiter.ready()
      return {
        invoke: async (key) => {
          const decision = await limiter.check(key)
          if (decision.outcome === 'undecided') throw new Error(decision.degraded.message)
          return decision.allowed
        },
        close: async () => {
          await limiter.close()
          await store.close()
        },
      }
    },
  }
}
