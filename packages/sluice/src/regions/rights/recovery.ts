import type { Micros } from '../../time/micros.ts'
import { isNewer, newest, peersOf, type Region, type Roster } from './roster.ts'
import type { Answer, Hello, Invitation, RegionStore, Run, Status } from './state.ts'
import { statusFor } from './status.ts'

/**
 * What the present run (life of the store) has stored. If another run stored it, the server was replaced: the result is then what a new run
 * knows.
 */
export function inRun(stored: RegionStore | undefined, region: Region, run: Run, roster: Roster, now: Micros): RegionStore {
  return stored?.run === run ? stored : newRun(region, run, roster, now)
}

/**
 * What a new run (life of a store) knows at first. Units and tokens that an earlier run stored do not count. The region holds nothing until
 * its peers know the new run and another era begins.
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
 * For a store whose region's name a later store has taken. The later store may hold the units, so this one holds nothing from now on. It
 * sends no hello to take the name back: two running stores would replace each other for ever.
 */
export function replace(store: RegionStore, now: Micros): RegionStore {
  if (store.replaced === true) return store
  return { ...newRun(store.region, store.run, store.roster, now), phase: 'learning', joins: store.joins, replaced: true }
}

/** What a peer's new run (life of its store) must name in its hello, the request to exchange units with it. */
export function invite(store: RegionStore, guest: Region): Invitation {
  return { from: store.region, run: store.run, joins: joinsOf(store, guest) }
}

/** The message by which a new run (life of a store) requests that a peer exchanges units with it only. */
export function hello(store: RegionStore, { from, run, joins }: Invitation): Hello {
  return { from: store.region, run: store.run, to: from, toRun: run, joins, seen: joinsOf(store, from) }
}

/**
 * Accepts a new run (life of the store) of a peer: from now on, rows and statuses of its earlier runs do not count. The hello is late if
 * this store has accepted another run since the invitation: then nothing changes, and the answer is undefined.
 */
export function greet(store: RegionStore, guest: Hello): { readonly store: RegionStore; readonly answer: Answer | undefined } {
  const joins = joinsOf(store, guest.from)
  if (guest.to !== store.region || guest.toRun !== store.run || guest.joins !== joins) return { store, answer: undefined }
  const bound = new Map(store.bound).set(guest.from, guest.run)
  const next = { ...store, bound, joins: new Map(store.joins).set(guest.from, joins + 1) }
  return { store: next, answer: { ...statusFor(next, guest.from), seen: guest.seen } }
}

/**
 * Handles an answer to a hello: with this peer, the store now exchanges units only with the run (life of the store) that answered. A store
 * that just started is `learning` until all peers have answered. Then it joins the latest era (time of constant weights) of any peer as
 * `closed`, so that all regions end that era. Until then it holds nothing, because its earlier run may have sent its units away.
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
 * Replaces a peer's answer by its later status, in a store that just started (`learning`). The peer may have begun another era, or know
 * that a region is gone.
 */
export function relearn(store: RegionStore, status: Status): RegionStore {
  const known = store.answers.get(status.from)
  if (known === undefined || known.run !== status.run || status.era < known.era) return store
  const isLater = status.era > known.era || isNewer(status.next ?? status.roster, known.next ?? known.roster)
  return isLater ? learn(store, { ...status, seen: joinsOf(store, status.from) }) : store
}

/**
 * Whether this store must send a peer a hello. The hello makes this store known to the peer, and the answer makes the peer known here. A
 * store that just started (`learning`) sends one to each peer until that peer answers. Later, it sends one only to peers that it does not
 * know, because weights cannot change while two stores do not know each other.
 */
export function mustGreet(store: RegionStore, peer: Region): boolean {
  if (store.replaced === true) return false
  return store.phase === 'learning' ? unanswered(store).includes(peer) : !store.bound.has(peer)
}

/** Peers that have not answered, also those that only another peer's answer names. */
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
