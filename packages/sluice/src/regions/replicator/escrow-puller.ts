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

/**
 * Makes the puller for one peer. It sends requests that say what this region needs, and receives the units that the peer sends in its
 * answers.
 */
export function createEscrowPuller(self: Region, ledger: Ledger, needs: Needs, parts: PullerParts): Puller {
  return createPuller(parts, createPull(self, parts.peer, ledger, needs), (failures) =>
    // A store in the phase `learning` or `closed` waits for answers of its peers, so it sends requests more often.
    failures === 0 && ledger.region.phase !== 'open' ? URGENT : Math.min(MAX_BACKOFF, 2 ** Math.max(0, failures - 1)),
  )
}

function createPull(self: Region, peer: Region, ledger: Ledger, needs: Needs): (send: Send) => Promise<void> {
  const checkBound = createBoundCheck(self, peer, ledger)
  // Up to which change the peer's rows were read. This counts only for one run (life) of the peer's store, and for one run and one era of
  // this region. Rows that came before an era began here were not received, so they must be read again.
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
        // A run is one life of a store. A peer sends units only to a run that it knows. So the next request makes this run known to the run
        // of the peer that answered.
        greeting = hello(region, { from: peer, run: page.run, joins: page.joins })
        continue
      }
      const last = position?.run === page.run ? position.at : 0
      // The peer counts its changes from the beginning again, so all that it has for this region is read again.
      if (page.cursor < last && !again) {
        again = true
        position = rows = undefined
        continue
      }
      requireProgress(peer, page.cursor, last, page.status !== undefined)
      position = { run: page.run, at: page.cursor }
      fits = (await ledger.receive(page)) && fits
      // The position (up to which change the peer was read) is kept on two conditions: there was room for all keys, and no era began here
      // meanwhile. Otherwise the same pages are read again at the next pull.
      if (fits && isOf(atStart, ledger.region)) rows = { ...position, of: { run: atStart.run, era: atStart.era } }
      if (page.status !== undefined) return
    }
  }
}

/**
 * A run is one life of a store. Checks whether the peer exchanges units with a later run of this region than this one. If so, another store
 * has the region's name, and this store holds nothing any more.
 */
function createBoundCheck(self: Region, peer: Region, ledger: Ledger): (page: Pulled) => Promise<void> {
  // From the latest answer that named this run (life) of the own store: the peer's run, this run, and how many runs of this region the peer
  // had accepted (bound) so far.
  let known: { readonly run: Run; readonly own: Run; readonly joins: number } | undefined
  return async ({ run: theirs, joins, status }) => {
    const { run } = ledger.region
    if (status?.toRun === run) known = { run: theirs, own: run, joins }
    // An answer that arrives late may name an earlier run (life) of the own store. It is ignored: the number of bound runs in it is not
    // higher than in the answer that named this run.
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
 * Whether this region waits for the peer's hello instead of sending its own. If two new runs sent each other hellos at the same time, each
 * would make the other's answer invalid. So the region whose name comes first sends its hello first.
 */
function defers(peer: Region, self: Region, { bound }: RegionStore, { status, run }: Pulled): boolean {
  return status?.phase === 'learning' && peer < self && bound.get(peer) !== run
}
