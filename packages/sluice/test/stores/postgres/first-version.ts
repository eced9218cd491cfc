import type pgDriver from 'pg'
import type { TokenBucketOptions } from '../../../src/index.ts'
import { tokenBucket } from '../../../src/index.ts'
import { migrations } from '../../../src/stores/postgres/programs.gen.ts'

const CONSUME = `select sluice_consume_v1($1::bigint, $2::boolean, string_to_array($3, ' '), string_to_array($4, ' ')::int[], string_to_array($5, ' ')::bigint[])::text as reply`

/** What the first version answers about one call. */
export interface FirstAnswer {
  readonly outcome: number
  readonly at: number
  readonly retryAfter: number
  readonly remaining: number
}

/** The tables and functions of the first version, with its ledger. */
export async function firstTables(pool: pgDriver.Pool): Promise<void> {
  const [{ name, sha256, source }] = migrations as [(typeof migrations)[number]]
  await pool.query(source)
  await pool.query(
    'create table sluice_migrations (name text primary key, sha256 text not null, applied_at timestamptz not null default now())',
  )
  await pool.query('insert into sluice_migrations (name, sha256) values ($1, $2)', [name, sha256])
}

/** A process of the first version: the statement that it sends, with its two tries after a conflict. */
export function firstVersion(pool: pgDriver.Pool, options: TokenBucketOptions) {
  const { plan } = tokenBucket(options)
  const ask = async (name: string, now: number, charging: boolean, tries = 0): Promise<FirstAnswer> => {
    try {
      const values = [String(now), String(charging), name, '1', `1 1000000 ${plan.n} ${plan.m} ${plan.burst}`]
      const { rows } = await pool.query<{ reply: string }>(CONSUME, values)
      const [, at = Number.NaN, outcome = Number.NaN, retryAfter = Number.NaN, remaining = Number.NaN] = (rows[0]?.reply ?? '')
        .slice(1, -1)
        .split(',')
        .map(Number)
      return { outcome, at, retryAfter, remaining }
    } catch (error) {
      const conflict = typeof error === 'object' && error !== null && 'code' in error && (error.code === '40001' || error.code === '40P01')
      if (!conflict || tries >= 2) throw error
      return ask(name, now, charging, tries + 1)
    }
  }
  return {
    consume: (name: string, now = 0) => ask(name, now, true),
    peek: (name: string, now = 0) => ask(name, now, false),
  }
}
