import type { Decision, Outcome } from '../decision/decision.ts'
import { hash32 } from '../decision/jitter.ts'
import type { Request } from '../identity/request.ts'
import { decisionOf, type NamedLimit } from '../limiter/decide.ts'
import type { RuleResult } from '../observe/events.ts'
import type { Mode } from '../policy/rule.ts'
import type { GroupVerdict } from '../stores/store.ts'
import { MICROS_PER_MS } from '../time/micros.ts'
import type { Time } from '../time/time.ts'
import type { Charge } from './charges.ts'
import type { Charging } from './charging.ts'

/** A decision and what the policy's rules had to do with it. `limits` are those of the enforcing rules, by rule name. */
export type EngineDecision = Decision & {
  /** The rules that applied, in the order of the policy. */
  readonly rules: readonly { readonly name: string; readonly mode: Mode }[]
  /** Spreads retries (subject, address, path, keys); a hash, so that nobody is named; empty where the request may pass. */
  readonly identity: string
  /** What rules in shadow would have said; it had no part in the outcome. */
  readonly shadow: readonly { readonly rule: string; readonly outcome: Outcome }[]
  /** Every enforcing rule that did not admit the request. */
  readonly violated: readonly string[]
  /** Set where chance had a part: a rule counts one request in several, and that one for all of them. */
  readonly probabilistic?: true
  /** Set where the policy exempts the request from every rule: what it is exempt by. */
  readonly exempt?: string
}

export interface Asked {
  readonly charging: Charging
  readonly enforcing: readonly Charge[]
  readonly shadows: readonly Charge[]
  /** The enforcing rules' answer, undefined where there is none, then one for each shadow. */
  readonly verdict: GroupVerdict | undefined
  readonly shadowVerdicts: readonly GroupVerdict[]
}

/** @param clock this process's time, read where no store said its own */
export function engineDecision(asked: Asked, request: Request, clock: Pick<Time, 'now'>): EngineDecision {
  const { charging, enforcing, shadows, verdict, shadowVerdicts } = asked
  const { charges, probabilistic, exempt, unread } = charging
  if (unread?.rule.mode === 'enforce') return badRequest(unread, request, clock)
  // Nobody else holds it yet: growing it costs a third of a copy.
  const decision = decisionOf(verdict ?? unlimited(shadowVerdicts), enforcing.map(namedOf), clock) as Growing
  decision.rules = charges.map(nameOf)
  decision.identity = decision.allowed ? '' : identityOf(charges, request)
  decision.shadow =
    shadows.length === 0
      ? []
      : shadows.map(({ rule }, index) => ({ rule: rule.name, outcome: shadowVerdicts[index]?.outcome ?? 'undecided' }))
  decision.violated =
    verdict === undefined || verdict.outcome === 'allowed'
      ? []
      : enforcing.filter((_, index) => verdict.calls[index] !== undefined && verdict.calls[index].outcome !== 'allowed').map(nameAlone)
  if (probabilistic) decision.probabilistic = true
  if (exempt !== undefined) decision.exempt = exempt
  if (unread !== undefined) {
    decision.rules = [...decision.rules, nameOf(unread)]
    decision.shadow = [...decision.shadow, { rule: unread.rule.name, outcome: 'impossible' }]
  }
  return decision
}

/** Nothing was charged, and no store was asked. */
function badRequest({ rule, detail }: Required<Charging>['unread'], request: Request, clock: Pick<Time, 'now'>): EngineDecision {
  const atMicros = clock.now()
  return {
    outcome: 'impossible',
    allowed: false,
    limitName: rule.name,
    reason: 'bad-request',
    detail,
    limits: [],
    at: Math.floor(atMicros / MICROS_PER_MS),
    atMicros,
    source: 'store',
    rules: [nameOf({ rule })],
    identity: identityOf([], request),
    shadow: [],
    violated: [rule.name],
  }
}

type Growing = Decision & { -readonly [Field in keyof EngineDecision]: EngineDecision[Field] }

function namedOf({ named }: Charge): NamedLimit {
  return named
}

function nameAlone({ rule }: Charge): string {
  return rule.name
}

function nameOf({ rule: { name, mode } }: Pick<Charge, 'rule'>): EngineDecision['rules'][number] {
  return { name, mode }
}

/** The same by rule, for observers. */
export function resultsOf({ outcome, rules, shadow, violated }: EngineDecision): RuleResult[] {
  return rules.map(({ name, mode }): RuleResult => {
    if (mode === 'shadow') return { rule: name, result: shadowResult(shadow.find((one) => one.rule === name)?.outcome), shadow: true }
    return { rule: name, result: outcome === 'undecided' || violated.includes(name) ? outcome : 'allowed' }
  })
}

/** A store's failure is no refusal. */
function shadowResult(outcome: Outcome | undefined): RuleResult['result'] {
  if (outcome === undefined || outcome === 'allowed') return 'allowed'
  return outcome === 'undecided' ? 'undecided' : 'shadow_denied'
}

/** No rule enforces, so nothing is refused. */
const UNLIMITED: GroupVerdict = { outcome: 'allowed', allowed: true, at: Number.NaN, calls: [], source: 'store' }

/** Where the rules in shadow alone were asked, the decision says who answered for them. */
function unlimited(shadowVerdicts: readonly GroupVerdict[]): GroupVerdict {
  const failed = shadowVerdicts.find(({ degraded }) => degraded !== undefined)
  if (failed === undefined) return UNLIMITED
  const { source, degraded, nodes } = failed as GroupVerdict & Required<Pick<GroupVerdict, 'degraded'>>
  return { ...UNLIMITED, source, degraded, ...(nodes === undefined ? {} : { nodes }) }
}

function identityOf(charges: readonly Charge[], { claims, network, path }: Request): string {
  const subject = claims?.['sub']
  let hash = hash32(path)
  if (network !== undefined) hash = hash32(network, hash)
  if (typeof subject === 'string') hash = hash32(subject, hash)
  for (const { call } of charges) hash = hash32(call.id.key, hash)
  return hash.toString(16).padStart(8, '0')
}
