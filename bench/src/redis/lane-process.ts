import { batchesOf } from './batches.ts'
import type { LaneInput, LanePlace } from './lane-input.ts'
import { openRulesLane } from './rules-lane.ts'
import { openWayLane } from './way-lane.ts'

/**
 * One lane in a process of its own: no other has shaped its heap or its compiled code. `lane-process.js INPUT` says its name over the
 * channel when it is open, then answers each order.
 */
type Order = 'warm-up' | 'batch' | 'close'

const { lane: input, place } = JSON.parse(process.argv[2] ?? '') as { lane: LaneInput; place: LanePlace }
const { lane, close } = 'way' in input ? await openWayLane(input, place) : await openRulesLane(input, place)
const handle = batchesOf(lane, place)

process.on('message', (order: Order) => void obey(order))
process.send?.(handle.name)

async function obey(order: Order): Promise<void> {
  if (order === 'batch') return void process.send?.(await handle.batch())
  if (order === 'warm-up') await handle.warmUp()
  // What was measured is valid, however the connection is closed.
  else await close().catch((error: unknown) => console.error(`a lane did not close well: ${String(error)}`))
  process.send?.(order)
}
