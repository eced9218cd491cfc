import { close } from '../rights/era.ts'
import type { Escrow } from './escrow.ts'
import { greet, hello, invite, learn, unanswered } from '../rights/recovery.ts'
import type { Roster } from '../rights/roster.ts'

/** Reads what a peer has for a region, in pages. */
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
    // Rows that did not fit are read again, and so are all rows that came before an era began here.
    if (fits && reader.region.era === era) reader.setCursor(peer.region, cursor)
  }
}

/** Before a new run reads rows, its peer must know it. */
export function bind(reader: Escrow, peer: Escrow): void {
  if (!unanswered(reader.region).includes(peer.region.region)) return
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

/** Ends the era, so that the regions go on by another roster. */
export function endEra(escrow: Escrow, roster: Roster): void {
  escrow.update((region, now) => close(region, roster, now))
}
