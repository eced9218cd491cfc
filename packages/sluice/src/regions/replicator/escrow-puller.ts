import { LimiterError } from '../../errors/limiter-error.ts'
import type { Ledger } from '../ledger.ts'
import { type Position, type Pulled, readPage, requestOf } from './messages.ts'
import type { Needs } from './needs.ts'
import { createPuller, type Puller, type PullerParts, requireProgress, type Send, URGENT } from './puller.ts'
import { hello, learn, mustGreet, replace } from '../rights/recovery.ts'
import type { Region } from '../rights/roster.ts'
import type { Hello, RegionStore, Run } from '../rights/state.ts'

/** The longest wait after failures, as a number of periods. */
const MAX_BACKOFF = 5

/** Makes the puller that reads from a peer what it has sent, and tells the peer what this region needs. */
export function createEscrowPuller(self: Region, ledger: Ledger, needs: Needs, parts: PullerParts): Puller {
  return createPuller(parts, createPull(self, parts.peer, ledger, needs), (failures) =>
    // A store that is not open waits for answers of its peers, so it pulls more often.
    failures === 0 && ledger.region.phase !== 'open' ? URGENT : Math.min(MAX_BACKOFF, 2 ** Math.max(0, failures - 1)),
  )
}

function createPull(self: Region, peer: Region, ledger: Ledger, needs: Needs): (send: Send) => Promise<void> {
  const checkBound = createBoundCheck(self, peer, ledger)
  // How far the peer's rows were read. A cursor counts only for one run of the peer, and one run and era of this region, because rows that
  // came before an era began here were not received.
  let rows: (Position & { readonly of: Pick<RegionStore, 'run' | 'era'> }) | undefined
  let knownNeeds: Position | undefined

  const request = async (send: Send, position: Position | undefined, greeting: Hello | undefined): Promise<Pulled> => {
    const message = requestOf({ from: self, to: peer, rows: position, ...needs.since(peer, knownNeeds), hello: greeting })
    const page = readPage(await send(message), peer, self)
    knownNeeds = page.needsAt
    await checkBound(page)
    return page
  }
  return async (send) => {
    let greeting: Hello | undefined
    let [fits, again] = [true, false]
    // The region is read again first, because other processes may have changed it on the server.
    await ledger.update((region) => region)
    const atStart = ledger.region
    let position: Position | undefined = rows !== undefined && isOf(rows.of, atStart) ? { run: rows.run, at: rows.at } : undefined
    for (;;) {
      const { region } = ledger
      const page = await request(send, position, greeting)
      if (page.answer !== undefined) {
        const { answer } = page
        await ledger.update((store) => learn(store, answer))
      } else if (greeting === undefined && mustGreet(region, peer) && !defers(peer, self, region, page)) {
        // Before a run reads rows, its peer must know it. So the next request contains a hello to the run of the peer that answered.
        greeting = hello(region, { from: peer, run: page.run, joins: page.joins })
        continue
      }
      const last = position?.run === page.run ? position.at : 0
      // The peer counts its changes from the beginning again, so its rows are read from the beginning again.
      if (page.cursor < last && !again) {
        again = true
        position = rows = undefined
        continue
      }
      requireProgress(peer, page.cursor, last, page.status !== undefined)
      position = { run: page.run, at: page.cursor }
      fits = (await ledger.receive(page)) && fits
      // A cursor is kept only if all rows fitted and no era began here meanwhile. Otherwise the rows are read again.
      if (fits && isOf(atStart, ledger.region)) rows = { ...position, of: { run: atStart.run, era: atStart.era } }
      if (page.status !== undefined) return
    }
  }
}

/**
 * Checks whether the peer has bound a later run of this region. If so, another store has the region's name, and this run holds nothing any
 * more.
 */
function createBoundCheck(self: Region, peer: Region, ledger: Ledger): (page: Pulled) => Promise<void> {
  // The latest page that named this run: the peer's run, this run, and how many runs of this region the peer had bound.
  let known: { readonly run: Run; readonly own: Run; readonly joins: number } | undefined
  return async ({ run: theirs, joins, status }) => {
    const { run } = ledger.region
    if (status?.toRun === run) known = { run: theirs, own: run, joins }
    // A page that arrives late may name an earlier run of this region. It is ignored, because its peer had then bound no more runs than
    // when this run was named.
    if (status?.toRun === undefined || known?.run !== theirs || known.own !== run || joins <= known.joins) return
    await ledger.update((region, now) => (region.run === run ? replace(region, now) : region))
    throw new LimiterError(
      'CLOSED',
      `region ${peer} has bound a later run of region ${self}: another store has this name. This one denies every call until it is started again`,
    )
  }
}

function isOf(of: Pick<RegionStore, 'run' | 'era'>, { run, era }: RegionStore): boolean {
  return of.run === run && of.era === era
}

/**
 * Whether this region waits for the peer's greeting. If two new runs greeted each other at once, each would void the other's answer. So the
 * one with the first name greets first.
 */
function defers(peer: Region, self: Region, { bound }: RegionStore, { status, run }: Pulled): boolean {
  return status?.phase === 'learning' && peer < self && bound.get(peer) !== run
}
