/** The statements of a store, by the name that its tables and functions begin with. */
export interface Statements {
  readonly consume: string
  readonly bucket: string
  readonly buckets: string
  readonly adjust: string
  readonly block: string
  readonly reset: string
  readonly sweep: string
}

/** Parameters are text, which every driver passes alike. */
export function statementsOf(table: string): Statements {
  const number = (place: number): string => `$${place}::text::bigint`
  const flag = (place: number): string => `$${place}::text::boolean`
  const list = (place: number, type: string): string => `$${place}::text::${type}[]`
  return {
    consume: `select ${table}_consume_v2(${number(1)}, ${flag(2)}, ${number(3)}::int, ${list(4, 'uuid')}, ${list(5, 'int')}, ${list(6, 'int')}, ${list(7, 'bigint')}, ${list(8, 'bigint')})::text as reply`,
    bucket: `select ${table}_bucket_v2($1::text::bigint, $2::text::int, $3::text::int, $4::text::uuid, ${[5, 6, 7, 8, 9, 10, 11, 12, 13].map(number).join(', ')}) as reply`,
    buckets: `select ${table}_buckets_v2($1::text::bigint, $2::text::int, $3::text::uuid[], ${[4, 5, 6, 7, 8, 9, 10, 11, 12].map(number).join(', ')}) as reply`,
    adjust: `select ${table}_adjust_v2(${number(1)}, ${number(2)}, ${list(3, 'uuid')}, ${list(4, 'bigint')}, ${list(5, 'bigint')})`,
    block: `select ${table}_block_v2(${number(1)}, ${number(2)}, ${list(3, 'uuid')})`,
    reset: `select ${table}_reset_v2(${list(1, 'uuid')})`,
    sweep: `select ${table}_sweep_v2(${number(1)}, ${number(2)})::text as reply`,
  }
}
