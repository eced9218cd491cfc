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
import { charge, type ChargeContext, idsOf, namedOf, type RuleCharge, valuesOf } from './rule-charge.ts'

/** A key that an operator inspects or changes. */
export interface KeyTarget {
  /** A value of the first part of a rule's key; other parts count as absent. */
  readonly key: string
  /** A rule; default: every rule that has a key and is not off. */
  readonly limit?: string | undefined
}

/** A state that a key may have. `state` contains a pseudonym if the policy requires it. */
export interface KeyState extends LimitView {
  /** Conditions of the tier; empty for the tier without conditions. */
  readonly tier: string
  /** The source that would give this key, such as `header:x-api-key`. */
  readonly source: string
  /** Name of the algorithm, such as `token-bucket`. */
  readonly algorithm: string
  /** The store's name of the state, without the store's own prefix. */
  readonly state: string
  /** Whether nothing is used, as for a new key. */
  readonly fresh: boolean
  /**
   * Milliseconds for which a block denies the key, if it is blocked. Over a store on a server it is absent while the store's region (mode
   * `escrow`) holds no units of the key.
   */
  readonly blockedForMs?: number
}

/** Methods for operators, by default with the policy's deadline. */
export interface KeyVerbs {
  /** What a key has left, by rule; charges nothing. Rejects with the StoreFailure if the store fails. */
  inspectKey(target: KeyTarget, options?: WaitOptions): Promise<readonly KeyState[]>
  /** Resets a key to unused, except blocks and held slots. Rejects with the StoreFailure if the store fails. */
  resetKey(target: KeyTarget, options?: WaitOptions): Promise<void>
  /**
   * Denies a key for this long; null lifts the block. It holds also if an override or a later policy counts the key by another algorithm:
   * for each tier the store keeps one block for each of the five algorithms (two in a region of mode `counters`). A rule with `sample: n`
   * denies only the requests that it counts, one in n. Rejects with a LimiterError NOT_SUPPORTED if the store has no blocks, and with the
   * StoreFailure if it fails. If the store has no room for all blocks, those under the algorithms in force come first.
   */
  blockKey(target: KeyTarget, duration: string | number | null, options?: WaitOptions): Promise<void>
}

export interface KeyPolicy {
  readonly policy: Policy
  readonly context: ChargeContext
}

/** Throws if the engine is closed. */
type TimingOf = (options?: WaitOptions) => CallOptions

export function keyVerbs(caller: StoreCaller, current: () => KeyPolicy, timing: TimingOf): KeyVerbs {
  const change = async (target: KeyTarget, options: CallOptions, changesOf: (charges: readonly KeyCharge[]) => readonly Change[]) => {
    const changes = changesOf(keyCharges(current(), target))
    for (const { kind } of changes) requireChange('engine', caller.store, kind)
    await caller.change(changes, options)
  }
  return {
    async inspectKey(target, options) {
      const timed = timing(options)
      const charges = keyCharges(current(), target)
      if (charges.length === 0) return []
      const verdicts = await caller.decide(charges.map(peekOf), { ...timed, charge: false })
      return verdicts.map((verdict, index) => {
        if (verdict.failure !== undefined) throw verdict.failure
        return stateOf(charges[index] as KeyCharge, verdict)
      })
    },
    async resetKey(target, options) {
      // Slots are not reset, because their holders are still at work.
      await change(target, timing(options), (charges) =>
        charges.flatMap(({ call: { id, limit } }): Change[] => (takesSlots(limit) ? [] : [{ kind: 'reset', id }])),
      )
    },
    async blockKey(target, duration, options) {
      const timed = timing(options)
      const micros = duration === null ? null : parsePeriod(duration, 'duration: ')
      await change(target, timed, (charges) => {
        const ids = charges.map(idsOf)
        // First the ids in force: a store that is nearly full may have no room for all.
        const sorted = [...ids.flatMap((all) => all.slice(0, 1)), ...ids.flatMap((all) => all.slice(1))]
        return sorted.map((id): Change => (micros === null ? { kind: 'unblock', id } : { kind: 'block', id, micros }))
      })
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

/** @throws LimiterError INVALID_KEY, UNKNOWN_RULE, or INVALID_OPTIONS for a rule without a key */
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

/** The cost is above the capacity, because a store that is full has no room for what a possible cost would write. */
function peekOf({ call }: RuleCharge): CallGroup {
  return { calls: [{ ...call, cost: (call.limit.capacity + 1) * MICRO }] }
}

function stateOf(one: KeyCharge, { calls }: Decided): KeyState {
  const { source, tier, call } = one
  const verdict = calls[0] as Verdict
  const view = viewOf(verdict, namedOf(one))
  return {
    ...view,
    tier: tier.label,
    source,
    algorithm: call.limit.algorithm.name,
    state: stateName(call.id),
    fresh: view.resetAfterMs === 0,
    ...(verdict.blockedFor === undefined ? {} : { blockedForMs: toMillis(verdict.blockedFor) }),
  }
}
