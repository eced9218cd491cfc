import { MICRO } from '../algorithms/decimal.ts'
import { LimiterError } from '../errors/limiter-error.ts'
import { refuseUnknown, shown } from '../errors/options.ts'
import { stateName, validKey } from '../keys/encode.ts'
import type { StoreCaller } from '../limiter/call-store.ts'
import { requireChange } from '../limiter/decidable.ts'
import { takesSlots } from '../limiter/holders.ts'
import { viewOf } from '../limiter/decision-of.ts'
import type { WaitOptions } from '../limiter/timing.ts'
import type { LimitView } from '../decision/decision.ts'
import type { Policy } from '../policy/model/policy.ts'
import type { Rule } from '../policy/model/rule.ts'
import type { CallGroup, CallOptions, Change, Decided, Verdict } from '../stores/store.ts'
import { parsePeriod } from '../time/duration.ts'
import { toMillis } from '../time/micros.ts'
import { charge, type ChargeContext, namedOf, type RuleCharge, valuesOf } from './rule-charge.ts'

/** A key that an operator inspects or changes. */
export interface KeyTarget {
  /** A value of the first part of a rule's key, from any of that part's sources. The other parts count as absent. */
  readonly key: string
  /** Name of one rule; default: every rule that has a key and is not off. */
  readonly limit?: string
}

/** One state that a key may have, for the operator. `state` contains a pseudonym instead of the key if the policy requires pseudonyms. */
export interface KeyState extends LimitView {
  /** Conditions of the tier; empty for the tier without conditions. */
  readonly tier: string
  /** The source in the rule that would give this key, such as `header:x-api-key`. */
  readonly source: string
  /** Name of the algorithm, such as `token-bucket`. */
  readonly algorithm: string
  /** The store's name of the state, without the store's own prefix. */
  readonly state: string
  /** Whether the state is fresh: nothing of the limit is used, as for a key that the store has never seen. */
  readonly fresh: boolean
  /** Milliseconds for which a block denies the key; absent if there is no block. */
  readonly blockedForMs?: number
}

/** What operators can do with a key. `options` may set the deadline of a call; the default is the deadline of the policy's decisions. */
export interface KeyVerbs {
  /** Reports what a key has left, rule by rule; charges nothing. Rejects with the StoreFailure if the store cannot answer. */
  inspectKey(target: KeyTarget, options?: WaitOptions): Promise<readonly KeyState[]>
  /**
   * Resets a key to unused under all rules of the target. A block stays, and so do slots that are held. Rejects with the StoreFailure if
   * the store cannot do it.
   */
  resetKey(target: KeyTarget, options?: WaitOptions): Promise<void>
  /**
   * Denies a key for this long under all rules of the target, or lifts the block (null). Rejects with a LimiterError NOT_SUPPORTED if the
   * store has no blocks, and with the StoreFailure if it cannot do it now.
   */
  blockKey(target: KeyTarget, duration: string | number | null, options?: WaitOptions): Promise<void>
}

/** The current policy, and the values that all its charges use. */
export interface KeyPolicy {
  readonly policy: Policy
  readonly context: ChargeContext
}

/** Returns one call's deadline; throws if the engine is closed. */
type TimingOf = (options?: WaitOptions) => CallOptions

/** Creates the operations for operators. */
export function keyVerbs(caller: StoreCaller, current: () => KeyPolicy, timing: TimingOf): KeyVerbs {
  const change = async (target: KeyTarget, options: CallOptions, changeOf: (one: KeyCharge) => Change | []) => {
    const changes = keyCharges(current(), target).flatMap(changeOf)
    for (const { kind } of changes) requireChange('engine', caller.store, kind)
    await caller.change(changes, options)
  }
  return {
    async inspectKey(target, options) {
      const timed = timing(options)
      const charges = keyCharges(current(), target)
      if (charges.length === 0) return []
      const verdicts = await caller.decide(charges.flatMap(peeksOf), { ...timed, charge: false })
      const decided = verdicts.map((verdict) => {
        if (verdict.failure !== undefined) throw verdict.failure
        return verdict
      })
      return charges.map((one, index) => stateOf(one, decided[2 * index] as Decided, decided[2 * index + 1] as Decided))
    },
    async resetKey(target, options) {
      // Slots are not reset, because their holders are still at work.
      await change(target, timing(options), ({ call: { id, limit } }) => (takesSlots(limit) ? [] : { kind: 'reset', id }))
    },
    async blockKey(target, duration, options) {
      const timed = timing(options)
      const micros = duration === null ? null : parsePeriod(duration, 'duration: ')
      await change(target, timed, ({ call: { id } }) => (micros === null ? { kind: 'unblock', id } : { kind: 'block', id, micros }))
    },
  }
}

const TARGET: readonly string[] = ['key', 'limit']

interface KeyCharge extends RuleCharge {
  readonly source: string
}

function keyCharges({ policy: { rules }, context }: KeyPolicy, target: KeyTarget): KeyCharge[] {
  return keyedRules(rules, target).flatMap((rule) =>
    rule.tiers.flatMap((tier) =>
      (rule.key[0] ?? []).map(({ text }, index) => ({
        ...charge(rule, tier, valuesOf(rule, index, target.key), MICRO, context),
        source: text,
      })),
    ),
  )
}

/** The rules that a target selects. @throws LimiterError INVALID_KEY, UNKNOWN_RULE, or INVALID_OPTIONS for a rule without a key */
export function keyedRules(rules: readonly Rule[], target: KeyTarget): readonly Rule[] {
  refuseUnknown('engine', target, TARGET)
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

/**
 * Two peeks at one state. The first has a cost above the capacity. It can never pass, so its verdict reports what the state has left before
 * any charge. The second has the cost of a call, and reports whether a block denies it.
 */
function peeksOf({ call }: RuleCharge): CallGroup[] {
  return [{ calls: [{ ...call, cost: (call.limit.capacity + 1) * MICRO }] }, { calls: [call] }]
}

function stateOf(one: KeyCharge, { calls: [now] }: Decided, { calls: [next] }: Decided): KeyState {
  const { source, tier, call } = one
  const view = viewOf(now as Verdict, namedOf(one))
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
