import type { FunctionNames } from './functions.ts'
import type { Statement } from './lanes.ts'

type Decision = 'consume' | 'bucket' | 'buckets'
type Guarded = Decision | 'settle'
type Name =
  | Decision
  | `guarded_${Guarded}`
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

/** The statement of each function. */
export type Statements = Readonly<Record<Name, Statement>>

const BIGINT_9 = Array.from({ length: 9 }, () => 'bigint')
const GUARDED: Readonly<Record<Guarded, readonly string[]>> = {
  consume: ['bigint', 'boolean', 'int', 'uuid[]', 'int[]', 'int[]', 'bigint[]', 'bigint[]'],
  bucket: ['bigint', 'int', 'int', 'uuid', ...BIGINT_9],
  buckets: ['bigint', 'int', 'uuid[]', ...BIGINT_9],
  settle: ['bigint', 'uuid[]', 'bigint[]', 'bigint[]'],
}
const GUARDS = {
  guard: ['bigint', 'boolean', 'uuid[]', 'text', 'bigint', 'uuid[]', 'bigint[]', 'int[]', 'bigint[]', 'bigint[]'],
  guard_one: ['bigint', 'uuid', 'text', 'bigint', 'uuid', 'bigint', 'bigint', 'bigint'],
} as const

/** Makes the statements. All parameters are text, because every driver passes text in the same way. */
export function statementsOf(table: string, names: FunctionNames): Statements {
  const called = (name: string, types: readonly string[], before = 0): string =>
    `${names.get(name)}(${types.map((type, index) => `$${before + index + 1}::text::${type}`).join(', ')})::text`
  // `case` evaluates its condition first, so the function runs with this lock_timeout.
  const statement = (text: string, parameters: number): Statement => ({
    text: `select ${text} as reply`,
    bounded: `select case when set_config('lock_timeout', $${parameters + 1}::text, true) is not null then ${text} end as reply`,
  })
  const call = (name: string, ...types: readonly string[]): Statement => statement(called(name, types), types.length)
  // `coalesce` evaluates the second function only if the guard returns null.
  const guarded = (name: Guarded, guard: keyof typeof GUARDS): Statement => {
    const [before, own] = [GUARDS[guard], GUARDED[name]]
    return statement(`coalesce(${called(guard, before)}, ${called(name, own, before.length)})`, before.length + own.length)
  }
  return {
    consume: call('consume', ...GUARDED.consume),
    bucket: call('bucket', ...GUARDED.bucket),
    buckets: call('buckets', ...GUARDED.buckets),
    guarded_consume: guarded('consume', 'guard'),
    guarded_bucket: guarded('bucket', 'guard_one'),
    guarded_buckets: guarded('buckets', 'guard'),
    guarded_settle: guarded('settle', 'guard'),
    adjust: call('adjust', 'bigint', 'bigint', 'uuid[]', 'bigint[]', 'bigint[]'),
    release: call('release', 'bigint', 'uuid[]', 'bigint[]'),
    settle: call('settle', ...GUARDED.settle),
    block: call('block', 'bigint', 'bigint', 'uuid[]'),
    reset: call('reset', 'uuid[]'),
    sweep: call('sweep', 'bigint', 'bigint'),
    locked: lockedRows(`${table}_state`),
    region: call('region', 'bigint', 'text', 'text', 'text', 'text', 'bigint', 'text', 'text', 'text', 'bigint'),
    region_rows: call('region_rows', 'bigint', 'bigint', 'bigint'),
    region_needs: call('region_needs', 'text', 'text', 'bigint', 'bigint'),
  }
}

/**
 * Makes a statement that returns which rows among these ids are locked. It locks the others (`for share`) until it ends, and does not wait
 * for the disk.
 */
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
