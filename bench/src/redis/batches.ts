import { setImmediate as nextTurn } from 'node:timers/promises'
import { scheduleOf } from '../processor.ts'
import type { Sent } from '../wire.ts'
import type { Batch, LaneHandle } from './rounds.ts'

/** Callers that call again as soon as they are answered. */
export interface CallersLane {
  readonly name: string
  readonly callers: number
  invoke(caller: number): Promise<unknown>
  /** Whether the answer lets the request pass. @throws where nothing was decided */
  passed(answer: unknown): boolean
  sent(): Sent
}

export interface BatchOptions {
  /** The server's process, where one thread of it does the work. Left out, its processor time is not known. */
  readonly pid?: number
  /** A batch is as many requests as take the lane about so long. */
  readonly batchMs: number
  /** How long the lane runs before its first batch, in processor time: the compiler has then seen what it will see. */
  readonly warmUpMs: number
}

/** So many times its processor time a lane may take to warm up. */
const PATIENCE = 2
/** A batch begins with a part of it that is not counted. */
const RUN_IN = 4

/** A lane in this process. Requests are counted beforehand, so that no caller looks at the clock. */
export function batchesOf(lane: CallersLane, { pid, batchMs, warmUpMs }: BatchOptions): LaneHandle {
  const server = pid === undefined ? undefined : scheduleOf(pid)
  const least = lane.callers * 2
  let calls = least
  return {
    name: lane.name,
    callers: lane.callers,
    async warmUp() {
      const until = performance.now() + warmUpMs * PATIENCE
      const spentBefore = process.cpuUsage()
      let quickest = Number.POSITIVE_INFINITY
      while (processorMs(spentBefore) < warmUpMs && performance.now() < until) {
        const started = performance.now()
        await spend(lane, calls)
        // A batch may be slow for many reasons, and quick for one.
        quickest = Math.min(quickest, (performance.now() - started) / calls)
        // Cold batches are slow: a lane grows at most tenfold at a time.
        calls = Math.max(least, Math.min(Math.round(batchMs / quickest), calls * 10))
      }
    },
    async batch() {
      // What a lane let go of while others had their turn it takes up again before time counts.
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
  }
}

function processorMs(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1e3
}

/** So many requests, shared by the callers; errors are counted by their message. */
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
        // What refuses at once would otherwise keep the loop busy, and nothing else would ever happen.
        await nextTurn()
      }
    }
  }
  await Promise.all(Array.from({ length: callers }, (_, index) => caller(index)))
  return { allowed, errors, reasons: Object.fromEntries(reasons) }
}
