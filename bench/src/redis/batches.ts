import { setImmediate as nextTurn } from 'node:timers/promises'
import { processorMs, scheduleOf } from '../machine/processor.ts'
import type { Sent } from '../wire.ts'
import { sampleOf, type SampledLane } from './samples.ts'
import type { Batch } from './rounds.ts'

/** A lane (a measured limiter) of callers that call again as soon as they are answered. */
export interface CallersLane {
  readonly name: string
  readonly callers: number
  invoke(caller: number): Promise<unknown>
  /** Whether the answer lets the request pass. @throws if nothing was decided */
  passed(answer: unknown): boolean
  sent(): Sent
}

export interface BatchOptions {
  /** The pid of the server, if one thread of it does the work. Absent: the server's processor time is not known. */
  readonly pid?: number
  /** The length of a batch in milliseconds: it has as many requests as the lane (a measured limiter) makes in about this time. */
  readonly batchMs: number
  /** Milliseconds of processor time for which the lane (a measured limiter) runs before its first batch, so that its code is compiled. */
  readonly warmUpMs: number
}

/** The warm-up lasts `warmUpMs` of processor time, but at most this many times `warmUpMs` by the clock. */
const PATIENCE = 2
/**
 * With fewer calls than MIN_WARM_UP_CALLS too little of the code is compiled. So the warm-up goes on until it has made them, for at most
 * PATIENCE_FOR_CALLS times `warmUpMs`.
 */
const [MIN_WARM_UP_CALLS, PATIENCE_FOR_CALLS] = [10_000, 5]
/** Before each batch, this fraction (1 / RUN_IN) of its requests runs without being counted. */
const RUN_IN = 4

/**
 * Makes a lane (a measured limiter) in this process. The number of requests in a batch is fixed beforehand, so that no caller reads the
 * clock.
 */
export function batchesOf(lane: CallersLane, { pid, batchMs, warmUpMs }: BatchOptions): SampledLane {
  const server = pid === undefined ? undefined : scheduleOf(pid)
  const least = lane.callers * 2
  let calls = least
  return {
    name: lane.name,
    callers: lane.callers,
    async warmUp() {
      const [began, spentBefore] = [performance.now(), process.cpuUsage()]
      let [made, quickest] = [0, Number.POSITIVE_INFINITY]
      const unfinished = (): boolean => {
        const took = performance.now() - began
        if (made < MIN_WARM_UP_CALLS && took < warmUpMs * PATIENCE_FOR_CALLS) return true
        return processorMs(spentBefore) < warmUpMs && took < warmUpMs * PATIENCE
      }
      while (unfinished()) {
        const started = performance.now()
        await spend(lane, calls)
        made += calls
        // The shortest time counts, because other load can only make a batch slower.
        quickest = Math.min(quickest, (performance.now() - started) / calls)
        // The first batches are slow and say little. So the number of requests in a batch grows at most tenfold at a time.
        calls = Math.max(least, Math.min(Math.round(batchMs / quickest), calls * 10))
      }
    },
    async batch() {
      // An uncounted part of the batch comes first. While other lanes (measured limiters) had their turns, this lane may have lost leases
      // or caches, which it gets again here.
      await spend(lane, Math.ceil(calls / RUN_IN))
      const before = { trips: lane.sent().calls, ran: server?.().ran ?? 0, processor: process.cpuUsage() }
      const started = performance.now()
      const spent = await spend(lane, calls)
      const wall = (performance.now() - started) * 1e6
      const { user, system } = process.cpuUsage(before.processor)
      const trips = lane.sent().calls - before.trips
      const [client, served] = [(user + system) * 1e3, (server?.().ran ?? 0) - before.ran]
      const decided = Math.max(1, calls - spent.errors)
      const round = { wall: wall / decided, client: client / decided, server: served / decided }
      return { round, total: calls, trips, ...spent }
    },
    async sample() {
      await spend(lane, Math.ceil(calls / RUN_IN))
      return sampleOf(lane, calls, spend)
    },
  }
}

/** Makes this many requests, shared by the callers. Errors are counted by message. */
async function spend({ callers, invoke, passed }: CallersLane, calls: number): Promise<Pick<Batch, 'allowed' | 'errors' | 'reasons'>> {
  let [left, allowed, errors] = [calls, 0, 0]
  const reasons = new Map<string, number>()
  const caller = async (index: number): Promise<void> => {
    while (left > 0) {
      left -= 1
      try {
        if (passed(await invoke(index))) allowed += 1
      } catch (error) {
        errors += 1
        const message = error instanceof Error ? error.message : String(error)
        reasons.set(message, (reasons.get(message) ?? 0) + 1)
        // Lets other work run. A lane (a measured limiter) that rejects at once would otherwise keep the event loop busy forever.
        await nextTurn()
      }
    }
  }
  await Promise.all(Array.from({ length: callers }, (_, index) => caller(index)))
  return { allowed, errors, reasons: Object.fromEntries(reasons) }
}
