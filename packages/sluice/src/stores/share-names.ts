import { shortDigest } from '../keys/sha256.ts'
import type { StateId } from './call.ts'

const NOTHING = 'none:'

/** Names a state that is never written, for a key of which the region has no share. So a block of the key is not seen. */
export function nothingOf(name: string): string {
  return NOTHING + name
}

/** Without the prefix of `nothingOf`: the record of a hold names its limits by their own scope. */
export function scopeOfLimit({ scope: { text } }: StateId): string {
  return text.startsWith(NOTHING) ? text.slice(NOTHING.length) : text
}

/** Cached, because all records that a process uses are of one run (life of the server). */
let [lastRun, lastDigest] = ['', '']

/**
 * The record of a hold that charged a region's share. It contains the server's run (one life of its data), because a restored store may
 * have records of holds that were settled since.
 */
export function recordIn(run: string, { scope, key }: StateId): StateId {
  if (run !== lastRun) lastDigest = shortDigest(run)
  lastRun = run
  return { scope: { text: `${lastDigest}:${scope.text}` }, key }
}
