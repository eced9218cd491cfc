import type pg from 'pg'
import { pg as port, postgresStore } from 'sluice/postgres'
import type { TraceEntry } from 'sluice/testing'
import type { Quota } from '../contestants/contestant.ts'
import { fillRows, NOW_MICROS, secondsOf, SPENT, type Way } from './way.ts'

/**
 * The function of the article "Rate limiting with PostgreSQL / YugabyteDB", written anew. One update takes a token and adds the refill
 * since the last call. The update rounds to whole tokens and keeps their number between -1 and the capacity. If there is no row, an insert
 * makes it.
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

/** The two measured functions. Both have the arguments of the article's function, and return the whole tokens that are left, or -1. */
export type FunctionName = 'take_token' | 'rate_limiting_token_bucket_request'

export interface Taken {
  readonly left: number
  /** The database's clock in microseconds, read after the function, while the row is still locked. Only if it was requested. */
  readonly at?: string
}

/** Calls the function `of` with a statement that is prepared once for each connection, as the store's statements are. */
export async function takeToken(
  client: pg.Pool | pg.PoolClient,
  of: FunctionName,
  [key, refill, window]: readonly [key: string, refill: number, window: number],
  note: boolean = false,
): Promise<Taken> {
  const at = note ? `, ${NOW_MICROS} as at` : ''
  const values = [key, refill, window]
  const { rows } = await client.query<Taken>({
    name: `bench_${of}${note ? '_at' : ''}`,
    text: `select ${of}($1, $2, $3) as left${at}`,
    values,
  })
  return rows[0] ?? { left: Number.NaN }
}

/** The function of the article "Rate limiting with PostgreSQL / YugabyteDB", under READ COMMITTED. */
export const article: Way = functionWay('take_token', {
  name: 'the article’s function',
  kind: 'baseline',
  prepare: async (pool) => void (await pool.query(FUNCTION)),
  fill: (pool, { burst }, keys) =>
    fillRows(pool, keys, 'insert into bucket select id, $2, clock_timestamp() from unnest($1::text[]) as id', [
      Math.floor(burst * (1 - SPENT)),
    ]),
})

/**
 * The function that Sluice creates, with its table. It has the name of the function in the article "Rate limiting with PostgreSQL /
 * YugabyteDB".
 */
export const compatFunction: Way = functionWay('rate_limiting_token_bucket_request', {
  name: 'Sluice, its function of the same name',
  kind: 'ours',
  prepare: (pool) => postgresStore({ client: port(pool) }).migrate({ compatFunction: true }),
})

function functionWay(of: FunctionName, way: Pick<Way, 'name' | 'kind' | 'prepare' | 'fill'>): Way {
  return {
    ...way,
    instants: 'after',
    open: async (pool, quota, { note = false } = {}) => {
      const { refill, window } = wholeSeconds(quota)
      const admitted: TraceEntry[] = []
      // Makes the pool open a connection before the first request.
      await pool.query('select 1')
      return {
        ...(note ? { admitted } : {}),
        invoke: async (key) => {
          const { left, at } = await takeToken(pool, of, [key, refill, window], note)
          if (note && left >= 0) admitted.push({ at: Number(at), cost: 1, allowed: true })
          return left >= 0
        },
        close: async () => {},
      }
    },
  }
}

/** The arguments of the function are whole numbers. A rate below one token a second becomes 0, under which every request is refused. */
function wholeSeconds(quota: Quota): { readonly refill: number; readonly window: number } {
  const { refill, window } = secondsOf(quota)
  return refill < 1 ? { refill: 0, window: 1 } : { refill, window }
}
