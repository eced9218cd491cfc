import { createLimiter, type Store, tokenBucket } from 'sluice'
import { pg, postgresStore } from 'sluice/postgres'
import { resilient, withCoalescing } from 'sluice/wrap'
import type { Way } from './way.ts'

/** The article's function waits as long as it takes: what is compared is how fast it goes. */
const DEADLINE_MS = 60_000

export const plain: Way = over('Sluice', (store) => store)
export const coalescing: Way = over('Sluice, coalescing', (store) => withCoalescing(store))
/** The wrappers in their recommended order, with their defaults but for the deadline. */
export const wrapped: Way = over('Sluice, resilient', (store) => resilient(store, { deadlineMs: DEADLINE_MS }))

function over(name: string, wrap: (store: Store) => Store): Way {
  return {
    name,
    open: async (pool, { tokens, per, burst }) => {
      const store = postgresStore({ client: pg(pool) })
      await store.migrate()
      const limit = tokenBucket({ rate: { tokens, per }, burst })
      const limiter = createLimiter({ name: 'bench', limit, store: wrap(store), deadlineMs: DEADLINE_MS })
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
