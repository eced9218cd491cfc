import { setTimeout as later } from 'node:timers/promises'
import { type CompiledLimit, type Store, tokenBucket } from 'sluice'
import { exchangeRemote, type RegionalStore, regionalStore } from 'sluice/regions'
import type { Quota } from './contestant.ts'

/**
 * How a region decides. `fixed`: by a part of each limit that never changes. `escrow`: by escrow, where regions send each other units
 * (parts of a key's limit), on keys of which no units were sent. `rows`: by escrow, on keys of which units were sent.
 */
export type RegionKind = 'fixed' | 'escrow' | 'rows'

export const REGION_NAMES: Readonly<Record<RegionKind, string>> = {
  fixed: 'a region with a fixed part',
  escrow: 'a region with escrow',
  rows: 'a region with escrow, units of the key sent',
}

/** Units of a key that are sent before its first call. */
const SENT = 100
/**
 * Regions exchange what they know until all are ready to decide, but at most MAX_EXCHANGES times. PAUSE_MS is the pause between two
 * exchanges.
 */
const [MAX_EXCHANGES, PAUSE_MS] = [50, 20]

/** A limit that two regions share, with twice the quota: a region that holds a half of the limit has this quota. */
export function regionLimit({ tokens, per, burst }: Quota): CompiledLimit {
  return tokenBucket({ rate: { tokens: 2 * tokens, per }, burst: 2 * burst })
}

/**
 * The store of one of two regions, which decides by a half of each limit. Its peer has a store on the same server.
 * @param open opens the store of a region, by its name
 */
export async function openRegion(kind: RegionKind, open: (region: string) => Store): Promise<Store> {
  if (kind === 'fixed') return regionalStore({ store: open('a'), self: 'a', peers: ['b'] })
  const half = 500
  const weights = kind === 'rows' ? { a: half + SENT, b: half - SENT } : { a: half, b: half }
  const [own, peer] = (await openRegions(open, weights)) as [RegionalStore, RegionalStore]
  return kind === 'rows' ? sending(own, peer.self) : own
}

/** Regions with escrow that have learned of each other, in the order of the weights. */
export async function openRegions(
  open: (region: string) => Store,
  weights: Readonly<Record<string, number>>,
): Promise<readonly RegionalStore[]> {
  const stores = Object.keys(weights).map((self) => regionalStore({ store: open(self), self, weights, mode: 'escrow' }))
  await Promise.all(stores.map((store) => store.ready()))
  for (let tries = 0; tries < MAX_EXCHANGES; tries += 1) {
    await exchangeAll(stores)
    const found = await Promise.all(stores.map(async ({ remote }) => remote?.status()))
    if (found.every((status) => status?.phase === 'open')) return stores
    await later(PAUSE_MS)
  }
  throw new Error('the regions have not learned of each other')
}

/** All pairs of regions exchange what they have sent. */
export async function exchangeAll(stores: readonly RegionalStore[]): Promise<void> {
  for (const [index, store] of stores.entries()) for (const other of stores.slice(index + 1)) await exchangeRemote(store, other)
}

/** The store, which sends units of each key before its first call. */
function sending(store: RegionalStore, peer: string): Store {
  const sent = new Map<string, Promise<unknown> | true>()
  const send = async (group: Parameters<Store['decide']>[0][number]): Promise<void> => {
    for (const { id, limit } of group.calls) {
      if ((await store.remote?.give({ id, limit }, peer, SENT)) !== true) throw new Error('no units were sent')
      sent.set(id.key, true)
    }
  }
  return {
    ...store,
    decide(groups, options) {
      const [group] = groups
      const key = group?.calls[0]?.id.key ?? ''
      const known = sent.get(key)
      if (group === undefined || known === true) return store.decide(groups, options)
      const done = known ?? send(group)
      sent.set(key, done)
      return done.then(() => store.decide(groups, options))
    },
  }
}
