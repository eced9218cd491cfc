import type { FunctionNames } from './functions.ts'

/** The statements of a store, which call the functions of this version. */
export interface Statements {
  readonly consume: string
  readonly bucket: string
  readonly buckets: string
  readonly adjust: string
  readonly block: string
  readonly reset: string
  readonly sweep: string
}

/** All parameters are text, which every driver passes in the same way. */
export function statementsOf(names: FunctionNames): Statements {
  const of = (name: string): string => names.get(name) as string
  const number = (place: number): string => `$${place}::text::bigint`
  const flag = (place: number): string => `$${place}::text::boolean`
  const list = (place: number, type: string): string => `$${place}::text::${type}[]`
  return {
    consume: `select ${of('consume')}(${number(1)}, ${flag(2)}, ${number(3)}::int, ${list(4, 'uuid')}, ${list(5, 'int')}, ${list(6, 'int')}, ${list(7, 'bigint')}, ${list(8, 'bigint')})::text as reply`,
    bucket: `select ${of('bucket')}($1::text::bigint, $2::text::int, $3::text::int, $4::text::uuid, ${[5, 6, 7, 8, 9, 10, 11, 12, 13].map(number).join(', ')}) as reply`,
    buckets: `select ${of('buckets')}($1::text::bigint, $2::text::int, $3::text::uuid[], ${[4, 5, 6, 7, 8, 9, 10, 11, 12].map(number).join(', ')}) as reply`,
    adjust: `select ${of('adjust')}(${number(1)}, ${number(2)}, ${list(3, 'uuid')}, ${list(4, 'bigint')}, ${list(5, 'bigint')})`,
    block: `select ${of('block')}(${number(1)}, ${number(2)}, ${list(3, 'uuid')})`,
    reset: `select ${of('reset')}(${list(1, 'uuid')})`,
    sweep: `select ${of('sweep')}(${number(1)}, ${number(2)})::text as reply`,
  }
}
