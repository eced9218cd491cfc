import { createEscrow } from '../../src/regions/escrow/escrow.ts'
import type { RegionalKey } from '../../src/regions.ts'
import type { RegionalLimit } from '../../src/regions/rights/limit.ts'
import { createRemoteEscrow } from '../../src/regions/remote/escrow.ts'
import { regionalLimits } from '../../src/regions/regional-limits.ts'
import { pullRemote } from '../../src/regions/remote/pull.ts'
import { remoteRegional } from '../../src/regions/remote/regional.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import type { RegionPort } from '../../src/stores/region-port.ts'
import type { Store } from '../../src/stores/store.ts'
import type { Micros } from '../../src/time/micros.ts'
import { systemTime } from '../../src/time/system.ts'
import { allInOne } from './escrow-memory.ts'
import { BACK, inChanges, inGroups, LONG_BEFORE, partSent, sharesOf, type Travellers } from './out-and-back.ts'

const MAX_CELLS = 100_000

/**
 * Makes several regions that share a limit, of which the first holds all of it. Returns that region's store, which is around the given
 * remote store. Changes of the regions' weights take effect at the time of a call. With `travelling`, half of each key's units (thousandths
 * of its limit) are sent through all regions and back before the key's first call.
 */
export async function escrowAround(store: Store, regions: number, travelling?: Travellers): Promise<Store> {
  const weights = new Map(Object.entries(allInOne(regions)))
  const roster = { version: 1, weights }
  let at = LONG_BEFORE
  const own = createRemoteEscrow(store.capabilities.regions as RegionPort, 'eu', roster, MAX_CELLS, () => at)
  const clock = { ...systemTime, now: () => at }
  const others = [...weights.keys()].slice(1).map((name) => createEscrow(memoryStore({ clock }), name, roster, `${name}.1`, MAX_CELLS))
  const sides = [own, ...others]
  for (let round = 0; round < 3; round += 1)
    for (const one of sides) for (const other of sides) if (one !== other) await pullRemote(one, other)
  // One region alone has met nobody.
  await own.refresh()
  const region = remoteRegional(store, own, 'eu', weights, regionalLimits('eu', weights, true))
  const outAndBack = async (key: RegionalKey): Promise<void> => {
    for (const [index, from] of sides.entries()) {
      const to = sides[(index + 1) % regions] as (typeof sides)[number]
      if (!(await from.give(key, sharesOf(key.limit) as RegionalLimit, to.region.region, partSent(key.limit, weights))))
        throw new Error(`${from.region.region} sent nothing of ${key.id.key}`)
      await pullRemote(to, from)
    }
  }
  let travelled: Promise<void> = Promise.resolve()
  /** Calls at a time, once all keys that left are back. */
  const calling = async <T>(calls: readonly RegionalKey[], now: Micros = 0, call: () => Promise<T>): Promise<T> => {
    const leaving = travelling?.leaving(calls) ?? []
    if (leaving.length > 0)
      travelled = travelled.then(async () => {
        at = BACK
        for (const key of leaving) await outAndBack(key)
      })
    await travelled
    at = now
    return call()
  }
  return {
    ...region,
    decide: (groups, options) => calling(inGroups(groups), options?.now, () => region.decide(groups, options)),
    change: (changes, options) => calling(inChanges(changes), options?.now, () => region.change(changes, options)),
  }
}
