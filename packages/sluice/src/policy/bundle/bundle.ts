import { parseInstant } from '../../time/instant.ts'
import type { Micros } from '../../time/micros.ts'
import type { Value } from '../document/value.ts'
import { type HeaderChoice, headerChoice } from '../model/header-choice.ts'
import { DEFAULT_DEADLINE, type Rule } from '../model/rule.ts'
import type { PolicyBody } from '../model/policy.ts'
import type { Sliced } from '../model/sliced.ts'
import { readSharedSections, SHARED_SECTIONS } from '../native/shared-sections.ts'
import { warnOfMoves } from './moves.ts'
import { readBundleRule, readName } from './rule.ts'
import { compileAlone, readSpec, SPEC } from './spec.ts'
import { refuseSection } from './tolerated.ts'

const OVERRIDES = ['global_shadow', 'kill_switch_override']
const OWN = ['bundle_version', 'issued_at', 'expires_at', 'policies', 'defaults', 'kill_switches']
const ROOT = [...OWN, ...OVERRIDES, ...SHARED_SECTIONS]

const HEADERS: HeaderChoice = headerChoice({
  refusal: {
    field: 'X-Fairvisor-Reason',
    reasons: { quota: 'token_bucket_exceeded', capacity: 'token_bucket_exceeded', overflow: 'token_bucket_exceeded' },
    remaining: 0,
  },
})

/** Fairvisor's Token Bucket: a complete bundle, `{ "rules": [...] }`, or one rule. */
export function* readBundle(root: Value, now: Micros): Sliced<PolicyBody | undefined> {
  yield* warnOfMoves(root)
  const has = (name: string): boolean => root.node.kind === 'map' && root.node.fields.has(name)
  const isWhole = has('policies') || has('bundle_version')
  if (!isWhole && !has('rules')) {
    const rule = yield* readBundleRule(root, { name: 'default', alone: true })
    return bodyOf(rule === undefined ? [] : [compileAlone(rule)])
  }
  const fields = root.open({ names: isWhole ? ROOT : [...SPEC.names, ...SHARED_SECTIONS], lenient: true })
  if (fields === undefined) return undefined
  const rules = yield* isWhole ? readWhole(fields, now) : readSpec(fields, undefined)
  if (rules.length === 0) fields.warn('the bundle has no rules, so nothing is limited')
  return { ...bodyOf(rules), ...(yield* readSharedSections(fields, rules, now)) }
}

function bodyOf(rules: readonly Rule[]): PolicyBody {
  return { rules, failure: { ...DEFAULT_DEADLINE, policy: 'allow' }, headers: HEADERS }
}

function* readWhole(bundle: Value, now: Micros): Sliced<Rule[]> {
  refuseSection(bundle, 'kill_switches', 'list')
  for (const name of OVERRIDES) refuseSection(bundle, name, 'switch')
  bundle.require('bundle_version', 'a number above 0')?.as('a number above 0', (node) => {
    return node.kind === 'scalar' && node.type === 'number' && Number(node.text) > 0 ? true : undefined
  })
  readTime(bundle.get('issued_at'))
  const expiry = bundle.get('expires_at')
  const expires = readTime(expiry)
  // Later, nobody checks the expiry again.
  if (expiry !== undefined && (expires ?? Infinity) <= now) expiry.wrong('a time to come: the bundle has expired')
  const defaults = bundle.get('defaults')
  if (defaults !== undefined) defaults.warn(' has no effect: nothing reads it')
  return yield* readPolicies(bundle.require('policies', 'a list of policies'))
}

function readTime(value: Value | undefined): Micros | undefined {
  return value?.as('a time such as 2026-01-31T23:59:59Z', (node) => {
    return node.kind === 'scalar' && /^[^.]{19}Z$/.test(node.text) ? parseInstant(node.text) : undefined
  })
}

/** Policies apply in the order of their ids. */
function* readPolicies(list: Value | undefined): Sliced<Rule[]> {
  const policies = new Map<string, readonly Rule[]>()
  for (const item of list?.items('a list of policies') ?? []) {
    const read = yield* readPolicy(item)
    if (read === undefined) continue
    if (policies.has(read.id))
      item.at(`${item.path}.id`).overlook(` is ${JSON.stringify(read.id)}, and an earlier policy has it: the last one is used`)
    policies.set(read.id, read.rules)
  }
  return [...policies].sort(([a], [b]) => (a < b ? -1 : 1)).flatMap(([, rules]) => rules)
}

function* readPolicy(value: Value): Sliced<{ readonly id: string; readonly rules: readonly Rule[] } | undefined> {
  yield
  const fields = value.open({ names: ['id', 'spec'], lenient: true })
  if (fields === undefined) return undefined
  const id = readName(fields.require('id', 'a text'))
  const spec = fields.require('spec', 'a map with selector and rules')?.open(SPEC)
  // Without an id, rules are read for their mistakes.
  const rules = spec === undefined ? [] : yield* readSpec(spec, id ?? '')
  return id === undefined ? undefined : { id, rules }
}
