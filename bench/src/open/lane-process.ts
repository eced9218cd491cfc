import { capacityOf } from './capacity.ts'
import { closedLoop } from '../load.ts'
import { orderedInput } from '../ordered-input.ts'
import { poissonArrivals } from './arrivals.ts'
import type { OpenOrder, OpenPlace } from './lane-order.ts'
import { metered } from './metered.ts'
import { openLane } from './open-lane.ts'
import { openLoop } from './open-loop.ts'

/** One limiter in a process of its own. It sends its name over the channel when it is ready, then answers each order. */
const place = (await orderedInput()) as OpenPlace
const lane = await openLane(place)

process.on('message', (order: OpenOrder) => void obey(order))
process.send?.(lane.name)

async function obey(order: OpenOrder): Promise<void> {
  process.send?.(await answerTo(order))
}

async function answerTo(order: OpenOrder): Promise<unknown> {
  switch (order.what) {
    case 'warm-up':
      await closedLoop(place.callers, order.ms, async () => lane.passed(await lane.invoke(0)))
      return order.what
    case 'capacity':
      return capacityOf(lane, place.callers, order.ms)
    case 'open':
      return openLoop(lane, poissonArrivals(order.perSecond, order.ms, order.seed))
    case 'metered':
      // A new key.
      return metered((quota) => openLane({ ...place, keys: 'one', space: `${place.space}m${order.seed}`, quota }), order)
    case 'close':
      // An error at the close does not make the measurements invalid.
      await lane.close().catch((error: unknown) => console.error(`a lane did not close well: ${String(error)}`))
      return order.what
  }
}
