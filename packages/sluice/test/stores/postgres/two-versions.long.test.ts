import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { fixedWindow, slidingWindowCounter, slidingWindowLog, tokenBucket } from '../../../src/index.ts'
import type { AnyLimit } from '../../../src/algorithms/algorithm.ts'
import { functionNames } from '../../../src/stores/postgres/functions.ts'
import { migrate } from '../../../src/stores/postgres/migrate.ts'
import { chosen } from '../../../src/stores/postgres/options.ts'
import { functions } from '../../../src/stores/postgres/programs.gen.ts'
import { programStore } from '../../../src/stores/postgres/program-store.ts'
import { pg } from '../../../src/stores/postgres/index.ts'
import type { Store } from '../../../src/stores/store.ts'
import { audit, type TraceEntry } from '../../../src/testing.ts'
import * as verbs from '../../../src/testing/store-verbs.ts'
import { ownStore } from '../../conformance/postgres-rows.ts'
import { nextFunctions } from './next-version.ts'

const { postgres: url } = inject('engines')
const LIMITS: readonly AnyLimit[] = [
  tokenBucket({ rate: '50/s', burst: 20 }),
  fixedWindow({ limit: 20, window: '1s' }),
  slidingWindowCounter({ limit: 20, window: '1s' }),
  slidingWindowLog({ limit: 20, window: '1s' }),
]

describe.skipIf(url === undefined)('the next version while today’s serves', () => {
  const { store, pool, open, close } = ownStore(url, 6)
  beforeAll(open)
  afterAll(close)

  it('comes under load, with a column of its own: together they admit no more than the limits', async () => {
    const next = nextFunctions(functions)
    const later = programStore(chosen({ client: pg(pool), sweepEveryMs: 0 }), functionNames('sluice', next))
    const seen = new Map<AnyLimit, TraceEntry[]>(LIMITS.map((limit) => [limit, []]))
    const state = { running: true }
    const caller = async (by: Store): Promise<void> => {
      for (let turn = 0; state.running; turn += 1) {
        const limit = LIMITS[turn % LIMITS.length] as AnyLimit
        const id = { scope: { text: `two:${limit.algorithm.tag}:` }, key: 'load' }
        const [verdict] = await verbs.decide(by, [{ calls: [{ id, limit, cost: 1_000_000, phase: 0 }] }])
        seen.get(limit)?.push({ at: verdict?.at ?? Number.NaN, cost: 1, allowed: verdict?.outcome === 'allowed' })
      }
    }
    const count = (): number => [...seen.values()].reduce((sum, entries) => sum + entries.length, 0)
    const reaches = async (many: number): Promise<void> => {
      while (count() < many) await new Promise((resolve) => setImmediate(resolve))
    }
    const callers = [caller(store), caller(store), caller(store)]
    await reaches(200)
    await pool.query('alter table sluice_state add column noted bigint default 7')
    await migrate(pg(pool), { table: 'sluice', functions: next })
    callers.push(caller(later), caller(later), caller(later))
    await reaches(count() + 1_200)
    state.running = false
    await Promise.all(callers)
    for (const [limit, entries] of seen) {
      expect(entries.some(({ allowed }) => allowed)).toBe(true)
      expect([limit.algorithm.tag, audit(entries, limit).overGrant]).toEqual([limit.algorithm.tag, 0])
    }
  })
})
