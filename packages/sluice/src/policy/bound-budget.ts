import { fieldOf, refuse, type Value } from './document/value.ts'
import { boundOf, type StoreKind } from './model/bound.ts'
import type { FailureChoice } from './model/failure-choice.ts'
import type { PolicyBody } from './model/policy.ts'
import type { Rule } from './model/rule.ts'
import type { Sliced } from './model/sliced.ts'

/** The problem of a rule whose bound on such a store is above its `maxOvergrant`; undefined if the bound is within it. */
export function overBudget(failure: FailureChoice, rule: Rule, kind: StoreKind): string | undefined {
  if (rule.maxOvergrant === undefined || rule.mode === 'off') return undefined
  const { running, storeDown, text } = boundOf(failure, rule, kind)
  const worst = Math.max(running, storeDown)
  if (worst <= rule.maxOvergrant) return undefined
  const shown = worst === Infinity ? 'unbounded' : String(worst)
  return `${rule.maxOvergrant} is below its bound on this store, ${shown} (${text}): expected onStoreFailure deny, or at least ${shown}`
}

/** Checks the rules of a policy that names its own store. For a policy without one, the caller that brings the store checks them. */
export function* refuseBounds(root: Value, { storeUrl, failure, rules }: PolicyBody): Sliced<void> {
  if (storeUrl === undefined) return
  const kind = storeUrl.scheme === 'memory' ? 'process' : 'shared'
  const list = fieldOf(root, 'rules')?.node
  for (const [index, rule] of rules.entries()) {
    yield
    const problem = overBudget(failure, rule, kind)
    if (problem === undefined) continue
    const node = list?.kind === 'list' ? list.items[index] : undefined
    const written = node === undefined ? root : (fieldOf({ ...root, node }, 'maxOvergrant') ?? { ...root, node })
    refuse({ ...written, path: `rules[${index}].maxOvergrant` }, ` is ${problem}`)
  }
}
