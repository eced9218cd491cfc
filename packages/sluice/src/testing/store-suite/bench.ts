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

/** A store under test: how to open it, and how to read its states. */
export interface StoreSuiteOptions {
  /** Opens a store that shares nothing with other suites. */
  open(): Promise<Store>
  /** A stored state as the numbers into which its algorithm encodes it, for the comparison of states; undefined if no state is stored. */
  readState(id: StateId): Promise<readonly number[] | undefined>
  /** Removes what `open` created, after the store was closed. */
  close?(): Promise<void>
  /** The algorithms whose tokens come back with time that the store supports; default all. */
  readonly algorithms?: readonly TimedTag[]
  /**
   * Set if the store may charge one group in several places, such as servers, and refund if a later place denies. A denied group then
   * leaves states that decide like those of the reference but are not equal. The differential test therefore decides groups one by one and
   * deletes the states of denied groups. The time of that test never runs backwards: if it left a window backwards after a charge, the
   * charge could not be refunded.
   */
  readonly givesBack?: boolean
  /** Calls of the differential test; default 100,000. */
  readonly differentialCalls?: number
  /**
   * How many calls of the test against the reference run on the store's own clock; default 0. Only for stores that decide each call
   * themselves: a cached denial and a lease report the time of an earlier call.
   */
  readonly ownClockCalls?: number
  /**
   * Set if a peek under a changed limit converts the stored state to this limit. Then the suite does not peek at keys whose limits change.
   */
  readonly peeksAdopt?: boolean
  /** Set if the store refuses a hold of a token bucket together with a sliding window log. */
  readonly holdsWithoutLogs?: boolean
  /**
   * Says for which calls a full bucket keeps the tokens that it has when its limit changes, instead of being full by the new limit too.
   * Default: for none. A region keeps them if it sent or received units of the key, because its peers may have used up their tokens by the
   * new limit.
   */
  keepsTokens?(call: Pick<Call, 'id' | 'limit'>): boolean
  /** Deletes expired states and returns how many; absent if the store has no such operation. */
  sweep?(): Promise<number>
  /** Opens a store of the same kind with space for only one state. The suite closes it. Absent if the number of states has no bound. */
  openFull?(): Promise<Store>
}

/** The fields of a verdict that the reference also has. */
export type Answer = Pick<Decided, 'outcome' | 'at' | 'retryAfter' | 'calls'>

/** A store under test and the reference (`Reference`, which decides with the kernels). Both get the same calls. */
export interface Bench {
  readonly options: StoreSuiteOptions
  /** The algorithms whose tokens come back with time that the store supports. */
  readonly tags: readonly TimedTag[]
  readonly store: Store
  /** Whether the differential test has few calls. Then the other tests are short, too. */
  readonly short: boolean
  /** Whether the store supports changes of all these kinds. */
  can(...kinds: readonly Change['kind'][]): boolean
  /** A reference without states. */
  reference(): Reference
  /** A key that no test has used. */
  fresh(): string
  /** @param cost tokens */
  call(key: string, limit: AnyLimit, cost?: number): Call
  /** Charges one group at a given time, and checks that the store's verdict equals the reference's. */
  decide(calls: readonly Call[], now: Micros): Promise<Answer>
  /** Charges several groups in one store call, and compares the verdicts with those of the reference. */
  list(groups: Groups, now: Micros): Promise<readonly Answer[]>
  /** Peeks at a group at a given time, and compares the verdict with that of the reference. */
  peek(calls: readonly Call[], now: Micros): Promise<Answer>
  /** Peeks at several groups in one store call, and compares the verdicts with those of the reference. */
  peekList(groups: Groups, now: Micros): Promise<readonly Answer[]>
  /** Charges one group by `decideNow`. If the store decided, the verdict is compared with that of the reference. */
  decideNow(calls: readonly Call[], now: Micros): GroupVerdict | undefined
  /** Makes changes at a given time in the store and in the reference, and compares their results. */
  change(changes: readonly Change[], now: Micros): Promise<readonly ChangeResult[]>
  /** Adjusts the call's state by tokens, and checks that its numbers then equal those of the reference. */
  adjust(call: Call, tokens: number, now: Micros, receipt?: Micros): Promise<void>
  /** Blocks a state in the store and in the reference; null ends the block. */
  block(id: StateId, micros: Micros | null, now: Micros): Promise<void>
  /** Checks that the numbers of a state in the store equal those of the reference. */
  sameState(id: StateId): Promise<void>
}

type Groups = readonly CallGroup[]

export const START: Micros = 1_763_692_800_123_456
const SCOPES = scopesOf('s')

export function answerOf({ outcome, at, retryAfter, calls }: Decided): Answer {
  return { outcome, at, retryAfter, calls }
}

/** A store and the reference that gets the same calls. */
export interface Pair {
  readonly store: Store
  readonly reference: Reference
}

/** Charges groups at a given time in a store and in the reference; returns the answers of both. */
export async function decideBoth({ store, reference }: Pair, groups: Groups, now: Micros): Promise<[Answer[], Answer[]]> {
  const answers = (await verbs.decide(store, groups, { now })).map(answerOf)
  return [answers, groups.map((group) => reference.decide(group, now))]
}

/** Peeks at groups at a given time, and checks that the store's answers equal the reference's. */
export async function peekBoth({ store, reference }: Pair, groups: Groups, now: Micros): Promise<Answer[]> {
  const peeking = new Reference(reference)
  const answers = (await verbs.peek(store, groups, { now })).map(answerOf)
  expect(answers).toEqual(groups.map((group) => peeking.decide(group, now, true)))
  return answers
}

/** Makes changes at a given time in a store and in the reference, and compares their results. */
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
