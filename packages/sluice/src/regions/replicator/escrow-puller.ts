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

/** Pulls from one peer: reports what this region needs, and receives the quota that the peer sends. */
export function createEscrowPuller(self: Region, ledger: Ledger, needs: Needs, parts: PullerParts): Puller {
  return createPuller(parts, createPull(self, parts.peer, ledger, needs), (failures) =>
    // A store in the phase `learning` or `closed` waits for answers of its peers, so it sends requests more often.
    failures === 0 && ledger.region.phase !== 'open' ? URGENT : Math.min(MAX_BACKOFF, 2 ** Math.max(0, failures - 1)),
  )
}

function createPull(self: Region, peer: Region, ledger: Ledger, needs: Needs): (send: Send) => Promise<void> {
  const checkBound = createBoundCheck(self, peer, ledger)
  // How far the peer's rows (sent quota) were read. When a new era has begun here, all are read again, because this region refused rows
  // of the new era before it began here.
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
    // Reads the region again: other processes may have changed it.
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
        // A peer sends units only to a run (store lifetime) that it knows, so the next request makes this run known.
        greeting = hello(region, { from: peer, run: page.run, joins: page.joins })
        continue
      }
      const last = position?.run === page.run ? position.at : 0
      // The peer's changes are numbered anew, so all are read again.
      if (page.cursor < last && !again) {
        again = true
        position = rows = undefined
        continue
      }
      requireProgress(peer, page.cursor, last, page.status !== undefined)
      position = { run: page.run, at: page.cursor }
      fits = (await ledger.receive(page)) && fits
      // The position is kept only if all keys had room and no era (set of weights) began meanwhile. Otherwise the next pull reads the same
      // pages again.
      if (fits && isOf(atStart, ledger.region)) rows = { ...position, of: { run: atStart.run, era: atStart.era } }
      if (page.status !== undefined) return
    }
  }
}

/** If the peer has accepted a later run (store lifetime) of this region, another store has its name. This store then gives up all quota. */
function createBoundCheck(self: Region, peer: Region, ledger: Ledger): (page: Pulled) => Promise<void> {
  // The latest page that named this run (store lifetime); `joins` counts the runs of this region that the peer has accepted.
  let known: { readonly run: Run; readonly own: Run; readonly joins: number } | undefined
  return async ({ run: theirs, joins, status }) => {
    const { run } = ledger.region
    if (status?.toRun === run) known = { run: theirs, own: run, joins }
    // A late page may name an earlier run, but then its count `joins` is not higher.
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
 * Whether the peer introduces its restarted store first. If both did so at once, each hello would void the answer to the other. So the
 * region with the lower name begins.
 */
function defers(peer: Region, self: Region, { bound }: RegionStore, { status, run }: Pulled): boolean {
  return status?.phase === 'learning' && peer < self && bound.get(peer) !== run
}
