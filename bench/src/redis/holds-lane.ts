import type { Redis } from 'ioredis'
import { concurrency, createLimiter, type Decision, tokenBucket } from 'sluice'
import { ioredis, redisStore } from 'sluice/redis'
import { SOUND } from '../contestants/sluice.ts'
import { openWire } from '../wire.ts'
import type { HeldWork, HoldsLane, LanePlace, OpenLane } from './lane-input.ts'
import { RINGS } from './rings.ts'

const KEYS = 100
/** Milliseconds, and slots: no hold ends before it is settled, and no slot is refused. */
const [HOLD_MS, SLOTS] = [10_000, 1_000]
const NAMES: Readonly<Record<HeldWork, string>> = {
  check: 'one check',
  'reserve and settle': 'reserve, then settle at the half',
  slot: 'a slot taken, then given back',
}

/** Opens a lane of a limiter that has its own states. A request is done when what it held is given back. */
export async function openHoldsLane({ held, callers }: HoldsLane, { url, quota, space }: LanePlace): Promise<OpenLane> {
  const wire = await openWire(url, 1, SOUND)
  const store = redisStore({ client: ioredis(wire.clients[0] as Redis), prefix: `${space}:`, ring: RINGS.sluice })
  const { tokens, per, burst } = quota
  const limit = held === 'slot' ? concurrency({ limit: SLOTS, holdMs: HOLD_MS }) : tokenBucket({ rate: { tokens, per }, burst })
  const limiter = createLimiter({ limit, store })
  const work: Readonly<Record<HeldWork, (key: string) => Promise<Decision>>> = {
    check: (key) => limiter.check(key),
    'reserve and settle': async (key) => {
      const { decision, settle } = await limiter.reserve(key, { holdMs: HOLD_MS })
      const { status } = await settle(0.5)
      if (status !== 'settled') throw new Error(`the settlement is ${status}`)
      return decision
    },
    slot: async (key) => {
      const decision = await limiter.check(key)
      if (decision.hold === undefined) throw new Error(decision.degraded?.message ?? 'no slot')
      await limiter.release(key, decision.hold.id)
      return decision
    },
  }
  const invoke = work[held]
  let next = 0
  return {
    lane: {
      name: NAMES[held],
      callers,
      invoke: () => {
        next = next + 1 === KEYS ? 0 : next + 1
        return invoke(`key-${next}`)
      },
      passed: (answer) => {
        const { outcome, degraded } = answer as Decision
        if (outcome === 'undecided') throw new Error(degraded?.message ?? 'undecided')
        return outcome === 'allowed'
      },
      sent: () => wire.sent(),
    },
    close: async () => {
      await store.close()
      await wire.close()
    },
  }
}
