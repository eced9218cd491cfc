import { toMillis } from '../../time/micros.ts'
import type { MapNode, PolicyNode } from '../document/node.ts'
import { type BreakerChoice, DEFAULT_DEADLINE, type FailureChoice } from '../model/failure-choice.ts'
import { type Fields, openFields } from '../document/fields.ts'
import { DIALECTS, type HeaderChoice, headerChoice, LEGACY } from '../model/header-choice.ts'
import type { Issues } from '../document/issues.ts'
import { readRule } from './rule.ts'
import { BREAKER, FAILURE, HEADERS, MAX_FAILURES, MAX_PROCESSES, ROOT, STORE_FAILURES } from './grammar.ts'
import type { PolicyBody } from '../model/policy.ts'
import type { Rule } from '../model/rule.ts'
import type { Sliced } from '../model/sliced.ts'
import { readBeside } from './surroundings.ts'

/** Reads the native dialect: a version, rules, and the other sections. */
export function* readNative(root: MapNode, issues: Issues): Sliced<PolicyBody | undefined> {
  const fields = openFields(root, '', ROOT, issues)
  if (fields === undefined) return undefined
  readVersion(fields, issues)
  const headers = readHeaders(fields, issues)
  const failure = readFailure(fields, issues)
  const rules = yield* readRules(fields, failure, issues)
  return { rules, failure, headers, ...(yield* readBeside(fields, rules, issues)) }
}

function readVersion(fields: Fields, issues: Issues): void {
  const node = fields.node('version')
  if (node === undefined) fields.require('version', '1')
  else if (node.kind !== 'scalar' || node.text !== '1') issues.wrong(node, 'version', '1')
}

function readHeaders(fields: Fields, issues: Issues): HeaderChoice {
  const node = fields.node('headers')
  const headers = node === undefined ? undefined : openFields(node, 'headers', HEADERS, issues)
  return headerChoice({
    dialect: headers?.choice('dialect', DIALECTS) ?? 'draft-11',
    legacy: headers?.choice('legacy', LEGACY) ?? 'off',
  })
}

/** Of a deadline, and of the times of a breaker. */
const MAX_MS = 60_000

function readFailure(fields: Fields, issues: Issues): FailureChoice {
  const node = fields.node('failure')
  const failure = node === undefined ? undefined : openFields(node, 'failure', FAILURE, issues)
  const deadlineMs = shortTime(failure, 'failure', 'deadline', issues)
  const processes = failure?.whole('processes', 1, MAX_PROCESSES)
  const outage = failure?.duration('outage')
  const breaker = readBreaker(failure, issues)
  return {
    ...(deadlineMs === undefined ? DEFAULT_DEADLINE : { deadlineMs }),
    policy: failure?.choice('policy', STORE_FAILURES) ?? 'deny',
    ...(processes === undefined ? {} : { processes }),
    ...(outage === undefined ? {} : { outageMs: toMillis(outage) }),
    ...(breaker === undefined ? {} : { breaker }),
  }
}

function readBreaker(failure: Fields | undefined, issues: Issues): BreakerChoice | undefined {
  const node = failure?.node('breaker')
  const breaker = node === undefined ? undefined : openFields(node, 'failure.breaker', BREAKER, issues)
  const failures = breaker?.whole('failures', 1, MAX_FAILURES)
  const windowMs = shortTime(breaker, 'failure.breaker', 'window', issues)
  const probeMs = shortTime(breaker, 'failure.breaker', 'probe', issues)
  if (breaker === undefined) return undefined
  return {
    ...(failures === undefined ? {} : { failures }),
    ...(windowMs === undefined ? {} : { windowMs }),
    ...(probeMs === undefined ? {} : { probeMs }),
  }
}

/** A duration of at most a minute, in milliseconds. */
function shortTime(fields: Fields | undefined, path: string, name: string, issues: Issues): number | undefined {
  const micros = fields?.duration(name)
  if (micros === undefined) return undefined
  const ms = toMillis(micros)
  if (ms > MAX_MS) issues.wrong(fields?.node(name) as PolicyNode, `${path}.${name}`, 'at most 60s')
  return ms
}

function* readRules(fields: Fields, failure: FailureChoice, issues: Issues): Sliced<Rule[]> {
  const node = fields.node('rules')
  if (node === undefined) fields.require('rules', 'a list of rules')
  else if (node.kind !== 'list') issues.wrong(node, 'rules', 'a list of rules')
  else if (node.items.length === 0) issues.warn(node.at, 'rules: there is none, so nothing is limited')
  if (node?.kind !== 'list') return []
  const names = new Map<string, number>()
  const rules: Rule[] = []
  for (const [index, item] of node.items.entries()) {
    yield
    const path = `rules[${index}]`
    const rule = yield* readRule(item, path, failure.policy, issues)
    if (rule === undefined) continue
    const earlier = names.get(rule.name)
    if (earlier === undefined) names.set(rule.name, index)
    else
      issues.add(
        nameAt(item),
        `${path}.name`,
        `${path}.name is ${JSON.stringify(rule.name)}: expected a name of its own, rules[${earlier}] has it`,
      )
    rules.push(rule)
  }
  return rules
}

function nameAt(rule: PolicyNode): number {
  return (rule.kind === 'map' ? rule.fields.get('name')?.value.at : undefined) ?? rule.at
}
