import { type Micros, toMillis } from '../../time/micros.ts'
import { uniqueNames, type Value, warnOfBare } from '../document/value.ts'
import { defined } from '../model/defined.ts'
import { DIALECTS, type HeaderChoice, headerChoice, LEGACY } from '../model/header-choice.ts'
import { DEFAULT_DEADLINE, type FailureChoice, type OnStoreFailure, type Rule } from '../model/rule.ts'
import type { PolicyBody } from '../model/policy.ts'
import { eachSliced, type Sliced } from '../model/sliced.ts'
import { BREAKER, FAILURE, HEADERS, MAX_FAILURES, MAX_PROCESSES, ROOT, STORE_FAILURES } from './grammar.ts'
import { readRule } from './rule.ts'
import { readSharedSections } from './shared-sections.ts'

export function* readNative(root: Value, now: Micros): Sliced<PolicyBody | undefined> {
  const fields = root.open(ROOT)
  if (fields === undefined) return undefined
  fields.require('version', '1')?.choice(['1'])
  const headers = readHeaders(fields)
  const failure = readFailure(fields)
  const rules = yield* readRules(fields.require('rules', 'a list of rules'), failure.policy)
  return { rules, failure, headers, ...(yield* readSharedSections(fields, rules, now)) }
}

function readHeaders(policy: Value): HeaderChoice {
  const fields = policy?.get('headers')?.open(HEADERS)
  const [dialect, legacy] = [fields?.get('dialect')?.choice(DIALECTS), fields?.get('legacy')?.choice(LEGACY)]
  return headerChoice(defined({ dialect, legacy }))
}

function readFailure(policy: Value): FailureChoice {
  const fields = policy?.get('failure')?.open(FAILURE)
  const deadlineMs = readShort(fields?.get('deadline'))
  const processes = fields?.get('processes')?.whole(1, MAX_PROCESSES)
  warnOfBare(fields?.get('outage'))
  const outage = fields?.get('outage')?.duration()
  const breaker = readBreaker(fields?.get('breaker'))
  return {
    ...(deadlineMs === undefined ? DEFAULT_DEADLINE : { deadlineMs }),
    policy: fields?.get('policy')?.choice(STORE_FAILURES) ?? 'deny',
    ...defined({ processes, outageMs: outage === undefined ? undefined : toMillis(outage), breaker }),
  }
}

function readBreaker(value: Value | undefined): FailureChoice['breaker'] {
  const fields = value?.open(BREAKER)
  const failures = fields?.get('failures')?.whole(1, MAX_FAILURES)
  for (const name of ['window', 'probe']) warnOfBare(fields?.get(name))
  const [windowMs, probeMs] = [readShort(fields?.get('window')), readShort(fields?.get('probe'))]
  return fields === undefined ? undefined : defined({ failures, windowMs, probeMs })
}

const MAX_MS = 60_000

/** At most a minute, in milliseconds. */
function readShort(value: Value | undefined): number | undefined {
  const micros = value?.duration()
  if (value === undefined || micros === undefined) return undefined
  const ms = toMillis(micros)
  if (ms > MAX_MS) value.wrong('at most 60s')
  return ms
}

function* readRules(list: Value | undefined, fallback: OnStoreFailure): Sliced<Rule[]> {
  if (list?.node.kind === 'list' && list.node.items.length === 0) list.warn(': the list is empty, so nothing is limited')
  const unique = uniqueNames()
  return yield* eachSliced(list?.items('a list of rules'), function* (item) {
    const rule = yield* readRule(item, fallback)
    if (rule !== undefined) unique(item, rule.name)
    return rule
  })
}
