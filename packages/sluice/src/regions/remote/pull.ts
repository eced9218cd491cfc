import type { Escrow } from '../escrow/escrow.ts'
import { close } from '../rights/era.ts'
import type { Ledger } from '../ledger.ts'
import { greet, hello, invite, learn, unanswered } from '../rights/recovery.ts'
import type { Roster } from '../rights/roster.ts'
import type { RegionStore } from '../rights/state.ts'

/** What a pull needs of one region's escrow. The region's store is in this process or on a server. */
export type Side = Pick<Ledger, 'region' | 'page' | 'receive' | 'update'> & Pick<Escrow, 'cursorOf' | 'setCursor'>

/** Reads what a peer has for a region, in pages, as `pull` does. */
export async function pullRemote(reader: Side, peer: Side): Promise<void> {
  const [own, other] = await bindRemote(reader, peer)
  let cursor = reader.cursorOf(other)
  let fits = true
  for (let all = false; !all;) {
    const page = await peer.page(own.region, cursor)
    // A peer that is in no run, or has other rows than it counted, is read again at the next pull.
    if (page.status === undefined && page.cursor === cursor) return
    cursor = page.cursor
    all = page.status !== undefined
    fits = (await reader.receive(page)) && fits
    // Rows that did not fit are read again, and so are all rows that came before an era began here.
    if (fits && (await current(reader)).era === own.era) reader.setCursor(other, cursor)
  }
}

/** Before a new run reads rows, its peer must know it. Returns what both know of the regions. */
export async function bindRemote(reader: Side, peer: Side): Promise<readonly [own: RegionStore, other: RegionStore]> {
  const [own, other] = [await current(reader), await current(peer)]
  if (!unanswered(own).includes(other.region)) return [own, other]
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

/** What a side knows of the regions, read again. */
async function current(side: Side): Promise<RegionStore> {
  await side.update((region) => region)
  return side.region
}

/** Ends the era, so that the regions go on by another roster. */
export async function endEraRemote(side: Side, roster: Roster): Promise<void> {
  await side.update((region, now) => close(region, roster, now))
}
