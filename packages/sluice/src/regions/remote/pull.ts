import type { Escrow } from '../escrow/escrow.ts'
import { close } from '../rights/era.ts'
import type { Ledger } from '../ledger.ts'
import { greet, hello, invite, learn, mustGreet } from '../rights/recovery.ts'
import type { Roster } from '../rights/roster.ts'
import type { RegionStore } from '../rights/state.ts'

export type Side = Pick<Ledger, 'region' | 'page' | 'receive' | 'update'> & Pick<Escrow, 'cursorOf' | 'setCursor'>

/** Reads in pages what a peer has for a region. */
export async function pullRemote(reader: Side, peer: Side): Promise<void> {
  const [own, other] = await bindRemote(reader, peer)
  let cursor = reader.cursorOf(other)
  let fits = true
  for (let all = false; !all;) {
    const page = await peer.page(own.region, cursor)
    // Stops at a page without news: the peer's server was replaced and has no `RegionStore` yet, or it announced more keys and
    // returned none.
    if (page.status === undefined && page.cursor === cursor) return
    cursor = page.cursor
    all = page.status !== undefined
    fits = (await reader.receive(page)) && fits
    // The cursor is kept only if all keys had room and no era (time of constant weights) began meanwhile. Otherwise the next pull reads the
    // same pages again.
    if (fits && (await current(reader)).era === own.era) reader.setCursor(other, cursor)
  }
}

/**
 * Makes the peer accept the region's run (store lifetime): the peer then ignores all earlier runs. Must precede the first read of the peer.
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

async function current(side: Side): Promise<RegionStore> {
  await side.update((region) => region)
  return side.region
}

export async function endEraRemote(side: Side, roster: Roster): Promise<void> {
  await side.update((region, now) => close(region, roster, now))
}
