import type { PartOptions } from './part.ts'

/** What was measured in a run already, by name. */
const known = new WeakMap<PartOptions['engines'], Map<string, Promise<unknown>>>()

/**
 * Returns what `measure` returns, but calls it only once in a run for each name, because several parts show the same result. The name must
 * contain everything that the result depends on.
 */
export function once<Result>({ engines }: Pick<PartOptions, 'engines'>, name: string, measure: () => Promise<Result>): Promise<Result> {
  const all = known.get(engines) ?? new Map<string, Promise<unknown>>()
  known.set(engines, all)
  const before = all.get(name) as Promise<Result> | undefined
  if (before !== undefined) return before
  const made = measure()
  all.set(name, made)
  return made
}
