import { type AnyLimit, createLimiter, type Degraded, type Store, tokenBucket } from 'sluice'
import { type Concurrency, pg, postgresStore } from 'sluice/postgres'
import type { TraceEntry } from 'sluice/testing'
import { groupsUnder } from '../contestants/groups.ts'
import { openRegion, REGION_NAMES, type RegionKind, regionLimit } from '../contestants/regions.ts'
import { listening } from '../listening.ts'
import { type RingName, RINGS } from '../redis/rings.ts'
import { type Opened, SPENT, type Way } from './way.ts'

const FILLED_AT_ONCE = 500
/** Statements that make rows at the same time: the server works on one while this process makes the next. */
const FILLERS = 2
/** Milliseconds: long enough for every batch of rows, on any machine. */
const FILL_MS = 60_000

/** A request without a decision. Its `code` is the cause. Errors of the other limiters have an SQLSTATE in this field. */
class Undecided extends Error {
  override readonly name = 'Undecided'
  readonly code: string

  constructor({ kind, message }: Degraded) {
    super(message)
    this.code = `undecided, ${kind}`
  }
}

/** One of two regions, as `openRegion` opens it. The peer has tables of its own in the same schema. */
export function regionOf(kind: RegionKind): Way {
  const tableOf = (region: string): string => (region === 'a' ? 'sluice' : 'peer')
  return {
    name: REGION_NAMES[kind],
    kind: 'ours',
    instants: 'own',
    prepare: async (pool) => {
      for (const region of ['a', 'b'] as const) await postgresStore({ client: pg(pool), table: tableOf(region) }).migrate()
    },
    open: async (pool, quota, { note = false } = {}) => {
      const admitted: TraceEntry[] = []
      const stores: Store[] = []
      const store = await openRegion(kind, (region) => {
        const opened = postgresStore({ client: pg(pool), table: tableOf(region), ring: RINGS.sluice })
        stores.push(opened)
        return note ? listening(opened, admitted) : opened
      })
      const { invoke, close } = await limiting(regionLimit(quota), store)
      return {
        ...(note ? { admitted } : {}),
        invoke,
        close: async () => {
          await close()
          for (const opened of stores) await opened.close()
        },
      }
    },
  }
}

/**
 * Sluice as it is published. All limiters of Sluice have the default deadline. A request that misses it is undecided, and is counted as an
 * error.
 */
export const sluice: Way = sluiceWith('Sluice', 'sluice')
export const bare: Way = sluiceWith('Sluice, bare', 'bare')
export const coalescing: Way = sluiceWith('Sluice, coalescing', 'coalescing')
/** Sluice with plain statements instead of functions and locks, for databases that only speak PostgreSQL's protocol. */
export const swap: Way = sluiceWith('Sluice, compare-and-swap', 'sluice', 'compare-and-swap')
export const bareSwap: Way = sluiceWith('Sluice, compare-and-swap, bare', 'bare', 'compare-and-swap')

function sluiceWith(name: string, ring: RingName, concurrency: Concurrency = 'lock'): Way {
  return {
    name,
    kind: 'ours',
    instants: 'own',
    prepare: (pool) => postgresStore({ client: pg(pool), concurrency }).migrate(),
    fill: async (pool, quota, keys) => {
      const store = postgresStore({ client: pg(pool), concurrency, ring: false })
      const groupOf = groupsUnder(quota, quota.burst * SPENT)
      let next = 0
      const filler = async (): Promise<void> => {
        while (next < keys.length) {
          const groups = keys.slice(next, (next += FILLED_AT_ONCE)).map(groupOf)
          for (const { failure } of await store.decide(groups, { deadline: performance.now() + FILL_MS }))
            if (failure !== undefined) throw failure
        }
      }
      await Promise.all(Array.from({ length: FILLERS }, filler))
      await store.close()
    },
    alike: ['sluice_plan', 'sluice_state'],
    open: async (pool, { tokens, per, burst }, { note = false } = {}) => {
      const limit = tokenBucket({ rate: { tokens, per }, burst })
      const admitted: TraceEntry[] = []
      const opened = postgresStore({ client: pg(pool), concurrency, ring: RINGS[ring] })
      const store = note ? listening(opened, admitted) : opened
      const { invoke, close } = await limiting(limit, store)
      return {
        ...(note ? { admitted } : {}),
        invoke,
        close: async () => {
          await close()
          await store.close()
        },
      }
    },
  }
}

/** A limiter of a store that is ready. */
async function limiting(limit: AnyLimit, store: Store): Promise<Pick<Opened, 'invoke' | 'close'>> {
  const limiter = createLimiter({ name: 'bench', limit, store })
  await limiter.ready()
  return {
    invoke: async (key) => {
      const decision = await limiter.check(key)
      if (decision.outcome === 'undecided') throw new Undecided(decision.degraded)
      return decision.allowed
    },
    close: () => limiter.close(),
  }
}
