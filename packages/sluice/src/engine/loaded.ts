import type { OnWarning } from '../errors/console-warning.ts'
import { LimiterError } from '../errors/limiter-error.ts'
import { type TrustedProxies, trustProxies } from '../identity/trusted-proxies.ts'
import { composeKey } from '../keys/encode.ts'
import { requireDecidable } from '../limiter/decidable.ts'
import { type HoldBound, holdBound, MAX_HOLDS } from '../limiter/hold-bound.ts'
import type { Store } from '../stores/store.ts'
import { overBudget, type StoreKind } from '../policy/model/bound.ts'
import { type FindRules, indexRules } from '../policy/model/match.ts'
import type { Policy } from '../policy/model/policy.ts'
import { type ProxyWatch, watchProxies } from '../identity/unnamed-proxy.ts'
import type { Source } from '../identity/source.ts'
import { readRequest, type Request } from '../identity/request.ts'
import { indexTiers, type Match, type Rule, truthOf } from '../policy/model/rule.ts'
import type { Sliced } from '../policy/model/sliced.ts'
import { OverrideTable } from './overrides.ts'

/** The request that is used if a caller passes only a key. It has no method, headers or address. */
export const NOBODY: Request = readRequest({ method: '', path: '*', headers: {} }, undefined, trustProxies([]))

/** A keyed hash of a text. The same text has the same hash. Without the secret nobody can find the text. */
export type Pseudonym = (text: string) => string

/** Everything that a decision needs of one policy. A reload replaces it as a whole. */
export interface Loaded {
  readonly policy: Policy
  readonly rulesByName: ReadonlyMap<string, Rule>
  readonly find: FindRules
  /** The rules without a condition on path, method or host, whose other conditions hold for a request without facts (`NOBODY`). */
  readonly unconditional: readonly Rule[]
  readonly trust: TrustedProxies
  /** Warns of a proxy that the trusted proxies do not name. Undefined if no rule reads addresses. */
  readonly watch: ProxyWatch | undefined
  /** The overrides of the policy file. */
  readonly overrides: OverrideTable
  /** Present if, and only if, the policy requires pseudonyms. */
  readonly pseudonym: Pseudonym | undefined
  /** Bounds how many reservations of a key are open at once; undefined: there is no such bound. */
  readonly bound: HoldBound | undefined
}

export interface Surroundings {
  /** Replaces the trusted proxies of the policy. */
  readonly trustedProxies?: TrustedProxies | undefined
  /** Is called with a warning if requests seem to come through a proxy that nobody has named as trusted. */
  readonly onWarning?: OnWarning | undefined
  /** Hashes identifiers, for policies whose keys contain hashes of identifiers (`hmac`). */
  readonly pseudonym?: Pseudonym | undefined
  /**
   * Whether the store is in this process or shared by several. How much a rule may admit above its limit is computed for this kind of
   * store.
   */
  readonly storeKind: StoreKind
  readonly store: Store
}

/**
 * Prepares a policy for decisions.
 * @throws LimiterError INVALID_OPTIONS for a value that is not a policy, for a policy that requires pseudonyms if `pseudonym` is absent, or
 * for a rule that could exceed its limit by more than its `maxOvergrant`
 * @throws LimiterError NOT_SUPPORTED for an algorithm that the store does not decide, and for `maxHolds` on a store without holds
 */
export function* load(policy: Policy, { trustedProxies, onWarning, pseudonym, storeKind, store }: Surroundings): Sliced<Loaded> {
  if (!Array.isArray(policy?.rules))
    throw new LimiterError('INVALID_OPTIONS', 'createEngine: policy is missing; parsePolicy(text) gives one')
  const rulesByName = new Map<string, Rule>()
  const unconditional: Rule[] = []
  let byAddress = false
  for (const rule of policy.rules) {
    yield
    rulesByName.set(rule.name, rule)
    const problem = overBudget(policy, rule, storeKind)
    if (problem !== undefined) throw new LimiterError('INVALID_OPTIONS', `maxOvergrant of rule ${rule.name} is ${problem}`)
    if (rule.mode === 'off') continue
    if (matchesNobody(rule.match)) unconditional.push(rule)
    byAddress ||= readsAddress(rule)
    yield* indexTiers(rule)
    for (const { limit } of rule.tiers) {
      yield
      requireDecidable(`rule ${rule.name}`, store, limit)
    }
  }
  const overrides = new OverrideTable()
  for (const override of policy.overrides ?? []) {
    yield
    overrides.add(override)
  }
  const trust = trustedProxies ?? policy.trustedProxies
  return {
    policy,
    find: yield* indexRules(policy.rules.filter(({ mode }) => mode !== 'off')),
    rulesByName,
    unconditional,
    trust: trust ?? trustProxies([]),
    watch: byAddress ? watchProxies('engine', trust, onWarning) : undefined,
    overrides,
    pseudonym: policy.identifiers?.mode === 'hmac' ? validPseudonym(pseudonym) : undefined,
    bound: boundOf(policy, store),
  }
}

/**
 * A state id begins with the name of a limiter. This is that name for the states of the bound on open reservations. It differs from that of
 * rules (`RULE_SET`), because a rule may have the same name as the bound.
 */
const RESERVATIONS = 'policy reservations'

/** The bound on open reservations. It is not applied to the one key of rules without key parts, because all clients share that key. */
function boundOf({ reservations: { maxHolds } = {} }: Policy, store: Store): HoldBound | undefined {
  if (maxHolds === undefined) return undefined
  return { ...holdBound(`reservations.${MAX_HOLDS}`, store, RESERVATIONS, maxHolds), free: composeKey([]) }
}

function readsAddress({ key, match, tiers }: Rule): boolean {
  const isAddress = (source: Source): boolean => source.text.startsWith('ip:')
  const ofKey = key.some((part) => part.some(isAddress))
  return ofKey || [match, ...tiers].some(({ when }) => when.some(({ source }) => isAddress(source)))
}

function matchesNobody({ path, methods, hosts, when }: Match): boolean {
  return (path ?? methods ?? hosts) === undefined && when.every((one) => truthOf(one, NOBODY) === true)
}

function validPseudonym(pseudonym: Pseudonym | undefined): Pseudonym {
  if (pseudonym === undefined) {
    throw new LimiterError(
      'INVALID_OPTIONS',
      'createEngine: the policy keeps identifiers as hmac: give pseudonym, a keyed hash of a text such as an HMAC with the secret of secretFile',
    )
  }
  const [one, other] = [pseudonym('a'), pseudonym('b')]
  if (typeof one !== 'string' || one === '' || one === other || one !== pseudonym('a'))
    throw new LimiterError('INVALID_OPTIONS', 'createEngine: pseudonym must give the same text for the same text, and another for another')
  return pseudonym
}
