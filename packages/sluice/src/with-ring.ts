import { type Form, OBJECT } from './errors/options.ts'
import { type RemoteStore, remoteStore, type RemoteStoreOptions } from './stores/remote/remote-store.ts'
import type { Store } from './stores/store.ts'

type Ports = Pick<RemoteStoreOptions, 'clock' | 'random'>

/** The store has the options in `own` itself, so its option `ring` must not contain them. */
export function ringForm(...own: readonly (keyof Ports)[]): Form {
  const allows = (value: unknown): boolean => value === false || (OBJECT[0](value) && !own.some((port) => port in (value as object)))
  return [allows, `options without a ${own.join(' and ')}, or false`]
}

/** Puts `remoteStore` around a store. `extra` are further methods of the store, which the result has too. */
export function withRing<Extra extends object>(
  store: Store,
  ring: RemoteStoreOptions | false = {},
  { clock, random }: Ports,
  extra: Extra,
): RemoteStore & Extra {
  if (ring === false) return { ...store, ...extra, breakerState: 'closed', leasedTokens: 0 }
  // Spreading the store into a new object would evaluate its getters only once.
  return Object.assign(remoteStore(store, { ...ring, ...(clock && { clock }), ...(random && { random }) }), extra)
}
