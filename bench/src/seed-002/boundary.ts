import type { TraceEntry } from 'sluice/testing'
import type { Quota } from '../contestants/contestant.ts'
import { type ContestantName, contestantOf } from '../memory/contestants/all.ts'
import { withControlledClock } from '../memory/controlled-clock.ts'
import { auditPromise } from '../over-grant.ts'
import { worstWindow } from '../worst-window.ts'
import { BOUNDARY_LOADS, type BoundaryLoad } from './loads.ts'

/** The article's limit: 10 requests a minute. */
export const TEN_A_MINUTE: Quota = { tokens: 10, per: '1m', burst: 10 }

export interface BoundaryInput {
  readonly contestants: readonly ContestantName[]
}

/** What a contestant allowed of a load, on a clock that the measurement controls. */
export interface BoundaryResult {
  readonly load: string
  readonly contestant: ContestantName
  readonly offered: number
  /** Milliseconds after the beginning at which requests were allowed. */
  readonly allowed: readonly number[]
  /** The most that were allowed within a minute. */
  readonly worstMinute: number
  /** Beyond the contestant's own promise. */
  readonly overGrantPercent: number
}

/** Plays every load on every contestant. */
export async function playBoundaries({ contestants }: BoundaryInput): Promise<BoundaryResult[]> {
  const results: BoundaryResult[] = []
  for (const load of BOUNDARY_LOADS) for (const contestant of contestants) results.push(await play(load, contestant))
  return results
}

function play({ name, instants }: BoundaryLoad, contestant: ContestantName): Promise<BoundaryResult> {
  const { open, promise = 'bucket' } = contestantOf(contestant)
  return withControlledClock(async (clock) => {
    const { decide } = await open([TEN_A_MINUTE], { keys: 1, clock })
    const start = clock.now()
    const admitted: TraceEntry[] = []
    for (const at of instants) {
      clock.shift(start + at * 1_000 - clock.now())
      if (await decide('user:1', 1)) admitted.push({ at: clock.now(), cost: 1, allowed: true })
    }
    return {
      load: name,
      contestant,
      offered: instants.length,
      allowed: admitted.map(({ at }) => (at - start) / 1_000),
      worstMinute: worstWindow(
        admitted.map(({ at }) => at),
        TEN_A_MINUTE,
      ).count,
      overGrantPercent: auditPromise(admitted, promise, TEN_A_MINUTE).overGrantPercent,
    }
  })
}
