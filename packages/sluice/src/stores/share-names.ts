import { shortDigest } from '../keys/sha256.ts'
import type { StateId } from './call.ts'

/** The prefix of the name of a state that is never written. */
const NOTHING = 'none:'

/** The name of a state that is never written. It replaces the name of a state of whose key the region holds no units. */
export function nothingOf(name: string): string {
  return NOTHING + name
}

/** The scope of the limit, without the prefix of `nothingOf`. The record of a hold names its limits by this scope. */
export function scopeOfLimit({ scope: { text } }: StateId): string {
  return text.startsWith(NOTHING) ? text.slice(NOTHING.length) : text
}

/** The previous run and its digest. Cached because all records that a process uses are of one run. */
let [lastRun, lastDigest] = ['', '']

/**
 * The id of the record of a hold that charged a share of a region. It contains the run of the server, because records of an earlier run do
 * not count: after a store was restored, they may be out of date, and their holds may have been settled already.
 */
export function recordIn(run: string, { scope, key }: StateId): StateId {
  if (run !== lastRun) lastDigest = shortDigest(run)
  lastRun = run
  return { scope: { text: `${lastDigest}:${scope.text}` }, key }
}
