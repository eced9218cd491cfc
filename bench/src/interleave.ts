import { waitedMs } from './waited.ts'

/** Something to be measured: `run` makes so many calls and returns how many of them were allowed. */
export interface Lane {
  readonly name: string
  /** What was allowed depends on every answer, so that none of the work can be left out. */
  run(calls: number): number | Promise<number>
}

/** What one lane took, round by round. */
export interface Timed {
  readonly name: string
  /** Nanoseconds per call: wall time without what the thread had to wait for a processor. */
  readonly rounds: readonly number[]
  readonly calls: number
  readonly allowed: number
}

export interface InterleaveOptions {
  readonly calls: number
  /** Batches of every lane before anything is counted, unless they take longer than `seconds`: the compiler has then seen all of them. */
  readonly warmUp: number
  /** Rounds are made for so long, and at least `MIN_ROUNDS` of them. */
  readonly seconds: number
}

const MIN_ROUNDS = 8

/**
 * Runs small batches in turns, A B C C B A A B C, so that whatever else the machine does, and the order itself, falls on all
 * lanes alike. Lanes are found again by their place.
 */
export async function interleave(lanes: readonly Lane[], { calls, warmUp, seconds }: InterleaveOptions): Promise<Timed[]> {
  const warm = performance.now() + seconds * 1_000
  for (let round = 0; round < warmUp && (round === 0 || performance.now() < warm); round += 1)
    for (const lane of lanes) await lane.run(calls)
  const found = lanes.map(({ name }) => ({ name, rounds: [] as number[], calls: 0, allowed: 0 }))
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
  return found
}
