import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Schedule, scheduleOf } from '../processor.ts'
import type { Sent } from '../wire.ts'

/** Callers that ask again as soon as they were answered. */
export interface CallersLane {
  readonly name: string
  readonly callers: number
  ask(caller: number): Promise<unknown>
  /** Whether the answer lets the request pass. @throws where nothing was decided */
  passed(answer: unknown): boolean
  sent(): Sent
}

/** What one batch took, in nanoseconds per request. */
export interface Round {
  /**
   * Wall time, or the processor time of this process and the server together where that is less: on one machine they run one after the
   * other, and what is beyond it somebody waited for a processor.
   */
  readonly own: number
  readonly wall: number
  /** Processor time of this process, all threads, and of the server. */
  readonly client: number
  readonly server: number
}

export interface CallersTimed {
  readonly name: string
  readonly callers: number
  readonly rounds: readonly Round[]
  readonly total: number
  readonly allowed: number
  readonly errors: number
  /** Message of an error -> how often. */
  readonly reasons: Readonly<Record<string, number>>
  /** Trips to the server per request. */
  readonly storeCalls: number
}

export interface RoundsOptions {
  /** The server's process. */
  readonly pid: number
  /** Rounds are made for so long, and at least `LEAST_ROUNDS` of them. */
  readonly seconds: number
  /** Each lane's batch is as many requests as take it about so long. */
  readonly batchMs: number
}

const LEAST_ROUNDS = 7
/** Before the first batch that counts a lane runs for as long as so many of them; each finds out how long the next must be. */
const WARM_UPS = 8

interface Running {
  readonly lane: CallersLane
  calls: number
  readonly rounds: Round[]
  readonly counts: { total: number; allowed: number; errors: number; trips: number }
  readonly reasons: Map<string, number>
}

/**
 * Gives every lane batches of about the same time in turns, A B C C B A, so that whatever else the machine does falls on all of them
 * alike. Requests are counted beforehand, so that no caller looks at the clock.
 */
export async function interleaveCallers(lanes: readonly CallersLane[], { pid, seconds, batchMs }: RoundsOptions): Promise<CallersTimed[]> {
  const server = scheduleOf(pid)
  const all = lanes.map((lane): Running => newRunning(lane))
  for (const running of all) await warmUp(running, batchMs)
  const until = performance.now() + seconds * 1_000
  for (let round = 0; round < LEAST_ROUNDS || performance.now() < until; round += 1) {
    for (const running of round % 2 === 0 ? all : all.toReversed()) await measure(running, server)
  }
  return all.map(({ lane: { name, callers }, rounds, counts, reasons }) => {
    const { total, allowed, errors, trips } = counts
    return { name, callers, rounds, total, allowed, errors, reasons: Object.fromEntries(reasons), storeCalls: trips / total }
  })
}

function newRunning(lane: CallersLane): Running {
  return { lane, calls: lane.callers * 2, rounds: [], counts: { total: 0, allowed: 0, errors: 0, trips: 0 }, reasons: new Map() }
}

async function warmUp(running: Running, batchMs: number): Promise<void> {
  const least = running.lane.callers * 2
  const until = performance.now() + WARM_UPS * batchMs
  let quickest = Number.POSITIVE_INFINITY
  while (performance.now() < until) {
    const started = performance.now()
    await spend(running.lane, running.calls, new Map())
    // A batch may be slow for many reasons, and quick for one.
    quickest = Math.min(quickest, (performance.now() - started) / running.calls)
    running.calls = Math.max(least, Math.min(Math.round(batchMs / quickest), running.calls * 10))
  }
}

async function measure({ lane, calls, rounds, counts, reasons }: Running, server: () => Schedule): Promise<void> {
  const trips = lane.sent().calls
  const before = { ran: server().ran, processor: process.cpuUsage() }
  const started = performance.now()
  const { allowed, errors } = await spend(lane, calls, reasons)
  const wall = (performance.now() - started) * 1e6
  const { user, system } = process.cpuUsage(before.processor)
  const [client, served] = [(user + system) * 1e3, server().ran - before.ran]
  // Where the system does not tell what the server ran, the time of the client alone would be too little.
  const own = served > 0 || lane.sent().calls === trips ? Math.min(wall, client + served) : wall
  rounds.push({ own: own / calls, wall: wall / calls, client: client / calls, server: served / calls })
  counts.total += calls
  counts.allowed += allowed
  counts.errors += errors
  counts.trips += lane.sent().calls - trips
}

/** So many requests, shared by the callers; errors are counted by their message. */
async function spend(
  { callers, ask, passed }: CallersLane,
  calls: number,
  reasons: Map<string, number>,
): Promise<{ readonly allowed: number; readonly errors: number }> {
  let [left, allowed, errors] = [calls, 0, 0]
  const caller = async (index: number): Promise<void> => {
    while (left > 0) {
      left -= 1
      try {
        if (passed(await ask(index))) allowed += 1
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
  return { allowed, errors }
}
