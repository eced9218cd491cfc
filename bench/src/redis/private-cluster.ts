import { setTimeout as later } from 'node:timers/promises'
import { findRedis, freePort, startRedis } from '@sluice/scripts/engines'
import { Redis } from 'ioredis'
import type { PartOptions } from '../part.ts'
import { MissingEngine } from '../suites/suite.ts'

const NODES = 3
const SLOTS = 16_384
const PATIENCE_MS = 20_000

/**
 * A cluster of three primaries on the loopback address, each with a third of the slots; its URLs.
 * Rejects with MissingEngine where there is no redis-server.
 */
export async function startCluster({ atEnd }: Pick<PartOptions, 'atEnd'>): Promise<readonly string[]> {
  const found = findRedis()
  if ('missing' in found) throw new MissingEngine(`no Redis to make a cluster of: ${found.missing}`)
  const nodes: { readonly client: Redis; readonly url: string; readonly bus: number }[] = []
  for (let index = 0; index < NODES; index += 1) {
    // The port of the bus is chosen as well: the usual one, 10,000 above the other, may be none.
    const bus = await freePort()
    const engine = await startRedis(found.path, ['--cluster-enabled', 'yes', '--cluster-port', String(bus)])
    atEnd(engine.stop)
    nodes.push({ client: new Redis(engine.url), url: engine.url, bus })
  }
  try {
    const [first] = nodes as [(typeof nodes)[number]]
    for (const [index, { client, url, bus }] of nodes.entries()) {
      const [from, until] = [index, index + 1].map((place) => Math.round((SLOTS * place) / NODES)) as [number, number]
      await client.cluster('ADDSLOTSRANGE', from, until - 1)
      const { hostname, port } = new URL(url)
      if (index > 0) await first.client.call('CLUSTER', 'MEET', hostname, port, bus)
    }
    const end = performance.now() + PATIENCE_MS
    while (!(await Promise.all(nodes.map(({ client }) => settled(client)))).every(Boolean)) {
      if (performance.now() > end) throw new Error(`the nodes of the private cluster did not find each other within ${PATIENCE_MS} ms`)
      await later(50)
    }
  } finally {
    for (const { client } of nodes) client.disconnect()
  }
  return nodes.map(({ url }) => url)
}

async function settled(client: Redis): Promise<boolean> {
  const state = await client.cluster('INFO')
  return /cluster_state:ok/.test(state) && state.includes(`cluster_known_nodes:${NODES}`) && state.includes(`cluster_size:${NODES}`)
}
