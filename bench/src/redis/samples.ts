import { allocationMeter } from '../machine/allocated.ts'
import { quantileOf, sorted } from '../result/statistics.ts'
import type { Batch, LaneHandle } from './rounds.ts'

/** What is measured apart from the rounds, because measuring it takes time from each request. */
export interface Sample {
  /** Bytes of JavaScript objects allocated in the client's process, per decided request. */
  readonly bytes: number
  /** Latency of the requests, in microseconds. Requests without a decision are included. */
  readonly p50: number
  readonly p99: number
}

export interface SampledLane extends LaneHandle {
  sample(): Promise<Sample>
}

interface Invoked {
  invoke(caller: number): Promise<unknown>
}

/** Makes this many requests. */
type Spend<Lane> = (lane: Lane, calls: number) => Promise<Pick<Batch, 'errors'>>

/** Measures a batch for its allocations, and another one for its latencies, which reads the clock twice for each request. */
export async function sampleOf<Lane extends Invoked>(lane: Lane, calls: number, spend: Spend<Lane>): Promise<Sample> {
  const allocated = allocationMeter()
  const { errors } = await spend(lane, calls)
  const bytes = allocated() / Math.max(1, calls - errors)
  const taken = new Float64Array(calls)
  let next = 0
  await spend(
    {
      ...lane,
      invoke: async (caller) => {
        const began = performance.now()
        try {
          return await lane.invoke(caller)
        } finally {
          taken[next] = performance.now() - began
          next += 1
        }
      },
    },
    calls,
  )
  const micros = sorted(taken.map((ms) => ms * 1_000))
  return { bytes, p50: quantileOf(micros, 0.5), p99: quantileOf(micros, 0.99) }
}
