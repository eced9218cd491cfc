import type { Spread } from './statistics.ts'

export type Unit = 'x' | 'ns' | 'us' | 'ms' | 's' | 'bytes' | 'calls' | '%'

/** The goal of a figure. The bound itself is allowed. */
export type Goal = { readonly atMost: number } | { readonly atLeast: number }

/** The best figure that any code could reach in this measurement, in the unit of the figure. */
export interface Floor {
  readonly value: number
  /** What was measured to find the floor. */
  readonly what: string
}

interface Named {
  readonly name: string
  /** The load: `all allowed, burst 10^7`, `denied flood`. */
  readonly profile?: string
  readonly goal?: Goal
}

/** One figure, with everything that is needed to judge it. */
export interface Measured extends Named {
  readonly unit: Unit
  readonly value: number
  /** The quartiles, if there were several measurements. */
  readonly spread?: Spread
  /** The measured values of Sluice and of the baseline, in words: `131 ns`, `Map 63 ns`. */
  readonly ours?: string
  readonly baseline?: string
  readonly floor?: Floor
  /** The ratio of processor times, if the figure is a ratio of wall times. Client and server are added, as far as they are known. */
  readonly processor?: Spread
  /** The requests allowed beyond the permitted number, in percent of that number. */
  readonly overGrantPercent?: number
  /** Answers that are wrong under this load, such as a denial if all may pass. With wrong answers a speed means nothing. */
  readonly wrongAnswers?: number
}

/** A figure that could not be measured, with the reason. */
export interface Absent extends Named {
  readonly absent: string
}

export type Reading = Measured | Absent

/**
 * `reached`, `missed`: the figure reached or missed the goal. `floor`: it missed the goal, but the floor misses it too. `wrong`: too many
 * or too few requests were allowed, so the speed does not count. `absent`: not measured. `reported`: there is no goal.
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

/** The number of readings with each mark. */
export function tally(readings: readonly Reading[]): Readonly<Record<Mark, number>> {
  const counts = { reached: 0, missed: 0, floor: 0, wrong: 0, absent: 0, reported: 0 }
  for (const reading of readings) counts[markOf(reading)] += 1
  return counts
}

/** Whether a value meets the goal; NaN never does. */
function meets(goal: Goal, value: number): boolean {
  return 'atMost' in goal ? value <= goal.atMost : value >= goal.atLeast
}
