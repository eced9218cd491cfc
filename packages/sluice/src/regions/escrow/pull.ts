import { close } from '../rights/era.ts'
import type { Escrow } from './escrow.ts'
import { greet, hello, invite, learn, mustGreet } from '../rights/recovery.ts'
import type { Roster } from '../rights/roster.ts'

/** Reads, in pages, the units (thousandths of a limit) of each key that a peer has sent to the reader, and the peer's status. */
export function pull(reader: Escrow, peer: Escrow): void {
  bind(reader, peer)
  const { region: name } = reader.region
  const { era } = reader.region
  let cursor = reader.cursorOf(peer.region)
  let fits = true
  for (let all = false; !all;) {
    const page = peer.page(name, cursor)
    cursor = page.cursor
    all = page.status !== undefined
    fits = reader.receive(page) && fits
    // The cursor is kept only if all keys had room and no era began here meanwhile. Otherwise the next pull reads the same pages again.
    if (fits && reader.region.era === era) reader.setCursor(peer.region, cursor)
  }
}

/** Before the region reads rows of the peer, the peer must exchange rows with the region's present run (life of the store) only. */
export function bind(reader: Escrow, peer: Escrow): void {
  if (!mustGreet(reader.region, peer.region.region)) return
  const greeting = hello(reader.region, invite(peer.region, reader.region.region))
  let answer: ReturnType<typeof greet>['answer']
  peer.update((region) => {
    const greeted = greet(region, greeting)
    answer = greeted.answer
    return greeted.store
  })
  if (answer === undefined) return
  const known = answer
  reader.update((region) => learn(region, known))
}

/** Ends the era, so that the regions continue with another roster (regions and weights). */
export function endEra(escrow: Escrow, roster: Roster): void {
  escrow.update((region, now) => close(region, roster, now))
}
