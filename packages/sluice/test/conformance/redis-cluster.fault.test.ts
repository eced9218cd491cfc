import { Cluster } from 'ioredis'
import { createCluster } from 'redis'
import { describe } from 'vitest'
import { ioredis, nodeRedis, valkeyGlide } from '../../src/stores/redis/index.ts'
import { clusterSuite } from './cluster-suite.ts'
import { glide } from './glide.ts'

const byIoredis: Parameters<typeof clusterSuite>[1] = async (addresses) => {
  const client = new Cluster(addresses)
  return { port: ioredis(client), close: () => client.quit() }
}
clusterSuite('ioredis', byIoredis, 2_000)

const byNodeRedis: typeof byIoredis = async (addresses) => {
  const client = await createCluster({ rootNodes: addresses.map((socket) => ({ socket })) }).connect()
  return { port: nodeRedis(client), close: () => client.close() }
}
clusterSuite('node-redis', byNodeRedis, 500)

const byGlide: typeof byIoredis = async (addresses) => {
  const client = await (glide as NonNullable<typeof glide>).GlideClusterClient.createClient({ addresses, requestTimeout: 60_000 })
  return { port: valkeyGlide(client), close: () => client.close() }
}
describe.skipIf(glide === undefined)('where it is installed', () => {
  clusterSuite('valkey-glide', byGlide, 500)
})
