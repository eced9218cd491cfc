import type { FunctionNames } from './functions.ts'
import type { Statement } from './lanes.ts'

type Name = 'consume' | 'bucket' | 'buckets' | 'adjust' | 'release' | 'settle' | 'block' | 'reset' | 'sweep' | 'locked'

const BIGINT_9 = Array.from({ length: 9 }, () => 'bigint')

/** All parameters are text, which every driver passes in the same way. */
export function statementsOf(table: string, names: FunctionNames): Readonly<Record<Name, Statement>> {
  const call = (name: string, ...types: readonly string[]): Statement => {
    const called = `${names.get(name)}(${types.map((type, index) => `$${index + 1}::text::${type}`).join(', ')})::text`
    // `case` evaluates its condition first, so the function runs with this lock_timeout.
    const bounded = `case when set_config('lock_timeout', $${types.length + 1}::text, true) is not null then ${called} end`
    return { text: `select ${called} as reply`, bounded: `select ${bounded} as reply` }
  }
  return {
    consume: call('consume', 'bigint', 'boolean', 'int', 'uuid[]', 'int[]', 'int[]', 'bigint[]', 'bigint[]'),
    bucket: call('bucket', 'bigint', 'int', 'int', 'uuid', ...BIGINT_9),
    buckets: call('buckets', 'bigint', 'int', 'uuid[]', ...BIGINT_9),
    adjust: call('adjust', 'bigint', 'bigint', 'uuid[]', 'bigint[]', 'bigint[]'),
    release: call('release', 'bigint', 'uuid[]', 'bigint[]'),
    settle: call('settle', 'bigint', 'uuid[]', 'bigint[]', 'bigint[]'),
    block: call('block', 'bigint', 'bigint', 'uuid[]'),
    reset: call('reset', 'uuid[]'),
    sweep: call('sweep', 'bigint', 'bigint'),
    locked: lockedRows(`${table}_state`),
  }
}

/** Returns the locked rows among these ids. Locks the others (`for share`) until the statement ends, without waiting for the disk. */
export function lockedRows(table: string): Statement {
  const setting = (name: string, value: string): string => ` and (select set_config('${name}', ${value}, true)) is not null`
  const text = (more: string): string => `with free as (
  select id from ${table} where id = any($1::text::uuid[])${setting('synchronous_commit', "'off'")}${more} for share skip locked)
select id::text as id from ${table} where id = any($1::text::uuid[]) and id not in (select id from free)`
  return { text: text(''), bounded: text(setting('lock_timeout', '$2::text')) }
}

/** A digest from the text of a uuid. */
export function digestText(id: unknown): string {
  return String(id).replaceAll('-', '')
}
