import { tokenBucket } from 'sluice'
import { pg, postgresStore, type PostgresPort } from 'sluice/postgres'
import { audit, type Audit, type TraceEntry } from 'sluice/testing'
import { RINGS } from '../redis/rings.ts'
import { poolIn } from './pool.ts'

export interface GrantInput {
  readonly url: string
  readonly seconds: number
  readonly ring: 'bare' | 'sluice'
}

export interface GrantResult {
  readonly total: number
  readonly audit: Audit
  /** The number of statements that the server ended because of a deadlock, also those that the store tried again. */
  readonly deadlocks: number
}

const CLIENTS = 64
/** Milliseconds. So long that every call is answered, even on a slow machine. */
const MAX_WAIT_MS = 10_000
const RATE = { rate: '200/s', burst: 50 }

/**
 * Runs clients on one key, half of them with groups of four limits in random order. Compares what they were allowed with the limit, by the
 * database's timestamps.
 */
export async function auditClients({ url, seconds, ring }: GrantInput): Promise<GrantResult> {
  const pool = await poolIn(url, `grant_${ring}`, CLIENTS)
  const { client: counted, deadlocks } = countingDeadlocks(pg(pool))
  const store = postgresStore({ client: counted, ring: RINGS[ring] })
  await store.migrate()
  const limit = tokenBucket(RATE)
  const wide = tokenBucket({ rate: '1000000/s', burst: 1_000_000 })
  const scope = { text: 'grant:' }
  const call = (key: string, of = limit) => ({ id: { scope, key }, limit: of, cost: 1_000_000, phase: 0 })
  const seen: TraceEntry[] = []
  const until = performance.now() + seconds * 1_000
  const client = async (index: number): Promise<void> => {
    // Every client calls, and some call again, also if making the connections takes all of the time.
    while (performance.now() < until || seen.length <= CLIENTS) {
      const others = ['a', 'b', 'c', 'd'].map((key) => ({ key, place: Math.random() })).sort((one, two) => one.place - two.place)
      const calls = index % 2 === 0 ? [call('hot')] : [...others.slice(1).map(({ key }) => call(key, wide)), call('hot')]
      const [verdict] = await store.decide([{ calls }], { deadline: performance.now() + MAX_WAIT_MS })
      if (verdict?.calls === undefined) throw verdict?.failure ?? new Error('no verdict')
      seen.push({ at: verdict.at, cost: 1, allowed: verdict.outcome === 'allowed' })
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, (_, index) => client(index)))
  await pool.end()
  return { total: seen.length, audit: audit(seen, limit), deadlocks: deadlocks() }
}

/** Counts the deadlocks of this client alone. The server counts them by database, and others may use the same database. */
function countingDeadlocks(client: PostgresPort): { client: PostgresPort; deadlocks: () => number } {
  let deadlocks = 0
  const query: PostgresPort['query'] = (text, values) =>
    client.query(text, values).catch((error: unknown) => {
      if ((error as { code?: unknown } | null)?.code === '40P01') deadlocks++
      throw error
    })
  return { client: { ...client, query }, deadlocks: () => deadlocks }
}
