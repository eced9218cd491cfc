import type { FunctionNames } from './functions.ts'
import type { Statement } from './lanes.ts'
import type { Row } from './clients/postgres-port.ts'

export interface Statements {
  readonly consume: Statement
  readonly bucket: Statement
  readonly buckets: Statement
  readonly adjust: Statement
  readonly block: Statement
  readonly reset: Statement
  readonly sweep: Statement
  readonly locked: Statement
}

const BIGINT_9 = Array.from({ length: 9 }, () => 'bigint')

/** All parameters are text, which every driver passes in the same way. */
export function statementsOf(table: string, names: FunctionNames): Statements {
  const call = (name: string, ...types: readonly string[]): Statement => {
    const called = `${names.get(name)}(${types.map((type, index) => `$${index + 1}::text::${type}`).join(', ')})::text`
    // A condition is evaluated before what depends on it: the function runs with the setting.
    const bounded = `case when set_config('lock_timeout', $${types.length + 1}::text, true) is not null then ${called} end`
    return { text: `select ${called} as reply`, bounded: `select ${bounded} as reply` }
  }
  return {
    consume: call('consume', 'bigint', 'boolean', 'int', 'uuid[]', 'int[]', 'int[]', 'bigint[]', 'bigint[]'),
    bucket: call('bucket', 'bigint', 'int', 'int', 'uuid', ...BIGINT_9),
    buckets: call('buckets', 'bigint', 'int', 'uuid[]', ...BIGINT_9),
    adjust: call('adjust', 'bigint', 'bigint', 'uuid[]', 'bigint[]', 'bigint[]'),
    block: call('block', 'bigint', 'bigint', 'uuid[]'),
    reset: call('reset', 'uuid[]'),
    sweep: call('sweep', 'bigint', 'bigint'),
    locked: lockedRows(`${table}_state`),
  }
}

/** The locked ones of the rows with these ids. The others are locked until the statement ends, which does not wait for the disk. */
export function lockedRows(table: string): Statement {
  const setting = (name: string, value: string): string => ` and (select set_config('${name}', ${value}, true)) is not null`
  const text = (more: string): string => `with free as (
  select id from ${table} where id = any($1::text::uuid[])${setting('synchronous_commit', "'off'")}${more} for share skip locked)
select id::text as id from ${table} where id = any($1::text::uuid[]) and id not in (select id from free)`
  return { text: text(''), bounded: text(setting('lock_timeout', '$2::text')) }
}

export function digestsIn(rows: readonly Row[]): ReadonlySet<string> {
  return new Set(rows.map(({ id }) => String(id).replaceAll('-', '')))
}
