import pgDriver from 'pg'
import { tokenBucket } from 'sluice'
import { pg, postgresStore } from 'sluice/postgres'
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
  /** That the server counted meanwhile. */
  readonly deadlocks: number
}

const CLIENTS = 64
/** Every call is to be answered, however slow the machine. */
const MAX_WAIT_MS = 10_000
const RATE = { rate: '200/s', burst: 50 }

/** Clients on one key, half of them with groups of four limits in random order, audited by the database's timestamps. */
export async function auditClients({ url, seconds, ring }: GrantInput): Promise<GrantResult> {
  const pool = await poolIn(url, `grant_${ring}`, CLIENTS)
  const store = postgresStore({ client: pg(pool), ring: RINGS[ring] })
  await store.migrate()
  const limit = tokenBucket(RATE)
  const wide = tokenBucket({ rate: '1000000/s', burst: 1_000_000 })
  const scope = { text: 'grant:' }
  const call = (key: string, of = limit) => ({ id: { scope, key }, limit: of, cost: 1_000_000, phase: 0 })
  const seen: TraceEntry[] = []
  const before = await deadlocksOf(pool)
  const until = performance.now() + seconds * 1_000
  const client = async (index: number): Promise<void> => {
    while (performance.now() < until) {
      const others = ['a', 'b', 'c', 'd'].map((key) => ({ key, place: Math.random() })).sort((one, two) => one.place - two.place)
      const calls = index % 2 === 0 ? [call('hot')] : [...others.slice(1).map(({ key }) => call(key, wide)), call('hot')]
      const [verdict] = await store.decide([{ calls }], { deadline: performance.now() + MAX_WAIT_MS })
      if (verdict?.calls === undefined) throw verdict?.failure ?? new Error('no verdict')
      seen.push({ at: verdict.at, cost: 1, allowed: verdict.outcome === 'allowed' })
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, (_, index) => client(index)))
  // Backends report their counts once a second, or when they end.
  await pool.end()
  const reader = new pgDriver.Pool({ connectionString: url, max: 1 })
  const after = await deadlocksOf(reader)
  await reader.end()
  return { total: seen.length, audit: audit(seen, limit), deadlocks: after - before }
}

async function deadlocksOf(pool: pgDriver.Pool): Promise<number> {
  const { rows } = await pool.query<{ deadlocks: string }>('select sum(deadlocks) as deadlocks from pg_stat_database')
  return Number(rows[0]?.deadlocks)
}
