import { MICRO } from '../../algorithms/decimal.ts'
import type { FailureChoice, Rule } from './rule.ts'

/** `process`: the store is in this process, without a local fallback. `shared`: several processes call it, each with a local fallback. */
export type StoreKind = 'process' | 'shared'

/** The most tokens a rule may admit above its limit, over any interval. Infinity: there is no bound. */
export interface Bound {
  /** While the store decides. */
  readonly running: number
  /** While the store cannot decide and the rule's `onStoreFailure` does. */
  readonly storeDown: number
  /** The reason, in words. */
  readonly text: string
}

/**
 * Computes the bound of a rule. The store decides exactly, so the bound is 0 while it does. While it is unreachable, `deny` admits
 * nothing and `allow` everything. With `local` each of n processes grants the limit from a bucket that starts full, and the store's own
 * bucket keeps refilling. For an outage of T that is n (B + r T), less the tokens that the store's full bucket loses meanwhile, (r T -
 * B)+.
 */
export function boundOf({ processes, outageMs }: FailureChoice, rule: Rule, kind: StoreKind): Bound {
  if (rule.sample !== undefined) {
    const text = `one request in ${rule.sample} is counted: what the others take is a matter of chance`
    return { running: Infinity, storeDown: Infinity, text }
  }
  const down = (storeDown: number, text: string): Bound => ({ running: 0, storeDown, text: `0 while the store decides, ${text}` })
  if (rule.onStoreFailure === 'deny') return down(0, '0 while it does not')
  if (rule.onStoreFailure === 'allow') return down(Infinity, 'unbounded while it does not')
  if (kind === 'process') return down(0, '0 while it does not: a store in this process has no local fallback')
  if (processes === undefined || outageMs === undefined)
    return down(
      Infinity,
      'n (B + r T) while it does not, for n processes and an outage of T: unbounded unless failure.processes and failure.outage say them',
    )
  const worst = Math.max(0, ...rule.tiers.map((tier) => fallbackBound(tier.limit.algorithm.envelope(tier.limit.plan), processes, outageMs)))
  return down(worst, `${worst} while it does not, for at most ${processes} processes and ${outageMs} ms`)
}

/** The bound of the local fallbacks of all processes together. */
function fallbackBound({ n, m, burst }: { n: number; m: number; burst: number }, processes: number, outageMs: number): number {
  const flow = Math.ceil((n * outageMs * 1_000) / m)
  return Math.ceil((processes * (burst + flow) - Math.max(0, flow - burst)) / MICRO)
}

/** The problem of a rule whose bound on such a store is above its `maxOvergrant`; undefined if the bound is within it. */
export function overBudget(failure: FailureChoice, rule: Rule, kind: StoreKind): string | undefined {
  if (rule.maxOvergrant === undefined || rule.mode === 'off') return undefined
  const { running, storeDown, text } = boundOf(failure, rule, kind)
  const worst = Math.max(running, storeDown)
  if (worst <= rule.maxOvergrant) return undefined
  const shown = worst === Infinity ? 'unbounded' : String(worst)
  return `${rule.maxOvergrant} is below its bound on this store, ${shown} (${text}): expected onStoreFailure deny, or at least ${shown}`
}
