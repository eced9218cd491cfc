import type { FunctionNames } from './functions.ts'
import type { Statement } from './lanes.ts'

type Decision = 'consume' | 'bucket' | 'buckets'
type Guarded = Decision | 'settle'
type Name =
  | Decision
  | `guarded_${Guarded}`
  | 'shared_bucket'
  | 'shared_buckets'
  | 'reserve'
  | 'adjust'
  | 'release'
  | 'settle'
  | 'block'
  | 'reset'
  | 'sweep'
  | 'locked'
  | 'region'
  | 'region_rows'
  | 'region_needs'

export type Statements = Readonly<Record<Name, Statement>>

const BIGINT_9 = Array.from({ length: 9 }, () => 'bigint')
const DECISIONS: Readonly<Record<Guarded, readonly string[]>> = {
  consume: ['bigint', 'boolean', 'int', 'uuid[]', 'int[]', 'int[]', 'bigint[]', 'bigint[]'],
  bucket: ['bigint', 'int', 'int', 'uuid', ...BIGINT_9],
  buckets: ['bigint', 'int', 'uuid[]', ...BIGINT_9],
  settle: ['bigint', 'uuid[]', 'bigint[]', 'bigint[]'],
}
const GUARD = ['bigint', 'boolean', 'uuid[]', 'uuid', 'bigint', 'bigint', 'uuid[]', 'bigint[]', 'int[]', 'bigint[]', 'bigint[]']
/** Types of the last parameters of functions that check a region's shares (parts of limits) without `guard`; null without shares. */
const SHARED = {
  bucket: ['uuid', 'bigint', 'bigint', 'bigint', 'bigint'],
  buckets: ['uuid', 'bigint', 'bigint[]', 'bigint', 'bigint'],
} as const

/** All parameters are text, because every driver passes text in the same way. */
export function statementsOf(table: string, names: FunctionNames): Statements {
  const called = (name: string, types: readonly string[], before = 0, more: readonly string[] = []): string =>
    `${names.get(name)}(${[...types.map((type, index) => `$${before + index + 1}::text::${type}`), ...more].join(', ')})::text`
  // `case` evaluates its condition, which sets lock_timeout, before the function runs.
  const statement = (text: string, parameters: number): Statement => ({
    text: `select ${text} as reply`,
    bounded: `select case when set_config('lock_timeout', $${parameters + 1}::text, true) is not null then ${text} end as reply`,
  })
  const call = (name: string, ...types: readonly string[]): Statement => statement(called(name, types), types.length)
  const decision = (name: Decision, before = 0): string =>
    called(name, DECISIONS[name], before, name === 'consume' ? [] : SHARED[name].map(() => 'null'))
  const plain = (name: Decision): Statement => statement(decision(name), DECISIONS[name].length)
  const shared = (name: keyof typeof SHARED): Statement => call(name, ...DECISIONS[name], ...SHARED[name])
  // `coalesce` evaluates the second function only if the guard returns null.
  const guarded = (name: Guarded): Statement => {
    const own = name === 'settle' ? called(name, DECISIONS.settle, GUARD.length) : decision(name, GUARD.length)
    return statement(`coalesce(${called('guard', GUARD)}, ${own})`, GUARD.length + DECISIONS[name].length)
  }
  return {
    consume: plain('consume'),
    bucket: plain('bucket'),
    buckets: plain('buckets'),
    reserve: call('reserve', ...DECISIONS.consume),
    guarded_consume: guarded('consume'),
    guarded_bucket: guarded('bucket'),
    guarded_buckets: guarded('buckets'),
    guarded_settle: guarded('settle'),
    shared_bucket: shared('bucket'),
    shared_buckets: shared('buckets'),
    adjust: call('adjust', 'bigint', 'bigint', 'uuid[]', 'bigint[]', 'bigint[]'),
    release: call('release', 'bigint', 'uuid[]', 'bigint[]'),
    settle: call('settle', ...DECISIONS.settle),
    block: call('block', 'bigint', 'bigint', 'uuid[]'),
    reset: call('reset', 'uuid[]'),
    sweep: call('sweep', 'bigint', 'bigint'),
    locked: lockedRows(`${table}_state`),
    region: call('region', 'bigint', 'text', 'text', 'text', 'text', 'bigint', 'text', 'text', 'text', 'bigint'),
    region_rows: call('region_rows', 'bigint', 'bigint', 'bigint'),
    region_needs: call('region_needs', 'text', 'text', 'bigint', 'bigint'),
  }
}

/** Finds which of these rows other transactions have locked, by locking the free ones (`for share`). */
export function lockedRows(table: string): Statement {
  const setting = (name: string, value: string): string => ` and (select set_config('${name}', ${value}, true)) is not null`
  const text = (more: string): string => `with free as (
  select id from ${table} where id = any($1::text::uuid[])${setting('synchronous_commit', "'off'")}${more} for share skip locked)
select id::text as id from ${table} where id = any($1::text::uuid[]) and id not in (select id from free)`
  return { text: text(''), bounded: text(setting('lock_timeout', '$2::text')) }
}

/** The hexadecimal digits of a uuid, without hyphens. */
export function digestText(id: unknown): string {
  return String(id).replaceAll('-', '')
}
