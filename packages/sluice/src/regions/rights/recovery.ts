import type { Micros } from '../../time/micros.ts'
import { isNewer, newest, peersOf, type Region, type Roster } from './roster.ts'
import type { Answer, Hello, Invitation, RegionStore, Run, Status } from './state.ts'
import { statusFor } from './status.ts'

/**
 * What a region knows whose store now has the run `run` (one life of a store): what is stored if that run wrote it, otherwise what a new
 * run begins with. Each operation compares the runs, because the server may have been replaced since the previous operation.
 */
export function inRun(stored: RegionStore | undefined, region: Region, run: Run, roster: Roster, now: Micros): RegionStore {
  return stored?.run === run ? stored : newRun(region, run, roster, now)
}

/**
 * What the region knows at the start of a new run (another life of the store): the store was lost, restored from a snapshot, promoted from
 * a replica, or started for the first time. Units and tokens that are still stored do not count. The region holds nothing until its peers
 * know the new run, and the next era gives it its weight back. Its buckets are empty then, and fill up.
 * @param roster the roster by configuration
 */
export function newRun(region: Region, run: Run, roster: Roster, now: Micros): RegionStore {
  const store: RegionStore = {
    region,
    run,
    phase: 'learning',
    era: 0,
    roster,
    next: roster,
    shifts: [{ era: -1, at: now, units: 0, rosters: undefined, cut: false }],
    bound: new Map(),
    joins: new Map(),
    answers: new Map(),
  }
  return unanswered(store).length > 0 ? store : learned(store)
}

/**
 * What a store knows after a peer has bound a later run of its region: the peer now exchanges units with another store of the same name.
 * That store may hold what this one held. So this store holds nothing from now on. It requests no peer to bind it again, because two stores
 * that run at the same time would then replace each other for ever.
 */
export function replace(store: RegionStore, now: Micros): RegionStore {
  if (store.replaced === true) return store
  return { ...newRun(store.region, store.run, store.roster, now), phase: 'learning', joins: store.joins, replaced: true }
}

/** What a peer whose store just started or was restored must name in its hello, the message that makes it known to this store. */
export function invite(store: RegionStore, guest: Region): Invitation {
  return { from: store.region, run: store.run, joins: joinsOf(store, guest) }
}

/**
 * The message with which a store that just started or was restored (a new run) requests that a peer binds it. The peer then exchanges units
 * with this run only.
 */
export function hello(store: RegionStore, { from, run, joins }: Invitation): Hello {
  return { from: store.region, run: store.run, to: from, toRun: run, joins, seen: joinsOf(store, from) }
}

/**
 * Binds a peer's new run (another life of its store): from now on, rows and statuses of the peer's earlier runs do not count. The hello
 * names how many runs of the peer this store had bound. If this count is another now, the hello is late and changes nothing, and the answer
 * is undefined.
 */
export function greet(store: RegionStore, guest: Hello): { readonly store: RegionStore; readonly answer: Answer | undefined } {
  const joins = joinsOf(store, guest.from)
  if (guest.to !== store.region || guest.toRun !== store.run || guest.joins !== joins) return { store, answer: undefined }
  const bound = new Map(store.bound).set(guest.from, guest.run)
  const next = { ...store, bound, joins: new Map(store.joins).set(guest.from, joins + 1) }
  return { store: next, answer: { ...statusFor(next, guest.from), seen: guest.seen } }
}

/**
 * Binds a peer's run (life of its store) by the peer's answer to a hello: from now on this store exchanges units with this run only. While
 * the store is learning, also stores the answer. When all peers have answered, the store is in the phase `closed` of the latest era that
 * any of them knows. In that era it holds nothing, because an earlier run of this region may have sent its units away.
 */
export function learn(store: RegionStore, answer: Answer): RegionStore {
  const { from, run } = answer
  if (store.replaced === true || answer.to !== store.region || answer.toRun !== store.run) return store
  if (answer.seen !== joinsOf(store, from)) return store
  const bound = new Map(store.bound).set(from, run)
  if (store.phase !== 'learning') return store.bound.has(from) ? store : { ...store, bound }
  const learning = { ...store, bound, answers: new Map(store.answers).set(from, answer) }
  return unanswered(learning).length > 0 ? learning : learned(learning)
}

/**
 * While this store is learning, updates the answer of a peer by a status (its era and roster) that the peer reports later. The peer may
 * know by then that a region is gone for which this store waits, or have begun another era. Of answer and status, the one with the later
 * era or the newer roster counts.
 */
export function relearn(store: RegionStore, status: Status): RegionStore {
  const known = store.answers.get(status.from)
  if (known === undefined || known.run !== status.run || status.era < known.era) return store
  const isLater = status.era > known.era || isNewer(status.next ?? status.roster, known.next ?? known.roster)
  return isLater ? learn(store, { ...status, seen: joinsOf(store, status.from) }) : store
}

/**
 * Whether this store must send a peer a hello, the message that makes it known. While it is learning, it does so to peers whose answers it
 * needs. Later it does so to peers of which it has bound no run, because they were in no roster while it was learning. Until both have
 * bound each other, no era that both take part in can end.
 */
export function mustGreet(store: RegionStore, peer: Region): boolean {
  if (store.replaced === true) return false
  return store.phase === 'learning' ? unanswered(store).includes(peer) : !store.bound.has(peer)
}

/** The peers whose answers a store that just started still needs, including peers of which it learned from other answers. */
function unanswered(store: RegionStore): readonly Region[] {
  return peersOf(latestRoster(store), store.region).filter((peer) => !store.answers.has(peer))
}

function learned(store: RegionStore): RegionStore {
  const roster = latestRoster(store)
  const [latest] = [...store.answers.values()].filter(({ phase }) => phase !== 'learning').sort((a, b) => b.era - a.era)
  const { era, roster: weights } = latest ?? { era: 0, roster }
  return { ...store, phase: 'closed', era, roster: weights, next: roster, answers: new Map() }
}

function latestRoster({ roster, answers }: RegionStore): Roster {
  return newest([
    roster,
    ...[...answers.values()].flatMap((answer) => (answer.next === undefined ? [answer.roster] : [answer.roster, answer.next])),
  ])
}

function joinsOf({ joins }: RegionStore, peer: Region): number {
  return joins.get(peer) ?? 0
}
