import { Redis } from 'ioredis'
import pgDriver from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { createLimiter, type Limiter, tokenBucket } from '../../src/index.ts'
import { pg, postgresStore } from '../../src/postgres.ts'
import { ioredis, redisStore } from '../../src/redis.ts'
import { exchangeRemote, type RegionalKey, type RegionalStore, regionalStore } from '../../src/regions.ts'
import { schema } from '../conformance/postgres-rows.ts'
import { until } from '../faults/until.ts'
import { overOf, type Passed } from './over.ts'

const { redis, postgres } = inject('engines')
const [RATE, BURST] = [40, 20]
const limit = tokenBucket({ rate: `${RATE}/s`, burst: BURST })
const KEY: RegionalKey = { id: { scope: { text: 'waits:default:tb:' }, key: 'k' }, limit }

describe.skipIf(redis === undefined || postgres === undefined)(
  'callers that wait while units are sent, between Redis and PostgreSQL',
  () => {
    const client = new Redis(redis ?? '', { lazyConnect: true })
    const own = schema(postgres)
    const pool = new pgDriver.Pool({ connectionString: postgres, max: 4, options: `-c search_path=${own.name} -c synchronous_commit=off` })
    const ring = { deadline: '5s', breaker: false } as const
    const tables = postgresStore({ client: pg(pool), sweepEveryMs: 0, ring })
    beforeAll(async () => {
      await own.create()
      await tables.migrate()
    })
    afterAll(async () => {
      client.disconnect()
      await pool.end()
      await own.drop()
    })

    it('pass in the region that has the units now, and no more than the limit in both', async () => {
      const weights = { eu: 500, us: 500 }
      const prefix = `waits-${process.pid}:`
      const eu = regionalStore({ store: redisStore({ client: ioredis(client), prefix, ring }), self: 'eu', weights, mode: 'escrow' })
      const us = regionalStore({ store: tables, self: 'us', weights, mode: 'escrow' })
      const limiters = [eu, us].map((store) => createLimiter({ name: 'waits', limit, store, deadlineMs: 5_000, onStoreFailure: 'deny' }))
      const unitsIn = (store: RegionalStore): Promise<number> => store.remote?.unitsOf(KEY) ?? Promise.resolve(0)
      for (let round = 0; round < 3; round += 1) await exchangeRemote(eu, us)
      const passed: Passed[] = []
      const passedIn = [0, 0]
      /** Waits until its turn has come, or no longer. */
      const wait = async (region: number, maxWaitMs: number): Promise<boolean> => {
        const sent = performance.now()
        const decision = await (limiters[region] as Limiter).wait('k', { maxWaitMs })
        if (!decision.allowed) return false
        passed.push([sent, performance.now()])
        passedIn[region] = (passedIn[region] ?? 0) + 1
        return true
      }
      // Each region makes a first call, by which it knows the limit of the key.
      await until('both grant', async () => (await wait(0, 2_000)) && (await wait(1, 2_000)))

      const callers = [0, 1].map((region) => Array.from({ length: 5 }, () => region)).flat()
      const ending = new AbortController()
      const calling = callers.map(async (region) => {
        while (!ending.signal.aborted) await wait(region, 3_000)
      })
      // All units that a region holds are sent to the other one and back, six times, while callers of both regions wait.
      for (let turn = 0; turn < 6; turn += 1) {
        const [from, to, name] = turn % 2 === 0 ? ([eu, us, 'us'] as const) : ([us, eu, 'eu'] as const)
        const before = [...passedIn]
        expect(await from.remote?.give(KEY, name, await unitsIn(from))).toBe(true)
        await exchangeRemote(eu, us)
        expect([await unitsIn(from), await unitsIn(to)]).toEqual([0, 1_000])
        const place = turn % 2 === 0 ? 1 : 0
        await until(`callers pass in ${name}`, async () => (passedIn[place] ?? 0) > (before[place] ?? 0) + 10)
      }
      ending.abort()
      // Callers that wait in a region without units are denied when their time to wait ends.
      await Promise.all(calling)
      expect(overOf(passed, RATE, BURST)).toBeLessThanOrEqual(0)
      expect(passed.length).toBeGreaterThan(60)
      expect(await wait(1, 300)).toBe(false)
      await Promise.all(limiters.map((limiter) => limiter.close()))
    }, 120_000)
  },
)
