import type { AnyLimit } from '../algorithms/algorithm.ts'
import type { Hold } from '../decision/decision.ts'
import { sha256 } from '../keys/sha256.ts'
import { MICROS_PER_MS } from '../time/micros.ts'
import type { Verdict } from '../stores/store.ts'
import type { Random } from '../time/time.ts'
import type { Resolved } from './on-failure.ts'

/** Makes the id of a slot holder: 128 bits. */
export type NewHolder = () => string

/** Digests of a secret and a count, made in a sixth of the time of 128 random bits. Knowing one id does not help to guess another. */
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

/** Whether its calls take slots, which holders give back. */
export function takesSlots({ algorithm }: AnyLimit): boolean {
  return algorithm.holding !== undefined
}

/** Undefined if no slot was granted. Only the id if no grant is known and a group is undecided. */
export function holdOf(id: string, resolved: readonly Resolved[]): Hold | undefined {
  // Allocates less than `flatMap`, and most decisions grant no slot.
  const grants: NonNullable<Verdict['grant']>[] = []
  for (const { calls = [] } of resolved) for (const { grant } of calls) if (grant !== undefined) grants.push(grant)
  const [first] = grants
  if (first === undefined) return resolved.some(({ outcome }) => outcome === 'undecided') ? { id } : undefined
  const expiresAt = Math.floor(Math.min(...grants.map(({ until }) => until)) / MICROS_PER_MS)
  return grants.length === 1 ? { id, expiresAt, fence: first.fence } : { id, expiresAt }
}
