import { KEPT_MS, type SwapRead, type SwapRow } from '../families/compare-and-swap.ts'
import { StoreFailure } from '../store.ts'
import type { Statement } from './lanes.ts'
import type { Row } from './clients/postgres-port.ts'
import { digestText } from './statements.ts'

/** SQL texts for one table. `exists` fails if the table is missing, or may not be read. */
export type SwapStatements = Record<'migrate' | 'exists' | 'read', string> & Record<'make' | 'change' | 'writeAll' | 'sweep', Statement>

/**
 * Microseconds for which an expired row is kept. Otherwise a row could be inserted and deleted, unnoticed, between another caller's read
 * and write.
 */
const NOTICED = KEPT_MS * 1_000
const NOW = '(extract(epoch from clock_timestamp()) * 1000000)::bigint'

/**
 * The primary key is a digest, so that a distributed database spreads rows over its nodes. The column `previous` only passes the expected
 * version to `on conflict`.
 */
export function swapStatements(table: string): SwapStatements {
  const limit = (parameter: number): string => `set_config('lock_timeout', $${parameter}::text, true)`
  const make = (from: string): string =>
    `insert into ${table} (id, version, fresh, until, numbers) select $1::text::uuid, $2::text::bigint, $3::text::bigint, $4::text::bigint, $5::text${from} on conflict (id) do nothing returning 1 as many`
  const change = (condition: string): string =>
    `update ${table} set version = $2::text::bigint, fresh = $3::text::bigint, until = $4::text::bigint, numbers = $5::text where id = $1::text::uuid and version = $6::text::bigint${condition} returning 1 as many`
  // If a row has changed, a division by zero makes the statement fail, which rolls all of it back.
  const writeAll = (from: string): string => `with written as (
  insert into ${table} as r (id, version, fresh, until, numbers, previous)
  select u.* from unnest($1::text::uuid[], $2::text::bigint[], $3::text::bigint[], $4::text::bigint[], $5::text::text[], $6::text::bigint[]) u${from}
  on conflict (id) do update set version = excluded.version, fresh = excluded.fresh, until = excluded.until, numbers = excluded.numbers, previous = excluded.previous
  where r.version = excluded.previous returning 1)
select 1 / case when count(*) = $7::text::bigint then 1 else 0 end as many from written`
  const sweep = (condition: string): string =>
    `with gone as (delete from ${table} where id >= $1::text::uuid and id < $2::text::uuid and greatest(fresh, until) <= ${NOW} - ${NOTICED}${condition} returning 1) select count(*)::text as many from gone`
  return {
    migrate: `create table if not exists ${table} (id uuid primary key, version bigint not null, previous bigint not null default 0, fresh bigint not null default 0, until bigint not null default 0, numbers text not null default '')`,
    exists: `select 1 from ${table} limit 0`,
    read: `select t.now::text as now, r.id::text as id, r.version::text as version, r.fresh::text as fresh, r.until::text as until, r.numbers from (select ${NOW} as now) t left join ${table} r on r.id = any($1::text::uuid[])`,
    make: { text: make(''), bounded: make(` from ${limit(6)}`) },
    change: { text: change(''), bounded: change(` and ${limit(7)} is not null`) },
    writeAll: { text: writeAll(''), bounded: writeAll(`, ${limit(8)}`) },
    sweep: { text: sweep(''), bounded: sweep(` and (select ${limit(3)}) is not null`) },
  }
}

/** @throws StoreFailure protocol for an invalid reply */
export function readRows(rows: readonly Row[]): SwapRead {
  const now = Number(rows[0]?.['now'])
  const found = new Map<string, SwapRow>()
  for (const { id, version, fresh, until, numbers } of rows) {
    if (typeof id !== 'string') continue
    const list = typeof numbers === 'string' && numbers !== '' ? numbers.split(' ').map(Number) : []
    const times = { expiresAt: Number(fresh), until: Number(until) }
    if (typeof version !== 'string' || [...Object.values(times), ...list].includes(Number.NaN)) throw nonsense(rows)
    found.set(digestText(id), { version, numbers: list, ...times })
  }
  if (!Number.isSafeInteger(now)) throw nonsense(rows)
  return { rows: found, now }
}

export function countOf(rows: readonly Row[]): number {
  return Number(rows[0]?.['many'] ?? 0)
}

function nonsense(rows: readonly Row[]): StoreFailure {
  return new StoreFailure('protocol', 'no', `postgres: the table answered ${JSON.stringify(rows).slice(0, 200)}`)
}
