import type { Store } from 'sluice'
import * as wrap from 'sluice/wrap'

export type WrapperName = 'withCoalescing' | 'withDeniedCache' | 'withLeases' | 'resilient'

export type Wrapper = (store: Store) => Store

const wrappers = wrap as unknown as Readonly<Record<string, Wrapper | undefined>>

/** A wrapper of this version with its defaults; undefined where the version has none of that name. */
export function wrapperOf(name: WrapperName): Wrapper | undefined {
  const apply = wrappers[name]
  return apply === undefined ? undefined : (store) => apply(store)
}
