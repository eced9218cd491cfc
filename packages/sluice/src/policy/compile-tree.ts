import { type Form, OBJECT, oneOf, requireForm } from '../errors/options.ts'
import { boundOf, type StoreKind } from './model/bound.ts'
import { refuseBounds } from './bound-budget.ts'
import { type BundleOptions, readBundle } from './bundle/bundle.ts'
import type { Issues } from './document/issues.ts'
import { readNative } from './native/native.ts'
import type { MapNode, PolicyNode } from './document/node.ts'
import type { Policy, PolicyBody } from './model/policy.ts'
import type { Rule } from './model/rule.ts'
import type { Sliced } from './model/sliced.ts'
import { readTemplate } from './template/template.ts'

/** The compiled tree, without the data that comes from the text of the policy. */
export type Compiled = PolicyBody & Pick<Policy, 'dialect'>

const RULE: Form = [
  (value) => OBJECT[0](value) && Array.isArray((value as { readonly tiers?: unknown }).tiers) && 'onStoreFailure' in (value as object),
  'a rule of a policy',
]
const KIND: Form = oneOf('process', 'shared')

const DIALECTS = 'version and rules, rate_limits, or rules with limit_keys'

/**
 * Compiles a tree.
 * @throws PolicyError with every issue, including those found before
 */
export function* compileTree(root: PolicyNode | undefined, options: BundleOptions, issues: Issues): Sliced<Compiled> {
  const found = root?.kind === 'map' ? yield* readDialect(root, options, issues) : undefined
  if (root === undefined) issues.add(0, '', `the policy is empty: expected ${DIALECTS}`)
  else if (root.kind !== 'map') issues.wrong(root, '', `a map with ${DIALECTS}`)
  issues.settle()
  const read = found as Compiled
  if (root !== undefined) yield* refuseBounds(root, read, issues)
  issues.settle()
  return read
}

export function policyOf(compiled: Compiled, warnings: readonly string[], hash: string): Policy {
  return Object.freeze({
    ...compiled,
    warnings,
    hash,
    boundOf(rule: Rule, kind: StoreKind) {
      requireForm('boundOf', 'rule', rule, RULE)
      requireForm('boundOf', 'kind', kind, KIND)
      return boundOf(compiled.failure, rule, kind)
    },
  })
}

function* readDialect(root: MapNode, options: BundleOptions, issues: Issues): Sliced<Compiled | undefined> {
  if (isBundle(root)) {
    const body = yield* readBundle(root, options, issues)
    return body === undefined ? undefined : { dialect: 'bundle', ...body }
  }
  if (root.fields.has('rate_limits')) {
    const body = yield* readTemplate(root, issues)
    return body === undefined ? undefined : { dialect: 'rate-limits', ...body }
  }
  const body = yield* readNative(root, issues)
  return body === undefined ? undefined : { dialect: 'native', ...body }
}

/** Whether the tree is a bundle, bare rules, or one bare rule: policies whose rules count by `limit_keys`. */
function isBundle({ fields }: MapNode): boolean {
  if (['policies', 'bundle_version', 'limit_keys', 'algorithm_config'].some((name) => fields.has(name))) return true
  const rules = fields.get('rules')?.value
  return (
    rules?.kind === 'list' &&
    rules.items.some((rule) => rule.kind === 'map' && (rule.fields.has('limit_keys') || rule.fields.has('algorithm_config')))
  )
}
