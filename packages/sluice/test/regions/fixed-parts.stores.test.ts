import { Cluster, Redis } from 'ioredis'
import pgDriver from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import {
  concurrency,
  createLimiter,
  fixedWindow,
  type Limiter,
  slidingWindowCounter,
  slidingWindowLog,
  type Store,
  tokenBucket,
} from '../../src/index.ts'
import { pg, postgresStore } from '../../src/postgres.ts'
import { ioredis, redisStore } from '../../src/redis.ts'
import { regionalStore } from '../../src/regions.ts'
import { seeded } from '../../src/testing/random.ts'
import { schema } from '../conformance/postgres-rows.ts'
import { privateCluster, type PrivateCluster } from '../faults/private-cluster.ts'
import { noRedis } from '../faults/private-redis.ts'

const { redis, postgres } = inject('engines')
const WEIGHTS = { ap: 500, eu: 300, us: 200 }
const NAMES = Object.keys(WEIGHTS)
/** The window is so long that nothing is refilled while a test runs. So all regions together grant exactly the capacity. */
const WINDOW = '1d'
const CAPACITY = 30
const LIMITS = {
  bucket: tokenBucket({ rate: `${CAPACITY}/${WINDOW}`, burst: CAPACITY }),
  window: fixedWindow({ limit: CAPACITY, window: WINDOW, align: 'first' }),
  counter: slidingWindowCounter({ limit: CAPACITY, window: WINDOW }),
  log: slidingWindowLog({ limit: CAPACITY, window: WINDOW }),
}

/** Three regions that keep fixed parts, each over a store of its own, with limiters for one kind of limit. */
function fixedParts(open: (region: string) => Store): void {
  const limitersOf = (name: string, limit: (typeof LIMITS)[keyof typeof LIMITS]): Limiter[] =>
    NAMES.map((self) =>
      createLimiter({ name, limit, store: regionalStore({ store: open(self), self, weights: WEIGHTS }), deadlineMs: 5_000 }),
    )

  it.each(Object.entries(LIMITS))(
    'grant no more than a %s, whatever is held, settled, extended, waited for and left',
    async (kind, limit) => {
      const random = seeded(20_261_128)
      const limiters = limitersOf(kind, limit)
      for (const key of ['a', 'b', 'c']) {
        const counts = { held: 0, back: 0, left: 0 }
        // Before and after what is given back, by region.
        const used = NAMES.map(() => 0)
        for (let step = 0; step < 25; step += 1) {
          const region = Math.floor(random() * NAMES.length)
          const limiter = limiters[region] as Limiter
          const add = (tokens: number): void => void (used[region] = (used[region] as number) + tokens)
          const cost = 0.5 + Math.floor(random() * 8) / 2
          const action = random()
          if (action < 0.4) {
            const held = await limiter.reserve(key, { cost, holdMs: 60_000 })
            if (held.decision.outcome !== 'allowed') continue
            counts.held += 1
            add(cost)
            if (random() < 0.3) await held.extend(120_000)
            const actual = random() < 0.3 ? 0 : Math.floor(random() * cost * 2) / 2
            const { limits } = random() < 0.2 ? await held.cancel() : await held.settle(actual)
            add((limits[0]?.charged ?? cost) - cost)
            counts.back += 1
            // A second settlement changes nothing.
            expect((await held.settle(0)).repeated).toBe(true)
          } else if (action < 0.55) {
            const leaving = new AbortController()
            const waited = limiter.wait(key, { cost, maxWaitMs: 86_400_000, signal: leaving.signal })
            setTimeout(() => leaving.abort(), 5)
            const passed = await waited.then(
              ({ allowed }) => allowed,
              () => false,
            )
            if (passed) add(cost)
            else counts.left += 1
          } else if ((await limiter.check(key, { cost })).allowed) add(cost)
          for (const [index, tokens] of used.entries())
            expect(tokens).toBeLessThanOrEqual((CAPACITY * Object.values(WEIGHTS)[index]!) / 1_000)
        }
        // The sum of what is left of all parts is what is left of the limit.
        let left = 0
        for (const limiter of limiters) while ((await limiter.check(key, { cost: 0.5 })).allowed) left += 0.5
        const sum = used.reduce((one, other) => one + other)
        expect(sum + left).toBeLessThanOrEqual(CAPACITY)
        expect(sum + left).toBeGreaterThan(CAPACITY - 1)
        expect(counts.held).toBeGreaterThan(0)
      }
      await Promise.all(limiters.map((limiter) => limiter.close()))
    },
  )

  it('hold no more slots than a concurrency limit, whole ones in each region, and get back those that are released', async () => {
    const limit = concurrency({ limit: 10, holdMs: 60_000 })
    const limiters = NAMES.map((self) =>
      createLimiter({ name: 'slots', limit, store: regionalStore({ store: open(self), self, weights: WEIGHTS }), deadlineMs: 5_000 }),
    )
    for (let round = 0; round < 2; round += 1) {
      const held = await Promise.all(
        limiters.map(async (limiter) => {
          const decisions = await Promise.all(Array.from({ length: 12 }, () => limiter.check('k')))
          return decisions.flatMap((decision) => (decision.allowed && decision.hold !== undefined ? [decision.hold.id] : []))
        }),
      )
      expect(held.map(({ length }) => length)).toEqual([5, 3, 2])
      await Promise.all(limiters.map(async (limiter, index) => Promise.all((held[index] ?? []).map((id) => limiter.release('k', id)))))
    }
    await Promise.all(limiters.map((limiter) => limiter.close()))
  })
}

describe.skipIf(redis === undefined)('regions with fixed parts, over Redis', () => {
  const client = new Redis(redis ?? '', { lazyConnect: true })
  afterAll(() => client.disconnect())
  fixedParts((region) => redisStore({ client: ioredis(client), prefix: `fixed-${process.pid}-${region}:` }))

  it('lease only parts: busy callers of all regions pass no more than the limit together', async () => {
    const limit = tokenBucket({ rate: '100/d', burst: 1_000 })
    const limiters = NAMES.map((self) => {
      const store = redisStore({ client: ioredis(client), prefix: `leased-${process.pid}-${self}:`, ring: { leases: { afterCalls: 4 } } })
      return createLimiter({ name: 'busy', limit, store: regionalStore({ store, self, weights: WEIGHTS }), deadlineMs: 5_000 })
    })
    let leased = 0
    const passed = await Promise.all(
      limiters.map(async (limiter) => {
        let count = 0
        for (let round = 0; round < 80; round += 1) {
          const decisions = await Promise.all(Array.from({ length: 10 }, () => limiter.check('hot')))
          count += decisions.filter(({ allowed }) => allowed).length
          leased += decisions.filter(({ allowed, source }) => allowed && source === 'lease').length
        }
        return count
      }),
    )
    for (const [index, count] of passed.entries()) expect(count).toBeLessThanOrEqual(Object.values(WEIGHTS)[index] as number)
    expect(leased).toBeGreaterThan(50)
    await Promise.all(limiters.map((limiter) => limiter.close()))
  })
})

describe.skipIf(noRedis)('regions with fixed parts, over a Redis Cluster', () => {
  let cluster: PrivateCluster
  let client: Cluster
  beforeAll(async () => {
    cluster = await privateCluster(10_000)
    client = new Cluster(cluster.addresses)
  })
  afterAll(async () => {
    client.disconnect()
    await cluster.stop()
  })
  fixedParts((region) => redisStore({ client: ioredis(client), prefix: `fixed-${region}:` }))

  it('refuse to send units, by name, before any call', () => {
    const store = redisStore({ client: ioredis(client), prefix: 'escrow:' })
    expect(() => regionalStore({ store, self: 'eu', peers: ['us'], mode: 'escrow' })).toThrow(
      'mode escrow does not run over redis on a Cluster in this version; use mode fixed',
    )
  })
})

describe.skipIf(postgres === undefined)('regions with fixed parts, over PostgreSQL', () => {
  const own = schema(postgres)
  const pool = new pgDriver.Pool({ connectionString: postgres, max: 4, options: `-c search_path=${own.name} -c synchronous_commit=off` })
  const stores = NAMES.map((name) => [name, postgresStore({ client: pg(pool), table: `part_${name}`, sweepEveryMs: 0 })] as const)
  beforeAll(async () => {
    await own.create()
    for (const [, store] of stores) await store.migrate()
  })
  afterAll(async () => {
    await pool.end()
    await own.drop()
  })
  fixedParts((region) => new Map(stores).get(region) as Store)
})
