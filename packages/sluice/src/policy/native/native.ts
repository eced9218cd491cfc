import { toMillis } from '../../time/micros.ts'
import { type Fields, openFields } from '../document/fields.ts'
import { fieldOf, itemsOf, readAs, refuse, type Value, warn, wrong } from '../document/value.ts'
import { defined } from '../model/defined.ts'
import { DIALECTS, type HeaderChoice, headerChoice, LEGACY } from '../model/header-choice.ts'
import { type BreakerChoice, DEFAULT_DEADLINE, type FailureChoice } from '../model/failure-choice.ts'
import type { PolicyBody } from '../model/policy.ts'
import type { OnStoreFailure, Rule } from '../model/rule.ts'
import type { Sliced } from '../model/sliced.ts'
import { BREAKER, FAILURE, HEADERS, MAX_FAILURES, MAX_PROCESSES, ROOT, STORE_FAILURES } from './grammar.ts'
import { readRule } from './rule.ts'
import { readSharedSections } from './shared-sections.ts'

/** Reads the native dialect: a version, rules, and the other sections. */
export function* readNative(root: Value): Sliced<PolicyBody | undefined> {
  const fields = openFields(root, ROOT)
  if (fields === undefined) return undefined
  readAs(fields.require('version', '1'), '1', (node) => (node.kind === 'scalar' && node.text === '1' ? 1 : undefined))
  const headers = readHeaders(fields)
  const failure = readFailure(fields)
  const rules = yield* readRules(fields.require('rules', 'a list of rules'), failure.policy)
  return { rules, failure, headers, ...(yield* readSharedSections(fields, rules)) }
}

function readHeaders(policy: Fields): HeaderChoice {
  const fields = policy.open('headers', HEADERS)
  return headerChoice(defined({ dialect: fields?.choice('dialect', DIALECTS), legacy: fields?.choice('legacy', LEGACY) }))
}

function readFailure(policy: Fields): FailureChoice {
  const fields = policy.open('failure', FAILURE)
  const deadlineMs = shortTime(fields, 'deadline')
  const processes = fields?.whole('processes', 1, MAX_PROCESSES)
  const outage = fields?.duration('outage')
  const breaker = readBreaker(fields)
  return {
    ...(deadlineMs === undefined ? DEFAULT_DEADLINE : { deadlineMs }),
    policy: fields?.choice('policy', STORE_FAILURES) ?? 'deny',
    ...defined({ processes, outageMs: outage === undefined ? undefined : toMillis(outage), breaker }),
  }
}

function readBreaker(failure: Fields | undefined): BreakerChoice | undefined {
  const fields = failure?.open('breaker', BREAKER)
  const failures = fields?.whole('failures', 1, MAX_FAILURES)
  const [windowMs, probeMs] = [shortTime(fields, 'window'), shortTime(fields, 'probe')]
  return fields === undefined ? undefined : defined({ failures, windowMs, probeMs })
}

const MAX_MS = 60_000

/** A duration of at most a minute, in milliseconds. */
function shortTime(fields: Fields | undefined, name: string): number | undefined {
  const micros = fields?.duration(name)
  if (micros === undefined) return undefined
  const ms = toMillis(micros)
  if (ms > MAX_MS) wrong(fields?.get(name) as Value, 'at most 60s')
  return ms
}

function* readRules(list: Value | undefined, fallback: OnStoreFailure): Sliced<Rule[]> {
  if (list === undefined) return []
  if (list.node.kind !== 'list') wrong(list, 'a list of rules')
  else if (list.node.items.length === 0) warn(list, ': there is none, so nothing is limited')
  const paths = new Map<string, string>()
  const rules: Rule[] = []
  for (const item of itemsOf(list)) {
    yield
    const rule = yield* readRule(item, fallback)
    if (rule === undefined) continue
    const earlier = paths.get(rule.name)
    if (earlier === undefined) paths.set(rule.name, item.path)
    else
      refuse(
        { ...(fieldOf(item, 'name') ?? item), path: `${item.path}.name` },
        ` is ${JSON.stringify(rule.name)}: expected a name of its own, ${earlier} has it`,
      )
    rules.push(rule)
  }
  return rules
}
