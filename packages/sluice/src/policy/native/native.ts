import { toMillis } from '../../time/micros.ts'
import { type Fields, openFields, readChoice, readDuration, readWhole, requiredField, uniqueNames } from '../document/fields.ts'
import { fieldOf, itemsOf, type Value, warn, wrong } from '../document/value.ts'
import { defined } from '../model/defined.ts'
import { DIALECTS, type HeaderChoice, headerChoice, LEGACY } from '../model/header-choice.ts'
import { type BreakerChoice, DEFAULT_DEADLINE, type FailureChoice } from '../model/failure-choice.ts'
import type { PolicyBody } from '../model/policy.ts'
import type { OnStoreFailure, Rule } from '../model/rule.ts'
import { eachSliced, type Sliced } from '../model/sliced.ts'
import { BREAKER, FAILURE, HEADERS, MAX_FAILURES, MAX_PROCESSES, ROOT, STORE_FAILURES } from './grammar.ts'
import { readRule } from './rule.ts'
import { readSharedSections } from './shared-sections.ts'

/** Reads the native dialect: a version, rules, and the other sections. */
export function* readNative(root: Value): Sliced<PolicyBody | undefined> {
  const fields = openFields(root, ROOT)
  if (fields === undefined) return undefined
  readChoice(requiredField(fields, 'version', '1'), ['1'])
  const headers = readHeaders(fields)
  const failure = readFailure(fields)
  const rules = yield* readRules(requiredField(fields, 'rules', 'a list of rules'), failure.policy)
  return { rules, failure, headers, ...(yield* readSharedSections(fields, rules)) }
}

function readHeaders(policy: Fields): HeaderChoice {
  const fields = openFields(fieldOf(policy, 'headers'), HEADERS)
  const [dialect, legacy] = [readChoice(fieldOf(fields, 'dialect'), DIALECTS), readChoice(fieldOf(fields, 'legacy'), LEGACY)]
  return headerChoice(defined({ dialect, legacy }))
}

function readFailure(policy: Fields): FailureChoice {
  const fields = openFields(fieldOf(policy, 'failure'), FAILURE)
  const deadlineMs = readShort(fieldOf(fields, 'deadline'))
  const processes = readWhole(fieldOf(fields, 'processes'), 1, MAX_PROCESSES)
  const outage = readDuration(fieldOf(fields, 'outage'))
  const breaker = readBreaker(fieldOf(fields, 'breaker'))
  return {
    ...(deadlineMs === undefined ? DEFAULT_DEADLINE : { deadlineMs }),
    policy: readChoice(fieldOf(fields, 'policy'), STORE_FAILURES) ?? 'deny',
    ...defined({ processes, outageMs: outage === undefined ? undefined : toMillis(outage), breaker }),
  }
}

function readBreaker(value: Value | undefined): BreakerChoice | undefined {
  const fields = openFields(value, BREAKER)
  const failures = readWhole(fieldOf(fields, 'failures'), 1, MAX_FAILURES)
  const [windowMs, probeMs] = [readShort(fieldOf(fields, 'window')), readShort(fieldOf(fields, 'probe'))]
  return fields === undefined ? undefined : defined({ failures, windowMs, probeMs })
}

const MAX_MS = 60_000

/** Reads a duration of at most a minute, in milliseconds. */
function readShort(value: Value | undefined): number | undefined {
  const micros = readDuration(value)
  if (value === undefined || micros === undefined) return undefined
  const ms = toMillis(micros)
  if (ms > MAX_MS) wrong(value, 'at most 60s')
  return ms
}

function* readRules(list: Value | undefined, fallback: OnStoreFailure): Sliced<Rule[]> {
  if (list === undefined) return []
  if (list.node.kind !== 'list') wrong(list, 'a list of rules')
  else if (list.node.items.length === 0) warn(list, ': there is none, so nothing is limited')
  const unique = uniqueNames()
  return yield* eachSliced(itemsOf(list), function* (item) {
    const rule = yield* readRule(item, fallback)
    if (rule !== undefined) unique(item, rule.name)
    return rule
  })
}
