import { expect } from 'vitest'
import type { AnyLimit } from '../../algorithms/algorithm.ts'
import { microCost } from '../../algorithms/decimal.ts'
import { phaseOf } from '../../limiter/phase.ts'
import type { Call, CallGroup, Change, ChangeResult, Decided, GroupVerdict, StateId, Store } from '../../stores/store.ts'
import { isOfHold } from '../../stores/store.ts'
import type { Micros } from '../../time/micros.ts'
import { ALL_TAGS, type TimedTag } from '../limits.ts'
import { Reference } from '../reference.ts'
import * as verbs from '../store-verbs.ts'
import { scopesOf } from '../traces.ts'

/** A store under test. */
export interface StoreSuiteOptions {
  /** Opens a store that shares nothing with other suites. */
  open(): Promise<Store>
  /** A stored state as its algorithm encodes it; undefined if no state is stored. */
  readState(id: StateId): Promise<readonly number[] | undefined>
  /** Removes what `open` created, after the store was closed. */
  close?(): Promise<void>
  /** Those supported whose tokens come back with time; default all. */
  readonly algorithms?: readonly TimedTag[] | undefined
  /**
   * Set if the store may charge a group in several places, and refund if a later one denies. States of denied groups are then not equal to
   * the reference's: the random test sends groups one by one, deletes the states of denied ones, and never goes back in time.
   */
  readonly givesBack?: boolean | undefined
  /** Calls of the random test against the reference; default 100,000. */
  readonly differentialCalls?: number | undefined
  /**
   * How many calls are compared on the store's own clock; default 0. Not for stores that answer from cached denials or leases, which report
   * the time of an earlier call.
   */
  readonly ownClockCalls?: number | undefined
  /** Set if a peek under a changed limit converts the stored state to this limit. */
  readonly peeksAdopt?: boolean | undefined
  /** Set if the store refuses a reservation that charges both a token bucket and a sliding window log. */
  readonly holdsWithoutLogs?: boolean | undefined
  /**
   * For which calls a full bucket keeps its tokens when its limit changes, instead of being full under the new limit; default none. A
   * region does so for keys of which it sent or received parts of the limit.
   */
  keepsTokens?(call: Pick<Call, 'id' | 'limit'>): boolean
  /** Returns how many expired states were deleted; absent if not supported. */
  sweep?(): Promise<number>
  /** Opens a store with space for only one state; absent if the number of states has no bound. */
  openFull?(): Promise<Store>
}

/** The fields of a verdict that the reference also has. */
export type Answer = Pick<Decided, 'outcome' | 'at' | 'retryAfter' | 'calls'>

/** A store under test and the reference in TypeScript. Methods that call the store also call the reference, and compare the answers. */
export interface Bench {
  readonly options: StoreSuiteOptions
  readonly tags: readonly TimedTag[]
  readonly store: Store
  /** Whether tests are to be short. */
  readonly short: boolean
  can(...kinds: readonly Change['kind'][]): boolean
  reference(): Reference
  fresh(): string
  /** `cost` is in tokens. */
  call(key: string, limit: AnyLimit, cost?: number): Call
  decide(calls: readonly Call[], now: Micros): Promise<Answer>
  list(groups: Groups, now: Micros): Promise<readonly Answer[]>
  peek(calls: readonly Call[], now: Micros): Promise<Answer>
  peekList(groups: Groups, now: Micros): Promise<readonly Answer[]>
  decideNow(calls: readonly Call[], now: Micros): GroupVerdict | undefined
  change(changes: readonly Change[], now: Micros): Promise<readonly ChangeResult[]>
  /** Also compares the states. */
  adjust(call: Call, tokens: number, now: Micros, receipt?: Micros): Promise<void>
  /** Null ends the block. */
  block(id: StateId, micros: Micros | null, now: Micros): Promise<void>
  sameState(id: StateId): Promise<void>
}

type Groups = readonly CallGroup[]

export const START: Micros = 1_763_692_800_123_456
const SCOPES = scopesOf('s')

export function answerOf({ outcome, at, retryAfter, calls }: Decided): Answer {
  return { outcome, at, retryAfter, calls }
}

export interface Pair {
  readonly store: Store
  readonly reference: Reference
}

export async function decideBoth({ store, reference }: Pair, groups: Groups, now: Micros): Promise<[Answer[], Answer[]]> {
  const answers = (await verbs.decide(store, groups, { now })).map(answerOf)
  return [answers, groups.map((group) => reference.decide(group, now))]
}

/** Checks that the store's answers equal the reference's. */
export async function peekBoth({ store, reference }: Pair, groups: Groups, now: Micros): Promise<Answer[]> {
  const peeking = new Reference(reference)
  const answers = (await verbs.peek(store, groups, { now })).map(answerOf)
  expect(answers).toEqual(groups.map((group) => peeking.decide(group, now, true)))
  return answers
}

export async function changeBoth({ store, reference }: Pair, changes: readonly Change[], now: Micros): Promise<readonly ChangeResult[]> {
  const results = await store.change(changes, { now })
  const expected = changes.map((change): ChangeResult => {
    if (isOfHold(change)) return { hold: reference.changeHold(change, now) }
    if (change.kind === 'adjust') reference.adjust([change.call], [change.amount], { now, receipt: change.receipt })
    else if (change.kind === 'leave' || change.kind === 'release') reference.giveBack(change, now)
    else if (change.kind === 'reset') reference.reset(change.id)
    else reference.block(change.id, change.kind === 'block' ? now + change.micros : 0)
    return {}
  })
  expect(results).toEqual(expected)
  return results
}

export function benchOf(options: StoreSuiteOptions, open: () => Store): Bench {
  const newReference = (): Reference => new Reference(undefined, options.keepsTokens?.bind(options))
  const reference = newReference()
  const pair: Pair = {
    reference,
    get store() {
      return open()
    },
  }
  let made = 0
  const change = (changes: readonly Change[], now: Micros): Promise<readonly ChangeResult[]> => changeBoth(pair, changes, now)
  const list = async (groups: Groups, now: Micros): Promise<readonly Answer[]> => {
    const [answers, expected] = await decideBoth(pair, groups, now)
    expect(answers).toEqual(expected)
    return answers
  }
  const sameState = async (id: StateId): Promise<void> => {
    expect(await options.readState(id)).toEqual(reference.numbersOf(id))
  }
  return {
    options,
    tags: options.algorithms ?? ALL_TAGS,
    short: (options.differentialCalls ?? 100_000) < 10_000,
    get store() {
      return open()
    },
    can: (...kinds) => kinds.every((kind) => open().capabilities.changes.includes(kind)),
    reference: newReference,
    fresh: () => `suite${(made += 1)}`,
    call: (key, limit, cost = 1) => ({
      id: { scope: SCOPES[limit.algorithm.tag], key },
      limit,
      cost: microCost(cost),
      phase: phaseOf(limit, key),
    }),
    decide: async (calls, now) => (await list([{ calls }], now))[0] as Answer,
    list,
    peek: async (calls, now) => (await peekBoth(pair, [{ calls }], now))[0] as Answer,
    peekList: (groups, now) => peekBoth(pair, groups, now),
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
    async block(id, micros, now) {
      await change([micros === null ? { kind: 'unblock', id } : { kind: 'block', id, micros }], now)
    },
    sameState,
  }
}
