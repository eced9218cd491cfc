import { type Form, OBJECT } from './errors/options.ts'
import { type RemoteStore, remoteStore, type RemoteStoreOptions } from './stores/remote/remote-store.ts'
import type { Store } from './stores/store.ts'

type Ports = Pick<RemoteStoreOptions, 'clock' | 'random'>

/** The form of `ring` in a store's options: without what the store has itself. */
export function ringForm(...own: readonly (keyof Ports)[]): Form {
  const allows = (value: unknown): boolean => value === false || (OBJECT[0](value) && !own.some((port) => port in (value as object)))
  return [allows, `options without a ${own.join(' and ')}, or false`]
}

/** The ring of a store's options around it, by the store's own ports. `extra`: what the store has beyond the port for stores. */
export function withRing<Extra extends object>(
  store: Store,
  ring: RemoteStoreOptions | false = {},
  { clock, random }: Ports,
  extra: Extra,
): RemoteStore & Extra {
  if (ring === false) return { ...store, ...extra, breakerState: 'closed', leasedTokens: 0 }
  // Assigned and not spread, because the ring has getters.
  return Object.assign(remoteStore(store, { ...ring, ...(clock && { clock }), ...(random && { random }) }), extra)
}
