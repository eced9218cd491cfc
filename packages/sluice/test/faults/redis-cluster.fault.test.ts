import type { Cluster } from 'ioredis'
import { createCluster } from 'redis'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { Store } from '../../src/index.ts'
import { ioredis, nodeRedis, bareRedisStore } from '../../src/stores/redis/index.ts'
import { keySlot, SLOTS } from '../../src/stores/redis/key-slot.ts'
import { type ClusterNode, failOver, privateCluster, type PrivateCluster } from './private-cluster.ts'
import { advisedCluster, noRedis } from './private-redis.ts'
import { NARROW_BURST, underFault, wait } from './under-fault.ts'
import { until } from './until.ts'
import { plainName } from '../stores/redis/plain-name.ts'

/** How long a node must be silent for the others. */
const NODE_TIMEOUT_MS = 1_000
const MIGRATED = 1_000

/** One key for each third of the slots. */
const KEYS = [0, 1, 2].map((third) => {
  for (let index = 0; ; index += 1) if (Math.floor((slotOf(`k${index}`) * 3) / SLOTS) === third) return `k${index}`
})

function slotOf(key: string): number {
  return keySlot(plainName('sluice:', { scope: { text: 'narrow:' }, key }))
}

describe.skipIf(noRedis)('a Redis Cluster under load', () => {
  let cluster: PrivateCluster
  beforeAll(async () => {
    cluster = await privateCluster(NODE_TIMEOUT_MS, ['--enable-debug-command', 'local'])
  })
  afterAll(() => cluster?.stop())

  async function connected(to = cluster): Promise<{ client: Cluster; store: Store }> {
    const client = advisedCluster(to.addresses)
    onTestFinished(() => client.disconnect())
    await new Promise((resolve) => client.once('ready', resolve))
    return { client, store: bareRedisStore({ client: ioredis(client) }) }
  }

  async function byNodeRedis(to: PrivateCluster): Promise<{ store: Store }> {
    const client = createCluster({
      rootNodes: to.addresses.map((socket) => ({ socket })),
      topologyRefreshOnReconnectionAttemptStrategy: 200,
      defaults: {
        disableOfflineQueue: true,
        pingInterval: 300,
        socket: { connectTimeout: 500, socketTimeout: 1_000, reconnectStrategy: () => 50 },
      },
    })
    client.on('error', () => {})
    await client.connect()
    onTestFinished(() => client.destroy())
    return { store: bareRedisStore({ client: nodeRedis(client) }) }
  }

  it('1,000 slots that move with all that is in use: nobody is admitted twice, and nobody refused', async () => {
    const { store } = await connected()
    const { audits } = await underFault({ store, bound: 0, narrowKeys: KEYS, pauseMs: 10 }, async () => {
      await wait(100)
      const used = await Promise.all(cluster.nodes.slice(0, 3).map(async ({ admin }) => (await admin.keys('*')).map(keySlot)))
      expect(used.flat().length).toBeGreaterThan(0)
      const slots = new Set([...used.flat(), ...KEYS.map(slotOf), ...Array.from({ length: SLOTS }, (_, slot) => slot)])
      await migrate(cluster, [...slots].slice(0, MIGRATED))
    })
    for (const { admitted } of audits) expect(admitted).toBeGreaterThan(NARROW_BURST)
  })

  it('its replicas take over by hand, again and again: nothing is granted twice', async () => {
    const { store } = await connected()
    await underFault({ store, bound: 0, narrowKeys: KEYS, pauseMs: 10 }, async () => {
      for (let round = 0; round < 4; round += 1) {
        await failOver(cluster, slotOf(KEYS[0] as string))
        await wait(200)
      }
    })
  })

  it('a node that hangs while a slot moves to it: what was redirected there is given up, and nobody is left with it', async () => {
    const { store } = await connected()
    const slot = slotOf('moving')
    const source = await cluster.ownerOf(slot)
    const target = await otherPrimary(cluster, source)
    await target.admin.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', await source.id())
    await source.admin.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', await target.id())
    const { audits } = await underFault({ store, bound: 0, narrowKeys: ['moving'] }, async () => {
      // The node itself ends this in time. If the test did, and were late, the other nodes would take the node for dead.
      await target.admin.call('DEBUG', 'SLEEP', (NODE_TIMEOUT_MS * 0.7) / 1_000)
    })
    for (const { admin } of [target, source]) await admin.call('CLUSTER', 'SETSLOT', slot, 'NODE', await target.id())
    expect(audits[0]?.lost).toBeGreaterThan(10)
  })

  it.each([
    ['ioredis', 1],
    ['node-redis', 2],
  ] as const)('a primary killed, by %s: the other slots go on, its own are back when its replica has taken over', async (client, third) => {
    // This test has a cluster of its own. If it is repeated, it needs a primary that still has a replica, and its first attempt killed one.
    const wounded = await privateCluster(NODE_TIMEOUT_MS)
    onTestFinished(() => wounded.stop())
    const { store } = client === 'ioredis' ? await connected(wounded) : await byNodeRedis(wounded)
    const slot = slotOf(KEYS[third] as string)
    const owner = await wounded.ownerOf(slot)
    const { audits } = await underFault({ store, bound: NARROW_BURST, narrowKeys: KEYS }, async () => {
      owner.signal('SIGKILL')
      await until('another node holds its slots', async () => (await wounded.ownerOf(slot)) !== owner)
    })
    const [own] = audits.splice(third, 1)
    expect(audits.map(({ overGrant }) => overGrant)).toEqual([0, 0])
    // Keys on the killed node's slots lose calls for about a second. Keys on other slots lose fewer: only what a busy machine costs, and a
    // client that reads the map of slots again.
    expect(own?.lost).toBeGreaterThan(Math.max(...audits.map(({ lost }) => lost)))
  })
})

async function otherPrimary(cluster: PrivateCluster, than: ClusterNode): Promise<ClusterNode> {
  for (const node of cluster.nodes) {
    if (node !== than && (await node.admin.info('replication')).includes('role:master')) return node
  }
  throw new Error('there is no other primary')
}

/** Moves slots, with all their keys, from the nodes that hold them to the next primary, as resharding tools do. */
async function migrate(cluster: PrivateCluster, slots: readonly number[]): Promise<void> {
  const primaries = cluster.nodes.slice(0, 3)
  const ids = await Promise.all(primaries.map((node) => node.id()))
  const move = async (slot: number): Promise<void> => {
    const from = Math.floor((slot * 3) / SLOTS)
    const to = (from + 1) % 3
    const [source, target] = [primaries[from], primaries[to]] as [ClusterNode, ClusterNode]
    await target.admin.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', ids[from] as string)
    await source.admin.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', ids[to] as string)
    for (;;) {
      const keys = (await source.admin.call('CLUSTER', 'GETKEYSINSLOT', slot, 100)) as string[]
      if (keys.length === 0) break
      await source.admin.call('MIGRATE', '127.0.0.1', target.port, '', 0, 5_000, 'KEYS', ...keys)
    }
    for (const { admin } of [target, source]) await admin.call('CLUSTER', 'SETSLOT', slot, 'NODE', ids[to] as string)
  }
  // MIGRATE blocks both nodes. Two nodes that send to each other would wait for each other, so only one node sends at a time.
  for (let from = 0; from < 3; from += 1) {
    const waiting = slots.filter((slot) => Math.floor((slot * 3) / SLOTS) === from)
    const worker = async (): Promise<void> => {
      for (let slot = waiting.shift(); slot !== undefined; slot = waiting.shift()) await move(slot)
    }
    await Promise.all(Array.from({ length: 4 }, worker))
  }
}
