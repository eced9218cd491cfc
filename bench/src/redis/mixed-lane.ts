import type { Redis } from 'ioredis'
import { ioredis, redisStore } from 'sluice/redis'
import type { Contestant, Running } from '../contestants/contestant.ts'
import { SOUND } from '../contestants/sluice.ts'
import { mixedEngine } from '../mixed/engine.ts'
import { FREE, type CheckLimit, type DecideMixed, mixedLoad, threeChecks, WIDE } from '../mixed/requests.ts'
import { openWire, type Wire } from '../wire.ts'
import type { LanePlace, MixedLane, OpenLane } from './lane-input.ts'
import { type RingName, RINGS } from './rings.ts'
import { wayOf } from './ways.ts'

/** The limiters whose requests are one call of the policy engine. */
const ENGINES: Readonly<Partial<Record<MixedLane['mixed'], RingName>>> = { sluice: 'sluice', bare: 'bare', leases: 'leases' }

/** Opens a lane (a measured limiter) whose requests have three limits. Its batches count rightly decided requests as allowed. */
export async function openMixedLane({ mixed, callers }: MixedLane, place: LanePlace): Promise<OpenLane> {
  const contestant = wayOf(mixed)
  const ring = ENGINES[mixed]
  const { wire, decide, close } = await (ring === undefined ? checks(contestant, callers, place) : engine(ring, place))
  const next = await mixedLoad(decide)
  return {
    lane: {
      name: contestant.name,
      callers,
      invoke: () => next(),
      passed: (answer) => answer === true,
      sent: () => wire.sent(),
    },
    close,
  }
}

interface Opened {
  readonly wire: Wire
  readonly decide: DecideMixed
  close(): Promise<void>
}

/** One limiter for each limit, over one connection. */
async function checks(contestant: Contestant, callers: number, { url, space }: LanePlace): Promise<Opened> {
  const first = await contestant.open(url, WIDE, { callers })
  const second = await contestant.open(url, FREE, { callers, wire: first.wire })
  const check =
    (running: Running): CheckLimit =>
    async (key) =>
      running.passed(await running.invoke(`${space}:${key}`, 0))
  return {
    wire: first.wire,
    decide: threeChecks(check(first), check(second)),
    close: async () => {
      await first.close([])
      await second.close([])
    },
  }
}

async function engine(ring: RingName, { url, space }: LanePlace): Promise<Opened> {
  const wire = await openWire(url, 1, SOUND)
  // Lanes (measured limiters) share the server, but not the states: each lane has its own prefix.
  const store = redisStore({ client: ioredis(wire.clients[0] as Redis), prefix: `${space}:`, ring: RINGS[ring] })
  const { decide, close } = mixedEngine(store, WIDE)
  return {
    wire,
    decide,
    close: async () => {
      await close()
      await store.close()
      await wire.close()
    },
  }
}
