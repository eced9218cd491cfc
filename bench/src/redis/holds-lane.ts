import type { Redis } from 'ioredis'
import { ioredis, redisStore } from 'sluice/redis'
import { SOUND } from '../contestants/sluice.ts'
import { HELD_NAMES, heldRequests } from '../held-work.ts'
import { openWire } from '../wire.ts'
import type { HoldsLane, LanePlace, OpenLane } from './lane-input.ts'
import { RINGS } from './rings.ts'

/** Opens a lane: a limiter that is measured with its own states. */
export async function openHoldsLane({ held, callers }: HoldsLane, { url, quota, space }: LanePlace): Promise<OpenLane> {
  const wire = await openWire(url, 1, SOUND)
  const store = redisStore({ client: ioredis(wire.clients[0] as Redis), prefix: `${space}:`, ring: RINGS.sluice })
  return {
    lane: { name: HELD_NAMES[held], callers, ...heldRequests(held, store, quota), sent: () => wire.sent() },
    close: async () => {
      await store.close()
      await wire.close()
    },
  }
}
