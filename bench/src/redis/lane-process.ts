import { batchesOf } from './batches.ts'
import { openHandLane } from './hand-holds.ts'
import { openHoldsLane } from './holds-lane.ts'
import type { LaneInput, LanePlace, OpenLane } from './lane-input.ts'
import { openMixedLane } from './mixed-lane.ts'
import { orderedInput } from '../ordered-input.ts'
import { openRulesLane } from './rules-lane.ts'
import { openWayLane } from './way-lane.ts'

/**
 * One lane (a measured limiter) in a process of its own, so that no other lane affects its heap or its compiled code. It sends its name
 * over the channel when it is open, then answers each order.
 */
type Order = 'warm-up' | 'batch' | 'sample' | 'close'

const { lane: input, place } = (await orderedInput()) as { lane: LaneInput; place: LanePlace }
const { lane, close } = await openLane()
const handle = batchesOf(lane, place)

process.on('message', (order: Order) => void obey(order))
process.send?.(handle.name)

function openLane(): Promise<OpenLane> {
  if ('way' in input) return openWayLane(input, place)
  if ('held' in input) return openHoldsLane(input, place)
  if ('byHand' in input) return openHandLane(input, place)
  return 'mixed' in input ? openMixedLane(input, place) : openRulesLane(input, place)
}

async function obey(order: Order): Promise<void> {
  if (order === 'batch') return void process.send?.(await handle.batch())
  if (order === 'sample') return void process.send?.(await handle.sample())
  if (order === 'warm-up') await handle.warmUp()
  // An error at the close does not make the measurements invalid.
  else await close().catch((error: unknown) => console.error(`a lane did not close well: ${String(error)}`))
  process.send?.(order)
}
