import { type Contestant, perSecondOf, type Promised, type Quota, windowOf } from '../contestants/contestant.ts'
import { ifBiting, permittedOf } from '../open/metered.ts'
import { auditPromise, percentOf } from '../over-grant.ts'
import type { OverGrant } from '../result/table.ts'
import { worstWindow } from '../worst-window.ts'
import { TERMS } from './compared.ts'
import type { Sent } from './worker-order.ts'

/**
 * Of all intervals as long as the window, takes the one in which most requests passed, and returns by how many percent they exceed what is
 * permitted. A bucket may admit its burst and the refill, because its configuration allows both; other algorithms may admit only the
 * limit.
 */
export function driftPercent(admitted: readonly number[], promise: Promised, quota: Quota): number {
  const { count } = worstWindow(admitted, quota)
  const permitted = promise === 'bucket' ? quota.burst + perSecondOf(quota) * windowOf(quota) : quota.burst
  return (Math.max(0, count - permitted) / permitted) * 100
}

/** The most requests that passed in one window's length, in percent of the limit. */
export function worstPercent(admitted: readonly number[], quota: Quota): number {
  return (worstWindow(admitted, quota).count / quota.burst) * 100
}

/** What processes let pass together beyond the promise, in percent. */
export function overGrantOf(contestant: Contestant, flood: readonly Sent[], quota: Quota = TERMS.METERED): OverGrant {
  const { promise = 'bucket' } = contestant
  const trace = flood.flatMap(({ admitted }) => admitted.map((at) => ({ at, cost: 1, allowed: true })))
  const sum = (of: (sent: Sent) => number): number => flood.reduce((all, sent) => all + of(sent), 0)
  return ifBiting(percentOf(auditPromise(trace, promise, quota), contestant), {
    total: sum(({ total }) => total),
    undecided: sum(({ undecided }) => undecided),
    permitted: permittedOf(quota, promise, Math.max(...flood.map(({ elapsedMs }) => elapsedMs))),
  })
}
