import type pg from 'pg'
import { pg as port, postgresStore } from 'sluice/postgres'
import type { Quota } from '../contestants/contestant.ts'
import { mixedEngine } from '../mixed/engine.ts'
import { type DecideMixed, FREE, threeChecks } from '../mixed/requests.ts'
import { type RingName, RINGS } from '../redis/rings.ts'
import { POSTGRES_WAYS, type WayName } from './ways.ts'

/** The limiters whose requests are one call of the policy engine. */
const ENGINES: Readonly<Partial<Record<WayName, RingName>>> = { sluice: 'sluice', bare: 'bare', coalescing: 'coalescing' }

export interface MixedWay {
  readonly decide: DecideMixed
  close(): Promise<void>
}

/** Opens a limiter whose requests have three limits: the quota for all and for the tenant, and that of the plan for the user. */
export async function openMixed(name: WayName, pool: pg.Pool, quota: Quota): Promise<MixedWay> {
  const ring = ENGINES[name]
  if (ring === undefined) {
    const way = POSTGRES_WAYS[name]
    const [wide, free] = [await way.open(pool, quota), await way.open(pool, FREE)]
    return {
      decide: threeChecks(wide.invoke, free.invoke),
      close: async () => {
        await wide.close()
        await free.close()
      },
    }
  }
  const store = postgresStore({ client: port(pool), ring: RINGS[ring] })
  const { decide, close } = mixedEngine(store, quota)
  return {
    decide,
    close: async () => {
      await close()
      await store.close()
    },
  }
}
