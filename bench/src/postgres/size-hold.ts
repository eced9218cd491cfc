import pgDriver from 'pg'
import { tokenBucket } from 'sluice'
import { pg, postgresStore } from 'sluice/postgres'
import { poolIn } from './pool.ts'

export interface SizeInput {
  readonly url: string
  readonly keys: number
}

export interface SizeResult {
  /**
   * Bytes per key of the table (with its maps and free space) and of its indexes: after the inserts (`made`), and after updates of half as
   * many keys (`updated`).
   */
  readonly made: { readonly table: number; readonly index: number }
  readonly updated: { readonly table: number; readonly index: number }
  readonly updates: number
  readonly hotPercent: number
}

const BATCH = 500
/** Statements that make rows at the same time. */
const FILLERS = 2

/** Charges each key once, then half as many random ones. Each key has an identity of 24 characters. */
export async function weighKeys({ url, keys }: SizeInput): Promise<SizeResult> {
  // Faster commits are allowed, because they do not change the size.
  const pool = await poolIn(url, 'size', FILLERS, '-c synchronous_commit=off')
  const store = postgresStore({ client: pg(pool), ring: false, sweepEveryMs: 0 })
  await store.migrate()
  const limit = tokenBucket({ rate: '333/h', burst: 1_000 })
  const scope = { text: 'size:tb:' }
  const group = (index: number) => ({
    calls: [{ id: { scope, key: `customer-number-${String(index).padStart(8, '0')}` }, limit, cost: 1_000_000, phase: 0 }],
  })
  const weigh = async (): Promise<{ table: number; index: number }> => {
    const { rows } = await pool.query<{ table: string; index: string }>(
      `select pg_table_size('sluice_state') as table, pg_indexes_size('sluice_state') as index`,
    )
    return { table: Number(rows[0]?.table) / keys, index: Number(rows[0]?.index) / keys }
  }
  let next = 0
  const filler = async (): Promise<void> => {
    while (next < keys) {
      const from = next
      next += BATCH
      await store.decide(Array.from({ length: BATCH }, (_, place) => group(from + place)))
    }
  }
  await Promise.all(Array.from({ length: FILLERS }, filler))
  const made = await weigh()
  for (let done = 0; done < keys / 2; done += BATCH) {
    await store.decide(Array.from({ length: BATCH }, () => group(Math.floor(Math.random() * keys))))
  }
  const updated = await weigh()
  // Ends the backends, because they report their counts once a second, or when they end.
  await pool.end()
  const reader = new pgDriver.Pool({ connectionString: url, max: 1 })
  const { rows } = await reader.query<{ updates: string; hot: string }>(
    `select n_tup_upd as updates, n_tup_hot_upd as hot from pg_stat_user_tables where schemaname = 'size' and relname = 'sluice_state'`,
  )
  await reader.end()
  const [updates, hot] = [Number(rows[0]?.updates), Number(rows[0]?.hot)]
  return { made, updated, updates, hotPercent: (hot / updates) * 100 }
}
