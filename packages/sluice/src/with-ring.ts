import { type Form, OBJECT } from './errors/options.ts'
import { type RemoteStore, remoteStore, type RemoteStoreOptions } from './stores/remote/remote-store.ts'
import type { Store } from './stores/store.ts'

type Ports = Pick<RemoteStoreOptions, 'clock' | 'random'>

/**
 * The allowed values of a store's option `ring`, which has the options of `remoteStore`. It must not contain the options in `own`, because
 * the store itself has these.
 */
export function ringForm(...own: readonly (keyof Ports)[]): Form {
  const allows = (value: unknown): boolean => value === false || (OBJECT[0](value) && !own.some((port) => port in (value as object)))
  return [allows, `options without a ${own.join(' and ')}, or false`]
}

/**
 * Puts the ring (breaker, batches, leases and cached denials, see `remoteStore`) around a store. The ring gets the store's clock and random
 * numbers. `extra` are methods of the store in addition to those of `Store`; the result has them too.
 */
export function withRing<Extra extends object>(
  store: Store,
  ring: RemoteStoreOptions | false = {},
  { clock, random }: Ports,
  extra: Extra,
): RemoteStore & Extra {
  if (ring === false) return { ...store, ...extra, breakerState: 'closed', leasedTokens: 0 }
  // `extra` is assigned to the ring. Spreading the ring into a new object would evaluate its getters only once.
  return Object.assign(remoteStore(store, { ...ring, ...(clock && { clock }), ...(random && { random }) }), extra)
}
