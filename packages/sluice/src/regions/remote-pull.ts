import type { Escrow } from './escrow.ts'
import { close } from './era.ts'
import { greet, hello, invite, learn, unanswered } from './recovery.ts'
import type { RemoteEscrow } from './remote-escrow.ts'
import type { Roster } from './roster.ts'
import type { RegionStore } from './state.ts'

/** A region's part of escrow, as a pull needs it. */
export type Side = Pick<RemoteEscrow, 'region' | 'page' | 'receive' | 'update' | 'cursorOf' | 'setCursor'>

/** A region over a store in this process, as one over a server. */
export function sideOf(escrow: Escrow): Side {
  return {
    region: async () => escrow.region,
    page: async (to, cursor) => escrow.page(to, cursor),
    receive: async (page) => escrow.receive(page),
    async update(program) {
      escrow.update(program)
      return escrow.region
    },
    cursorOf: (peer) => escrow.cursorOf(peer),
    setCursor: (peer, cursor) => escrow.setCursor(peer, cursor),
  }
}

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
    if (fits && (await reader.region()).era === own.era) reader.setCursor(other, cursor)
  }
}

/** Before a new run reads rows, its peer must know it. Returns what both know of the regions. */
export async function bindRemote(reader: Side, peer: Side): Promise<readonly [own: RegionStore, other: RegionStore]> {
  const [own, other] = [await reader.region(), await peer.region()]
  if (!unanswered(own).includes(other.region)) return [own, other]
  const greeting = hello(own, invite(other, own.region))
  let answer: ReturnType<typeof greet>['answer']
  const bound = await peer.update((region) => {
    const greeted = greet(region, greeting)
    answer = greeted.answer
    return greeted.store
  })
  if (answer === undefined) return [own, bound]
  const known = answer
  return [await reader.update((region) => learn(region, known)), bound]
}

/** Ends the era, so that the regions go on by another roster. */
export async function endEraRemote(side: Side, roster: Roster): Promise<void> {
  await side.update((region, now) => close(region, roster, now))
}
