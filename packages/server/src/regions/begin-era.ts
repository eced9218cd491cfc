import { type RegionalStore, type ReplicatorStatus, reweigh } from 'sluice/regions'
import { Refusal } from '../http/answer.ts'

/** Milliseconds within which each region must have read each other one. A pull takes about a second. */
const RECENT_MS = 5_000

/**
 * Ends the era, so that the regions go on with other weights. Refused while a region cannot be reached: until it can, no units would move.
 * @throws Refusal 409
 */
export async function beginEra(store: RegionalStore, weights: Readonly<Record<string, number>>, status: ReplicatorStatus): Promise<void> {
  const isRecent = (ms = Infinity): boolean => ms <= RECENT_MS
  const away = Object.entries(status.peers).filter(
    ([name, { lagMs, readMs }]) =>
      (Object.hasOwn(status.weights, name) || Object.hasOwn(weights, name)) && !(isRecent(lagMs) && isRecent(readMs)),
  )
  const names = away.map(([name]) => name).join(' and ')
  if (away.length > 0)
    throw new Refusal(409, `No era can begin while ${names} cannot be reached in both directions: no units would move until then.`)
  if (!(await reweigh(store, weights)))
    throw new Refusal(409, `No era can end now: region ${status.self} is ${status.phase}. Try again when it is open.`)
}
