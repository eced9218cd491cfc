import { disturbanceMeter, disturbedBy } from './machine/disturbance.ts'
import { waitedMs } from './machine/waited.ts'

/** Something that is measured: `run` makes `calls` calls and returns how many of them were allowed. */
export interface Lane {
  readonly name: string
  /** The result depends on every answer, so the compiler cannot leave out any of the work. */
  run(calls: number): number | Promise<number>
}

/** The times of one lane, round by round. */
export interface Timed {
  readonly name: string
  /** Nanoseconds per call: wall time without the time for which the thread waited for a processor. */
  readonly rounds: readonly number[]
  readonly calls: number
  readonly allowed: number
  /** What else used the machine during the rounds, in words; the same for all lanes (measured limiters). */
  readonly disturbed?: string
}

export interface InterleaveOptions {
  readonly calls: number
  /**
   * Batches of every lane (a measured limiter) before anything is counted, so that all lanes are compiled. They end early if they take
   * longer than `seconds`.
   */
  readonly warmUp: number
  /** Rounds are made for this many seconds, but at least `MIN_ROUNDS` rounds. */
  readonly seconds: number
}

const MIN_ROUNDS = 8

/**
 * Runs small batches of the lanes (measured limiters) in turns, A B C C B A A B C. So other load on the machine, and the order itself,
 * affect all lanes alike. The results are in the order of the lanes.
 */
export async function interleave(lanes: readonly Lane[], { calls, warmUp, seconds }: InterleaveOptions): Promise<Timed[]> {
  const warm = performance.now() + seconds * 1_000
  for (let round = 0; round < warmUp && (round === 0 || performance.now() < warm); round += 1)
    for (const lane of lanes) await lane.run(calls)
  const found = lanes.map(({ name }) => ({ name, rounds: [] as number[], calls: 0, allowed: 0 }))
  // One meter counts the other work for all lanes (measured limiters) together. For a single batch of a few milliseconds it would be too
  // coarse: the system counts processor time in steps of 10 ms.
  const meter = disturbanceMeter()
  meter.begin()
  const until = performance.now() + seconds * 1_000
  for (let round = 0; round < MIN_ROUNDS || performance.now() < until; round += 1) {
    for (let place = 0; place < lanes.length; place += 1) {
      const index = round % 2 === 0 ? place : lanes.length - 1 - place
      const [lane, timed] = [lanes[index] as Lane, found[index] as (typeof found)[number]]
      const waited = waitedMs()
      const started = performance.now()
      const answer = lane.run(calls)
      const allowed = typeof answer === 'number' ? answer : await answer
      const ms = performance.now() - started - (waitedMs() - waited)
      timed.rounds.push((ms * 1e6) / calls)
      timed.calls += calls
      timed.allowed += allowed
    }
  }
  meter.end()
  return found.map((timed) => ({ ...timed, ...disturbedBy(meter) }))
}
