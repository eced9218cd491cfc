import { sorted, quantileOf } from '../result/statistics.ts'

/** The measured code: makes one request, by its number. */
export interface Target {
  invoke(index: number): Promise<unknown>
  /** Whether the answer lets the request pass. @throws if nothing was decided */
  passed(answer: unknown): boolean
}

/** The results of requests that came whether or not earlier ones were answered. Times are in microseconds. */
export interface OpenRound {
  readonly total: number
  readonly allowed: number
  readonly refused: number
  /** Requests without a decision: late, refused by a breaker or a queue, failed, or never answered. */
  readonly undecided: number
  /** The number of undecided requests by message. */
  readonly reasons: Readonly<Record<string, number>>
  /** Time from the instant at which a request was due until its answer, also of undecided ones. It includes the wait for its turn. */
  readonly latency: { readonly p50: number; readonly p99: number; readonly longest: number }
  /** Time from the instant at which a request was due until it was made, because this process was busy. It is part of the latency. */
  readonly late: { readonly p50: number; readonly p99: number }
  /** Milliseconds from the first request until the last answer. */
  readonly elapsedMs: number
}

/** Time before the first arrival, in milliseconds. */
const LEAD_MS = 2
/** Milliseconds after the last arrival until unanswered requests count as undecided. */
const PATIENCE_MS = 10_000
const MICROS = 1_000

/**
 * Makes requests at the given instants (milliseconds, in order), and measures each from the instant at which it was due (no coordinated
 * omission). The event loop runs without a pause. A timer would fire at whole milliseconds and make arrivals in bunches, which favours
 * limiters that batch calls. Each turn makes one request at most, because a server also reads its sockets one after the other.
 */
export function openLoop({ invoke, passed }: Target, arrivals: Float64Array): Promise<OpenRound> {
  const total = arrivals.length
  const started = performance.now() + LEAD_MS
  const tally = createTally(arrivals, started)
  let next = 0
  return new Promise((resolve) => {
    let patience: NodeJS.Timeout | undefined
    const finish = (): void => {
      clearTimeout(patience)
      resolve(tally.end())
    }
    const settle = (index: number, decide: () => boolean): void => {
      if (tally.answered(index, decide)) finish()
    }
    const fire = (index: number): void => {
      const fail = (error: unknown): void =>
        settle(index, () => {
          throw error
        })
      try {
        invoke(index).then((answer) => settle(index, () => passed(answer)), fail)
      } catch (error) {
        fail(error)
      }
    }
    const turn = (): void => {
      const now = performance.now() - started
      if (now >= (arrivals[next] as number)) {
        tally.made(next, now)
        next += 1
        fire(next - 1)
      }
      if (next < total) return void setImmediate(turn)
      patience = setTimeout(finish, PATIENCE_MS)
      if (tally.isComplete()) clearTimeout(patience)
    }
    if (total === 0) return finish()
    setImmediate(turn)
  })
}

/** The results of a round, as they come in. @param started the instant from which `arrivals` count */
function createTally(arrivals: Float64Array, started: number) {
  const total = arrivals.length
  const [latencies, lates] = [new Float64Array(total).fill(Number.NaN), new Float64Array(total)]
  const reasons = new Map<string, number>()
  let [answered, allowed, undecided, first, last] = [0, 0, 0, 0, 0]
  const isComplete = (): boolean => answered === total
  return {
    isComplete,
    /** Counts a request that is made `at` milliseconds after the start. */
    made(index: number, at: number): void {
      lates[index] = at - (arrivals[index] as number)
      if (index === 0) first = performance.now()
    },
    /** Counts the answer of a request. @returns whether it was the last one that was missing */
    answered(index: number, decide: () => boolean): boolean {
      // A request that is answered after the end was already counted as undecided.
      if (!Number.isNaN(latencies[index])) return false
      last = performance.now()
      latencies[index] = last - started - (arrivals[index] as number)
      try {
        if (decide()) allowed += 1
      } catch (error) {
        undecided += 1
        const message = error instanceof Error ? error.message : String(error)
        reasons.set(message, (reasons.get(message) ?? 0) + 1)
      }
      answered += 1
      return isComplete()
    },
    /** Ends the round: requests without an answer count as undecided. */
    end(): OpenRound {
      const lost = total - answered
      const waited = performance.now() - started
      for (const [index, latency] of latencies.entries()) if (Number.isNaN(latency)) latencies[index] = waited - (arrivals[index] as number)
      if (lost > 0) reasons.set('never answered', lost)
      return {
        total,
        allowed,
        refused: answered - allowed - undecided,
        undecided: undecided + lost,
        reasons: Object.fromEntries(reasons),
        latency: quantiles(latencies),
        late: quantiles(lates),
        elapsedMs: last - first,
      }
    },
  }
}

function quantiles(values: Float64Array): { p50: number; p99: number; longest: number } {
  const all = sorted(values)
  const at = (share: number): number => quantileOf(all, share) * MICROS
  return { p50: at(0.5), p99: at(0.99), longest: at(1) }
}
