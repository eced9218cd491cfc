import type { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { advised, noRedis, type PrivateRedis, privateRedis } from '../faults/private-redis.ts'
import { remoteNetwork } from './remote-network.ts'
import { type PostgresServer, postgresServer, redisServer, type RegionServer } from './remote-servers.ts'
import { history } from './store-history.ts'

const { postgres } = inject('engines')
const REGIONS = 4
const FIRST = Number(process.env['SEED'] ?? 1)

/** Random histories over these servers: how often units were sent. */
async function auditAll(servers: readonly RegionServer[], least = 0): Promise<number> {
  let gifts = 0
  for (let seed = FIRST; seed < FIRST + Math.max(least, Number(process.env['HISTORIES'] ?? 24)); seed += 1) {
    const found = await history(seed, (...args) => remoteNetwork(servers, ...args)).catch((error) => {
      throw new Error(`seed ${seed}`, { cause: error })
    })
    expect(found, `seed ${seed}`).toMatchObject({ over: false, agreed: true })
    gifts += found.gifts
  }
  return gifts
}

describe.skipIf(noRedis)('regionalStore over Redis, with rights that are sent', () => {
  const servers: PrivateRedis[] = []
  const clients: Redis[] = []
  beforeAll(async () => {
    servers.push(...(await Promise.all(Array.from({ length: REGIONS }, () => privateRedis()))))
    clients.push(...servers.map(({ port }) => advised(port)))
    await Promise.all(clients.map((client) => client.ping().catch(() => new Promise((resolve) => void client.once('ready', resolve)))))
  })
  afterAll(async () => {
    for (const client of clients) client.disconnect()
    await Promise.all(servers.map((server) => server.stop()))
  })

  it('never admits more than the limit over all regions, in random histories with losses, snapshots, eras, partitions and rollouts', async () => {
    expect(await auditAll(clients.map(redisServer))).toBeGreaterThan(0)
  }, 600_000)
})

describe.skipIf(postgres === undefined)('regionalStore over PostgreSQL, with rights that are sent', () => {
  const servers: PostgresServer[] = []
  const open = async (without?: 'guard' | 'shifts'): Promise<PostgresServer[]> => {
    const opened = await Promise.all(Array.from({ length: REGIONS }, () => postgresServer(postgres as string, without)))
    servers.push(...opened)
    return opened
  }
  afterAll(() => Promise.all(servers.map((server) => server.close())))

  it('never admits more than the limit over all regions, in random histories with crashes, restored dumps, eras, partitions and rollouts', async () => {
    expect(await auditAll(await open())).toBeGreaterThan(0)
  }, 600_000)

  it('is over where decisions are not guarded', async () => {
    const opened = await open('guard')
    let over = false
    // Of the first hundred histories, this one.
    for (let seed = 59; seed < 159 && !over; seed += 1) ({ over } = await history(seed, (...args) => remoteNetwork(opened, ...args)))
    expect(over).toBe(true)
  }, 600_000)

  it('is noticed where the guard does not compare the instant of the latest shift', async () => {
    await expect(auditAll(await open('shifts'), 24)).rejects.toThrow(/^seed \d+$/)
  }, 600_000)
})
