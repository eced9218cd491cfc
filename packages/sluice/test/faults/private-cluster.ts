import { freePort } from '@sluice/scripts/engines'
import { Redis } from 'ioredis'
import { SLOTS } from '../../src/stores/redis/key-slot.ts'
import { privateRedis, type PrivateRedis } from './private-redis.ts'
import { until } from './until.ts'

export interface ClusterNode extends PrivateRedis {
  /** A connection for the test's own commands. */
  readonly admin: Redis
  id(): Promise<string>
}

export interface PrivateCluster {
  /** At the start, the first three nodes hold the slots. The replica of each is three places after it. */
  readonly nodes: readonly ClusterNode[]
  /** What clients connect to first. */
  readonly addresses: { readonly host: string; readonly port: number }[]
  /** The node that holds a slot now, according to the other nodes. */
  ownerOf(slot: number): Promise<ClusterNode>
  /** Whether all nodes that answer name the same node as holder of a slot. */
  agreesOn(slot: number): Promise<boolean>
  stop(): Promise<void>
}

const PRIMARIES = 3
const HOST = '127.0.0.1'

/**
 * Starts three primaries and three replicas on free ports, and assigns the slots by commands.
 * @param timeoutMs for how long a node must be silent until the other nodes take it for dead
 */
export async function privateCluster(timeoutMs: number, extra: readonly string[] = []): Promise<PrivateCluster> {
  const nodes = await Promise.all(Array.from({ length: 2 * PRIMARIES }, () => startNode(timeoutMs, extra)))
  const stop = async (): Promise<void> => {
    nodes.forEach(({ admin }) => admin.disconnect())
    await Promise.all(nodes.map((node) => node.stop()))
  }
  try {
    await form(nodes)
  } catch (error) {
    await stop()
    throw error
  }
  /** The port of the node that holds a slot, according to one node. */
  const holderBy = async ({ admin }: ClusterNode, slot: number): Promise<number | undefined> =>
    (await slotsOf(admin).catch(() => [])).find(([from, to]) => from <= slot && slot <= to)?.[2][1]
  return {
    nodes,
    addresses: nodes.map(({ port }) => ({ host: HOST, port })),
    ownerOf: async (slot) => {
      for (const node of nodes) {
        const holder = await holderBy(node, slot)
        const owner = nodes.find(({ port }) => port === holder)
        if (owner !== undefined) return owner
      }
      throw new Error(`nobody holds slot ${slot}`)
    },
    agreesOn: async (slot) => {
      const holders = await Promise.all(nodes.map((node) => holderBy(node, slot)))
      return new Set(holders.filter((port) => port !== undefined)).size === 1
    },
    stop,
  }
}

type Range = [from: number, to: number, primary: [host: string, port: number], ...replicas: unknown[]]

async function slotsOf(admin: Redis): Promise<Range[]> {
  return (await admin.cluster('SLOTS')) as unknown as Range[]
}

async function startNode(timeoutMs: number, extra: readonly string[]): Promise<ClusterNode> {
  const bus = await freePort()
  const own = ['--cluster-enabled', 'yes', '--cluster-node-timeout', String(timeoutMs), '--cluster-port', String(bus)]
  const server = await privateRedis([...own, '--cluster-require-full-coverage', 'no', '--repl-diskless-sync-delay', '0', ...extra])
  const admin = new Redis(server.port, HOST, { retryStrategy: () => 50, maxRetriesPerRequest: 0, commandTimeout: 5_000 })
  admin.on('error', () => {})
  return { ...server, admin, id: () => admin.cluster('MYID') }
}

async function form(nodes: readonly ClusterNode[]): Promise<void> {
  const share = Math.ceil(SLOTS / PRIMARIES)
  for (let index = 0; index < PRIMARIES; index += 1) {
    const range = [index * share, Math.min(SLOTS, (index + 1) * share) - 1]
    await (nodes[index] as ClusterNode).admin.call('CLUSTER', 'ADDSLOTSRANGE', ...range)
    await (nodes[index] as ClusterNode).admin.call('CLUSTER', 'SET-CONFIG-EPOCH', index + 1)
  }

  const buses = await Promise.all(nodes.map(async ({ admin }) => ((await admin.config('GET', 'cluster-port')) as string[])[1] as string))
  // Every node is introduced to every other: gossip alone takes seconds.
  for (const [index, { port }] of nodes.entries()) {
    await Promise.all(nodes.slice(0, index).map(({ admin }) => admin.call('CLUSTER', 'MEET', HOST, port, buses[index] as string)))
  }
  await until('all nodes know each other', async () => {
    const known = await Promise.all(
      nodes.map(async ({ admin }) =>
        String(await admin.cluster('NODES'))
          .trim()
          .split('\n'),
      ),
    )
    return known.every(
      (lines) => lines.length === nodes.length && lines.every((line) => line.includes('connected') && !line.includes('handshake')),
    )
  })
  const ids = await Promise.all(nodes.slice(0, PRIMARIES).map((node) => node.id()))
  await Promise.all(nodes.slice(PRIMARIES).map(({ admin }, index) => admin.call('CLUSTER', 'REPLICATE', ids[index] as string)))

  await until('the cluster serves', async () => {
    const states = await Promise.all(
      nodes.map(async ({ admin }, index) => {
        const [info, replication, known] = await Promise.all([admin.cluster('INFO'), admin.info('replication'), admin.cluster('NODES')])
        const linked = index < PRIMARIES || replication.includes('master_link_status:up')
        const replicas = (known as string).split(' slave ').length - 1 + (known as string).split('myself,slave').length - 1
        return info.includes('cluster_state:ok') && info.includes(`cluster_slots_assigned:${SLOTS}`) && linked && replicas === PRIMARIES
      }),
    )
    return states.every(Boolean)
  })
}

/**
 * Makes the replica of the node that holds a slot take over, and waits until all nodes know. A failover may be lost while the nodes still
 * disagree on the previous one. Then it is requested again; until it succeeds, the primary answers nobody.
 */
export async function failOver(cluster: PrivateCluster, slot: number): Promise<void> {
  const heir = await heirOf(cluster, slot)
  const hasTakenOver = async (): Promise<boolean> => (await heir.admin.info('replication')).includes('role:master')
  for (let attempt = 0; ; attempt += 1) {
    await heir.admin.call('CLUSTER', 'FAILOVER')
    const taken = await until('the replica has taken over', hasTakenOver, 2_500).then(
      () => true,
      () => false,
    )
    if (taken) break
    if (attempt === 8) throw new Error('the replica did not take over')
  }
  await until('all nodes know', () => cluster.agreesOn(slot))
}

/** The replica of the node that holds a slot, once it is up to date. */
async function heirOf(cluster: PrivateCluster, slot: number): Promise<ClusterNode> {
  let heir: ClusterNode | undefined
  await until('the holder of the slot has a replica', async () => {
    const owner = await cluster.ownerOf(slot)
    const lines = (await owner.admin.call('CLUSTER', 'REPLICAS', await owner.id())) as string[]
    heir = cluster.nodes.find(({ port }) => lines.some((line) => line.includes(`:${port}@`)))
    return heir !== undefined && (await heir.admin.info('replication')).includes('master_link_status:up')
  })
  return heir as ClusterNode
}
