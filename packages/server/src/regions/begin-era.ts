import { type RegionalStore, type ReplicatorStatus, reweigh, type ReweighOptions } from 'sluice/regions'
import { Refusal } from '../http/answer.ts'

/**
 * A new era, the time in which weights stay the same, begins only if this region has read each peer, and each peer this region, within so
 * many milliseconds. Regions read each other about once a second.
 */
const RECENT_MS = 5_000

/** What an operator wants of the next era. */
export interface WantedEra extends ReweighOptions {
  readonly weights: Readonly<Record<string, number>>
}

/**
 * Ends the present era (the time in which weights stay the same), so that the regions continue with other weights. Refused while a region
 * cannot be reached: until that region also ends the era, no units (parts of a limit) would be sent between regions. A region in `gone` is
 * not waited for, because it will never run again.
 * @throws Refusal 409 if a region cannot be reached, if a region in `gone` still answers, or if this region's phase is not `open`, because
 * it has just started or the era is ending already
 */
export async function beginEra(store: RegionalStore, { weights, gone = {} }: WantedEra, status: ReplicatorStatus): Promise<void> {
  const isRecent = (ms = Infinity): boolean => ms <= RECENT_MS
  const peers = Object.entries(status.peers)
  const away = peers.filter(
    ([name, { lagMs, readMs }]) =>
      (Object.hasOwn(status.weights, name) || Object.hasOwn(weights, name)) &&
      !Object.hasOwn(gone, name) &&
      !(isRecent(lagMs) && isRecent(readMs)),
  )
  const names = away.map(([name]) => name).join(' and ')
  if (away.length > 0)
    throw new Refusal(409, `No era can begin while ${names} cannot be reached in both directions: no units would move until then.`)
  const back = peers.find(([name, { lagMs, readMs }]) => Object.hasOwn(gone, name) && (isRecent(lagMs) || isRecent(readMs)))
  if (back !== undefined)
    throw new Refusal(409, `Region ${back[0]} is not gone: it answered less than ${RECENT_MS / 1_000} s ago. Remove it.`)
  if (!(await reweigh(store, weights, { gone })))
    throw new Refusal(409, `No era can end now: region ${status.self} is ${status.phase}. Try again when it is open.`)
}
