import { shortDigest } from '../keys/sha256.ts'
import type { StateId } from './call.ts'

/** The prefix of the name of a state that is never written. */
const NOTHING = 'none:'

/** The name of a state that is never written. If the region holds no units of a key, this name replaces the name of the key's state. */
export function nothingOf(name: string): string {
  return NOTHING + name
}

/** The scope of the limit, without the prefix of `nothingOf`. The record of a hold names its limits by this scope. */
export function scopeOfLimit({ scope: { text } }: StateId): string {
  return text.startsWith(NOTHING) ? text.slice(NOTHING.length) : text
}

/**
 * The name of the run (life of the server) that was digested last, and its digest. Cached because all records that a process uses are of
 * one run.
 */
let [lastRun, lastDigest] = ['', '']

/**
 * The id of the record of a hold that charged a share of a region. It contains the server's run (one life of its data), because records of
 * an earlier run do not count. A store that was restored may have records of holds that were settled since.
 */
export function recordIn(run: string, { scope, key }: StateId): StateId {
  if (run !== lastRun) lastDigest = shortDigest(run)
  lastRun = run
  return { scope: { text: `${lastDigest}:${scope.text}` }, key }
}
