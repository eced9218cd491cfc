import type { Store } from 'sluice'
import { type RedisPort, redisStore } from 'sluice/redis'
import * as wrap from 'sluice/wrap'

export type WrapperName = 'withCoalescing' | 'withDeniedCache' | 'withLeases' | 'resilient'

export type Wrapper = (store: Store) => Store

const exported = wrap as unknown as Readonly<Record<string, Wrapper | undefined>>

/** Wrappers with their defaults, innermost first; undefined where this version has not all of them, or nothing that they could use. */
export function wrapperOf(...names: readonly WrapperName[]): Wrapper | undefined {
  const wrappers = names.map((name) => exported[name])
  if (wrappers.includes(undefined) || (names.includes('withLeases') && !leasing())) return undefined
  return (store) => wrappers.reduce((inner, apply) => (apply as Wrapper)(inner), store)
}

const NOWHERE: RedisPort = { evalsha: async () => null, eval: async () => null }

/** Without leases in the store the wrapper passes everything through, and would be measured as what it is not. */
function leasing(): boolean {
  return (redisStore({ client: NOWHERE }) as { readonly lease?: unknown }).lease !== undefined
}

/** Whether this version's store takes the client of a cluster. */
export function clustering(): boolean {
  const client = { ...NOWHERE, cluster: true as const }
  return redisStore({ client }).capabilities.atomicBatch === 'same-slot'
}
