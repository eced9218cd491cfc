import { shortDigest } from '../keys/sha256.ts'
import type { StateId } from './call.ts'

/** Before the name of a state that is never written. */
const NOTHING = 'none:'

/** The name of a state that is never written, in place of one of which the region holds nothing. */
export function nothingOf(name: string): string {
  return NOTHING + name
}

/** The scope of a limit, also where the region holds nothing of the key: the record of a hold names its limits by it. */
export function scopeOfLimit({ scope: { text } }: StateId): string {
  return text.startsWith(NOTHING) ? text.slice(NOTHING.length) : text
}

/** The previous run and its digest. A process uses records of one run. */
let [lastRun, lastDigest] = ['', '']

/**
 * The record of a hold that charged a share of a region. It belongs to one run of the server: what a store that was restored knows of
 * earlier holds may be out of date, and they may have been given back already.
 */
export function recordIn(run: string, { scope, key }: StateId): StateId {
  if (run !== lastRun) lastDigest = shortDigest(run)
  lastRun = run
  return { scope: { text: `${lastDigest}:${scope.text}` }, key }
}
