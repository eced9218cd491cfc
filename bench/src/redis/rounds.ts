/** What one batch took, in nanoseconds per decided request: a request without a decision by its deadline saves no time. */
export interface Round {
  /** Time that passed. With one caller this is the latency of a request. */
  readonly wall: number
  /** Processor time of the client process, all threads, and of the server; the server's is 0 where it is not known. */
  readonly client: number
  readonly server: number
}

/** One batch of requests and what became of them. */
export interface Batch {
  readonly round: Round
  readonly total: number
  readonly allowed: number
  readonly errors: number
  /** Message of an error -> how often. */
  readonly reasons: Readonly<Record<string, number>>
  /** Trips to the server. */
  readonly trips: number
}

/** A lane that is started by orders, wherever it runs. */
export interface LaneHandle {
  readonly name: string
  readonly callers: number
  /** Runs until compiled, and finds out how many requests a batch should be. */
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
  /** Trips to the server per request. */
  readonly storeCalls: number
}

const MIN_ROUNDS = 7

/**
 * Gives every lane batches in turns, A B C C B A, so that whatever else the machine does falls on all of them alike, for so many seconds and at least
 * `MIN_ROUNDS` rounds. Lanes in processes of their own may warm up several at once (`concurrent`): nothing is counted yet.
 */
export async function interleaveLanes(lanes: readonly LaneHandle[], seconds: number, concurrent: number = 1): Promise<CallersTimed[]> {
  for (let at = 0; at < lanes.length; at += concurrent) await Promise.all(lanes.slice(at, at + concurrent).map((lane) => lane.warmUp()))
  const all = lanes.map((lane) => ({ lane, batches: [] as Batch[] }))
  const until = performance.now() + seconds * 1_000
  for (let round = 0; round < MIN_ROUNDS || performance.now() < until; round += 1) {
    for (const { lane, batches } of round % 2 === 0 ? all : all.toReversed()) batches.push(await lane.batch())
  }
  return all.map(({ lane: { name, callers }, batches }) => {
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
    }
  })
}

function addedUp(batches: readonly Batch[]): Record<string, number> {
  const reasons = new Map<string, number>()
  for (const batch of batches)
    for (const [reason, times] of Object.entries(batch.reasons)) reasons.set(reason, (reasons.get(reason) ?? 0) + times)
  return Object.fromEntries(reasons)
}
