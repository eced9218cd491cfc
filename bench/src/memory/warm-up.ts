import { processorMs } from '../machine/processor.ts'

/** The requests of the first batch, and of the shortest one. */
export const MIN_CALLS = 100
/** Calls until the code is compiled and optimized. In a short run, the processor time alone would end before that. */
const MIN_WARM_UP_CALLS = 200_000
/** The warm-up may take at most this many times its processor time, unless MIN_WARM_UP_CALLS calls take longer. */
const PATIENCE = 2

interface WarmUp {
  /** The requests of the first batch; of every batch, if it has no length in time. */
  readonly calls: number
  /** The length of a batch in milliseconds. */
  readonly batchMs?: number
  /** Milliseconds of processor time. */
  readonly warmUpMs?: number
}

/**
 * Makes batches until the code is compiled, and returns how many requests a batch should have.
 *
 * @param perCall makes a batch of this many requests, and returns the nanoseconds of one
 */
export async function warmedUp(
  perCall: (calls: number) => Promise<number>,
  { calls: first, batchMs, warmUpMs = 0 }: WarmUp,
): Promise<number> {
  const [until, before] = [performance.now() + warmUpMs * PATIENCE, process.cpuUsage()]
  const unfinished = (): boolean => processorMs(before) < warmUpMs && performance.now() < until
  let [calls, quickest] = [first, Number.POSITIVE_INFINITY]
  for (let made = 0; made < MIN_WARM_UP_CALLS || unfinished();) {
    made += calls
    const time = await perCall(calls)
    // The shortest time counts, because other load can only make a batch slower. The time for which the thread waited for a processor is
    // subtracted. It is read from another clock a moment later, so a batch may seem to take no time at all.
    if (time > 0) quickest = Math.min(quickest, time)
    // The first batches are slow and say little. So the number of requests in a batch grows at most tenfold at a time.
    if (batchMs !== undefined) calls = Math.max(MIN_CALLS, Math.min(Math.round((batchMs * 1e6) / quickest), calls * 10))
  }
  return calls
}
