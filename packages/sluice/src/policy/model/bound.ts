import type { AnyLimit, Envelope } from '../../algorithms/algorithm.ts'
import { MICRO } from '../../algorithms/decimal.ts'
import { MICROS_PER_MS } from '../../time/micros.ts'
import type { RegionChoice } from './region-choice.ts'
import type { FailureChoice, Override, Rule } from './rule.ts'

/** `process`: the store is in this process. `shared`: several processes call it. */
export type StoreKind = 'process' | 'shared'

/** The most tokens a rule may admit of one key above its limit over any interval; Infinity: no bound. */
export interface Bound {
  /** Tokens above the limit while the store decides. */
  readonly running: number
  /** Tokens above the limit while the store fails and `onStoreFailure` decides. */
  readonly storeDown: number
  /** Both bounds in words; with regions, for all regions together. */
  readonly text: string
}

interface Bounding {
  readonly failure: FailureChoice
  readonly regions?: RegionChoice
  /** Each counts as a further limit of its rule, also if it has ended. */
  readonly overrides?: readonly Override[]
}

/**
 * While the store answers, no rule exceeds its limit, except with `sample`, or with regions in mode `counters`.
 *
 * With `onStoreFailure` `local`, each of n processes starts an outage of length T with a full bucket (burst B, rate r). So they grant at
 * most n (B + r T). The store's bucket refills meanwhile, but only up to B. It loses at least max(0, r T - B) tokens, which are subtracted.
 */
export function boundOf({ failure, regions, overrides }: Bounding, rule: Rule, kind: StoreKind): Bound {
  const { processes, outageMs } = failure
  if (rule.sample !== undefined) {
    const text = `one request in ${rule.sample} is counted: what the others take is a matter of chance`
    return { running: Infinity, storeDown: Infinity, text }
  }
  const over = regions === undefined ? '' : 'over all regions together '
  const running = regions?.mode === 'counters' ? countersBound(regions, rule, overrides) : { most: 0, text: '0' }
  const down = (storeDown: number, then: string): Bound => {
    return { running: running.most, storeDown, text: `${over}${running.text} while the store decides, ${then}` }
  }
  if (rule.onStoreFailure === 'deny') return down(0, '0 while it does not')
  if (rule.onStoreFailure === 'allow') return down(Infinity, 'unbounded while it does not')
  if (kind === 'process') return down(0, '0 while it does not: a store in this process has no local fallback')
  if (processes === undefined || outageMs === undefined)
    return down(
      Infinity,
      'n (B + r T) while it does not, for n processes and an outage of T: unbounded unless failure.processes and failure.outage say them',
    )
  const moves = regions?.mode === 'escrow'
  const { most, of } = largest(rule, overrides, ({ algorithm, plan }) =>
    fallbackBound(algorithm.envelope(plan), processes, outageMs, moves),
  )
  const each = regions === undefined ? '' : ' in each region'
  return down(most, `${most} while it does not, for at most ${processes} processes${each} and ${outageMs} ms${of}`)
}

/** @param bound of one limit */
function largest(
  { name, tiers }: Rule,
  overrides: readonly Override[] | undefined,
  bound: (limit: AnyLimit) => number,
): { readonly most: number; readonly of: string } {
  const most = (limits: readonly AnyLimit[]): number => limits.reduce((worst, limit) => Math.max(worst, bound(limit)), 0)
  const [ofTiers, ofOverrides] = [most(tiers.map(({ limit }) => limit)), most(overridden(overrides, name))]
  return ofOverrides > ofTiers ? { most: ofOverrides, of: ', for the limit of an override' } : { most: ofTiers, of: '' }
}

const limitsByRule = new WeakMap<readonly Override[], ReadonlyMap<string, readonly AnyLimit[]>>()

/** Groups the overrides only once, because there may be thousands of them and of rules. */
function overridden(overrides: readonly Override[] | undefined, name: string): readonly AnyLimit[] {
  if (overrides === undefined) return []
  let byRule = limitsByRule.get(overrides)
  if (byRule === undefined) {
    const made = new Map<string, AnyLimit[]>()
    for (const { rule, limit } of overrides) {
      const limits = made.get(rule)
      if (limits === undefined) made.set(rule, [limit])
      else limits.push(limit)
    }
    limitsByRule.set(overrides, (byRule = made))
  }
  return byRule.get(name) ?? []
}

/**
 * Each of N regions grants the whole limit, and learns within a time D what the others granted. So they exceed the limit by at most (N - 1)
 * (B + r D). D is at most `cutoffMs`: a region that learns nothing for so long grants only its part. Other algorithms than token buckets
 * (`tb`) have fixed parts.
 */
function countersBound(
  { cutoffMs, self, peers, weights }: RegionChoice,
  rule: Rule,
  overrides: readonly Override[] | undefined,
): { readonly most: number; readonly text: string } {
  const limits = [...rule.tiers.map(({ limit }) => limit), ...overridden(overrides, rule.name)]
  if (!limits.some(isBucket)) return { most: 0, text: '0' }
  const regions = new Set([...(self === undefined ? [] : [self]), ...peers.map(({ name }) => name), ...Object.keys(weights ?? {})]).size
  if (regions < 2) return { most: 0, text: '0' }
  if (cutoffMs === undefined)
    return {
      most: Infinity,
      text: `(N - 1) (B + r D), for ${regions} regions that know each other's calls within D: unbounded without regions.cutoff`,
    }
  const { most, of } = largest(rule, overrides, (limit) => {
    if (!isBucket(limit)) return 0
    const { n, m, burst } = limit.algorithm.envelope(limit.plan)
    return Math.ceil(((regions - 1) * (burst + Math.ceil((n * cutoffMs * MICROS_PER_MS) / m))) / MICRO)
  })
  return { most, text: `${most}, which is (N - 1) (B + r S) for ${regions} regions and a cutoff of ${cutoffMs} ms${of},` }
}

function isBucket({ algorithm }: AnyLimit): boolean {
  return algorithm.tag === 'tb'
}

/** @param moves whether other regions may use the tokens that the failed store does not grant, so that none are lost */
function fallbackBound({ n, m, burst }: Envelope, processes: number, outageMs: number, moves: boolean): number {
  const flow = Math.ceil((n * outageMs * MICROS_PER_MS) / m)
  const lost = moves ? 0 : Math.max(0, flow - burst)
  return Math.ceil((processes * (burst + flow) - lost) / MICRO)
}

/** Undefined if the bound is within `maxOvergrant`. */
export function overBudget(policy: Bounding, rule: Rule, kind: StoreKind): string | undefined {
  if (rule.maxOvergrant === undefined || rule.mode === 'off') return undefined
  const { running, storeDown, text } = boundOf(policy, rule, kind)
  const worst = Math.max(running, storeDown)
  if (worst <= rule.maxOvergrant) return undefined
  const shown = worst === Infinity ? 'unbounded' : String(worst)
  return `${rule.maxOvergrant} is below its bound on this store, ${shown} (${text}): expected ${running > rule.maxOvergrant ? 'another mode of regions, a shorter cutoff' : 'onStoreFailure deny'}, or at least ${shown}`
}
