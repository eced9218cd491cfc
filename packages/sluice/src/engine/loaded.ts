import { LimiterError } from '../errors/limiter-error.ts'
import { type TrustedProxies, trustProxies } from '../identity/trusted-proxies.ts'
import { requireDecidable } from '../limiter/decidable.ts'
import type { Store } from '../stores/store.ts'
import { overBudget, type StoreKind } from '../policy/model/bound.ts'
import { type FindRules, indexRules } from '../policy/model/match.ts'
import type { Policy } from '../policy/model/policy.ts'
import { readRequest, type Request } from '../identity/request.ts'
import { indexTiers, type Match, type Rule, truthOf } from '../policy/model/rule.ts'
import type { Sliced } from '../policy/model/sliced.ts'
import { indexOverrides, type OverrideTable } from './overrides.ts'

/** The request of a bare key: nothing of it is known. */
export const NOBODY: Request = readRequest({ method: '', path: '*', headers: {} }, undefined, trustProxies([]))

/** A keyed hash of a text. The same text has the same hash, which is useless without the key. */
export type Pseudonym = (text: string) => string

/** Everything that a decision needs of one policy, replaced as a whole on a reload. */
export interface Loaded {
  readonly policy: Policy
  readonly rulesByName: ReadonlyMap<string, Rule>
  readonly find: FindRules
  /** The rules without a condition on path, method or host, whose other conditions hold for `NOBODY`. */
  readonly unconditional: readonly Rule[]
  readonly trust: TrustedProxies
  /** The overrides of the policy file. */
  readonly overrides: OverrideTable
  /** Present exactly if the policy requires pseudonyms. */
  readonly pseudonym: Pseudonym | undefined
}

export interface Surroundings {
  /** Replaces the policy's. */
  readonly trustedProxies?: TrustedProxies | undefined
  /** For policies that keep identifiers as hmac. */
  readonly pseudonym?: Pseudonym | undefined
  /** The kind of store that the bounds of rules are computed for. */
  readonly storeKind: StoreKind
  readonly store: Store
}

/**
 * Prepares a policy for decisions.
 * @throws LimiterError INVALID_OPTIONS for a value that is not a policy, for a policy that needs a pseudonym and has none, or for a rule
 * above its budget
 * @throws LimiterError NOT_SUPPORTED for an algorithm that the store does not decide
 */
export function* load(policy: Policy, { trustedProxies, pseudonym, storeKind, store }: Surroundings): Sliced<Loaded> {
  if (!Array.isArray(policy?.rules))
    throw new LimiterError('INVALID_OPTIONS', 'createEngine: policy is missing; parsePolicy(text) gives one')
  const rulesByName = new Map<string, Rule>()
  const unconditional: Rule[] = []
  for (const rule of policy.rules) {
    yield
    rulesByName.set(rule.name, rule)
    const problem = overBudget(policy.failure, rule, storeKind)
    if (problem !== undefined) throw new LimiterError('INVALID_OPTIONS', `maxOvergrant of rule ${rule.name} is ${problem}`)
    if (rule.mode === 'off') continue
    if (matchesNobody(rule.match)) unconditional.push(rule)
    yield* indexTiers(rule)
    for (const { limit } of rule.tiers) {
      yield
      requireDecidable(`rule ${rule.name}`, store, limit)
    }
  }
  return {
    policy,
    find: yield* indexRules(policy.rules.filter(({ mode }) => mode !== 'off')),
    rulesByName,
    unconditional,
    trust: trustedProxies ?? policy.trustedProxies ?? trustProxies([]),
    overrides: yield* indexOverrides(policy.overrides ?? []),
    pseudonym: policy.identifiers?.mode === 'hmac' ? validPseudonym(pseudonym) : undefined,
  }
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
