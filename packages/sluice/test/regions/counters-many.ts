import { type CountersHistory, countersHistoryOf, type CountersOutcome, newCoverage, runCounters } from './counters-history.ts'
import type { CountersPrograms } from './counters-network.ts'

/** The first audit that an outcome fails; undefined if none. */
export function countersProblem({ a, b, stale, agreed, full }: CountersOutcome): string | undefined {
  if (a > 0) return `a: over the bound by ${a} bursts`
  if (b > 0) return `b: could be over the bound by ${b} bursts`
  if (stale > 0) return `c: a region knew less than its cutoff allows, by ${stale} microseconds`
  if (!agreed) return 'd: a region does not know all after a round of pulls'
  return full ? undefined : 'd: a debt never ends'
}

/**
 * Runs `count` histories from a seed. After each history yields the sum of what occurred so far, and the first history that failed, if any.
 */
export function* manyCounters(programs: CountersPrograms, count: number, seed: number) {
  const coverage = { histories: 0, ...newCoverage() }
  let first: string | undefined
  for (let index = 0; index < count; index += 1) {
    const history = countersHistoryOf(seed + index)
    const outcome = runCounters(programs, history)
    coverage.histories += 1
    for (const [name, occurred] of Object.entries(outcome.coverage)) coverage[name as 'steps'] += occurred
    const problem = countersProblem(outcome)
    if (problem !== undefined) first ??= report(programs, history, problem)
    yield { coverage, first }
  }
}

/** The text of a failing history, made as short as possible, by which it can be run again. */
function report(programs: CountersPrograms, history: CountersHistory, problem: string): string {
  const short = shrunk(history, (shorter) => countersProblem(runCounters(programs, shorter))?.[0] === problem[0])
  const { limits, ...network } = short.network
  return [
    `seed ${history.seed}: ${problem}`,
    `shrunk to ${short.actions.length} actions: ${countersProblem(runCounters(programs, short))}`,
    `network ${JSON.stringify({ ...network, limits: limits.map(({ n, m, burst }) => ({ n, m, burst })) })}`,
    ...short.actions.map((action) => JSON.stringify(action)),
  ].join('\n')
}

/** Leaves out actions as long as the history still fails. */
function shrunk(history: CountersHistory, fails: (shorter: CountersHistory) => boolean): CountersHistory {
  let { actions } = history
  for (let size = Math.ceil(actions.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < actions.length;) {
      const shorter = [...actions.slice(0, at), ...actions.slice(at + size)]
      if (fails({ ...history, actions: shorter })) actions = shorter
      else at += size
    }
  }
  return { ...history, actions }
}
