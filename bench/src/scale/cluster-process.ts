import { orderedInput } from '../ordered-input.ts'
import { batchesOf } from '../redis/batches.ts'
import { type ClusterInput, openClusterLane } from './cluster-lanes.ts'

/**
 * One limiter over a cluster in a process of its own, so that no other limiter affects its heap or its compiled code. It sends its name
 * over the channel when it is open, then answers each order.
 */
export type ClusterOrder = 'warm-up' | 'batch' | 'audit' | 'close'

const input = (await orderedInput()) as ClusterInput
const { lane, audit, close } = await openClusterLane(input)
const handle = batchesOf(lane, input)

process.on('message', (order: ClusterOrder) => void obey(order))
process.send?.(lane.name)

async function obey(order: ClusterOrder): Promise<void> {
  if (order === 'batch') return void process.send?.(await handle.batch())
  if (order === 'audit') return void process.send?.(await audit())
  await (order === 'warm-up' ? handle.warmUp() : close())
  process.send?.(order)
}
