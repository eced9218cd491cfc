import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import type { Redis } from 'ioredis'
import { describe, expect, it, onTestFinished } from 'vitest'
import { concurrency, createLimiter, fixedWindow, type Limiter, type Store, tokenBucket } from '../../src/index.ts'
import { pglite } from '../../src/postgres.ts'
import { ioredis, redisStore } from '../../src/redis.ts'
import { barePostgresStore } from '../../src/stores/postgres/index.ts'
import { keySlot } from '../../src/stores/redis/key-slot.ts'
import { plainName } from '../stores/redis/plain-name.ts'
import { type ClusterNode, failOver, privateCluster } from './private-cluster.ts'
import { migratedPostgres, noPostgres, pooled } from './private-postgres.ts'
import { advisedBySentinel, advisedCluster, noRedis } from './private-redis.ts'
import { privateSentinel, SENTINEL_NAME } from './private-sentinel.ts'
import { type TcpProxy, tcpProxy } from './tcp-proxy.ts'
import { until } from './until.ts'

const LIMITS = {
  tokens: tokenBucket({ rate: '1/d', burst: 10 }),
  calls: fixedWindow({ limit: 10, window: '1d' }),
  slots: concurrency({ limit: 10, holdMs: 60_000 }),
}
/** What is left of each of the three limits: after a reservation of six (HELD), and after that is settled with one (SETTLED). */
const [HELD, SETTLED] = [
  [4, 4, 4],
  [9, 9, 10],
]
const RESERVATION = { cost: 6, holdMs: 120_000 }

function limiterOn(store: Store): Limiter {
  return createLimiter({ name: 'failover', limits: LIMITS, store, deadlineMs: 2_000 })
}

/** What is left of each limit; tries until the store answers. */
async function left(limiter: Limiter, key: string): Promise<readonly number[]> {
  let remaining: readonly number[] = []
  await until('the store answers', async () => {
    const { outcome, limits } = await limiter.peek(key)
    remaining = limits.map((limit) => limit.remaining)
    return outcome !== 'undecided'
  })
  return remaining
}

/**
 * Makes the reservation, and repeats the call until the store has answered. It may fail: a client may not be connected to all nodes yet, and
 * a connection may take longer than its timeout. A reservation with an id can safely be repeated.
 */
async function reserved(limiter: Limiter, key: string): Promise<string> {
  const id = `hold of ${key}`
  await until('the hold is made', async () => (await limiter.reserve(key, { ...RESERVATION, id })).decision.outcome === 'allowed')
  return id
}

/** Settles a hold with one token, and repeats the call until the store has answered, as a client would. */
async function settled(limiter: Limiter, key: string, id: string): Promise<Awaited<ReturnType<Limiter['settle']>>> {
  let answer: Awaited<ReturnType<Limiter['settle']>> | undefined
  await until('the settlement is answered', async () => (answer = await limiter.settle(key, id, 1)) !== undefined)
  return answer as Awaited<ReturnType<Limiter['settle']>>
}

async function expectSettledOnce(limiter: Limiter, key: string, id: string): Promise<void> {
  const { status, limits } = await settled(limiter, key, id)
  expect([status, limits.map(({ charged }) => charged)]).toEqual(['settled', [1, 1, 0]])
  expect(await settled(limiter, key, id)).toMatchObject({ status: 'settled', repeated: true })
  expect(await left(limiter, key)).toEqual(SETTLED)
}

describe.skipIf(noRedis)('failover by Sentinel between reserve and settle', () => {
  const start = async (): Promise<{
    limiter: Limiter
    client: Redis
    servers: Awaited<ReturnType<typeof privateSentinel>>
    link: () => TcpProxy
  }> => {
    let link: TcpProxy | undefined
    const servers = await privateSentinel({
      through: async (port) => {
        link = await tcpProxy(port, () => 0)
        return link.port
      },
    })
    const client = advisedBySentinel(servers.sentinels, SENTINEL_NAME)
    onTestFinished(async () => {
      client.disconnect()
      await servers.stop()
      await link?.stop()
    })
    await new Promise((resolve) => client.once('ready', resolve))
    return { limiter: limiterOn(redisStore({ client: ioredis(client) })), client, servers, link: () => link as TcpProxy }
  }

  it('a hold that was replicated is settled by the new primary, once', async () => {
    const { limiter, client, servers } = await start()
    const id = await reserved(limiter, 'k')
    expect(await client.wait(1, 5_000)).toBe(1)
    servers.primary.signal('SIGKILL')
    await until('a sentinel names the replica', async () => (await servers.primaryPort()) === servers.replica.port)
    expect(await left(limiter, 'k')).toEqual(HELD)
    await expectSettledOnce(limiter, 'k', id)
  })

  it('a hold that was not replicated is unknown there: what it charged is granted again, and its settlement adds nothing', async () => {
    const { limiter, servers, link } = await start()
    link().blackhole()
    const id = await reserved(limiter, 'k')
    servers.primary.signal('SIGKILL')
    await until('a sentinel names the replica', async () => (await servers.primaryPort()) === servers.replica.port)
    await until('the store decides', async () => (await limiter.check('k', { cost: 3 })).outcome === 'allowed')
    const before = await left(limiter, 'k')
    expect(before[0]).toBeLessThanOrEqual(7)
    expect(await settled(limiter, 'k', id)).toMatchObject({ status: 'unknown', limits: [] })
    expect(await left(limiter, 'k')).toEqual(before)
  })
})

describe.skipIf(noRedis)('a Redis Cluster between reserve and settle', () => {
  it('its replicas take over, on command and after a kill: all limits of a key, which share a slot, are settled', async () => {
    const cluster = await privateCluster(1_000)
    const client = advisedCluster(cluster.addresses)
    onTestFinished(async () => {
      client.disconnect()
      await cluster.stop()
    })
    await new Promise((resolve) => client.once('ready', resolve))
    const limiter = limiterOn(redisStore({ client: ioredis(client) }))
    const slotOf = (key: string): number => keySlot(plainName('sluice:', { scope: { text: 'any:' }, key }))
    const keys = Array.from({ length: 12 }, (_, index) => `k${index}`)
    const holds: { key: string; id: string }[] = []
    for (const key of keys) holds.push({ key, id: await reserved(limiter, key) })
    await failOver(cluster, slotOf('k0'))
    for (const { key, id } of holds.slice(0, 4)) await expectSettledOnce(limiter, key, id)
    const slots = keys.map(slotOf)
    const kept = await cluster.ownerOf(slotOf('k0'))
    const owners = await Promise.all(slots.map((slot) => cluster.ownerOf(slot)))
    const killed = owners.find((owner) => owner !== kept) as ClusterNode
    await until('its replica has all that it wrote', async () => {
      const info = await killed.admin.info('replication')
      return /slave0:.*offset=(\d+)/.exec(info)?.[1] === /master_repl_offset:(\d+)/.exec(info)?.[1]
    })
    killed.signal('SIGKILL')
    await until('other nodes hold its slots', async () =>
      (await Promise.all(slots.map((slot) => cluster.ownerOf(slot)))).every((owner) => owner !== killed),
    )
    for (const { key, id } of holds.slice(4)) await expectSettledOnce(limiter, key, id)
  })
})

describe.skipIf(noPostgres)('a PostgreSQL that crashes between reserve and settle', () => {
  it('what was committed is there after its recovery: the hold is settled, once', async () => {
    const server = await migratedPostgres()
    onTestFinished(() => server.stop())
    const { pool, store } = pooled(server.url, 4)
    const limiter = limiterOn(store)
    const id = await reserved(limiter, 'k')
    const { rows } = await pool.query<{ pid: number }>('select pg_backend_pid() as pid')
    // When one of its processes is killed, PostgreSQL ends all of them and recovers from its log.
    process.kill(rows[0]?.pid as number, 'SIGKILL')
    expect(await left(limiter, 'k')).toEqual(HELD)
    await expectSettledOnce(limiter, 'k', id)
  })
})

describe('a PGlite that is closed between reserve and settle', () => {
  it('is opened again from its folder with the hold, which is settled once', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-held-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const open = async (): Promise<{ limiter: Limiter; close: () => Promise<void> }> => {
      const database = await PGlite.create(folder)
      const store = barePostgresStore({ client: pglite(database), sweepEveryMs: 0 })
      await store.migrate()
      return { limiter: limiterOn(store), close: () => database.close() }
    }
    const before = await open()
    const id = await reserved(before.limiter, 'k')
    await before.close()
    const after = await open()
    onTestFinished(after.close)
    expect(await left(after.limiter, 'k')).toEqual(HELD)
    await expectSettledOnce(after.limiter, 'k', id)
  })
})
