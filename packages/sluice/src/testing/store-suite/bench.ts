import { expect } from 'vitest'
import type { AlgorithmTag, AnyLimit } from '../../algorithms/algorithm.ts'
import { microCost } from '../../algorithms/decimal.ts'
import { phaseOf } from '../../limiter/phase.ts'
import type { Call, CallGroup, Change, Decided, GroupVerdict, StateId, Store } from '../../stores/store.ts'
import type { Micros } from '../../time/micros.ts'
import { Reference } from '../reference.ts'
import * as verbs from '../store-verbs.ts'
import { scopesOf } from '../traces.ts'

export interface StoreSuiteOptions {
  /** Opens a store that shares nothing with other suites. */
  open(): Promise<Store>
  /** The stored numbers of a state (its codec's), for the comparison of states; undefined if there is no state. */
  readState(id: StateId): Promise<readonly number[] | undefined>
  /** Removes what `open` created, after the store was closed. */
  close?(): Promise<void>
  /** The algorithms that the store supports; default all. */
  readonly algorithms?: readonly AlgorithmTag[]
  /**
   * Set if one group may be charged in several slots and refunded. A refused group then leaves states that decide like the reference's
   * but are not equal. The differential test therefore decides groups one by one, at times that only grow, and deletes the states of
   * refused groups. Times only grow because a charge in a window that a clock then left backwards is not refunded.
   */
  readonly givesBack?: boolean
  /** Calls of the differential test; default 100,000. */
  readonly differentialCalls?: number
  /**
   * Calls of the differential test on the store's own clock; default 0. Only for stores that decide each call themselves: a denial
   * that is remembered and a lease have another time.
   */
  readonly ownClockCalls?: number
  /** Deletes expired states and returns how many; absent if the store has no such operation. */
  sweep?(): Promise<number>
  /** Opens a store of the same kind with room for one state, whatever time it is; the suite closes it. Absent if its room has no bound. */
  openFull?(): Promise<Store>
}

/** The fields of a verdict that the reference also has. */
export type Answer = Pick<Decided, 'outcome' | 'at' | 'retryAfter' | 'calls'>

/** A store under test and the reference, which get the same calls. */
export interface Bench {
  readonly options: StoreSuiteOptions
  readonly store: Store
  /** Whether the differential test is short: then the other tests are short, too. */
  readonly short: boolean
  /** Whether the store makes changes of all these kinds. */
  can(...kinds: readonly Change['kind'][]): boolean
  /** A key that was never used. */
  fresh(): string
  /** @param cost tokens */
  call(key: string, limit: AnyLimit, cost?: number): Call
  /** Charges one group at a given time, and checks that the store's verdict equals the reference's. */
  decide(calls: readonly Call[], now: Micros): Promise<Answer>
  /** Charges several groups in one call of the store, and compares as well. */
  list(groups: readonly CallGroup[], now: Micros): Promise<readonly Answer[]>
  /** Peeks at a group at a given time, and compares as well. */
  peek(calls: readonly Call[], now: Micros): Promise<Answer>
  /** Peeks at several groups in one call of the store, and compares as well. */
  peekList(groups: readonly CallGroup[], now: Micros): Promise<readonly Answer[]>
  /** Charges one group at a given time without waiting, and compares if the store decided. */
  decideNow(calls: readonly Call[], now: Micros): GroupVerdict | undefined
  /** Makes changes at a given time in the store and in the reference. */
  change(changes: readonly Change[], now: Micros): Promise<void>
  /** Adjusts the call's state by tokens, and checks that its numbers then equal those of the reference. */
  adjust(call: Call, tokens: number, now: Micros, receipt?: Micros): Promise<void>
  /** Null ends the block. */
  block(id: StateId, micros: Micros | null, now: Micros): Promise<void>
  /** Checks that the numbers of a state in the store equal those of the reference. */
  sameState(id: StateId): Promise<void>
}

export const START: Micros = 1_763_692_800_123_456
const SCOPES = scopesOf('s')

export function answerOf({ outcome, at, retryAfter, calls }: Decided): Answer {
  return { outcome, at, retryAfter, calls }
}

/** Charges groups at a given time in a store and in the reference; returns the answers of both. */
export async function decideBoth(
  store: Store,
  reference: Reference,
  groups: readonly CallGroup[],
  now: Micros,
): Promise<[Answer[], Answer[]]> {
  const answers = (await verbs.decide(store, groups, { now })).map(answerOf)
  return [answers, groups.map((group) => reference.decide(group, now))]
}

/** Peeks at groups at a given time, and checks that the store's answers equal the reference's. */
export async function peekBoth(store: Store, reference: Reference, groups: readonly CallGroup[], now: Micros): Promise<Answer[]> {
  const peeking = new Reference(reference)
  const answers = (await verbs.peek(store, groups, { now })).map(answerOf)
  expect(answers).toEqual(groups.map((group) => peeking.decide(group, now, true)))
  return answers
}

/** Makes changes at a given time in a store and in the reference. */
export async function changeBoth(store: Store, reference: Reference, changes: readonly Change[], now: Micros): Promise<void> {
  expect(await store.change(changes, { now })).toEqual(changes.map(() => ({})))
  for (const change of changes) {
    if (change.kind === 'adjust') reference.adjust([change.call], [change.amount], { now, receipt: change.receipt })
    else if (change.kind === 'reset') reference.reset(change.id)
    else reference.block(change.id, change.kind === 'block' ? now + change.micros : 0)
  }
}

export function benchOf(options: StoreSuiteOptions, open: () => Store): Bench {
  const reference = new Reference()
  let made = 0
  const change = (changes: readonly Change[], now: Micros): Promise<void> => changeBoth(open(), reference, changes, now)
  const list = async (groups: readonly CallGroup[], now: Micros): Promise<readonly Answer[]> => {
    const [answers, expected] = await decideBoth(open(), reference, groups, now)
    expect(answers).toEqual(expected)
    return answers
  }
  const sameState = async (id: StateId): Promise<void> => {
    expect(await options.readState(id)).toEqual(reference.numbersOf(id))
  }
  return {
    options,
    short: (options.differentialCalls ?? 100_000) < 10_000,
    get store() {
      return open()
    },
    can: (...kinds) => kinds.every((kind) => open().capabilities.changes.includes(kind)),
    fresh: () => `suite${(made += 1)}`,
    call: (key, limit, cost = 1) => ({
      id: { scope: SCOPES[limit.algorithm.tag], key },
      limit,
      cost: microCost(cost),
      phase: phaseOf(limit, key),
    }),
    decide: async (calls, now) => (await list([{ calls }], now))[0] as Answer,
    list,
    peek: async (calls, now) => (await peekBoth(open(), reference, [{ calls }], now))[0] as Answer,
    peekList: (groups, now) => peekBoth(open(), reference, groups, now),
    decideNow(calls, now) {
      const verdict = open().decideNow?.({ calls }, now)
      if (verdict !== undefined) expect(answerOf(verbs.decided(verdict))).toEqual(reference.decide({ calls }, now))
      return verdict
    },
    change,
    async adjust(call, tokens, now, receipt) {
      await change([{ kind: 'adjust', call, amount: Math.sign(tokens) * microCost(Math.abs(tokens)), receipt }], now)
      await sameState(call.id)
    },
    block: (id, micros, now) => change([micros === null ? { kind: 'unblock', id } : { kind: 'block', id, micros }], now),
    sameState,
  }
}
