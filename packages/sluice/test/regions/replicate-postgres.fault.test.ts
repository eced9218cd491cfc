import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createLimiter, tokenBucket } from '../../src/index.ts'
import { pg, postgresStore } from '../../src/postgres.ts'
import { ioredis, redisStore } from '../../src/redis.ts'
import { type RegionalStore, regionalStore, replicate, type Replicator } from '../../src/regions.ts'
import { migratedPostgres, noPostgres, pooled } from '../faults/private-postgres.ts'
import { advised, noRedis, privateRedis } from '../faults/private-redis.ts'
import { until } from '../faults/until.ts'
import { overOf, type Passed } from './over.ts'

const [RATE, BURST] = [100, 100]
const limit = tokenBucket({ rate: `${RATE}/s`, burst: BURST })
const RING = { deadline: '2s', breaker: false } as const

describe.skipIf(noRedis || noPostgres)('replicate', () => {
  it('carries units between a region on Redis and one on PostgreSQL, to where the demand is: 0 over', async () => {
    const [redis, postgres] = [await privateRedis(), await migratedPostgres()]
    const client = advised(redis.port)
    onTestFinished(async () => {
      client.disconnect()
      await Promise.all([redis.stop(), postgres.stop()])
    })
    const { pool } = pooled(postgres.url, 4)
    const stores: Record<string, RegionalStore> = {
      eu: regionalStore({ store: redisStore({ client: ioredis(client), ring: RING }), self: 'eu', peers: ['us'], mode: 'escrow' }),
      us: regionalStore({
        store: postgresStore({ client: pg(pool), sweepEveryMs: 0, onWarning: () => {}, ring: RING }),
        self: 'us',
        peers: ['eu'],
        mode: 'escrow',
      }),
    }
    expect(() => replicate({ store: stores['us'] as RegionalStore })).toThrow('replicate: transport is undefined, expected a function')
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
      const limiter = createLimiter({ limit, store: stores[name] as RegionalStore, onStoreFailure: 'deny', deadlineMs: 2_000 })
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
