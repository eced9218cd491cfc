import { BareTable } from '../../baselines/bare-table.ts'
import { PlainBuckets } from '../../baselines/plain-buckets.ts'
import { perSecondOf, type Quota } from '../../contestants/contestant.ts'
import { inTurn, type MemoryContestant } from './contestant.ts'

/** What a program would write without a library. Nothing is checked, and no key is ever removed. */
export const map: MemoryContestant = {
  name: 'Map',
  kind: 'baseline',
  open: (quotas) => {
    const limiters = quotas.map((quota) => {
      const buckets = new PlainBuckets(perSecondOf(quota), quota.burst)
      return (key: string, cost: number): boolean => buckets.check(key, cost).allowed
    })
    return { decide: inTurn(limiters) }
  },
}

/** A floor: a table of fixed size without the texts of the keys. */
export const bareTable: MemoryContestant = {
  name: 'a bare table of fixed size',
  kind: 'floor',
  open: (quotas, { keys }) => {
    const quota = quotas[0] as Quota
    const table = new BareTable(keys, perSecondOf(quota), quota.burst)
    return { decide: (key, cost) => table.check(key, cost).allowed }
  },
}

/** A floor: every exact limiter must read the clock. */
export const clock: MemoryContestant = {
  name: 'the clock alone',
  kind: 'floor',
  open: () => {
    let last = 0
    const decide = (): boolean => {
      const now = performance.now()
      const moved = now >= last
      last = now
      return moved
    }
    return { decide }
  },
}

/** A floor of contestants whose answers are promises. */
export const awaited: MemoryContestant = {
  name: 'one async function and the clock',
  kind: 'floor',
  awaited: true,
  open: () => ({ decide: async () => performance.now() >= 0 }),
}
