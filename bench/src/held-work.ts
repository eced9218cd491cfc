import { concurrency, createLimiter, type Decision, type Store, tokenBucket } from 'sluice'
import type { Quota } from './contestants/contestant.ts'

/** What one request does: a plain check, a reservation that it then settles, or a slot that it takes and gives back. */
export type HeldWork = 'check' | 'reserve and settle' | 'slot'

export const HELD_NAMES: Readonly<Record<HeldWork, string>> = {
  check: 'one check',
  'reserve and settle': 'reserve, then settle at the half',
  slot: 'a slot taken, then given back',
}

const KEYS = 100
/**
 * The milliseconds after which a hold ends by itself, and the slots of the limit. Both are so large that no hold ends early and no slot is
 * refused.
 */
const [HOLD_MS, SLOTS] = [10_000, 1_000]

/** Makes a function that returns the keys of requests with holds, one after the other. */
export function nextHeldKey(): () => string {
  let next = 0
  return () => {
    next = next + 1 === KEYS ? 0 : next + 1
    return `key-${next}`
  }
}

/**
 * Makes a limiter on the store, and a function that makes one request. The request ends when its reservation is settled or its slot is
 * given back.
 */
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
