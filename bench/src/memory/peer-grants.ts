import type { Engines } from '../engines.ts'
import { inChild } from '../in-child.ts'
import type { PartOptions } from '../part.ts'
import { type ContestantName, contestantOf, NAMES } from './contestants/all.ts'
import type { PeerAuditInput, PeerGrant } from './peer-audit.ts'

/** The limiters, without floors. */
export const LIMITERS: readonly ContestantName[] = NAMES.filter((name) => contestantOf(name).kind !== 'floor')

/** The audits of each run. */
const taken = new WeakMap<Engines, Promise<Grants>>()

export type Grants = Readonly<Partial<Record<ContestantName, PeerGrant>>>

/**
 * Measures the over-grant of the limiters, once in each run of a suite. All parts of a suite pass the same limiters, so later calls get the
 * first result.
 */
export function peerGrants({ engines, say, atEnd }: PartOptions, contestants: readonly ContestantName[] = LIMITERS): Promise<Grants> {
  const before = taken.get(engines)
  if (before !== undefined) return before
  say('over-grant of every limiter')
  const input: PeerAuditInput = { contestants }
  const grants = inChild<Grants>('peer-audit', input, { atEnd })
  taken.set(engines, grants)
  return grants
}
