import { LimiterError } from '../errors/limiter-error.ts'
import { OBJECT, requireForm, shown } from '../errors/options.ts'
import { close } from './era.ts'
import { UNITS } from './limit.ts'
import type { RegionalStore } from './regional.ts'
import { meteringOf } from './regional-store.ts'

/**
 * Ends the era, so that the regions go on with other weights: with 0 for a region that is to be stopped, or without a region that is not
 * to come back. The others follow as soon as they read of it. Until all have ended the era, no units are sent, and each region holds at most
 * what it has by both weights.
 * @param weights thousandths of every token bucket, of some or all regions of the store; together 1 to 1000. Other limits keep their parts
 * @returns false, with nothing changed, if the store is not open
 * @throws LimiterError INVALID_OPTIONS, NOT_SUPPORTED for a store without `mode: 'escrow'`
 */
export async function reweigh(store: RegionalStore, weights: Readonly<Record<string, number>>): Promise<boolean> {
  const { ledger } = meteringOf('reweigh', store)
  requireForm('reweigh', 'weights', weights, OBJECT)
  const next = Object.entries(weights)
  for (const [name, weight] of next) {
    if (!Object.hasOwn(store.weights, name)) refuse(`weights has ${shown(name)}, expected ${Object.keys(store.weights).join(', ')}`)
    if (!Number.isSafeInteger(weight) || weight < 0)
      refuse(`weights.${name} is ${shown(weight)}, expected a whole number from 0 to ${UNITS}`)
  }
  const sum = next.reduce((total, [, weight]) => total + weight, 0)
  if (sum < 1 || sum > UNITS) refuse(`weights are ${sum} together, expected 1 to ${UNITS}`)
  let ends = false
  await ledger.update((region, now) => {
    ends = region.phase === 'open'
    return ends ? close(region, { version: region.roster.version + 1, weights: new Map(next) }, now) : region
  })
  return ends
}

function refuse(what: string): never {
  throw new LimiterError('INVALID_OPTIONS', `reweigh: ${what}`)
}
