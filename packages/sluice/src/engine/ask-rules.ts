import type { Request } from '../identity/request.ts'
import { askStore } from '../limiter/ask.ts'
import type { CallOptions, Store } from '../stores/store.ts'
import type { Time } from '../time/time.ts'
import { type Charge, enforcing, groupOf } from './charges.ts'
import { type EngineDecision, engineDecision } from './engine-decision.ts'

/** A question that was read: whose request, and what the rules charge it. */
export interface Prepared {
  readonly request: Request
  readonly charges: readonly Charge[]
}

/**
 * Answers for several questions, decided in order, each on its own, in one call of the store: the enforcing rules of a question are one
 * group, and each of its rules in shadow is a group after it. Rejects only for defects.
 */
export async function askRules(
  store: Store,
  verb: 'consume' | 'peek',
  questions: readonly Prepared[],
  options: CallOptions,
  clock: Time,
): Promise<EngineDecision[]> {
  const parts = questions.map(({ charges }) => ({
    enforced: enforcing(charges),
    shadows: charges.filter(({ rule }) => rule.mode === 'shadow'),
  }))
  const groups = parts.flatMap(({ enforced, shadows }) => [
    ...(enforced.length === 0 ? [] : [groupOf(enforced)]),
    ...shadows.map((charge) => groupOf([charge])),
  ])
  const verdicts = groups.length === 0 ? [] : await askStore(store, verb, groups, options)
  let next = 0
  return questions.map(({ charges, request }, index) => {
    const { enforced, shadows } = parts[index] as (typeof parts)[number]
    const verdict = enforced.length === 0 ? undefined : verdicts[next++]
    const shadowVerdicts = verdicts.slice(next, (next += shadows.length))
    return engineDecision({ charges, enforcing: enforced, shadows, verdict, shadowVerdicts }, request, clock)
  })
}
