import { MICRO } from '../algorithms/decimal.ts'
import { LimiterError } from '../errors/limiter-error.ts'
import { shown } from '../errors/options.ts'
import { canonicalValue } from '../identity/canonical.ts'
import { stateName, validKey } from '../keys/encode.ts'
import type { WaitOptions } from '../limiter/ask.ts'
import { type OptionNames, requireOptions } from '../limiter/call-options.ts'
import { viewOf } from '../limiter/decide.ts'
import type { LimitView } from '../decision/decision.ts'
import type { Policy } from '../policy/policy.ts'
import type { Rule } from '../policy/rule.ts'
import type { Call, CallGroup, CallOptions, GroupVerdict, Store, Verdict } from '../stores/store.ts'
import { parsePeriod } from '../time/duration.ts'
import { toMillis } from '../time/micros.ts'
import { type Charge, charge, type Terms } from './charges.ts'

/** A key for an operator to look at or to act on. */
export interface KeyTarget {
  /** A value of the first part of a rule's key, whichever of its sources it would come from; the other parts count as absent. */
  readonly key: string
  /** Name of one rule; default: every rule that has a key and is not off. */
  readonly limit?: string
}

/** One state that a key may have: for the operator, not for clients. It names the key as the store does, so where the policy asks for pseudonyms by one. */
export interface KeyState extends LimitView {
  /** Conditions of the tier; empty for the one without. */
  readonly tier: string
  /** Where the key would come from, such as `header:x-api-key`. */
  readonly source: string
  readonly algorithm: string
  /** What a store calls the state, without the store's own prefix. */
  readonly state: string
  /** Whether nothing is used up: a state that is fresh may as well not be there. */
  readonly fresh: boolean
  /** Milliseconds for which a block denies it; absent where none does. */
  readonly blockedForMs?: number
}

/** The verbs of an operator. Each waits as long as `options` say, by default as long as a decision of the policy. */
export interface KeyVerbs {
  /** What is left of a key's limits, rule by rule, charging nothing. Rejects with the StoreFailure where the store cannot say. */
  inspectKey(target: KeyTarget, options?: WaitOptions): Promise<readonly KeyState[]>
  /** Forgets what a key has used, under all these rules; a block stays. Rejects with the StoreFailure where the store cannot. */
  resetKey(target: KeyTarget, options?: WaitOptions): Promise<void>
  /**
   * Denies a key for this long under all these rules, or lifts the block (null).
   * Rejects with a LimiterError NOT_SUPPORTED where the store has no blocks, with the StoreFailure where it cannot now.
   */
  blockKey(target: KeyTarget, duration: string | number | null, options?: WaitOptions): Promise<void>
}

/** The policy whose keys are meant, and what its charges have in common now. */
export interface Keyed {
  readonly policy: Policy
  readonly terms: Terms
}

/** The verbs of operators. `timing` gives one call's deadline, and throws where the engine is closed. */
export function keyVerbs(store: Store, present: () => Keyed, timing: (patience?: WaitOptions) => CallOptions): KeyVerbs {
  const statesOf = (target: KeyTarget): KeyCharge[] => chargesOf(present(), target)
  return {
    async inspectKey(target, patience) {
      const options = timing(patience)
      const charges = statesOf(target)
      if (charges.length === 0) return []
      const verdicts = await store.peek(charges.flatMap(looksAt), options)
      const failed = verdicts.find(({ outcome, calls }) => outcome === 'undecided' || calls.length === 0)
      if (failed?.degraded !== undefined) throw failed.degraded
      return charges.map((one, index) => stateOf(one, verdicts[2 * index] as GroupVerdict, verdicts[2 * index + 1] as GroupVerdict))
    },
    async resetKey(target, patience) {
      const options = timing(patience)
      await store.reset(
        statesOf(target).map(({ call }) => call.id),
        options,
      )
    },
    async blockKey(target, duration, patience) {
      const options = timing(patience)
      const length = duration === null ? null : parsePeriod(duration, 'duration: ')
      const charges = statesOf(target)
      if (store.block === undefined)
        throw new LimiterError('NOT_SUPPORTED', `engine: its store (${store.name ?? 'unnamed'}) cannot block keys in this version`)
      await store.block(
        charges.map(({ call }) => call.id),
        length,
        options,
      )
    },
  }
}

const TARGET: OptionNames = { key: true, limit: true }

interface KeyCharge extends Charge {
  readonly source: string
}

function chargesOf({ policy: { rules }, terms }: Keyed, target: KeyTarget): KeyCharge[] {
  return keyedRules(rules, target).flatMap((rule) =>
    rule.tiers.flatMap((tier) =>
      firstSources(rule).map(({ source, values }) => ({ ...charge(rule, tier, values(target.key), MICRO, terms), source })),
    ),
  )
}

/**
 * The rules a target means.
 * @throws LimiterError INVALID_KEY, UNKNOWN_RULE for a rule that is not there, or INVALID_OPTIONS for one that has no key
 */
export function keyedRules(rules: readonly Rule[], target: KeyTarget): readonly Rule[] {
  requireOptions('engine', target, TARGET)
  const { key, limit } = target
  validKey('engine', key)
  const keyed = rules.filter((rule) => rule.key.length > 0)
  const chosen = limit === undefined ? keyed.filter(({ mode }) => mode !== 'off') : keyed.filter(({ name }) => name === limit)
  if (limit === undefined || chosen.length > 0) return chosen
  const known = keyed.map(({ name }) => name).join(', ')
  throw new LimiterError(
    rules.some(({ name }) => name === limit) ? 'INVALID_OPTIONS' : 'UNKNOWN_RULE',
    `limit is ${shown(limit)}, expected a rule with a key${known === '' ? '; there is none' : `: ${known}`}`,
  )
}

/** Every source of the first part, with the values of a key that come from it. */
function firstSources(rule: Rule): { source: string; values: (key: string) => (string | undefined)[] }[] {
  const places = rule.key.flat().length
  return (rule.key[0] ?? []).map((source, place) => ({
    source: source.text,
    values: (key) => Array.from({ length: places }, (_, index) => (index === place ? (canonicalValue(source, key) ?? key) : undefined)),
  }))
}

/** Two looks: what is there, which a call that can never pass is shown, and what a call would meet; a later look sees earlier ones. */
function looksAt({ call }: Charge): CallGroup[] {
  const lookAt = (one: Call): CallGroup => ({ calls: [one], onFailure: 'deny' })
  return [lookAt({ ...call, cost: (call.limit.capacity + 1) * MICRO }), lookAt(call)]
}

function stateOf({ source, named, tier, call }: KeyCharge, { calls: [now] }: GroupVerdict, { calls: [next] }: GroupVerdict): KeyState {
  const view = viewOf(now as Verdict, named)
  return {
    ...view,
    tier: tier.label,
    source,
    algorithm: call.limit.algorithm.name,
    state: stateName(call.id),
    fresh: view.resetAfterMs === 0,
    ...(next?.blocked === true ? { blockedForMs: toMillis(next.retryAfter) } : {}),
  }
}
