import type { Micros } from '../time/micros.ts'

/** How many numbers a state has for each holder. */
export const SLOT_WIDTH = 5

/**
 * Who holds slots. `holders` has five numbers for each holder: its id (two numbers), its cost in micro-tokens, the instant at which its
 * slot ends, and its fencing number. Holders whose slots end first come first. `seen`: the latest time at which the state was written; no
 * decision uses an earlier time (law 3). `last`: the fencing number of the last grant. A state does not depend on the plan.
 */
export interface SlotState {
  holders: readonly number[]
  seen: Micros
  last: number
}
