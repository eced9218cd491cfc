import { expect } from 'vitest'
import type { AlgorithmTag, AnyLimit } from '../../algorithms/algorithm.ts'
import { microCost } from '../../algorithms/decimal.ts'
import { phaseOf } from '../../limiter/phase.ts'
import type { Call, CallGroup, GroupVerdict, StateId, Store } from '../../stores/store.ts'
import type { Micros } from '../../time/micros.ts'
import { Reference } from '../reference.ts'

export interface StoreSuiteOptions {
  /** Opens a store that shares nothing with other suites. */
  open(): Promise<Store>
  /** The numbers of a state as stored (the codec's), for the comparison of states; undefined where there is none. */
  readState(id: StateId): Promise<readonly number[] | undefined>
  /** Cleans up what `open` made, after the store was closed. */
  close?(): Promise<void>
  /** What the store can decide; default every algorithm. */
  readonly algorithms?: readonly AlgorithmTag[]
  /**
   * Set where one group may be charged in several places and given back: a refused group leaves states that decide like the
   * reference's without being the same, so the differential test asks groups one by one at times that only grow (what was charged in
   * a window that a clock then left backwards is not given back), and forgets what was refused.
   */
  readonly givesBack?: boolean
  /** Calls of the differential test; default 100,000. */
  readonly differentialCalls?: number
  /**
   * Calls of the differential test on the store's own clock; default 0. For stores that decide each call themselves: a wrapper that
   * answers for its store knows another time.
   */
  readonly ownClockCalls?: number
  /** Deletes what decides like none, and says how many that were; where the store has no such thing, absent. */
  sweep?(): Promise<number>
}

/** What a verdict says that the reference says too. */
export type Answer = Pick<GroupVerdict, 'outcome' | 'allowed' | 'at' | 'retryAfter' | 'calls'>

/** A store under test and the reference beside it, asked the same. */
export interface Bench {
  readonly options: StoreSuiteOptions
  readonly store: Store
  /** Whether the differential test is short: then the other tests are, too. */
  readonly short: boolean
  /** A key that nobody has used. */
  fresh(): string
  /** @param cost tokens */
  call(key: string, limit: AnyLimit, cost?: number): Call
  /** Charges one group, at a time; what the store says must be what the reference says. */
  ask(calls: readonly Call[], now: Micros): Promise<Answer>
  /** Charges several groups in one call of the store; compared as well. */
  list(groups: readonly CallGroup[], now: Micros): Promise<readonly Answer[]>
  /** Looks at groups, at a time; compared as well. */
  look(groups: readonly CallGroup[], now: Micros): Promise<readonly Answer[]>
  adjust(calls: readonly Call[], tokens: readonly number[], now: Micros, receipt?: Micros): Promise<void>
  block(ids: readonly StateId[], duration: Micros | null, now: Micros): Promise<void>
  reset(ids: readonly StateId[]): Promise<void>
  /** The numbers of a state in the store must be those of the reference. */
  sameState(id: StateId): Promise<void>
}

export const START: Micros = 1_763_692_800_123_456
/** One scope per algorithm, as limiters have it. */
const SCOPES: Readonly<Record<AlgorithmTag, { readonly text: string }>> = {
  tb: { text: 's:tb:' },
  fw: { text: 's:fw:' },
  sc: { text: 's:sc:' },
  sl: { text: 's:sl:' },
}

export function answerOf({ outcome, allowed, at, retryAfter, calls }: GroupVerdict): Answer {
  return { outcome, allowed, at, retryAfter, calls }
}

export function benchOf(options: StoreSuiteOptions, open: () => Store): Bench {
  const reference = new Reference()
  let made = 0
  return {
    options,
    short: (options.differentialCalls ?? 100_000) < 10_000,
    get store() {
      return open()
    },
    fresh: () => `suite${(made += 1)}`,
    call: (key, limit, cost = 1) => ({
      id: { scope: SCOPES[limit.algorithm.tag], key },
      limit,
      cost: microCost(cost),
      phase: phaseOf(limit, key),
    }),
    async ask(calls, now) {
      const [verdict] = await open().consume([{ calls }], { now })
      const answer = answerOf(verdict as GroupVerdict)
      expect(answer).toEqual(reference.decide({ calls }, now))
      return answer
    },
    async list(groups, now) {
      const answers = (await open().consume(groups, { now })).map(answerOf)
      expect(answers).toEqual(groups.map((group) => reference.decide(group, now)))
      return answers
    },
    async look(groups, now) {
      const looking = new Reference(reference)
      const answers = (await open().peek(groups, { now })).map(answerOf)
      expect(answers).toEqual(groups.map((group) => looking.decide(group, now, true)))
      return answers
    },
    async adjust(calls, tokens, now, receipt) {
      const given = receipt === undefined ? { now } : { now, receipt }
      const amounts = tokens.map((amount) => Math.sign(amount) * microCost(Math.abs(amount)))
      await open().adjust?.(calls, amounts, given)
      reference.adjust(calls, amounts, given)
    },
    async block(ids, duration, now) {
      await open().block?.(ids, duration, { now })
      for (const id of ids) reference.block(id, duration === null ? 0 : now + duration)
    },
    async reset(ids) {
      await open().reset(ids)
      for (const id of ids) reference.reset(id)
    },
    async sameState(id) {
      expect(await options.readState(id)).toEqual(reference.numbersOf(id))
    },
  }
}
