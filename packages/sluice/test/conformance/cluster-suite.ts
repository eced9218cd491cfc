import { Cluster } from 'ioredis'
import { beforeAll, describe, expect, it } from 'vitest'
import { slidingWindowCounter, slidingWindowLog, tokenBucket } from '../../src/index.ts'
import { type RedisPort, bareRedisStore } from '../../src/stores/redis/index.ts'
import type { Call } from '../../src/stores/store.ts'
import { storeSuite } from '../../src/testing.ts'
import { privateCluster, type PrivateCluster } from '../faults/private-cluster.ts'
import { noRedis } from '../faults/private-redis.ts'
import { idleLimit } from '../stores/families/idle-window.ts'
import { immortal } from '../stores/redis/immortal.ts'
import { redisStates } from './redis-states.ts'
import * as verbs from '../../src/testing/store-verbs.ts'

export interface OpenCluster {
  readonly port: RedisPort
  close(): unknown
}

/** Registers the store suite on a private cluster of three primaries and three replicas. */
export function clusterSuite(
  name: string,
  open: (addresses: PrivateCluster['addresses']) => Promise<OpenCluster>,
  differentialCalls: number,
): void {
  describe.skipIf(noRedis)(`a Redis Cluster by ${name}`, () => {
    const prefix = 'suite:'
    let cluster: PrivateCluster
    let reader: Cluster
    let client: OpenCluster
    beforeAll(async () => {
      cluster = await privateCluster(10_000)
      reader = new Cluster(cluster.addresses)
      client = await open(cluster.addresses)
    })
    it.each(['plain', 'packed'] as const)('a group of three limits of one key is one call (%s layout)', async (layout) => {
      let sent = 0
      const { port } = client
      const evalsha: RedisPort['evalsha'] = (...args) => {
        sent += 1
        return port.evalsha(...args)
      }
      const store = bareRedisStore({ client: { ...port, evalsha }, prefix: `${prefix}${layout}:`, layout })
      // The text of the program is brought to each node.
      for (let index = 0; index < 30; index += 1) await verbs.decide(store, [{ calls: threeLimits(`first${index}`) }])
      const calls = threeLimits('user:42')
      for (let left = 9; left >= 0; left -= 1) {
        sent = 0
        const [verdict] = await verbs.decide(store, [{ calls }])
        expect(verdict).toMatchObject({ outcome: 'allowed', calls: [{ remaining: left }, { remaining: left }, { remaining: left }] })
        expect(sent).toBe(1)
      }
      sent = 0
      expect(await verbs.decide(store, [{ calls }])).toMatchObject([{ outcome: 'denied' }])
      // Nothing was charged elsewhere, and nothing had to be given back.
      expect(sent).toBe(1)
      await verbs.reset(
        store,
        calls.map(({ id }) => id),
      )
      expect(sent).toBe(2)
    })

    it('a group with an algorithm without a program is charged all or nothing by concurrent callers', async () => {
      const store = bareRedisStore({ client: client.port, prefix })
      const limit = idleLimit(8, 1_000)
      const fifth = { ...(threeLimits('fifth')[0] as Call), id: { scope: { text: 'api:fifth:iw:' }, key: 'fifth' }, limit }
      const group = { calls: [...threeLimits('fifth'), fifth] }
      const verdicts = await Promise.all(Array.from({ length: 12 }, () => store.decide([group])))
      expect(verdicts.flat().filter(({ outcome }) => outcome === 'allowed')).toHaveLength(8)
      const left = await store.decide([group], { charge: false })
      expect(left).toMatchObject([{ calls: [{ remaining: 2 }, { remaining: 2 }, { remaining: 2 }, { remaining: 0 }] }])
      await verbs.reset(
        store,
        group.calls.map(({ id }) => id),
      )
    })

    storeSuite(`cluster by ${name}`, {
      ...redisStates(prefix, { getBuffer: (key) => reader.getBuffer(key) }),
      open: async () => bareRedisStore({ client: client.port, prefix }),
      close: async () => {
        try {
          for (const { admin } of cluster.nodes.slice(0, 3)) expect(await immortal(admin, prefix)).toEqual([])
        } finally {
          await client.close()
          await reader.quit()
          await cluster.stop()
        }
      },
      givesBack: true,
      differentialCalls,
    })
  })
}

/** Slow enough not to flow in meanwhile. */
const SLOW = [
  tokenBucket({ rate: '1/h', burst: 10 }),
  slidingWindowCounter({ limit: 10, window: '1d' }),
  slidingWindowLog({ limit: 10, window: '1d' }),
]

/** A token bucket, a counter and a log of one key. */
function threeLimits(key: string): Call[] {
  return SLOW.map((limit, index) => ({
    id: { scope: { text: `api:limit${index}:${limit.algorithm.tag}:` }, key },
    limit,
    cost: 1_000_000,
    phase: 0,
  }))
}
