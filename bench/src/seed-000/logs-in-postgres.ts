import { slidingWindowLog } from 'sluice'
import { pg, postgresStore } from 'sluice/postgres'
import { poolIn } from '../postgres/pool.ts'
import type { LogsInput, LogsResult } from './logs-in-memory.ts'

export interface RowsInput extends LogsInput {
  readonly url: string
}

/** As `LogsResult`; and the bytes without the dead versions of rows, which a vacuum removes. */
export interface RowsResult extends LogsResult {
  readonly vacuumedPerUser: number
}

const BATCH = 500
const ONE = 1_000_000
const MAX_WAIT_MS = 60_000

/** Fills the logs in rounds over all users, and measures table and indexes. */
export async function weighRows({ url, users, entries }: RowsInput): Promise<RowsResult> {
  // Faster commits are allowed, because they do not change the size.
  const pool = await poolIn(url, 'logs', 1, '-c synchronous_commit=off')
  const store = postgresStore({ client: pg(pool), ring: false, sweepEveryMs: 0 })
  await store.migrate()
  const limit = slidingWindowLog({ limit: entries, window: '1d' })
  const scope = { text: 'logs:' }
  const names = Array.from({ length: users }, (_, index) => `user:${String(index).padStart(19, '0')}`)
  /** Charges every user once; returns how many were admitted. */
  const round = async (): Promise<number> => {
    let admitted = 0
    for (let from = 0; from < users; from += BATCH) {
      const groups = names.slice(from, from + BATCH).map((key) => ({ calls: [{ id: { scope, key }, limit, cost: ONE, phase: 0 }] }))
      const verdicts = await store.decide(groups, { deadline: performance.now() + MAX_WAIT_MS })
      for (const { outcome, failure } of verdicts) {
        if (failure !== undefined) throw failure
        if (outcome === 'allowed') admitted += 1
      }
    }
    return admitted
  }
  let refused = 0
  for (let entry = 0; entry < entries; entry += 1) refused += users - (await round())
  const size = async (): Promise<number> => {
    const { rows } = await pool.query<{ bytes: string }>(`select pg_total_relation_size('sluice_state') as bytes`)
    return Number(rows[0]?.bytes) / users
  }
  const bytesPerUser = await size()
  const beyond = await round()
  await pool.query('vacuum full sluice_state')
  const vacuumedPerUser = await size()
  await store.close()
  await pool.end()
  return { bytesPerUser, vacuumedPerUser, refused, beyond }
}
