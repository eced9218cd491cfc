import type { Micros } from '../time/micros.ts'
import { statusFor } from './era.ts'
import { newest, peersOf, type Region, type Roster } from './roster.ts'
import type { Answer, Hello, Invitation, RegionStore, Run } from './state.ts'

/**
 * The state for a program that runs in `run`: the stored one if it is of this run, else that of a new run. Compared by each program, because
 * the server may be another one since the last.
 */
export function inRun(stored: RegionStore | undefined, region: Region, run: Run, roster: Roster, now: Micros): RegionStore {
  return stored?.run === run ? stored : newRun(region, run, roster, now)
}

/**
 * The state of a store whose run is not the one it was written by, or that has none (R6): a lost store, a restored snapshot, a promoted
 * replica, the first start. All its cells are void, whether they are there or not. It holds nothing until its peers know the new run, and
 * the next era gives it its weight back. From then on its keys fill up from empty.
 * @param roster by configuration
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

/** What a new run must name in its hello. */
export function invite(store: RegionStore, guest: Region): Invitation {
  return { from: store.region, run: store.run, joins: joinsOf(store, guest) }
}

/** Requests to be bound by a peer. */
export function hello(store: RegionStore, { from, run, joins }: Invitation): Hello {
  return { from: store.region, run: store.run, to: from, toRun: run, joins, seen: joinsOf(store, from) }
}

/**
 * Binds a peer's new run, as compare-and-set: a hello of a dead run that arrives late changes nothing. From here on rows and statuses of the
 * peer's earlier runs are void. The answer is undefined if the hello was not applied.
 */
export function greet(store: RegionStore, guest: Hello): { readonly store: RegionStore; readonly answer: Answer | undefined } {
  const joins = joinsOf(store, guest.from)
  if (guest.to !== store.region || guest.toRun !== store.run || guest.joins !== joins) return { store, answer: undefined }
  const bound = new Map(store.bound).set(guest.from, guest.run)
  const next = { ...store, bound, joins: new Map(store.joins).set(guest.from, joins + 1) }
  return { store: next, answer: { ...statusFor(next, guest.from), seen: guest.seen } }
}

/**
 * Takes a peer's answer. When all peers have answered, the store is closed in the latest era that any of them knows, and holds nothing: what
 * it held in that era, its earlier runs may have sent.
 */
export function learn(store: RegionStore, answer: Answer): RegionStore {
  if (store.phase !== 'learning' || answer.to !== store.region || answer.toRun !== store.run) return store
  if (answer.seen !== joinsOf(store, answer.from)) return store
  const answers = new Map(store.answers).set(answer.from, answer)
  const next = { ...store, answers, bound: new Map(store.bound).set(answer.from, answer.run) }
  return unanswered(next).length > 0 ? next : learned(next)
}

/** The peers from which a new run still needs an answer, those that it learned of from answers included. */
export function unanswered(store: RegionStore): readonly Region[] {
  if (store.phase !== 'learning') return []
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
