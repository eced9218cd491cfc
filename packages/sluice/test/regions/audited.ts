import { UNITS } from '../../src/regions/rights/limit.ts'
import { type Coverage, newCoverage } from './coverage.ts'
import { type History, type Outcome, run } from './history.ts'
import type { Programs } from './site.ts'
import { shrink } from './shrink.ts'

/**
 * What occurred in many histories. `rounds` is the most rounds of pulls that it took until all regions agreed; `lateRounds` the most while
 * old messages still arrived.
 */
export type Sum = Coverage & { histories: number; mostUnits: number; rounds: number; lateRounds: number }

/**
 * After all links are healed, all regions must agree within so many rounds, also while old messages still arrive. In a round each region
 * reads every other one.
 */
const MAX_ROUNDS = 3

export function emptyCoverage(): Sum {
  return { histories: 0, ...newCoverage(), mostUnits: 0, rounds: 0, lateRounds: 0 }
}

/** Adds what occurred in one history to the sum. Of units and rounds, the sum has the largest number of any history. */
export function coverageOf(sum: Sum, { coverage, units, rounds, late }: Outcome): void {
  sum.histories += 1
  for (const [name, count] of Object.entries(coverage)) sum[name as keyof Coverage] += count
  sum.mostUnits = Math.max(sum.mostUnits, units)
  const kind = late ? 'lateRounds' : 'rounds'
  sum[kind] = Math.max(sum[kind], rounds ?? Infinity)
}

/** The first audit that an outcome fails; undefined if none. */
export function problemOf({ a, b, units, rounds }: Outcome): string | undefined {
  if (a > 0) return `a: over by ${a} bursts`
  if (b > 0) return `b: could be over by ${b} bursts`
  if (units > UNITS) return `c: ${units} units were held`
  if (rounds === undefined) return 'd: the regions never agree'
  return rounds > MAX_ROUNDS ? `d: the regions agree after ${rounds} rounds` : undefined
}

/** A failing history as short as possible, to be replayed. */
export function report(programs: Programs, history: History, problem: string): string {
  const audit = problem[0]
  const short = shrink(history, (shorter) => problemOf(run(programs, shorter))?.[0] === audit)
  const { network, rosters, actions, late } = short
  return [
    `seed ${history.seed}: ${problem}`,
    `historyOf(${history.seed}), shrunk to ${actions.length} actions: ${problemOf(run(programs, short))}`,
    `network ${JSON.stringify({ ...network, limits: network.limits.map(({ n, m, burst }) => ({ n, m, burst })) })}`,
    `rosters ${JSON.stringify(rosters)}, late ${late}`,
    ...actions.map((action) => JSON.stringify(action)),
  ].join('\n')
}
