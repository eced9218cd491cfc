import { setTimeout as later } from 'node:timers/promises'
import { findRedis, freePort, startRedis } from '@sluice/scripts/engines'
import { Redis } from 'ioredis'
import type { PartOptions } from '../part.ts'
import { MissingEngine, stoppedAtEnd } from '../engines.ts'

/** The nodes of a cluster, unless another number is requested. */
const NODES = 3
const SLOTS = 16_384
const PATIENCE_MS = 20_000

export interface ClusterNode {
  readonly url: string
  readonly pid: number
}

/**
 * Starts a cluster of primaries on the loopback address, each with an equal part of the slots. Rejects with MissingEngine if there is no
 * redis-server.
 */
export async function startCluster({ atEnd }: Pick<PartOptions, 'atEnd'>, count: number = NODES): Promise<readonly ClusterNode[]> {
  const found = findRedis()
  if ('missing' in found) throw new MissingEngine(`no Redis to make a cluster of: ${found.missing}`)
  const nodes: (ClusterNode & { readonly client: Redis; readonly bus: number })[] = []
  for (let index = 0; index < count; index += 1) {
    // The address is set, because a node that no other node has met yet does not know its own address. The port of the cluster bus is set,
    // too: the default, 10,000 above the client port, may be taken or above 65,535.
    const bus = await freePort()
    const starting = startRedis(found.path, [
      '--cluster-enabled',
      'yes',
      '--cluster-port',
      String(bus),
      '--cluster-announce-ip',
      '127.0.0.1',
    ])
    const { url, pid } = await stoppedAtEnd(starting, { atEnd })
    nodes.push({ client: new Redis(url), url, pid, bus })
  }
  try {
    const [first] = nodes as [(typeof nodes)[number]]
    for (const [index, { client, url, bus }] of nodes.entries()) {
      const [from, until] = [index, index + 1].map((place) => Math.round((SLOTS * place) / count)) as [number, number]
      await client.cluster('ADDSLOTSRANGE', from, until - 1)
      const { hostname, port } = new URL(url)
      if (index > 0) await first.client.call('CLUSTER', 'MEET', hostname, port, bus)
    }
    const end = performance.now() + PATIENCE_MS
    while (!(await Promise.all(nodes.map(({ client }) => settled(client, count)))).every(Boolean)) {
      if (performance.now() > end) throw new Error(`the nodes of the private cluster did not find each other within ${PATIENCE_MS} ms`)
      await later(50)
    }
  } finally {
    for (const { client } of nodes) client.disconnect()
  }
  return nodes.map(({ url, pid }) => ({ url, pid }))
}

async function settled(client: Redis, count: number): Promise<boolean> {
  const state = await client.cluster('INFO')
  return /cluster_state:ok/.test(state) && state.includes(`cluster_known_nodes:${count}`) && state.includes(`cluster_size:${count}`)
}
