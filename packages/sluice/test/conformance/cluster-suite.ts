import { Cluster } from 'ioredis'
import { beforeAll, describe, expect } from 'vitest'
import { type RedisPort, redisStore } from '../../src/stores/redis/index.ts'
import { storeSuite } from '../../src/testing/index.ts'
import { privateCluster, type PrivateCluster } from '../faults/private-cluster.ts'
import { noRedis } from '../faults/private-redis.ts'
import { immortal } from '../stores/redis/immortal.ts'
import { redisStates } from './redis-states.ts'

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
    storeSuite(`cluster by ${name}`, {
      ...redisStates(prefix, { getBuffer: (key) => reader.getBuffer(key) }),
      open: async () => redisStore({ client: client.port, prefix }),
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
