import type pg from 'pg'
import { secondsOf, type Way } from './way.ts'

const TABLE = 'create table level (id text primary key, tokens double precision not null, at timestamptz not null) with (fillfactor = 90)'

/** What a bucket has now: refilled since `at`, never above the burst. $2 is the rate (tokens a second), $3 the burst. */
const NOW = 'least($3, b.tokens + $2 * greatest(0, extract(epoch from clock_timestamp() - b.at)::double precision))'

/** Takes one token where there is one. Under READ COMMITTED whoever waited for the row decides on what the others left. */
const TAKE = {
  name: 'bench_take',
  text: `update level b set tokens = ${NOW} - 1, at = greatest(b.at, clock_timestamp()) where b.id = $1 and ${NOW} >= 1 returning b.tokens`,
}

/** No row was updated: there is none yet, or it has no token. The same as one statement, with the first request of a key. */
const BEGIN = {
  name: 'bench_begin',
  text: `insert into level as b (id, tokens, at) values ($1, $3::double precision - 1, clock_timestamp()) on conflict (id) do
    update set tokens = ${NOW} - 1, at = greatest(b.at, clock_timestamp()) where ${NOW} >= 1 returning b.tokens`,
}

/**
 * The least a shared limit can be in PostgreSQL: one prepared UPDATE by primary key, exact, on the server's clock, that answers with the
 * tokens left and nothing else. A denied request and the first of a key take a second statement.
 */
export const update: Way = {
  name: 'one prepared UPDATE',
  prepare: async (pool) => void (await pool.query(TABLE)),
  open: async (pool: pg.Pool, quota) => {
    const { refill } = secondsOf(quota)
    // The pool has a connection, and the statement a plan, before the first request.
    await pool.query({ ...TAKE, values: ['', refill, quota.burst] })
    return {
      invoke: async (key) => {
        const values = [key, refill, quota.burst]
        const { rows } = await pool.query({ ...TAKE, values })
        if (rows.length === 1) return true
        return (await pool.query({ ...BEGIN, values })).rows.length === 1
      },
      close: async () => {},
    }
  },
}
