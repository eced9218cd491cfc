import type { AnyLimit, MicroTokens } from '../algorithms/algorithm.ts'
import type { HoldReport } from '../algorithms/settle-hold.ts'
import type { Micros } from '../time/micros.ts'
import type { Call, StateId } from './call.ts'
import type { StoreFailure } from './store-failure.ts'

/**
 * A change of one state.
 * - `adjust`: gives tokens back (`amount` above 0) or takes them unconditionally (below 0). `amount` is in micro-tokens; the cost of `call`
 *   is ignored. `receipt` is the store time of the charge. If the window of that charge has ended, nothing is given back.
 * - `leave`: gives back a call that was charged ahead and does not wait any longer, less what others charged since.
 * - `release`: a holder gives back its slots, which it then no longer holds. Nothing happens if it holds none.
 * - `settle`: ends a hold with what was used. Its record and the limits that it charged are changed together. It may be sent again.
 * - `extend`: lets a hold end later, with its slots of concurrency limits. It may be sent again.
 * - `block`: no call passes for `micros` microseconds, counted from the store's present time; `unblock` ends the block.
 * - `reset`: deletes the state, so that the next call finds it fresh. A block stays, and leased tokens stay leased. Not for states of
 *   concurrency limits, whose holders are still at work.
 */
export type Change =
  | {
      /** Gives tokens back, or takes them unconditionally. */
      readonly kind: 'adjust'
      /** The state and its limit; the cost is ignored. */
      readonly call: Call
      /** Micro-tokens (millionths of a token): above 0 gives back, below 0 takes. */
      readonly amount: MicroTokens
      /** Store time of the charge that is given back, in microseconds since 1970. */
      readonly receipt?: Micros | undefined
    }
  | {
      /** Gives back a call that was charged ahead, less what others charged since. */
      readonly kind: 'leave'
      /** The call that was charged. */
      readonly call: Call
      /** What the verdict said of the state after the charge. */
      readonly after: unknown
    }
  | {
      /** Gives back what a holder holds. */
      readonly kind: 'release'
      /** The state and its limit; the cost is ignored. */
      readonly call: Call
      /** The id of the holder, as in the group's option `hold`. */
      readonly holder: string
    }
  | {
      /** Ends a hold: gives back what it did not use, or charges what it used more. */
      readonly kind: 'settle'
      /** The record of the hold. */
      readonly id: StateId
      /** The limits that it may have charged, with what was used as their cost: at least 0. Their states lie where the record lies. */
      readonly calls: readonly Call[]
      /** The id of the hold, under which it has slots of concurrency limits. */
      readonly holder: string
      /** Set if what was held stays charged; the costs are ignored then. */
      readonly stands?: true
    }
  | {
      /** Lets a hold end later. */
      readonly kind: 'extend'
      /** The record of the hold. */
      readonly id: StateId
      /** As those of `settle`; their costs are ignored. */
      readonly calls: readonly Call[]
      /** The id of the hold: its slots of these limits end later, too. */
      readonly holder: string
      /** It ends so many microseconds after the store's present time, unless it ends later already. */
      readonly micros: Micros
    }
  | {
      /** Denies every call of the state for a time. */
      readonly kind: 'block'
      /** The state to block. */
      readonly id: StateId
      /** Length of the block in microseconds. */
      readonly micros: Micros
    }
  | {
      /** Ends a block, or makes the state fresh. */
      readonly kind: 'unblock' | 'reset'
      /** The state to change. */
      readonly id: StateId
    }

/** The result of one change, which was made unless `failure` is set. */
export interface ChangeResult {
  /** Why the change was not made, or may not have been; absent if it was. */
  readonly failure?: StoreFailure
  /** Of `settle` and `extend`: how the hold stands. */
  readonly hold?: HoldReport
}

/**
 * The state after a caller or a holder gave back what it had; the same state if nothing changes, and undefined if the result is fresh.
 * @param limit that of the call, as the store decides it
 * @param state as stored
 */
export function givenBack(
  change: Extract<Change, { readonly kind: 'leave' | 'release' }>,
  { algorithm, plan }: AnyLimit,
  state: unknown,
  now: Micros,
): unknown {
  const { leave, release } = algorithm
  if (change.kind === 'release') return release === undefined ? state : release(plan, state, now, change.holder)
  return leave === undefined ? state : leave(plan, state, now, change.call.cost, change.after)
}

/** Changes of holds. */
export type HoldChange = Extract<Change, { readonly kind: 'settle' | 'extend' }>

export function isOfHold(change: Change): change is HoldChange {
  return change.kind === 'settle' || change.kind === 'extend'
}

/** The states that a change may write: of a hold its record first. */
export function changedStates(change: Change): readonly StateId[] {
  return isOfHold(change) ? [change.id, ...change.calls.map(({ id }) => id)] : [changedState(change)]
}

/** The state that a change applies to: of a hold its record. */
export function changedState(change: Change): StateId {
  return 'call' in change ? change.call.id : change.id
}
