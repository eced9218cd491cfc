import type { AnyLimit, MicroTokens } from '../algorithms/algorithm.ts'
import type { HoldReport } from '../algorithms/settle-hold.ts'
import type { Micros } from '../time/micros.ts'
import type { Call, StateId } from './call.ts'
import type { StoreFailure } from './store-failure.ts'

/**
 * A change of one state, or of a hold (a reservation, which ends later) and the states that it charged.
 * - `adjust`: gives tokens back (`amount` above 0), or takes them even if they are not there (below 0). `amount` is in micro-tokens; the
 *   cost of `call` is ignored. `receipt` is the store time of the charge that is given back. If the window of that charge has ended,
 *   nothing is given back.
 * - `leave`: a call was charged before its tokens were there, and its caller does not wait for them any longer. Gives back what it was
 *   charged, less what other calls were charged after it.
 * - `release`: a holder gives back its slots. Nothing changes if it has none.
 * - `settle`: ends a hold with what was used. The hold's record and the states of the limits that it charged are changed together. A second
 *   `settle` of the same hold has no effect, so it may be sent again.
 * - `extend`: moves the end of a hold, and of its slots of concurrency limits, to a later instant. It may be sent again, because a second
 *   `extend` moves the end only if it is later.
 * - `block`: no call passes for `micros` microseconds, counted from the store's present time; `unblock` ends the block.
 * - `reset`: deletes the state, so that the next call finds the initial state. A block stays. Tokens that processes took in advance
 *   (leases) stay with them. Not for states of concurrency limits, because their holders may still be at work.
 */
export type Change =
  | {
      /** Gives tokens back, or takes them even if they are not there. */
      readonly kind: 'adjust'
      /** The state and its limit; the cost is ignored. */
      readonly call: Call
      /** Micro-tokens (millionths of a token): above 0 gives back, below 0 takes. */
      readonly amount: MicroTokens
      /** Store time of the charge that is given back, in microseconds since 1970. */
      readonly receipt?: Micros | undefined
    }
  | {
      /**
       * Gives back what a call of a group with `maxWait` was charged, because its caller stopped waiting. The algorithm's function `leave`
       * computes it.
       */
      readonly kind: 'leave'
      /** The call that was charged. */
      readonly call: Call
      /** The state after the charge, as the verdict of the call returned it (`after`). */
      readonly after: unknown
    }
  | {
      /** Gives back the slots of a holder. */
      readonly kind: 'release'
      /** The state and its limit; the cost is ignored. */
      readonly call: Call
      /** The id of the holder, as in the group's option `hold`. */
      readonly holder: string
    }
  | {
      /** Ends a hold: gives back what was held and not used, or charges what was used beyond what was held. */
      readonly kind: 'settle'
      /** The id of the hold's record. */
      readonly id: StateId
      /**
       * The limits that the hold may have charged. The cost of each call is what was used of its limit, 0 or more. The states of the calls
       * must be on the server that has the hold's record, and in a Cluster in the same slot.
       */
      readonly calls: readonly Call[]
      /** The id of the hold, under which it has slots of concurrency limits. */
      readonly holder: string
      /** Set if all that the hold charged stays charged, whatever was used. The costs are then ignored. */
      readonly stands?: true
    }
  | {
      /** Moves the end of a hold to a later instant. */
      readonly kind: 'extend'
      /** The id of the hold's record. */
      readonly id: StateId
      /** The limits that the hold may have charged, as in `settle`. The costs are ignored. */
      readonly calls: readonly Call[]
      /** The id of the hold, under which it has slots of concurrency limits. These end later, too. */
      readonly holder: string
      /** The hold ends this many microseconds after the store's present time, unless it ends later already. */
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

/** The result of one change. The change was made, unless `failure` is set. */
export interface ChangeResult {
  /** Why the change was not made, or may not have been made; absent if it was made. */
  readonly failure?: StoreFailure
  /** For `settle` and `extend`: the status of the hold, and what it was charged. */
  readonly hold?: HoldReport
}

/**
 * Computes the state after a call (`leave`) gave back its charge, or a holder (`release`) its slots. Returns the same state if nothing
 * changes, and undefined if the result is the initial state.
 * @param limit the limit of the call, with the algorithm that decides on the store's states
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

/** The states that a change may write. For a change of a hold, its record is the first. */
export function changedStates(change: Change): readonly StateId[] {
  return isOfHold(change) ? [change.id, ...change.calls.map(({ id }) => id)] : [changedState(change)]
}

/** The state that a change applies to. For a change of a hold, its record. */
export function changedState(change: Change): StateId {
  return 'call' in change ? change.call.id : change.id
}
