import { type RegionalStore, type ReplicatorStatus, reweigh, type ReweighOptions } from 'sluice/regions'
import { Refusal } from '../http/answer.ts'

/** Milliseconds within which the regions must have read each other. */
const RECENT_MS = 5_000

export interface WantedEra extends ReweighOptions {
  readonly weights: Readonly<Record<string, number>>
}

/**
 * Changes the weights. A region in `gone` will never run again, so it is not waited for.
 * @throws Refusal 409 if a region cannot be reached, if a region in `gone` still answers, or if `reweigh` returns false: for example, while
 * an era (a time of constant weights) is already ending
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
  if (await reweigh(store, weights, { gone })) return
  const { self, phase } = status
  // `status` is of before the call of `reweigh`.
  const open = Object.hasOwn(status.weights, self)
    ? 'changed its phase meanwhile. Try again.'
    : 'is not a member. Call the service of another region.'
  const why = `region ${self} ${phase === 'open' ? open : `is ${phase}. Try again when it is open.`}`
  throw new Refusal(409, `No era can end now: ${why}`)
}
