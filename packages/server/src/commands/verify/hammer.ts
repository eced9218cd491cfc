import { type StateId, type Store, StoreFailure, tokenBucket } from 'sluice'

/**
 * The load of one process: `callers` concurrent callers on one key. Each caller sends its next call as soon as the previous one is
 * answered.
 */
export interface Task {
  readonly url: string
  /** A prefix or schema that separates the test's states from all others in the store. */
  readonly space: string
  readonly rate: string
  readonly burst: number
  readonly callers: number
  readonly ms: number
}

/** The counts of one process. */
export interface Tally {
  readonly total: number
  /** Store time of every admission, in microseconds since 1970. */
  readonly allowed: readonly number[]
  /** Store time of the first and the last answer; NaN if there was none. */
  readonly first: number
  readonly last: number
  /** Calls that the store did not answer, by kind of failure. */
  readonly errors: Readonly<Record<string, number>>
}

/** Milliseconds after which an answer counts as missing. */
const MAX_WAIT_MS = 5_000

/** The only state that the test uses. */
export const STATE: StateId = { scope: { text: 'verify:limit:tb:' }, key: 'one' }

/** One token in micro-tokens. */
const COST = 1e6

/** Calls the store for one key with several concurrent callers for `ms` milliseconds, and records the answers with their store time. */
export async function hammer(store: Store, { rate, burst, callers, ms }: Task): Promise<Tally> {
  const limit = tokenBucket({ rate, burst })
  const groups = [{ calls: [{ id: STATE, limit, cost: COST, phase: 0 }] }]
  const allowed: number[] = []
  const errors: Record<string, number> = {}
  let [total, first, last] = [0, Number.NaN, Number.NaN]
  const until = performance.now() + ms
  const caller = async (): Promise<void> => {
    while (performance.now() < until) {
      total += 1
      try {
        const [verdict] = await store.decide(groups, { deadline: performance.now() + MAX_WAIT_MS })
        if (verdict?.calls === undefined) throw verdict?.failure ?? new Error('no verdict')
        const { at, outcome } = verdict
        if (!(at > first)) first = at
        if (!(at <= last)) last = at
        if (outcome === 'allowed') allowed.push(at)
      } catch (error) {
        const kind = error instanceof StoreFailure ? error.kind : 'other'
        errors[kind] = (errors[kind] ?? 0) + 1
        // Without a pause a store that refuses at once would be called in a tight loop.
        await new Promise((resolve) => setTimeout(resolve, 1))
      }
    }
  }
  await Promise.all(Array.from({ length: callers }, caller))
  return { total, allowed, first, last, errors }
}
