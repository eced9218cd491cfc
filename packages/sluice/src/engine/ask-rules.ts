import type { Request } from '../identity/request.ts'
import type { CallGroup, CallOptions, GroupVerdict, Store } from '../stores/store.ts'
import type { Time } from '../time/time.ts'
import { type Charge, enforcing, groupOf } from './charges.ts'
import type { Charging } from './charging.ts'
import { type EngineDecision, engineDecision } from './engine-decision.ts'

/** A request and what the rules charge it. */
export interface Prepared extends Charging {
  readonly request: Request
}

/**
 * Decides several requests in order and independently, in one store call. The enforcing rules of a request form one group; each of its
 * shadow rules is a group after it. Rejects only for defects.
 */
export async function askRules(
  store: Store,
  verb: 'consume' | 'peek',
  questions: readonly Prepared[],
  options: CallOptions,
  clock: Time,
): Promise<EngineDecision[]> {
  const groups: CallGroup[] = []
  const parts = questions.map(({ charges }): Part => {
    const enforced = enforcing(charges)
    const shadows = enforced.length === charges.length ? NONE : charges.filter(({ rule }) => rule.mode === 'shadow')
    const first = groups.length
    if (enforced.length > 0) groups.push(groupOf(enforced))
    for (const charge of shadows) groups.push(groupOf([charge]))
    return { enforced, shadows, first }
  })
  const verdicts = await verdictsOf(store, verb, groups, options)
  return questions.map((question, index) => {
    const { enforced, shadows, first } = parts[index] as Part
    const own = enforced.length === 0 ? 0 : 1
    const verdict = own === 0 ? undefined : verdicts[first]
    const shadowVerdicts = shadows.length === 0 ? NO_VERDICTS : verdicts.slice(first + own, first + own + shadows.length)
    return engineDecision({ charging: question, enforcing: enforced, shadows, verdict, shadowVerdicts }, question.request, clock)
  })
}

function verdictsOf(
  store: Store,
  verb: 'consume' | 'peek',
  groups: readonly CallGroup[],
  options: CallOptions,
): readonly GroupVerdict[] | Promise<readonly GroupVerdict[]> {
  if (groups.length === 0) return NO_VERDICTS
  if (groups.length > 1 || verb === 'peek' || options.signal?.aborted === true) return store[verb](groups, options)
  const here = store.consumeHere?.(groups[0] as CallGroup)
  return here === undefined ? store.consume(groups, options) : [here]
}

/**
 * The groups of one request: the enforcing rules at index `first` (none if there are no such rules), then one group for each shadow rule.
 */
interface Part {
  readonly enforced: readonly Charge[]
  readonly shadows: readonly Charge[]
  readonly first: number
}

const NONE: readonly Charge[] = []
const NO_VERDICTS: readonly GroupVerdict[] = []
