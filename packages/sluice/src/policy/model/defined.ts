type Optional<T> = { [K in keyof T]: undefined extends T[K] ? K : never }[keyof T]

export type Defined<T> = Omit<T, Optional<T>> & { readonly [K in Optional<T>]?: Exclude<T[K], undefined> }

/** A compiled policy has no field for an absent value. */
export function defined<T extends object>(fields: T): Defined<T> {
  const kept: Record<string, unknown> = {}
  for (const name of Object.keys(fields) as (keyof T & string)[]) if (fields[name] !== undefined) kept[name] = fields[name]
  return kept as Defined<T>
}
