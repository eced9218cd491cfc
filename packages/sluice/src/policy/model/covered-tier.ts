import { canonicalValue } from '../../identity/source.ts'
import type { Condition, Match, Tier } from './rule.ts'

/** Compares only conditions on the same source, so it may miss a tier that covers in another way. */
export function coveringTier(tier: Tier, earlier: readonly Tier[]): Tier | undefined {
  return earlier.find(({ when }) => when.every((needed) => tier.when.some((condition) => implies(condition, needed))))
}

/** Whether none of the rule's methods satisfies the tier's conditions. Conditions see each method as their source reads it: HEAD as GET. */
export function contradicts({ when }: Tier, { methods }: Match): boolean {
  return (
    methods !== undefined &&
    when.some(
      (condition) =>
        condition.source.text === 'method:' &&
        ![...methods].some((one) => accepts(condition, canonicalValue(condition.source, one) ?? one)),
    )
  )
}

/** False if the texts alone do not show it. */
function implies(one: Condition, other: Condition): boolean {
  if (one.source.text !== other.source.text) return false
  return one.value === other.value || (one.accepts === undefined && accepts(other, one.value))
}

function accepts({ value, accepts: test }: Condition, text: string): boolean {
  return test === undefined ? value === text : test(text)
}
