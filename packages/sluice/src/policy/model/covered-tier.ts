import type { Condition, Match, Tier } from './rule.ts'

/**
 * The first of the earlier tiers (limits of a rule) that matches every request that `tier` matches. Undefined if no tier does. Only
 * conditions on the same source are compared, so a tier that is covered in another way is not found.
 */
export function coveringTier(tier: Tier, earlier: readonly Tier[]): Tier | undefined {
  return earlier.find(({ when }) => when.every((needed) => tier.when.some((condition) => implies(condition, needed))))
}

/** Whether the tier (a limit of the rule) has a condition on the method that no request of the rule satisfies. */
export function contradicts({ when }: Tier, { methods }: Match): boolean {
  return (
    methods !== undefined &&
    when.some((condition) => condition.source.text === 'method:' && ![...methods].some((one) => accepts(condition, one)))
  )
}

/**
 * Whether each request that satisfies `one` satisfies `other`. False if the two conditions do not show this by their texts, even if it is
 * so.
 */
function implies(one: Condition, other: Condition): boolean {
  if (one.source.text !== other.source.text) return false
  return one.value === other.value || (one.accepts === undefined && accepts(other, one.value))
}

function accepts({ value, accepts: test }: Condition, text: string): boolean {
  return test === undefined ? value === text : test(text)
}
