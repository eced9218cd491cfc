import type { AnyLimit } from '../algorithms/algorithm.ts'
import type { Hold } from '../decision/decision.ts'
import { sha256 } from '../keys/sha256.ts'
import { MICROS_PER_MS } from '../time/micros.ts'
import type { Verdict } from '../stores/store.ts'
import type { Random } from '../time/time.ts'
import type { Resolved } from './on-failure.ts'

/** Makes the id of a slot holder for a call that passes no id: 128 bits. */
export type NewHolder = () => string

/**
 * Makes ids that are digests of a secret and a count. Making a digest takes a sixth of the time of making 128 random bits. Somebody who
 * knows one id cannot guess another.
 * @param random unpredictable numbers in [0, 1), from which the secret is made
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
 * The slots that a holder got from the groups of one decision; undefined if it got none. If a group is undecided, only the id is returned,
 * because the store may have granted slots under it.
 */
export function holdOf(id: string, resolved: readonly Resolved[]): Hold | undefined {
  // A loop instead of `flatMap`: it allocates less, and most decisions grant no slot.
  const grants: NonNullable<Verdict['grant']>[] = []
  for (const { calls = [] } of resolved) for (const { grant } of calls) if (grant !== undefined) grants.push(grant)
  const [first] = grants
  if (first === undefined) return resolved.some(({ outcome }) => outcome === 'undecided') ? { id } : undefined
  const expiresAt = Math.floor(Math.min(...grants.map(({ until }) => until)) / MICROS_PER_MS)
  return grants.length === 1 ? { id, expiresAt, fence: first.fence } : { id, expiresAt }
}
