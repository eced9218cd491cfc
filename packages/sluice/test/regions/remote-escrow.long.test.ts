import type { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { advised, noRedis, type PrivateRedis, privateRedis } from '../faults/private-redis.ts'
import { remoteNetwork } from './remote-network.ts'
import { history } from './store-history.ts'

describe.skipIf(noRedis)('regionalStore over Redis, with rights that are sent', () => {
  const servers: PrivateRedis[] = []
  const clients: Redis[] = []
  beforeAll(async () => {
    servers.push(...(await Promise.all(Array.from({ length: 4 }, () => privateRedis()))))
    clients.push(...servers.map(({ port }) => advised(port)))
    await Promise.all(clients.map((client) => client.ping().catch(() => new Promise((resolve) => void client.once('ready', resolve)))))
  })
  afterAll(async () => {
    for (const client of clients) client.disconnect()
    await Promise.all(servers.map((server) => server.stop()))
  })

  it('never admits more than the limit over all regions, in random histories with losses, snapshots, eras, partitions and rollouts', async () => {
    let gifts = 0
    const first = Number(process.env['SEED'] ?? 1)
    for (let seed = first; seed < first + Number(process.env['HISTORIES'] ?? 24); seed += 1) {
      const found = await history(seed, (...args) => remoteNetwork(clients, ...args)).catch((error) => {
        throw new Error(`seed ${seed}`, { cause: error })
      })
      expect(found, `seed ${seed}`).toMatchObject({ over: false, agreed: true })
      gifts += found.gifts
    }
    expect(gifts).toBeGreaterThan(0)
  }, 600_000)
})
