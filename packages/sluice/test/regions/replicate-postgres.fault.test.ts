import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createLimiter, type Limiter, tokenBucket } from '../../src/index.ts'
import { pg, type PostgresStore, postgresStore } from '../../src/postgres.ts'
import { ioredis, redisStore } from '../../src/redis.ts'
import { type RegionalStore, regionalStore, replicate, type ReplicateOptions, type Replicator } from '../../src/regions.ts'
import { migratedPostgres, noPostgres, pooled, privatePostgres } from '../faults/private-postgres.ts'
import { advised, noRedis, privateRedis } from '../faults/private-redis.ts'
import { until } from '../faults/until.ts'
import { overOf, type Passed } from './over.ts'

const [RATE, BURST] = [100, 100]
const limit = tokenBucket({ rate: `${RATE}/s`, burst: BURST })
/** No server is lost here, so a connection may take as long as a busy machine needs. */
const CONNECT_MS = 10_000
const RING = { deadline: '2s', breaker: false } as const
const limiterOf = (store: RegionalStore): Limiter => createLimiter({ limit, store, onStoreFailure: 'deny', deadlineMs: 2_000 })

describe.skipIf(noRedis || noPostgres)('replicate', () => {
  it('sums what the callers of all processes need: one that carries no units gets them, and keeps them', async () => {
    const server = await privatePostgres()
    onTestFinished(() => server.stop())
    const carrying = new Map<string, Replicator>()
    const start = async (self: string, peer: string) => {
      const [store, other] = [0, 1].map(() =>
        // The regions have tables of their own on one server.
        postgresStore({
          client: pg(pooled(server.url, 4, CONNECT_MS).pool),
          table: self,
          sweepEveryMs: 0,
          onWarning: () => {},
          ring: RING,
        }),
      ) as [PostgresStore, PostgresStore]
      await store.migrate()
      const [carries, publishes] = [store, other].map((one) => regionalStore({ store: one, self, peers: [peer], mode: 'escrow' }))
      const transport: ReplicateOptions['transport'] = async (to, request) => carrying.get(to)?.answer(request)
      const replicator = replicate({ store: carries as RegionalStore, transport, periodMs: 200, timeoutMs: 2_000 })
      carrying.set(self, replicator)
      const publishing = replicate({ store: publishes as RegionalStore, periodMs: 200 })
      onTestFinished(async () => void (await Promise.all([replicator.close(), publishing.close()])))
      return { replicator, limiter: limiterOf(publishes as RegionalStore) }
    }
    const [eu, us] = [await start('eu', 'us'), await start('us', 'eu')]
    await until('both are open', async () => [eu, us].every(({ replicator }) => replicator.status().phase === 'open'))
    const busy = new Set([eu, us])
    const callers = [eu, us].map(async (region) => {
      while (busy.has(region)) if (!(await region.limiter.check('k', { cost: 10 })).allowed) await pause(5)
    })
    // Both regions need more units than there are, so each keeps its half. The process that answers has no callers, so it must know what
    // the other process needs.
    await pause(5_000)
    expect(us.replicator.status().transfers.unitsSent).toBeLessThanOrEqual(100)
    busy.delete(us)
    await until('units move to eu', async () => eu.replicator.status().transfers.unitsReceived >= 480, 60_000)
    busy.clear()
    await Promise.all(callers)
  }, 120_000)

  it('carries units between a region on Redis and one on PostgreSQL, to where the demand is: 0 over', async () => {
    const [redis, postgres] = [await privateRedis(), await migratedPostgres()]
    const client = advised(redis.port)
    onTestFinished(async () => {
      client.disconnect()
      await Promise.all([redis.stop(), postgres.stop()])
    })
    const { pool } = pooled(postgres.url, 4, CONNECT_MS)
    const stores: Record<string, RegionalStore> = {
      eu: regionalStore({ store: redisStore({ client: ioredis(client), ring: RING }), self: 'eu', peers: ['us'], mode: 'escrow' }),
      us: regionalStore({
        store: postgresStore({ client: pg(pool), sweepEveryMs: 0, onWarning: () => {}, ring: RING }),
        self: 'us',
        peers: ['eu'],
        mode: 'escrow',
      }),
    }
    const replicators: Record<string, Replicator> = {}
    for (const [name, store] of Object.entries(stores)) {
      const made = replicate({
        store,
        periodMs: 200,
        timeoutMs: 2_000,
        async transport(peer, request) {
          const page = await replicators[peer]?.answer(JSON.parse(JSON.stringify(request)))
          return JSON.parse(JSON.stringify(page)) as unknown
        },
      })
      replicators[name] = made
      onTestFinished(() => made.close())
    }
    const statusOf = (name: string) => (replicators[name] as Replicator).status()
    await until('both are open', async () => statusOf('eu').phase === 'open' && statusOf('us').phase === 'open')
    const passed: Passed[] = []
    const load = async (name: string, units: number): Promise<void> => {
      const limiter = limiterOf(stores[name] as RegionalStore)
      const ending = new AbortController()
      const calling = (async () => {
        while (!ending.signal.aborted) {
          const sent = performance.now()
          const { allowed } = await limiter.check('k', { cost: 5 })
          const answered = performance.now()
          if (allowed) passed.push(...Array.from({ length: 5 }, (): Passed => [sent, answered]))
          else await pause(5)
        }
      })()
      const received = async (): Promise<boolean> => statusOf(name).transfers.unitsReceived >= units
      await until(`units move to ${name}`, received, 60_000).finally(() => ending.abort())
      await calling
    }
    await load('eu', 480)
    await load('us', 900)
    await load('eu', 1_300)
    expect(overOf(passed, RATE, BURST)).toBeLessThanOrEqual(0)
    expect(passed.length).toBeGreaterThan(0)
  }, 240_000)
})
