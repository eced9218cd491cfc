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
  /** From the first request until the last answer, in milliseconds. */
  readonly elapsedMs: number
}

/** Time before the first arrival, in milliseconds. */
const LEAD_MS = 2
/** Milliseconds after the last arrival until unanswered requests count as undecided. */
const PATIENCE_MS = 10_000
const MICROS = 1_000

/**
 * Makes requests at the given instants (milliseconds, in order), and measures each from the instant at which it was due (no coordinated
 * omission). The event loop runs without a pause. A timer would fire at whole milliseconds and make arrivals in bunches, which favours ways
 * that batch calls. Each turn makes one request at most, because a server also reads its sockets one after the other.
 */
export function openLoop({ invoke, passed }: Target, arrivals: Float64Array): Promise<OpenRound> {
  const total = arrivals.length
  const [latencies, lates] = [new Float64Array(total).fill(Number.NaN), new Float64Array(total)]
  const reasons = new Map<string, number>()
  let [next, answered, allowed, undecided, first, last] = [0, 0, 0, 0, 0, 0]
  return new Promise((resolve) => {
    const started = performance.now() + LEAD_MS
    let patience: NodeJS.Timeout | undefined
    const finish = (): void => {
      clearTimeout(patience)
      const lost = total - answered
      const waited = performance.now() - started
      for (const [index, latency] of latencies.entries()) if (Number.isNaN(latency)) latencies[index] = waited - (arrivals[index] as number)
      if (lost > 0) reasons.set('never answered', lost)
      resolve({
        total,
        allowed,
        refused: answered - allowed - undecided,
        undecided: undecided + lost,
        reasons: Object.fromEntries(reasons),
        latency: quantiles(latencies),
        late: quantiles(lates),
        elapsedMs: last - first,
      })
    }
    const settle = (index: number, decide: () => boolean): void => {
      // A request that is answered after the end was already counted as undecided.
      if (!Number.isNaN(latencies[index])) return
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
      if (answered === total) finish()
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
        lates[next] = now - (arrivals[next] as number)
        if (next === 0) first = performance.now()
        next += 1
        fire(next - 1)
      }
      if (next < total) return void setImmediate(turn)
      patience = setTimeout(finish, PATIENCE_MS)
      if (answered === total) clearTimeout(patience)
    }
    if (total === 0) return finish()
    setImmediate(turn)
  })
}

function quantiles(values: Float64Array): { p50: number; p99: number; longest: number } {
  const all = sorted(values)
  const at = (share: number): number => quantileOf(all, share) * MICROS
  return { p50: at(0.5), p99: at(0.99), longest: at(1) }
}
