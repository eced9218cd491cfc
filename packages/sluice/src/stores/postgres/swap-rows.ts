import type { Micros } from '../../time/micros.ts'
import { StoreFailure } from '../store.ts'
import type { Row } from './asking.ts'

/** A row as read. `version` differs after each change; a row that does not exist has version 0. */
export interface Stored {
  readonly version: string
  readonly until: Micros
  /** The codec's numbers; empty for a row with only a block, and after a reset. */
  readonly numbers: readonly number[]
}

/** A row to write if its version is unchanged. */
export interface Write {
  readonly id: string
  readonly version: string
  readonly freshAt: Micros
  readonly numbers: readonly number[]
}

export interface SwapStatements {
  readonly migrate: string
  readonly read: string
  readonly make: string
  readonly change: string
  readonly writeAll: string
  readonly block: string
  readonly unblock: string
  readonly reset: string
  readonly sweep: string
}

const NOW = '(extract(epoch from clock_timestamp()) * 1000000)::bigint'

/**
 * Plain statements on one table whose primary key is a digest, so that rows are spread over all nodes, by hash or by range. `version`
 * shows whether a row changed since it was read; it is random, because a row may be deleted and inserted again.
 */
export function swapStatements(table: string): SwapStatements {
  const own = `${table}_swap`
  return {
    migrate: `create table if not exists ${own} (id uuid primary key, version bigint not null, previous bigint not null default 0, fresh bigint not null default 0, until bigint, numbers text not null default '')`,
    read: `select t.now::text as now, r.id::text as id, r.version::text as version, r.until::text as until, r.numbers from (select ${NOW} as now) t left join ${own} r on r.id = any($1::text::uuid[])`,
    make: `insert into ${own} (id, version, fresh, numbers) values ($1::text::uuid, $2::text::bigint, $3::text::bigint, $4::text) on conflict (id) do nothing returning 1 as many`,
    change: `update ${own} set version = $2::text::bigint, fresh = $3::text::bigint, numbers = $4::text where id = $1::text::uuid and version = $5::text::bigint returning 1 as many`,
    // Dividing by zero rolls back the whole statement if one of the rows has changed.
    writeAll: `with written as (
  insert into ${own} as r (id, version, previous, fresh, numbers)
  select * from unnest($1::text::uuid[], $2::text::bigint[], $3::text::bigint[], $4::text::bigint[], $5::text::text[])
  on conflict (id) do update set version = excluded.version, previous = excluded.previous, fresh = excluded.fresh, numbers = excluded.numbers
  where r.version = excluded.previous returning 1)
select 1 / case when count(*) = $6::text::bigint then 1 else 0 end as many from written`,
    block: `insert into ${own} as r (id, version, until) values ($1::text::uuid, $2::text::bigint, case when $3::text = '0' then ${NOW} else $3::text::bigint end + $4::text::bigint) on conflict (id) do update set version = excluded.version, until = excluded.until`,
    unblock: `update ${own} set version = $2::text::bigint, until = null where id = $1::text::uuid`,
    reset: `update ${own} set version = $2::text::bigint, fresh = 0, numbers = '' where id = any($1::text::uuid[])`,
    sweep: `with gone as (delete from ${own} where id >= $1::text::uuid and id < $2::text::uuid and fresh <= ${NOW} and coalesce(until, 0) <= ${NOW} returning 1) select count(*)::text as many from gone`,
  }
}

/**
 * Parses the rows of a reply.
 * @throws StoreFailure protocol for an invalid reply
 */
export function readRows(rows: readonly Row[]): { stored: ReadonlyMap<string, Stored>; now: Micros } {
  const now = Number(rows[0]?.['now'])
  const stored = new Map<string, Stored>()
  for (const { id, version, until, numbers } of rows) {
    if (typeof id !== 'string') continue
    const list = typeof numbers === 'string' && numbers !== '' ? numbers.split(' ').map(Number) : []
    if (typeof version !== 'string' || list.includes(Number.NaN)) throw nonsense(rows)
    stored.set(id.replaceAll('-', ''), { version, until: until === null ? 0 : Number(until), numbers: list })
  }
  if (!Number.isSafeInteger(now)) throw nonsense(rows)
  return { stored, now }
}

export function countOf(rows: readonly Row[]): number {
  return Number(rows[0]?.['many'] ?? 0)
}

function nonsense(rows: readonly Row[]): StoreFailure {
  return new StoreFailure('protocol', 'no', `postgres: the table answered ${JSON.stringify(rows).slice(0, 200)}`)
}
