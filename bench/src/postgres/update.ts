import type pg from 'pg'
import type { TraceEntry } from 'sluice/testing'
import { fillRows, NOW_MICROS, secondsOf, SPENT, type Way } from './way.ts'

const TABLE = 'create table level (id text primary key, tokens double precision not null, at timestamptz not null) with (fillfactor = 90)'

/** The present tokens of a bucket: refilled since `at`, but never above the burst. $2 is the rate (tokens a second), $3 the burst. */
const NOW = 'least($3, b.tokens + $2 * greatest(0, extract(epoch from clock_timestamp() - b.at)::double precision))'

/** Takes one token if there is one. Under READ COMMITTED an update that waited for the row lock decides on the updated row. */
const TAKE = {
  name: 'bench_take',
  change: `update level b set tokens = ${NOW} - 1, at = greatest(b.at, clock_timestamp()) where b.id = $1 and ${NOW} >= 1`,
  otherwise: '(select -1 from level where id = $1)',
}

/**
 * Inserts the row of a key at its first request. If another connection has inserted the row meanwhile, it updates the row as `TAKE` does.
 */
const BEGIN = {
  name: 'bench_begin',
  change: `insert into level as b (id, tokens, at) values ($1, $3::double precision - 1, clock_timestamp()) on conflict (id) do
    update set tokens = ${NOW} - 1, at = greatest(b.at, clock_timestamp()) where ${NOW} >= 1`,
  otherwise: '-1',
}

/**
 * Returns the remaining tokens; -1 for a denied request, which writes nothing and so waits for no commit; null if the key has no row. With
 * `note` it also returns the database's time of the change, read while the row is still locked.
 */
function statementOf({ name, change, otherwise }: typeof TAKE, note: boolean): { readonly name: string; readonly text: string } {
  const [returned, selected] = note ? [`, ${NOW_MICROS} as at`, ', (select at from taken) as at'] : ['', '']
  return {
    name: `${name}${note ? '_at' : ''}`,
    text: `with taken as (${change} returning b.tokens${returned})
      select coalesce((select tokens from taken), ${otherwise}) as left${selected}`,
  }
}

interface Taken {
  readonly left: number | null
  readonly at?: string | null
}

/**
 * The simplest exact limit in PostgreSQL: one prepared UPDATE by primary key, on the server's clock, that returns only the remaining
 * tokens. Only the first request of a key needs a second statement.
 */
export const update: Way = {
  name: 'one prepared UPDATE',
  kind: 'baseline',
  instants: 'after',
  prepare: async (pool) => void (await pool.query(TABLE)),
  fill: (pool, { burst }, keys) =>
    fillRows(pool, keys, 'insert into level select id, $2, clock_timestamp() from unnest($1::text[]) as id', [burst * (1 - SPENT)]),
  open: async (pool: pg.Pool, quota, { note = false } = {}) => {
    const { refill } = secondsOf(quota)
    const [take, begin] = [statementOf(TAKE, note), statementOf(BEGIN, note)]
    // Opens a connection and plans the statement before the first request.
    await pool.query({ ...take, values: ['', refill, quota.burst] })
    const admitted: TraceEntry[] = []
    return {
      ...(note ? { admitted } : {}),
      invoke: async (key) => {
        const values = [key, refill, quota.burst]
        const run = async (statement: typeof take): Promise<Taken> => (await pool.query<Taken>({ ...statement, values })).rows[0] as Taken
        let { left, at } = await run(take)
        if (left === null) ({ left, at } = await run(begin))
        const allowed = (left as number) >= 0
        if (note && allowed) admitted.push({ at: Number(at), cost: 1, allowed })
        return allowed
      },
      close: async () => {},
    }
  },
}
