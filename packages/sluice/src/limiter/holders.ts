import type { AnyLimit } from '../algorithms/algorithm.ts'
import type { Hold } from '../decision/decision.ts'
import { sha256 } from '../keys/sha256.ts'
import { MICROS_PER_MS } from '../time/micros.ts'
import type { Verdict } from '../stores/store.ts'
import type { Random } from '../time/time.ts'
import type { Resolved } from './on-failure.ts'

/** Makes the id of a holder that has none of its own: 128 bits. */
export type NewHolder = () => string

/**
 * Digests of a secret and a count: a digest costs a sixth of 128 random bits, and whoever knows one id cannot guess another.
 * @param random numbers in [0, 1) that nobody outside can guess
 */
export function createHolders(random: Random): NewHolder {
  const word = (): string => (2 ** 32 + Math.floor(random() * 2 ** 32)).toString(16).slice(1)
  let secret: string | undefined
  let count = 0
  return () => {
    secret ??= word() + word() + word() + word()
    count += 1
    return sha256(`${secret} ${count}`, 4)
  }
}

/** Whether calls of a limit take slots, which their holders give back. */
export function takesSlots({ algorithm }: AnyLimit): boolean {
  return algorithm.holding !== undefined
}

/**
 * What a holder got from the groups of one decision; undefined if it got nothing. Of an undecided group only the id is known: the store may
 * have granted it.
 */
export function holdOf(id: string, resolved: readonly Resolved[]): Hold | undefined {
  // Most holds have no slots, and a loop makes no lists.
  const grants: NonNullable<Verdict['grant']>[] = []
  for (const { calls = [] } of resolved) for (const { grant } of calls) if (grant !== undefined) grants.push(grant)
  const [first] = grants
  if (first === undefined) return resolved.some(({ outcome }) => outcome === 'undecided') ? { id } : undefined
  const expiresAt = Math.floor(Math.min(...grants.map(({ until }) => until)) / MICROS_PER_MS)
  return grants.length === 1 ? { id, expiresAt, fence: first.fence } : { id, expiresAt }
}
