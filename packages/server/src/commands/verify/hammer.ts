import { type StateId, type Store, StoreFailure, tokenBucket } from 'sluice'

/** Each caller sends its next call once the previous one is answered. */
export interface Task {
  readonly url: string
  /** Prefix or schema that separates the test's states from others. */
  readonly space: string
  readonly rate: string
  readonly burst: number
  readonly callers: number
  readonly ms: number
}

export interface Tally {
  readonly total: number
  /** Store time of every admission, in microseconds since 1970. */
  readonly allowed: readonly number[]
  /** NaN if there was no answer. */
  readonly first: number
  readonly last: number
  /** By kind of failure. */
  readonly errors: Readonly<Record<string, number>>
}

/** Milliseconds after which an answer counts as missing. */
const MAX_WAIT_MS = 5_000

export const STATE: StateId = { scope: { text: 'verify:limit:tb:' }, key: 'one' }

/** One token in micro-tokens. */
const COST = 1e6

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
