import { createLimiter, type Store, tokenBucket } from 'sluice'
import { pg, postgresStore } from 'sluice/postgres'
import type { Way } from './way.ts'

/** Deadlines are the defaults everywhere: a request that is late is undecided, and counted as such. */
export const plain: Way = over('Sluice', (store) => store)

export function over(name: string, wrap: (store: Store) => Store): Way {
  return {
    name,
    prepare: (pool) => postgresStore({ client: pg(pool) }).migrate(),
    open: async (pool, { tokens, per, burst }) => {
      const limit = tokenBucket({ rate: { tokens, per }, burst })
      const limiter = createLimiter({ name: 'bench', limit, store: wrap(postgresStore({ client: pg(pool) })) })
      await limiter.ready()
      return {
        ask: async (key) => {
          const decision = await limiter.check(key)
          if (decision.outcome === 'undecided') throw new Error(decision.degraded.message)
          return decision.allowed
        },
        close: () => limiter.close(),
      }
    },
  }
}
