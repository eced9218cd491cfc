import type { AlgorithmTag } from '../../algorithms/algorithm.ts'
import type { SwapBackend, SwapRead, SwapRow, SwapWrite } from '../families/compare-and-swap.ts'
import { StoreFailure } from '../store.ts'
import { arrayText, planIdOf } from './encode.ts'
import type { Lanes, Statement } from './lanes.ts'
import { digestText } from './statements.ts'
import { swapBackend } from './swap-backend.ts'
import type { PostgresPort, Row } from './clients/postgres-port.ts'

/** By `kind`: the algorithm's tag, and the columns of a state's numbers in the order of its `codec`. */
const COLUMNS: readonly (readonly [AlgorithmTag | undefined, readonly string[]])[] = [
  ['tb', ['zero', 'rest', 'seen', 'keep_for', 'n', 'm', 'burst']],
  ['fw', ['ends', 'current', 'plan_id', 'turn']],
  ['sc', ['ends', 'current', 'previous', 'plan_id', 'absent']],
  ['sl', ['plan_id', 'keep_for']],
  // Other algorithms: the column `state` has the numbers as text, and `ends` the instant until which they are needed.
  [undefined, []],
]
const [LOG, OTHER] = [3, 4]
const ALL =
  'id, kind, plan_id, zero, rest, seen, ends, current, previous, turn, absent, newest, charged, head, tail, keep_for, blocked_until, state'

const NULL_FOR_ZERO: ReadonlySet<string> = new Set(['rest', 'current', 'previous', 'turn', 'keep_for'])

interface Statements {
  readonly read: string
  readonly write: Statement
}

/** A row's version is the id of the transaction that wrote it, and for a log also the number of its last entry. */
function statementsOf(table: string): Statements {
  const [state, plan, log] = ['state', 'plan', 'log'].map((name) => `${table}_${name}`)
  // A row that has changed since it was read makes the statement fail by a division by zero, which rolls all of it back.
  const write = (more: string): string => `with expected as (
  select e.id, e.version from jsonb_to_recordset($1::text::jsonb) as e (id uuid, version text)${more}),
locked as (
  select s.id from ${state} s join expected e on e.id = s.id and e.version = s.xmin::text || ' ' || coalesce(s.tail, 0) order by s.id
  for update of s),
plans as (
  insert into ${plan} (plan_id, n, m, burst) select plan_id, n, m, burst from jsonb_populate_recordset(null::${plan}, $2::text::jsonb)
  on conflict do nothing),
written as (
  insert into ${state} as s (${ALL}) select ${ALL} from jsonb_populate_recordset(null::${state}, $1::text::jsonb) w
  where (select count(*) from locked) = (select count(*) from expected where version <> '0') order by w.id
  on conflict (id) do update set (${ALL}) = (${ALL.replaceAll(/\w+/g, 'excluded.$&')}) where s.id in (select id from locked) returning 1),
gone as (delete from ${log} l using expected e where l.id = e.id),
entries as (
  insert into ${log} (id, seq, at, base) select id, seq, at, base from jsonb_populate_recordset(null::${log}, $3::text::jsonb))
select 1 / case when (select count(*) from written) = (select count(*) from expected) then 1 else 0 end as many`
  return {
    // The session's `bytea_output` decides how `to_jsonb` prints bytes.
    read: `select t.now::text as now, s.id::text as id, s.xmin::text || ' ' || coalesce(s.tail, 0) as version,
  (to_jsonb(s) || jsonb_build_object('state', encode(s.state, 'hex')))::text as state,
  to_jsonb(p)::text as plan, (select string_agg(e.at || ' ' || e.cost, ' ' order by e.seq) from (
    select l.seq, l.at, lead(l.base, 1, s.charged) over (order by l.seq) - l.base as cost from ${log} l where l.id = s.id) e) as entries
from (select (extract(epoch from clock_timestamp()) * 1000000)::bigint as now) t left join ${state} s on s.id = any($1::text::uuid[])
  left join ${plan} p on p.plan_id = s.plan_id and s.kind = 0`,
    write: { text: write(''), bounded: write(` where set_config('lock_timeout', $4::text, true) is not null`) },
  }
}

/** Compare-and-swap for algorithms without SQL functions, in the same tables as those with. */
export function stateBackend(client: PostgresPort, table: string, lanes: Lanes): SwapBackend {
  const statements = statementsOf(table)
  const read = async (ids: readonly string[]): Promise<SwapRead> => {
    const found = await client.query(statements.read, [arrayText(ids)])
    const rows = found.filter((row) => typeof row['id'] === 'string')
    return { rows: new Map(rows.map((row) => [digestText(row['id']), rowOf(row)])), now: Number(found[0]?.['now']) }
  }
  return swapBackend(lanes, read, async (rows, send) => {
    const records = rows.map(recordsOf)
    const plans = records.flatMap(({ plan }) => (plan === undefined ? [] : [plan]))
    const entries = records.flatMap((record) => record.entries ?? [])
    const lists = [records.map(({ state }) => state), plans, entries]
    return (
      (
        await send(
          statements.write,
          lists.map((list) => JSON.stringify(list)),
        )
      ).length === 1
    )
  })
}

type Columns = Readonly<Record<string, string | number | null>>

function rowOf(row: Row): SwapRow {
  const columns = { ...parsed(row['plan']), ...parsed(row['state']) }
  const [kind, until] = [columns['kind'], Number(columns['blocked_until'] ?? 0)]
  const common = { version: String(row['version']), numbers: [], expiresAt: 0, until }
  if (kind === null || kind === undefined) return common
  const [tag, names] = COLUMNS[Number(kind)] ?? []
  if (names === undefined) {
    const text = `postgres: a state is of kind ${kind} (a newer version wrote it: update this one)`
    return { ...common, failure: new StoreFailure('setup', 'no', text) }
  }
  const more = kind === LOG ? row['entries'] : kind === OTHER ? textOf(String(columns['state'])) : undefined
  const others = typeof more === 'string' && more !== '' ? more.split(' ').map(Number) : []
  const numbers = [...names.map((name) => Number(columns[name] ?? 0)), ...others]
  if (numbers.includes(Number.NaN)) throw new StoreFailure('protocol', 'no', `postgres: the table answered ${JSON.stringify(row)}`)
  return { ...common, numbers, ...(tag === undefined ? {} : { tag }) }
}

function parsed(json: unknown): Columns {
  return typeof json === 'string' ? (JSON.parse(json) as Columns) : {}
}

interface Records {
  readonly state: Columns
  readonly plan?: Columns
  readonly entries?: readonly Columns[]
}

function recordsOf({ id, version, numbers, tag, expiresAt, until }: SwapWrite): Records {
  // A row without state or block gets a block that ended in 1970, so that a sweep deletes it.
  const head = { id, version, blocked_until: numbers.length === 0 ? until || 1 : until || null }
  if (numbers.length === 0) return { state: head }
  const found = COLUMNS.findIndex(([known]) => known === tag)
  const kind = found === -1 ? OTHER : found
  if (kind === OTHER) return { state: { ...head, kind, plan_id: 0, ends: expiresAt, state: bytesOf(numbers.join(' ')) } }
  const names = COLUMNS[kind]?.[1] as readonly string[]
  const { n, m, burst, ...columns } = Object.fromEntries(names.map((name, index) => [name, numbers[index] as number]))
  const kept = Object.entries(columns).filter(([name, value]) => value !== 0 || !NULL_FOR_ZERO.has(name))
  const state = { ...head, kind, ...Object.fromEntries(kept) }
  if (n !== undefined && m !== undefined && burst !== undefined) {
    const planId = String(planIdOf([n, m, burst]))
    return { state: { ...state, plan_id: planId }, plan: { plan_id: planId, n, m, burst } }
  }
  if (kind !== LOG) return { state }
  const first = Number(version.split(' ')[1] ?? 0) + 1
  const entries: Columns[] = []
  let charged = 0
  for (let at = names.length; at < numbers.length; at += 2) {
    entries.push({ id, seq: first + entries.length, at: numbers[at] as number, base: charged })
    charged += numbers[at + 1] as number
  }
  const [newest, tail] = [entries.at(-1)?.['at'] ?? null, first + entries.length - 1]
  return { state: { ...state, newest, charged, head: first, tail }, entries }
}

function bytesOf(text: string): string {
  return `\\x${Array.from(text, (char) => char.charCodeAt(0).toString(16)).join('')}`
}

/** @param bytes as hexadecimal digits */
function textOf(bytes: string): string {
  return bytes.replaceAll(/../g, (digits) => String.fromCharCode(Number.parseInt(digits, 16)))
}
