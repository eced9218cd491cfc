import { describe, expect, it, onTestFinished } from 'vitest'
import { type Store, StoreFailure, tokenBucket } from '../../src/index.ts'
import { ioredis, bareRedisStore } from '../../src/stores/redis/index.ts'
import { seeded } from '../../src/testing/random.ts'
import { advised, noRedis, privateRedis, type PrivateRedis } from './private-redis.ts'
import { report } from './stopped.ts'
import { type TcpProxy, tcpProxy } from './tcp-proxy.ts'
import { underFault, wait } from './under-fault.ts'
import * as verbs from '../../src/testing/store-verbs.ts'

const SEED = 4

async function behindProxy(): Promise<{ server: PrivateRedis; proxy: TcpProxy; store: Store }> {
  const server = await privateRedis()
  onTestFinished(server.stop)
  const proxy = await tcpProxy(server.port, seeded(SEED))
  onTestFinished(proxy.stop)
  const client = advised(proxy.port)
  onTestFinished(() => client.disconnect())
  await new Promise((resolve) => client.once('ready', resolve))
  return { server, proxy, store: bareRedisStore({ client: ioredis(client) }) }
}

describe.skipIf(noRedis)('a Redis behind a bad network', () => {
  it('200 ms away with jitter: nobody waits longer than the deadline, and the connection, slow but alive, is kept', async () => {
    const { proxy, store } = await behindProxy()
    const { kinds } = await underFault({ store, bound: 0 }, async () => {
      proxy.faults.delayMs = [150, 250]
      await wait(1_500)
      proxy.faults.delayMs = [0, 0]
    })
    expect(kinds).toEqual(new Set(['timeout']))
    expect(proxy.connections).toBe(1)
  })

  it('200 ms away with jitter, and a deadline that allows for it: nothing is lost', async () => {
    const { proxy, store } = await behindProxy()
    const { degraded } = await underFault({ store, bound: 0, deadlineMs: 10_000 }, async () => {
      proxy.faults.delayMs = [150, 250]
      await wait(1_500)
      proxy.faults.delayMs = [0, 0]
    })
    expect(degraded).toBe(0)
  })

  it('replies in single bytes: all are read', async () => {
    const { proxy, store } = await behindProxy()
    const { degraded } = await underFault({ store, bound: 0, deadlineMs: 5_000, callers: 8 }, async () => {
      proxy.faults.sliced = true
      await wait(1_000)
      proxy.faults.sliced = false
    })
    expect(degraded).toBe(0)
  })

  it('replies cut in the middle: unknown, never a denial', async () => {
    const { proxy, store } = await behindProxy()
    const { degraded } = await underFault({ store, bound: 0 }, async () => {
      proxy.faults.cut = 0.1
      await wait(1_500)
      proxy.faults.cut = 0
    })
    expect(degraded).toBeGreaterThan(0)
    expect(proxy.connections).toBeGreaterThan(2)
  })

  it('one reply in ten lost after execution: it counts as spent', async () => {
    const { proxy, store } = await behindProxy()
    const { degraded } = await underFault({ store, bound: 0 }, async () => {
      proxy.faults.lost = 0.1
      await wait(1_500)
      proxy.faults.lost = 0
    })
    expect(degraded).toBeGreaterThan(0)
  })

  it.each(['lost', 'cut'] as const)(
    'a call whose reply is %s is not sent again: the server charged no more than was requested',
    async (fault) => {
      const { server, proxy, store } = await behindProxy()
      const ledger = tokenBucket({ rate: '1/day', burst: 10_000 })
      const calls = [{ id: { scope: { text: 'ledger:' }, key: 'one' }, limit: ledger, cost: 1_000_000, phase: 0 }]
      const counted = { allowed: 0, unknown: 0, unsent: 0 }
      proxy.faults[fault] = 0.1
      const caller = async (): Promise<void> => {
        for (let round = 0; round < 50; round += 1) {
          try {
            await verbs.decide(store, [{ calls }], { deadline: performance.now() + 1_000 })
            counted.allowed += 1
          } catch (error) {
            counted[error instanceof StoreFailure && error.executed === 'no' ? 'unsent' : 'unknown'] += 1
            await wait(5)
          }
        }
      }
      await Promise.all(Array.from({ length: 8 }, caller))
      const direct = advised(server.port)
      onTestFinished(() => direct.disconnect())
      await new Promise((resolve) => direct.once('ready', resolve))
      const [seen] = await verbs.peek(bareRedisStore({ client: ioredis(direct) }), [{ calls }])
      // What the peek itself would take is counted as well.
      const charged = 10_000 - (seen?.calls[0]?.remaining as number) - 1
      report('charged', { ...counted, charged })
      expect(counted.unknown).toBeGreaterThan(0)
      expect(charged).toBeGreaterThanOrEqual(counted.allowed)
      expect(charged).toBeLessThanOrEqual(counted.allowed + counted.unknown)
    },
  )

  it('a hole that swallows everything: connections are replaced, and the first to get through serves', async () => {
    const { proxy, store } = await behindProxy()
    const { kinds } = await underFault({ store, bound: 0 }, async () => {
      proxy.blackhole()
      await wait(1_500)
      proxy.heal()
    })
    expect(['timeout', 'connection']).toEqual(expect.arrayContaining([...kinds]))
    expect(proxy.connections).toBeGreaterThan(2)
  })
})
