import type { Micros } from '../../time/micros.ts'
import { warnOfMoves } from './moves.ts'
import { readName } from './name.ts'
import { readBundleRule } from './rule.ts'
import { refuseSection } from './section.ts'
import type { SelectorOptions } from './selector.ts'
import { compileAlone, openSpec, readSpec, SPEC } from './spec.ts'
import { checkTimes } from './time.ts'
import type { MapNode, PolicyNode } from '../document/node.ts'
import { DEFAULT_DEADLINE } from '../model/failure-choice.ts'
import { type Fields, openFields } from '../document/fields.ts'
import { type HeaderChoice, headerChoice } from '../model/header-choice.ts'
import type { Issues } from '../document/issues.ts'
import type { PolicyBody } from '../model/policy.ts'
import type { Rule } from '../model/rule.ts'
import type { Sliced } from '../model/sliced.ts'
import { BESIDE, readBeside } from '../native/surroundings.ts'

export interface BundleOptions {
  /** Refuses what the format ignores: unknown fields, duplicate ids, anchors without a slash. */
  readonly strict: boolean
  readonly now: Micros
}

const OVERRIDES = ['global_shadow', 'kill_switch_override']
const SECTIONS = ['kill_switches', ...OVERRIDES]
const ROOT = ['bundle_version', 'issued_at', 'expires_at', 'policies', 'defaults', ...SECTIONS, ...BESIDE]

const HEADERS: HeaderChoice = headerChoice({
  refusal: {
    field: 'X-Fairvisor-Reason',
    reasons: { quota: 'token_bucket_exceeded', capacity: 'token_bucket_exceeded', overflow: 'token_bucket_exceeded' },
    remaining: 0,
  },
})

/** Reads rules of Fairvisor's Token Bucket: a complete bundle, `{ "rules": [...] }`, or one rule. */
export function* readBundle(root: MapNode, { strict, now }: BundleOptions, issues: Issues): Sliced<PolicyBody | undefined> {
  const options: SelectorOptions = {
    lenient: !strict,
    overlook: (at, path, message) => (strict ? issues.add(at, path, message) : issues.warn(at, message)),
  }
  const names =
    root.fields.has('policies') || root.fields.has('bundle_version') ? ROOT : root.fields.has('rules') ? [...SPEC, ...BESIDE] : []
  yield* warnOfMoves(root, issues)
  if (names.length === 0) {
    const rule = yield* readBundleRule(root, '', { lenient: !strict, name: 'default', alone: true }, issues)
    return bodyOf(rule === undefined ? [] : [compileAlone(rule)])
  }
  const fields = openFields(root, '', { names, lenient: !strict }, issues)
  if (fields === undefined) return undefined
  const rules = yield* names === ROOT ? readWhole(fields, options, now, issues) : readSpec(fields, undefined, options, issues)
  if (rules.length === 0) issues.warn(fields.at, 'the bundle has no rules, so nothing is limited')
  return { ...bodyOf(rules), ...(yield* readBeside(fields, rules, issues)) }
}

/** In this dialect the failure policy is `allow`. */
function bodyOf(rules: readonly Rule[]): PolicyBody {
  return { rules, failure: { ...DEFAULT_DEADLINE, policy: 'allow' }, headers: HEADERS }
}

function* readWhole(bundle: Fields, options: SelectorOptions, now: Micros, issues: Issues): Sliced<Rule[]> {
  refuseSection(bundle, 'kill_switches', 'list', issues)
  for (const name of OVERRIDES) refuseSection(bundle, name, 'switch', issues)
  const version = bundle.node('bundle_version')
  if (version === undefined) bundle.require('bundle_version', 'a number above 0')
  else if (version.kind !== 'scalar' || version.type !== 'number' || !(Number(version.text) > 0))
    issues.wrong(version, 'bundle_version', 'a number above 0')
  checkTimes(bundle, now, issues)
  const defaults = bundle.node('defaults')
  if (defaults !== undefined) issues.warn(defaults.at, 'defaults has no effect: nothing reads it')
  return yield* readPolicies(bundle, options, issues)
}

/** Reads the policies and orders them by id, because that is the order in which they apply. */
function* readPolicies(bundle: Fields, options: SelectorOptions, issues: Issues): Sliced<Rule[]> {
  const node = bundle.node('policies')
  if (node === undefined) bundle.require('policies', 'a list of policies')
  else if (node.kind !== 'list') issues.wrong(node, 'policies', 'a list of policies')
  const policies = new Map<string, readonly Rule[]>()
  for (const [index, item] of (node?.kind === 'list' ? node.items : []).entries()) {
    const path = `policies[${index}]`
    const read = yield* readPolicy(item, path, options, issues)
    if (read === undefined) continue
    if (policies.has(read.id))
      options.overlook(
        item.at,
        `${path}.id`,
        `${path}.id is ${JSON.stringify(read.id)}, and an earlier policy has it: the last one is used`,
      )
    policies.set(read.id, read.rules)
  }
  return [...policies].sort(([a], [b]) => (a < b ? -1 : 1)).flatMap(([, rules]) => rules)
}

function* readPolicy(
  node: PolicyNode,
  path: string,
  options: SelectorOptions,
  issues: Issues,
): Sliced<{ readonly id: string; readonly rules: readonly Rule[] } | undefined> {
  yield
  const fields = openFields(node, path, { names: ['id', 'spec'], lenient: options.lenient }, issues)
  if (fields === undefined) return undefined
  fields.require('id', 'a text')
  fields.require('spec', 'a map with selector and rules')
  const [idNode, specNode] = [fields.node('id'), fields.node('spec')]
  const id = idNode === undefined ? undefined : readName(idNode, fields.pathOf('id'), issues)
  const spec = specNode === undefined ? undefined : openSpec(specNode, fields.pathOf('spec'), options.lenient, issues)
  // The rules of a policy without an id are read too, to report their mistakes.
  const rules = spec === undefined ? [] : yield* readSpec(spec, id ?? '', options, issues)
  return id === undefined ? undefined : { id, rules }
}
