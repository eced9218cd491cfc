import { concurrency, createLimiter, type Decision, type Store, tokenBucket } from 'sluice'
import type { Quota } from './contestants/contestant.ts'

/** What a request of a lane does with what it was granted. */
export type HeldWork = 'check' | 'reserve and settle' | 'slot'

export const HELD_NAMES: Readonly<Record<HeldWork, string>> = {
  check: 'one check',
  'reserve and settle': 'reserve, then settle at the half',
  slot: 'a slot taken, then given back',
}

const KEYS = 100
/** Milliseconds of a hold, and slots of a limit: so many that no hold ends before it is settled, and no slot is refused. */
const [HOLD_MS, SLOTS] = [10_000, 1_000]

/** Makes a function that returns the keys of requests with holds, one after the other. */
export function nextHeldKey(): () => string {
  let next = 0
  return () => {
    next = next + 1 === KEYS ? 0 : next + 1
    return `key-${next}`
  }
}

/** Makes a limiter of a store and the requests of a lane to it. A request is done when what it held is given back. */
export function heldRequests(held: HeldWork, store: Store, { tokens, per, burst }: Quota) {
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
  const request = work[held]
  const key = nextHeldKey()
  return {
    invoke: (): Promise<Decision> => request(key()),
    passed: (answer: unknown): boolean => {
      const { outcome, degraded } = answer as Decision
      if (outcome === 'undecided') throw new Error(degraded?.message ?? 'undecided')
      return outcome === 'allowed'
    },
  }
}
