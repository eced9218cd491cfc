import type { AnyLimit, MicroTokens } from '../algorithms/algorithm.ts'
import type { HoldReport } from '../algorithms/settle-hold.ts'
import type { Micros } from '../time/micros.ts'
import type { Call, StateId } from './call.ts'
import type { StoreFailure } from './store-failure.ts'

/** A change of one state, or of a hold (a reservation) and the states that it charged. */
export type Change =
  | {
      /** Gives tokens back, or takes them even if they are not there. */
      readonly kind: 'adjust'
      /** The cost is ignored. */
      readonly call: Call
      /** Micro-tokens: above 0 gives back, below 0 takes. */
      readonly amount: MicroTokens
      /** Store time of the charge that is given back. Nothing is given back if the window of that charge has ended. */
      readonly receipt?: Micros | undefined
    }
  | {
      /** Gives back what a call with `maxWait` was charged, less what other calls were charged after it. Its caller has stopped waiting. */
      readonly kind: 'leave'
      readonly call: Call
      /** `after` of the call's verdict. */
      readonly after: unknown
    }
  | {
      /** Gives back the slots of a holder, if it has any. */
      readonly kind: 'release'
      /** The cost is ignored. */
      readonly call: Call
      /** As in the group's option `hold`. */
      readonly holder: string
    }
  | {
      /**
       * Ends a hold: gives back what was not used, or charges what was used in addition. A second `settle` has no effect, so it may be sent
       * again.
       */
      readonly kind: 'settle'
      /** The id of the hold's record. */
      readonly id: StateId
      /**
       * The limits that the hold may have charged. A cost is what was used of the limit, 0 or more. All states must be on the server of the
       * record, and in a Cluster in the same slot.
       */
      readonly calls: readonly Call[]
      /** The holder of the hold's slots of concurrency limits. */
      readonly holder: string
      /** Set if the charges stay as they are. The costs are then ignored. */
      readonly stands?: true
    }
  | {
      /** Moves the end of a hold, and of its slots, to a later instant. May be sent again. */
      readonly kind: 'extend'
      readonly id: StateId
      /** As in `settle`. The costs are ignored. */
      readonly calls: readonly Call[]
      readonly holder: string
      /** Microseconds from the store's present time to the new end. A later end stays. */
      readonly micros: Micros
    }
  | {
      /** Denies every call of the state for a time. */
      readonly kind: 'block'
      readonly id: StateId
      /** Microseconds from the store's present time. */
      readonly micros: Micros
    }
  | {
      /**
       * `unblock` ends the block. `reset` deletes the state, but no block and no leases. Not for concurrency limits, because their holders
       * may still be at work.
       */
      readonly kind: 'unblock' | 'reset'
      readonly id: StateId
    }

/** The change was made, unless `failure` is set. */
export interface ChangeResult {
  /** Why the change was not made, or may not have been made. */
  readonly failure?: StoreFailure
  /** For `settle` and `extend`. */
  readonly hold?: HoldReport
}

/**
 * The state after `leave` or `release`. The same state if nothing changes, undefined if it equals the initial state.
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

export type HoldChange = Extract<Change, { readonly kind: 'settle' | 'extend' }>

export function isOfHold(change: Change): change is HoldChange {
  return change.kind === 'settle' || change.kind === 'extend'
}

/** For a change of a hold, its record is the first. */
export function changedStates(change: Change): readonly StateId[] {
  return isOfHold(change) ? [change.id, ...change.calls.map(({ id }) => id)] : [changedState(change)]
}

/** For a change of a hold, its record. */
export function changedState(change: Change): StateId {
  return 'call' in change ? change.call.id : change.id
}
