import { type Form, OBJECT, oneOf, requireForm } from '../errors/options.ts'
import { readBundle } from './bundle/bundle.ts'
import type { Micros } from '../time/micros.ts'
import type { Issues } from './document/issues.ts'
import { type PolicyNode, Value } from './document/value.ts'
import { boundOf, overBudget, type StoreKind } from './model/bound.ts'
import type { Policy, PolicyBody } from './model/policy.ts'
import type { Rule } from './model/rule.ts'
import type { Sliced } from './model/sliced.ts'
import { readNative } from './native/native.ts'
import { readTemplate } from './template/template.ts'

export type Compiled = PolicyBody & Pick<Policy, 'dialect'>

const RULE: Form = [
  (value) => OBJECT[0](value) && Array.isArray((value as { readonly tiers?: unknown }).tiers) && 'onStoreFailure' in (value as object),
  'a rule of a policy',
]
const KIND: Form = oneOf('process', 'shared')

const DIALECTS = 'version and rules, rate_limits, or rules with limit_keys'

/** @throws PolicyError with every issue, including those that `issues` already has */
export function* compileTree(node: PolicyNode | undefined, now: Micros, issues: Issues): Sliced<Compiled> {
  if (node === undefined) issues.add(0, '', `the policy is empty: expected ${DIALECTS}`)
  else if (node.kind !== 'map') new Value(node, '', issues).wrong(`a map with ${DIALECTS}`)
  issues.settle()
  const root = new Value(node as PolicyNode, '', issues)
  const dialect = dialectOf(root)
  const body = yield* dialect === 'bundle' ? readBundle(root, now) : dialect === 'native' ? readNative(root, now) : readTemplate(root, now)
  issues.settle()
  const compiled = { dialect, ...(body as PolicyBody) }
  yield* refuseBounds(root, compiled)
  issues.settle()
  return compiled
}

export function policyOf(compiled: Compiled, warnings: readonly string[], hash: string): Policy {
  return Object.freeze({
    ...compiled,
    warnings,
    hash,
    boundOf(rule: Rule, kind: StoreKind) {
      requireForm('boundOf', 'rule', rule, RULE)
      requireForm('boundOf', 'kind', kind, KIND)
      return boundOf(compiled, rule, kind)
    },
  })
}

/** The rules of a bundle have `limit_keys` or `algorithm_config`. */
function dialectOf(root: Value): Policy['dialect'] {
  const has = (map: Value, ...names: readonly string[]): boolean => names.some((name) => map.get(name) !== undefined)
  if (has(root, 'policies', 'bundle_version', 'limit_keys', 'algorithm_config')) return 'bundle'
  for (const rule of root.get('rules')?.items() ?? []) if (has(rule, 'limit_keys', 'algorithm_config')) return 'bundle'
  return has(root, 'rate_limits') ? 'rate-limits' : 'native'
}

/** If the policy names no store, only the engine checks `maxOvergrant`, for the engine's store. */
function* refuseBounds(root: Value, { storeUrl, rules, ...body }: PolicyBody): Sliced<void> {
  if (storeUrl === undefined) return
  const kind = storeUrl.scheme === 'memory' ? 'process' : 'shared'
  const written = [...(root.get('rules')?.items() ?? [])]
  for (const [index, rule] of rules.entries()) {
    yield
    const problem = overBudget(body, rule, kind)
    if (problem === undefined) continue
    const at = written[index] ?? root
    ;(at.get('maxOvergrant') ?? at).at(`rules[${index}].maxOvergrant`).refuse(` is ${problem}`)
  }
}
