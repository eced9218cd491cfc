import type { Region, Roster } from '../rights/roster.ts'
import type { Answer, RegionStore, Run, Shift } from '../rights/state.ts'

type Pairs<T> = readonly (readonly [Region, T])[]
type PlainRoster = Omit<Roster, 'weights'> & { readonly weights: Pairs<number> }
type PlainAnswer = Omit<Answer, 'roster' | 'next'> & { readonly roster: PlainRoster; readonly next?: PlainRoster }

export function encodeRegion(store: RegionStore): object {
  const { roster, next, shifts, bound, joins, answers, ...others } = store
  return {
    ...others,
    roster: plainRoster(roster),
    ...(next === undefined ? {} : { next: plainRoster(next) }),
    shifts: shifts.map(({ rosters, ...shift }) => (rosters === undefined ? shift : { ...shift, rosters: rosters.map(plainRoster) })),
    bound: [...bound],
    joins: [...joins],
    answers: [...answers.values()].map((answer) => ({
      ...answer,
      roster: plainRoster(answer.roster),
      next: answer.next === undefined ? undefined : plainRoster(answer.next),
    })),
  }
}

/** @param record a result of `encodeRegion` */
export function decodeRegion(record: unknown): RegionStore {
  const found = record as Omit<RegionStore, 'roster' | 'next' | 'shifts' | 'bound' | 'joins' | 'answers'> & {
    readonly roster: PlainRoster
    readonly next?: PlainRoster
    readonly shifts: readonly (Omit<Shift, 'rosters'> & { readonly rosters?: readonly PlainRoster[] })[]
    readonly bound: Pairs<Run>
    readonly joins: Pairs<number>
    readonly answers: readonly PlainAnswer[]
  }
  const shifts = found.shifts.map((shift): Shift => ({ ...shift, rosters: shift.rosters?.map(rosterOf) }))
  return {
    ...found,
    roster: rosterOf(found.roster),
    next: found.next === undefined ? undefined : rosterOf(found.next),
    shifts: shifts as [Shift, ...Shift[]],
    bound: new Map(found.bound),
    joins: new Map(found.joins),
    answers: new Map(found.answers.map((answer) => [answer.from, answerOf(answer)])),
  }
}

function answerOf({ roster, next, ...others }: PlainAnswer): Answer {
  return { ...others, roster: rosterOf(roster), next: next === undefined ? undefined : rosterOf(next) }
}

function plainRoster({ weights, ...others }: Roster): PlainRoster {
  return { ...others, weights: [...weights] }
}

function rosterOf({ weights, ...others }: PlainRoster): Roster {
  return { ...others, weights: new Map(weights) }
}
