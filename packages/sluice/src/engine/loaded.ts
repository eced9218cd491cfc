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

/** Used if a caller passes only a key. */
export const NOBODY: Request = readRequest({ method: '', path: '*', headers: {} }, undefined, trustProxies([]))

/** A keyed hash: equal texts have equal hashes, and without the secret nobody can find a text. */
export type Pseudonym = (text: string) => string

/** A reload replaces it as a whole. */
export interface Loaded {
  readonly policy: Policy
  readonly rulesByName: ReadonlyMap<string, Rule>
  readonly find: FindRules
  /** Rules for `NOBODY`, without conditions on path, method or host. */
  readonly unconditional: readonly Rule[]
  readonly trust: TrustedProxies
  /** Undefined if no rule reads addresses. */
  readonly watch: ProxyWatch | undefined
  readonly overrides: OverrideTable
  /** Present if, and only if, the policy requires pseudonyms. */
  readonly pseudonym: Pseudonym | undefined
  /** Bounds the open reservations of a key; undefined: no bound. */
  readonly bound: HoldBound | undefined
}

export interface Surroundings {
  readonly trustedProxies?: TrustedProxies | undefined
  readonly onWarning?: OnWarning | undefined
  readonly pseudonym?: Pseudonym | undefined
  readonly storeKind: StoreKind
  readonly store: Store
}

/**
 * @throws LimiterError INVALID_OPTIONS for a value that is not a policy, for pseudonyms without `pseudonym`, or for a rule that could
 * exceed its limit by more than its `maxOvergrant`
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
  const overrides = yield* readOverrides(policy, rulesByName, store)
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

function* readOverrides({ overrides = [] }: Policy, rules: Loaded['rulesByName'], store: Store): Sliced<OverrideTable> {
  const table = new OverrideTable()
  for (const [index, override] of overrides.entries()) {
    yield
    const { rule, limit } = override
    if (rules.get(rule)?.mode !== 'off') requireDecidable(`overrides[${index}] of rule ${rule}`, store, limit)
    table.add(override)
  }
  return table
}

/** The state ids of the bound on open reservations begin with it. It differs from `RULE_SET`, because a rule may have the bound's name. */
const RESERVATIONS = 'policy reservations'

/** A rule without key parts has one key for all clients, so the bound does not apply to it. */
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
