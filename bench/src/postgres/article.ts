import type pg from 'pg'
import { secondsOf, type Way } from './way.ts'

/**
 * What the article does, in our words: one update that takes a token and adds what has flowed in since the last call, rounded to whole
 * tokens and bounded by -1 and the window's; an insert where there was no row.
 */
const FUNCTION = `create table bucket (id text primary key, tk bigint not null, ts timestamptz not null);
create function take_token(who text, refill int, capacity int) returns int language plpgsql as $$
declare
  remaining int;
begin
  update bucket b
    set tk = greatest(-1, least(refill * capacity, b.tk - 1 + refill * extract(epoch from clock_timestamp() - b.ts))), ts = now()
    where b.id = who returning b.tk into remaining;
  if remaining is null then
    insert into bucket (id, tk, ts) values (who, refill * capacity - 1, clock_timestamp()) returning tk into remaining;
  end if;
  return remaining;
end $$`

/** Prepared once for each connection, as the statements of the store are. */
const TAKE = { name: 'bench_take_token', text: 'select take_token($1, $2, $3) as left' }

/** Makes the article's table and function in the pool's schema. */
export async function makeArticle(pool: pg.Pool): Promise<void> {
  await pool.query(FUNCTION)
}

export async function takeToken(client: pg.Pool | pg.PoolClient, key: string, refill: number, window: number): Promise<number> {
  const { rows } = await client.query<{ left: number }>({ ...TAKE, values: [key, refill, window] })
  return rows[0]?.left ?? Number.NaN
}

/** The function of Rate limiting with PostgreSQL / YugabyteDB, under READ COMMITTED. */
export const article: Way = {
  name: 'the article’s function',
  prepare: makeArticle,
  open: async (pool, quota) => {
    const { refill, window } = secondsOf(quota)
    // The pool has a connection before the first request.
    await pool.query('select 1')
    return { invoke: async (key) => (await takeToken(pool, key, refill, window)) >= 0, close: async () => {} }
  },
}
