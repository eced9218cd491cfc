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

/** A decision with the policy's rules that led to it. `limits` are those of the enforcing rules, by rule name. */
export type EngineDecision = Decision & {
  /** The rules that applied, in the order of the policy. */
  readonly rules: readonly { readonly name: string; readonly mode: Mode }[]
  /** A hash that spreads retries (subject, address, path, keys). It is hashed so that it names nobody. Empty if the request may pass. */
  readonly identity: string
  /** What the shadow rules would have decided. They do not affect the outcome. */
  readonly shadow: readonly { readonly rule: string; readonly outcome: Outcome }[]
  /** Every enforcing rule that did not admit the request. */
  readonly violated: readonly string[]
  /** Set if the decision depends on chance: a rule counts one request in several, and charges it for all of them. */
  readonly probabilistic?: true
  /** Set if the policy exempts the request from every rule: the exemption that applies. */
  readonly exempt?: string
}

export interface Asked {
  readonly charging: Charging
  readonly enforcing: readonly Charge[]
  readonly shadows: readonly Charge[]
  /** The verdict on the enforcing rules, undefined if there are none. `shadowVerdicts` has one for each shadow rule. */
  readonly verdict: GroupVerdict | undefined
  readonly shadowVerdicts: readonly GroupVerdict[]
}

/**
 * Makes the decision on one request.
 * @param clock this process's clock, read if no store reported its own time
 */
export function engineDecision(asked: Asked, request: Request, clock: Pick<Time, 'now'>): EngineDecision {
  const { charging, enforcing, shadows, verdict, shadowVerdicts } = asked
  const { charges, probabilistic, exempt, unread } = charging
  if (unread?.rule.mode === 'enforce') return badRequest(unread, request, clock)
  // The decision is not shared yet, so it is extended in place: a third of the cost of a copy.
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

/** Refuses an unreadable request. It charges nothing and calls no store. */
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

/** The results by rule, for observers. */
export function resultsOf({ outcome, rules, shadow, violated }: EngineDecision): RuleResult[] {
  return rules.map(({ name, mode }): RuleResult => {
    if (mode === 'shadow') return { rule: name, result: shadowResult(shadow.find((one) => one.rule === name)?.outcome), shadow: true }
    return { rule: name, result: outcome === 'undecided' || violated.includes(name) ? outcome : 'allowed' }
  })
}

/** A store failure is not a refusal. */
function shadowResult(outcome: Outcome | undefined): RuleResult['result'] {
  if (outcome === undefined || outcome === 'allowed') return 'allowed'
  return outcome === 'undecided' ? 'undecided' : 'shadow_denied'
}

/** The verdict if no rule enforces: nothing is refused. */
const UNLIMITED: GroupVerdict = { outcome: 'allowed', allowed: true, at: Number.NaN, calls: [], source: 'store' }

/** As `UNLIMITED`, for a request that only shadow rules apply to. If the store failed, the decision reports the cause. */
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
