import { disturbanceMeter, disturbedBy } from '../machine/disturbance.ts'

/**
 * The times of one batch, in nanoseconds per decided request. So undecided requests do not make a lane (a measured limiter) look faster.
 */
export interface Round {
  /** Wall time. With one caller this is the latency of a request. */
  readonly wall: number
  /** Processor time of all threads of the client process, and of the server. The server's is 0 if it is not known. */
  readonly client: number
  readonly server: number
}

/** One batch of requests and their results. */
export interface Batch {
  readonly round: Round
  readonly total: number
  readonly allowed: number
  readonly errors: number
  /** The number of errors by message. */
  readonly reasons: Readonly<Record<string, number>>
  /** Round trips to the server. */
  readonly trips: number
}

/** A lane (a measured limiter) that is controlled by calls, in this process or another. */
export interface LaneHandle {
  readonly name: string
  readonly callers: number
  /** Runs the lane (a measured limiter) until its code is compiled, and finds how many requests a batch should have. */
  warmUp(): Promise<void>
  batch(): Promise<Batch>
}

export interface CallersTimed {
  readonly name: string
  readonly callers: number
  readonly rounds: readonly Round[]
  readonly total: number
  readonly allowed: number
  readonly errors: number
  readonly reasons: Readonly<Record<string, number>>
  /** Round trips to the server per request. */
  readonly storeCalls: number
  /** What else used the machine during the measured limiter's batches, in words. */
  readonly disturbed?: string
}

const MIN_ROUNDS = 7

/**
 * Runs batches of the lanes (limiters) in turns, A B C C B A. So other load on the machine affects all lanes alike. The rounds take
 * `seconds` seconds, but there are at least `MIN_ROUNDS` rounds. Lanes in processes of their own may warm up concurrently (`concurrent` at
 * a time), because nothing is counted yet.
 */
export async function interleaveLanes(lanes: readonly LaneHandle[], seconds: number, concurrent: number = 1): Promise<CallersTimed[]> {
  for (let at = 0; at < lanes.length; at += concurrent) await Promise.all(lanes.slice(at, at + concurrent).map((lane) => lane.warmUp()))
  const all = lanes.map((lane) => ({ lane, batches: [] as Batch[], meter: disturbanceMeter() }))
  const until = performance.now() + seconds * 1_000
  for (let round = 0; round < MIN_ROUNDS || performance.now() < until; round += 1) {
    for (const { lane, batches, meter } of round % 2 === 0 ? all : all.toReversed()) {
      meter.begin()
      batches.push(await lane.batch())
      meter.end()
    }
  }
  return all.map(({ lane: { name, callers }, batches, meter }) => {
    const sum = (of: (batch: Batch) => number): number => batches.reduce((total, batch) => total + of(batch), 0)
    const total = sum((batch) => batch.total)
    return {
      name,
      callers,
      rounds: batches.map(({ round }) => round),
      total,
      allowed: sum(({ allowed }) => allowed),
      errors: sum(({ errors }) => errors),
      reasons: addedUp(batches),
      storeCalls: sum(({ trips }) => trips) / total,
      ...disturbedBy(meter),
    }
  })
}

function addedUp(batches: readonly Batch[]): Record<string, number> {
  const reasons = new Map<string, number>()
  for (const batch of batches)
    for (const [reason, times] of Object.entries(batch.reasons)) reasons.set(reason, (reasons.get(reason) ?? 0) + times)
  return Object.fromEntries(reasons)
}
