import type { Spread } from './statistics.ts'

export type Unit = 'x' | 'ns' | 'us' | 'ms' | 's' | 'bytes' | 'calls' | '%'

/** What a figure must reach; a bound is part of what is allowed. */
export type Goal = { readonly atMost: number } | { readonly atLeast: number }

/** What no code of ours could get past in this place, in the unit of the figure next to it. */
export interface Floor {
  readonly value: number
  /** What was measured for it. */
  readonly what: string
}

interface Named {
  readonly name: string
  /** The load: `all allowed, burst 10^7`, `denied flood`. */
  readonly profile?: string
  readonly goal?: Goal
}

/** One figure with all that is needed to judge it. */
export interface Measured extends Named {
  readonly unit: Unit
  readonly value: number
  /** The quarter of the measurements on either side, where there were several. */
  readonly spread?: Spread
  /** What was measured itself, and what it is held against, in words: `131 ns`, `Map 63 ns`. */
  readonly ours?: string
  readonly baseline?: string
  readonly floor?: Floor
  /** The same ratio of processor time, where the figure itself is one of wall time: client and server together, as far as each is known. */
  readonly processor?: Spread
  /** What was let through beyond what may be, as a share of what may be. */
  readonly overGrantPercent?: number
  /** Answers that the load does not allow for, such as a denial where all may pass: they make a speed worthless. */
  readonly wrongAnswers?: number
}

/** A figure that could not be taken, and why: it is named instead of left out. */
export interface Absent extends Named {
  readonly absent: string
}

export type Reading = Measured | Absent

/**
 * `reached` and `missed` the goal; `floor`: missed, but so does the floor, and nothing can be done about it here; `wrong`: more was let
 * through than may be, or less, whatever the speed; `absent`: not measured; `reported`: no goal was set.
 */
export type Mark = 'reached' | 'missed' | 'floor' | 'wrong' | 'absent' | 'reported'

export function markOf(reading: Reading): Mark {
  if ('absent' in reading) return 'absent'
  const { goal, value, floor, overGrantPercent = 0, wrongAnswers = 0 } = reading
  if (overGrantPercent > 0 || wrongAnswers > 0) return 'wrong'
  if (goal === undefined) return 'reported'
  if (meets(goal, value)) return 'reached'
  return floor !== undefined && !meets(goal, floor.value) ? 'floor' : 'missed'
}

/** How often each mark was given. */
export function tally(readings: readonly Reading[]): Readonly<Record<Mark, number>> {
  const counts = { reached: 0, missed: 0, floor: 0, wrong: 0, absent: 0, reported: 0 }
  for (const reading of readings) counts[markOf(reading)] += 1
  return counts
}

/** NaN meets no goal. */
function meets(goal: Goal, value: number): boolean {
  return 'atMost' in goal ? value <= goal.atMost : value >= goal.atLeast
}
