import { Redis } from 'ioredis'
import { scheduleOf } from '../machine/processor.ts'
import { type OrderedProcess, startOrdered } from '../orders.ts'
import type { Part, PartOptions } from '../part.ts'
import { programStats } from '../redis/command-stats.ts'
import { type ClusterNode, startCluster } from '../redis/private-cluster.ts'
import type { RingName } from '../redis/rings.ts'
import { type Batch, type CallersTimed, interleaveLanes } from '../redis/rounds.ts'
import { ratiosOf, spreadOf } from '../result/statistics.ts'
import type { Column, OverGrant, Row, Table } from '../result/table.ts'
import type { ClusterInput } from './cluster-lanes.ts'
import type { ClusterOrder } from './cluster-process.ts'

const SHARDS = [1, 2, 3] as const
const [CALLERS, KEYS] = [64, 1_000]

interface ClusterWay {
  readonly name: string
  readonly kind: 'ours' | 'baseline'
  readonly ring?: RingName
}

const WAYS: readonly ClusterWay[] = [
  { name: 'Lua EVALSHA', kind: 'baseline' },
  { name: 'Sluice, bare', kind: 'ours', ring: 'bare' },
  { name: 'Sluice', kind: 'ours', ring: 'sluice' },
  { name: 'Sluice, strict leases', kind: 'ours', ring: 'leases' },
]

const COLUMNS: readonly Column[] = [
  { key: 'time', title: 'a decision', unit: 'us' },
  { key: 'perSecond', title: 'decisions a second' },
  { key: 'ratio', title: 'time against the first', unit: 'x' },
  { key: 'undecided', title: 'undecided', unit: '%' },
]

const NODES: readonly Column[] = [
  { key: 'programs', title: 'programs run' },
  { key: 'share', title: 'share of all', unit: '%' },
  { key: 'processor', title: 'processor time', unit: 'ms', decimals: 0 },
]

/** Decisions over a cluster of one to three nodes, and how their work is shared out. */
export const shards: Part = {
  name: 'shards',
  title: `a cluster of 1, 2 and 3 nodes: ${KEYS} keys, ${CALLERS} callers`,
  async run(options) {
    const [speed, nodes]: [Row[], Row[]] = [[], []]
    for (const count of SHARDS) {
      options.say(count === 1 ? '1 node' : `${count} nodes`)
      const cluster = await startCluster(options, count)
      options.engines.note(`a cluster of ${count} Redis nodes`)
      const load = count === 1 ? '1 node' : `${count} nodes`
      const before = await workOf(cluster)
      const lanes = await comparedOn(
        cluster.map(({ url }) => url),
        options,
      )
      const after = await workOf(cluster)
      nodes.push(...nodeRows(load, before, after))
      const [first] = lanes
      for (const [index, { name, kind }] of WAYS.entries()) {
        const { rounds, total, errors, allowed, disturbed, overGrant } = lanes[index] as (typeof lanes)[number]
        const walls = rounds.map(({ wall }) => wall)
        speed.push({
          name,
          kind,
          load,
          cells: {
            time: spreadOf(walls.map((wall) => wall / 1e3)),
            perSecond: spreadOf(walls.map((wall) => 1e9 / wall)),
            ratio: ratiosOf(walls, first?.rounds.map(({ wall }) => wall) ?? walls),
            undecided: (errors / total) * 100,
          },
          overGrant,
          wrongAnswers: total - errors - allowed,
          ...(disturbed === undefined ? {} : { disturbed }),
        })
      }
    }
    return { tables: tablesOf(speed, nodes) }
  },
}

interface ClusterTimed extends CallersTimed {
  readonly overGrant: OverGrant
}

/** Compares the limiters over one cluster in turns, each in a process of its own. Then measures the over-grant of each. */
async function comparedOn(urls: readonly string[], { seconds, atEnd }: PartOptions): Promise<ClusterTimed[]> {
  const options = { batchMs: Math.min(60, seconds * 20), warmUpMs: seconds * 500 }
  const inputs = WAYS.map(({ ring }): ClusterInput => ({ urls, callers: CALLERS, keys: KEYS, ...options, ...(ring ? { ring } : {}) }))
  const started = await Promise.all(inputs.map((input) => startOrdered('cluster-process.js', import.meta.url, input, { atEnd })))
  const lanes = started.map((process, index) => ({
    name: (WAYS[index] as ClusterWay).name,
    callers: CALLERS,
    warmUp: async () => void (await order(process, 'warm-up')),
    batch: async () => (await order(process, 'batch')) as Batch,
  }))
  const timed = await interleaveLanes(lanes, seconds, 2)
  const found: ClusterTimed[] = []
  for (const [index, process] of started.entries()) {
    const overGrant = (await order(process, 'audit')) as OverGrant
    found.push({ ...(timed[index] as CallersTimed), overGrant })
    await order(process, 'close')
    process.kill()
  }
  return found
}

function order(process: OrderedProcess, what: ClusterOrder): Promise<unknown> {
  return process.invoke(what)
}

function tablesOf(speed: readonly Row[], nodes: readonly Row[]): Table[] {
  return [
    {
      name: 'speed',
      title: 'time of a decision, with 1 to 3 nodes',
      columns: COLUMNS,
      rows: speed,
      rank: { column: 'time', best: 'least' },
      notes: [
        'Each way has its own process with its own client, and the ways take turns. The callers and the nodes share the machine’s processors, so more nodes than processors add no speed here.',
        'Over-grant was measured on 30 keys with a burst of 10. Each key was called 40 times, with 64 calls in flight.',
      ],
    },
    {
      name: 'nodes',
      title: 'work of each node, all ways together',
      first: 'node',
      columns: NODES,
      rows: nodes,
      notes: [
        'The columns show how many Lua programs each node ran while its cluster was measured, and the processor time of the node’s main thread.',
      ],
    },
  ]
}

interface Work {
  readonly programs: number
  readonly processorMs: number
}

async function workOf(cluster: readonly ClusterNode[]): Promise<Work[]> {
  return Promise.all(
    cluster.map(async ({ url, pid }) => {
      const client = new Redis(url)
      const { calls } = await programStats(client)
      client.disconnect()
      return { programs: calls, processorMs: scheduleOf(pid)().ran / 1e6 }
    }),
  )
}

function nodeRows(load: string, before: readonly Work[], after: readonly Work[]): Row[] {
  const ran = after.map(({ programs, processorMs }, index) => ({
    programs: programs - (before[index]?.programs ?? 0),
    processorMs: processorMs - (before[index]?.processorMs ?? 0),
  }))
  const all = ran.reduce((sum, { programs }) => sum + programs, 0)
  return ran.map(({ programs, processorMs }, index) => ({
    name: `node ${index + 1}`,
    kind: 'computed',
    load,
    cells: { programs, share: (programs / all) * 100, processor: processorMs },
  }))
}
