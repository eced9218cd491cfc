import { Redis } from 'ioredis'
import pgDriver from 'pg'
import { describe, inject } from 'vitest'
import type { AnyLimit } from '../../src/algorithms/algorithm.ts'
import { regionalStore } from '../../src/regions.ts'
import { UNITS } from '../../src/regions/rights/limit.ts'
import { barePostgresStore, pg, type PostgresStore } from '../../src/stores/postgres/index.ts'
import { bareRedisStore, ioredis } from '../../src/stores/redis/index.ts'
import { readValue } from '../../src/stores/redis/value.ts'
import type { Store } from '../../src/stores/store.ts'
import { storeSuite } from '../../src/testing.ts'
import { plainName } from '../stores/redis/plain-name.ts'
import { escrowAround } from './escrow-around.ts'
import { allInOne } from './escrow-memory.ts'
import { ADOPTS, partSent, travellers, type Travellers } from './out-and-back.ts'
import { readRow, schema } from './postgres-rows.ts'

const { redis, postgres } = inject('engines')

// Two regions share the limit, and one of them holds all of it. So it must decide as its store does without regions.
const WEIGHTS = { self: 'eu', weights: { eu: 1_000, us: 0 } } as const
const COUNTS = [1, 2, 3]
const nameOf = (regions: number): string => `escrow with all rights in one region of ${regions}`
const travelledThrough = (regions: number): string => `escrow after transfers out and back, through ${regions} regions`
const isWholeIn = (regions: number) => (limit: AnyLimit) => partSent(limit, new Map(Object.entries(allInOne(regions)))) === UNITS
/**
 * Each key's units (thousandths of its limit) are sent through the regions first, which takes about thirty calls of the server. So fewer
 * random calls are compared.
 */
const TRAVELLED_CALLS = { differentialCalls: 1_000 }
const CALLS = { differentialCalls: 5_000, ownClockCalls: 1_500 }

describe.skipIf(redis === undefined)('Redis', () => {
  const prefix = `regional-${process.pid}:`
  const client = new Redis(redis ?? '', { lazyConnect: true })
  storeSuite('a region that holds all, over Redis', {
    ...CALLS,
    open: async () => regionalStore({ store: bareRedisStore({ client: ioredis(client), prefix }), ...WEIGHTS }),
    readState: async (id) => readValue(await client.getBuffer(plainName(prefix, id))).numbers,
    close: async () => void (await client.quit()),
  })
  for (const regions of COUNTS) {
    const own = `escrow-${process.pid}-${regions}:`
    const connection = new Redis(redis ?? '', { lazyConnect: true })
    storeSuite(`${nameOf(regions)}, over Redis`, {
      ...CALLS,
      ...ADOPTS,
      open: () => escrowAround(bareRedisStore({ client: ioredis(connection), prefix: own }), regions),
      readState: async (id) => readValue(await connection.getBuffer(plainName(own, id))).numbers,
      close: async () => void (await connection.quit()),
    })
  }
  for (const regions of COUNTS.slice(1)) {
    const own = `travelled-${process.pid}-${regions}:`
    const travelling = travellers(isWholeIn(regions))
    const connection = new Redis(redis ?? '', { lazyConnect: true })
    storeSuite(`${travelledThrough(regions)}, over Redis`, {
      ...TRAVELLED_CALLS,
      ...ADOPTS,
      open: () => escrowAround(bareRedisStore({ client: ioredis(connection), prefix: own }), regions, travelling),
      readState: async (id) => travelling.unlessUntouched(readValue(await connection.getBuffer(plainName(own, id))).numbers),
      keepsTokens: travelling.keepsTokens,
      close: async () => void (await connection.quit()),
    })
  }
})

describe.skipIf(postgres === undefined)('PostgreSQL', () => {
  const suite = (
    name: string,
    around: (store: PostgresStore) => Store | Promise<Store>,
    adopts: object = {},
    { unlessUntouched }: Partial<Travellers> = {},
  ): void => {
    const own = schema(postgres)
    const pool = new pgDriver.Pool({ connectionString: postgres, max: 8, options: `-c search_path=${own.name}` })
    let store: PostgresStore
    storeSuite(`${name}, over PostgreSQL`, {
      ...CALLS,
      ...adopts,
      open: async () => {
        await own.create()
        store = barePostgresStore({ client: pg(pool), sweepEveryMs: 0 })
        await store.migrate()
        return around(store)
      },
      sweep: () => store.sweep(),
      readState: async (id) => {
        const state = await readRow(pg(pool), id)
        return unlessUntouched === undefined ? state : unlessUntouched(state)
      },
      close: async () => {
        await pool.end()
        await own.drop()
      },
    })
  }
  suite('a region that holds all', (store) => regionalStore({ store, ...WEIGHTS }))
  // No function settles holds of logs.
  const held = { holdsWithoutLogs: true }
  for (const regions of COUNTS) suite(nameOf(regions), (store) => escrowAround(store, regions), { ...ADOPTS, ...held })
  for (const regions of COUNTS.slice(1)) {
    const travelling = travellers(isWholeIn(regions))
    const { keepsTokens } = travelling
    const options = { ...TRAVELLED_CALLS, ...ADOPTS, ...held, keepsTokens }
    suite(travelledThrough(regions), (store) => escrowAround(store, regions, travelling), options, travelling)
  }
})
