import { exchange, type RegionalKey, type RegionalStore, regionalStore } from '../../src/regions.ts'
import { memoryStore, type MemoryStore } from '../../src/stores/memory/memory-store.ts'
import type { Store } from '../../src/stores/store.ts'
import type { Micros } from '../../src/time/micros.ts'
import { systemTime } from '../../src/time/system.ts'
import { BACK, inChanges, inGroups, LONG_BEFORE, partSent, type Travellers } from './out-and-back.ts'

const NAMES = ['eu', 'us', 'ap']

export function allInOne(regions: number): Readonly<Record<string, number>> {
  return Object.fromEntries(NAMES.slice(0, regions).map((name) => [name, name === 'eu' ? 1_000 : 0]))
}

/**
 * Makes several regions that share a limit, over memory stores. The first region holds all of the limit. Returns that region's store, and
 * the memory store below it. With `travelling`, half of each key's units (thousandths of its limit) are sent through all regions and back
 * before the key's first call.
 */
export function escrowOverMemory(regions: number, travelling?: Travellers, maxKeys = 1_000_000): readonly [Store, MemoryStore] {
  let at: Micros | undefined = LONG_BEFORE
  const clock = { ...systemTime, now: () => at ?? systemTime.now() }
  const inner = memoryStore({ maxKeys, clock })
  const weights = allInOne(regions)
  const stores = Object.keys(weights).map((self) =>
    regionalStore({ store: self === 'eu' ? inner : memoryStore({ clock }), self, weights, mode: 'escrow' }),
  )
  const own = stores[0] as RegionalStore
  for (let round = 0; round < 3; round += 1) for (const one of stores) for (const other of stores) if (one !== other) exchange(one, other)
  at = undefined
  if (travelling === undefined) return [own, inner]
  const outAndBack = (key: RegionalKey): void => {
    const part = partSent(key.limit, new Map(Object.entries(weights)))
    for (const [index, from] of stores.entries()) {
      const to = stores[(index + 1) % regions] as RegionalStore
      // A store without room for another key sends nothing.
      if (from.give?.(key, to.self, part) === true) exchange(from, to)
    }
  }
  /** Makes calls at the instant `now`. The clock is set to it, because a region also writes states of its own at the time of its clock. */
  const calling = <T>(calls: readonly RegionalKey[], now: Micros | undefined, call: () => T): T => {
    at = BACK
    travelling.leaving(calls).forEach(outAndBack)
    at = now
    try {
      return call()
    } finally {
      at = undefined
    }
  }
  const store: Store = {
    ...own,
    decide: (groups, options) => calling(inGroups(groups), options?.now, () => own.decide(groups, options)),
    decideNow: (group, now) => calling(group.calls, now, () => own.decideNow?.(group, now)),
    change: (changes, options) => calling(inChanges(changes), options?.now, () => own.change(changes, options)),
  }
  return [store, inner]
}
