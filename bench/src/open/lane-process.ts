import { capacityOf } from './capacity.ts'
import { closedLoop } from '../load.ts'
import { poissonArrivals } from './arrivals.ts'
import type { Arrivals, MeteredRound, OpenOrder, OpenPlace } from './lane-order.ts'
import { type OpenedLane, openLane } from './open-lane.ts'
import { openLoop } from './open-loop.ts'

/** One way in a process of its own: `lane-process.js PLACE` says its name over the channel when it is ready, then answers each order. */
const place = JSON.parse(process.argv[2] ?? '') as OpenPlace
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
      return metered(order)
    case 'close':
      // What was measured is valid, however the connection is closed.
      await lane.close().catch((error: unknown) => console.error(`a lane did not close well: ${String(error)}`))
      return order.what
  }
}

/** One new key under a limit that half of the arrivals keep to: what passes beyond it is over-grant. */
async function metered({ perSecond, ms, seed }: Arrivals): Promise<MeteredRound> {
  const half = Math.max(1, Math.round(perSecond / 2))
  const limited: OpenedLane = await openLane({
    ...place,
    keys: 'one',
    space: `${place.space}m${seed}`,
    quota: { tokens: half, per: '1s', burst: half },
  })
  try {
    const { total, allowed, refused, undecided, elapsedMs } = await openLoop(limited, poissonArrivals(perSecond, ms, seed))
    return { total, allowed, refused, undecided, permitted: limited.permitted(elapsedMs) }
  } finally {
    await limited.close()
  }
}
