import { MICRO } from '../algorithms/decimal.ts'
import type { FailureChoice } from './failure-choice.ts'
import type { Rule } from './rule.ts'

/**
 * `process`: the store is in this process, and nothing stands in for it. `shared`: a server that several processes ask, each with a
 * stand-in of its own.
 */
export type StoreKind = 'process' | 'shared'

/** How many tokens a rule may admit above its limit, over any interval. Infinity: there is no bound. */
export interface Bound {
  /** While the store decides. */
  readonly running: number
  /** While the store cannot, and the rule's `onStoreFailure` decides. */
  readonly storeDown: number
  /** Why, in words. */
  readonly text: string
}

/**
 * A store decides exactly, so nothing is admitted above the limit while it does. While it is away `deny` admits nothing and `allow`
 * everything. With `local` each of n processes grants the limit from a bucket that starts full, and the store's own bucket goes on
 * filling: for an outage of T that is n (B + r T), less what the full bucket of the store loses meanwhile, (r T - B)+.
 */
export function boundOf({ processes, outageMs }: FailureChoice, rule: Rule, kind: StoreKind): Bound {
  if (rule.sample !== undefined) {
    const text = `one request in ${rule.sample} is counted: what the others take is a matter of chance`
    return { running: Infinity, storeDown: Infinity, text }
  }
  const down = (storeDown: number, text: string): Bound => ({ running: 0, storeDown, text: `0 while the store decides, ${text}` })
  if (rule.onStoreFailure === 'deny') return down(0, '0 while it does not')
  if (rule.onStoreFailure === 'allow') return down(Infinity, 'unbounded while it does not')
  if (kind === 'process') return down(0, '0 while it does not: nothing stands in for a store in this process')
  if (processes === undefined || outageMs === undefined)
    return down(
      Infinity,
      'n (B + r T) while it does not, for n processes and an outage of T: unbounded unless failure.processes and failure.outage say them',
    )
  const worst = Math.max(0, ...rule.tiers.map((tier) => standIns(tier.limit.algorithm.envelope(tier.limit.plan), processes, outageMs)))
  return down(worst, `${worst} while it does not, for at most ${processes} processes and ${outageMs} ms`)
}

function standIns({ n, m, burst }: { n: number; m: number; burst: number }, processes: number, outageMs: number): number {
  const flow = Math.ceil((n * outageMs * 1_000) / m)
  return Math.ceil((processes * (burst + flow) - Math.max(0, flow - burst)) / MICRO)
}
