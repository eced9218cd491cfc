import type { Escrow } from '../escrow/escrow.ts'
import { close } from '../rights/era.ts'
import type { Ledger } from '../ledger.ts'
import { greet, hello, invite, learn, mustGreet } from '../rights/recovery.ts'
import type { Roster } from '../rights/roster.ts'
import type { RegionStore } from '../rights/state.ts'

/** What a pull needs of one region's escrow. The region's store is in this process or on a server. */
export type Side = Pick<Ledger, 'region' | 'page' | 'receive' | 'update'> & Pick<Escrow, 'cursorOf' | 'setCursor'>

/** Reads, in pages, what a peer has for a region, if the store of one of them is on a server. */
export async function pullRemote(reader: Side, peer: Side): Promise<void> {
  const [own, other] = await bindRemote(reader, peer)
  let cursor = reader.cursorOf(other)
  let fits = true
  for (let all = false; !all;) {
    const page = await peer.page(own.region, cursor)
    // The page brings nothing new. Either the peer's server was replaced and has no record yet, or it said that more keys follow and
    // returned none. The peer is read again at the next pull.
    if (page.status === undefined && page.cursor === cursor) return
    cursor = page.cursor
    all = page.status !== undefined
    fits = (await reader.receive(page)) && fits
    // The cursor (up to which change the peer was read) is kept on two conditions: there was room for all keys, and no era began here
    // meanwhile. Otherwise the same pages are read again at the next pull.
    if (fits && (await current(reader)).era === own.era) reader.setCursor(other, cursor)
  }
}

/**
 * Makes the peer bind the run of a region (one life of its store), if it has not: from then on the peer exchanges rows with this run only.
 * This must be done before the region reads rows of the peer. Returns what both know of all regions afterwards.
 */
export async function bindRemote(reader: Side, peer: Side): Promise<readonly [own: RegionStore, other: RegionStore]> {
  const [own, other] = [await current(reader), await current(peer)]
  if (!mustGreet(own, other.region)) return [own, other]
  const greeting = hello(own, invite(other, own.region))
  let answer: ReturnType<typeof greet>['answer']
  await peer.update((region) => {
    const greeted = greet(region, greeting)
    answer = greeted.answer
    return greeted.store
  })
  const known = answer
  if (known !== undefined) await reader.update((region) => learn(region, known))
  return [reader.region, peer.region]
}

/** Reads what a side knows of the regions again, and returns it. */
async function current(side: Side): Promise<RegionStore> {
  await side.update((region) => region)
  return side.region
}

/** Ends the era, so that the regions continue with another roster (regions and weights). */
export async function endEraRemote(side: Side, roster: Roster): Promise<void> {
  await side.update((region, now) => close(region, roster, now))
}
