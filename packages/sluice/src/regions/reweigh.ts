import { LimiterError } from '../errors/limiter-error.ts'
import { checkOptions, type Form, OBJECT, requireForm, shown } from '../errors/options.ts'
import { adopt } from './rights/adopt.ts'
import { close } from './rights/era.ts'
import { UNITS } from './rights/limit.ts'
import type { Ledger } from './ledger.ts'
import type { RegionalStore } from './regional.ts'
import { meteringOf } from './regional-store.ts'

type Pairs = readonly (readonly [region: string, weight: number])[]

/** Options of `reweigh`. */
export interface ReweighOptions {
  /**
   * For each region whose store will never run again: its last run, as `status().peers` of a replicator shows it. New weights apply once
   * all regions have ended the era (time of constant weights), but do not wait for these runs. If one of them decides again, the regions
   * together admit more than the limit.
   */
  readonly gone?: Readonly<Record<string, string>> | undefined
}

const FORMS: Readonly<Record<keyof ReweighOptions, Form>> = { gone: OBJECT }

/**
 * Ends the era, so that the regions continue with other weights. Give 0 for a region that is to be stopped, and none for one that will not
 * come back. Until all regions have ended the era, a region that has ended it sends no units, and holds at most the lower of its old and
 * its new weight.
 * @param weights thousandths of every token bucket; together 1 to 1000
 * @returns whether this store ends the era. Without `gone`, only in the phase `open`. With `gone`, in any phase but `learning` (just
 * started), if the present weights name the store's region
 * @throws LimiterError INVALID_OPTIONS, NOT_SUPPORTED for a store without `mode: 'escrow'`
 */
export async function reweigh(
  store: RegionalStore,
  weights: Readonly<Record<string, number>>,
  options: ReweighOptions = {},
): Promise<boolean> {
  const { ledger } = meteringOf('reweigh', store)
  checkOptions('reweigh', options, FORMS)
  requireForm('reweigh', 'weights', weights, OBJECT)
  const next = Object.entries(weights)
  for (const [name, weight] of next) {
    if (!Object.hasOwn(store.weights, name)) refuse(`weights has ${shown(name)}, expected ${Object.keys(store.weights).join(', ')}`)
    if (!Number.isSafeInteger(weight) || weight < 0)
      refuse(`weights.${name} is ${shown(weight)}, expected a whole number from 0 to ${UNITS}`)
  }
  const sum = next.reduce((total, [, weight]) => total + weight, 0)
  if (sum < 1 || sum > UNITS) refuse(`weights are ${sum} together, expected 1 to ${UNITS}`)
  const gone = Object.entries(options.gone ?? {})
  for (const [name, run] of gone) requireGone(store, ledger, next, name, run)
  let ends = false
  await ledger.update((region, now) => {
    if (gone.length > 0) {
      const adopted = adopt(region, new Map(next), gone, now)
      ends = adopted !== undefined
      return adopted ?? region
    }
    ends = region.phase === 'open'
    return ends ? close(region, { version: region.roster.version + 1, weights: new Map(next) }, now) : region
  })
  return ends
}

function requireGone({ self }: RegionalStore, { region }: Ledger, weights: Pairs, name: string, run: string): void {
  if (weights.some(([other]) => other === name)) refuse(`weights has ${shown(name)}, which is gone`)
  const known = region.bound.get(name)
  if (known === undefined) refuse(`gone has ${shown(name)}, of which region ${self} knows no run`)
  if (known !== run) refuse(`gone.${name} is ${shown(run)}, but region ${self} knows a later run: ${shown(known)}`)
}

function refuse(what: string): never {
  throw new LimiterError('INVALID_OPTIONS', `reweigh: ${what}`)
}
