import type { Micros } from '../time/micros.ts'

/** How many numbers a state has for each holder. */
export const SLOT_WIDTH = 5

/**
 * `holders` has five numbers for each holder: id (two numbers), cost in micro-tokens, end of the slot, fencing number. Slots that end first
 * come first. `seen`: the latest time of a write; no decision uses an earlier time (law 3). `last`: the last fencing number.
 */
export interface SlotState {
  holders: readonly number[]
  seen: Micros
  last: number
}
