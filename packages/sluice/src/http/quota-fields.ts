import type { Decision, LimitView } from '../decision/decision.ts'
import type { HeaderChoice } from '../policy/model/header-choice.ts'
import { type LimitTexts, limitTexts, secondsOf, sfInteger } from './limit-texts.ts'

export interface Standing {
  readonly decision: Decision
  readonly limits: readonly LimitView[]
  /** Of the limit that single-valued fields describe: the one that denied, otherwise the one that would run out first. */
  readonly capacity: string
  readonly left: string
  readonly reset: number
}

export interface QuotaField {
  readonly name: string
  /** The beginning of a value of the same form, for a list to which a second limiter appends items. */
  readonly begins?: RegExp
  /** Parses the tokens left from another limiter's value, for fields that report them. */
  readonly leftIn?: (value: string) => number
  valueOf(standing: Standing): string
}

export interface QuotaFields {
  /** In the order in which they are sent; names are unique. */
  readonly fields: readonly QuotaField[]
  /** The input of the fields; undefined if no limit is known, so that nothing is reported. */
  standingOf(decision: Decision): Standing | undefined
}

type TextsOf = (view: LimitView) => LimitTexts

export function quotaFields({ dialect, legacy, limit, remaining }: HeaderChoice): QuotaFields {
  const textsOf = limitTexts()
  const fields = [...DIALECTS[dialect](textsOf), ...(limit ? [LIMIT] : []), ...(remaining ? [REMAINING] : []), ...RESETS[legacy]]
  return {
    fields,
    standingOf(decision) {
      const { limits } = decision
      const nearest = nearestOf(decision, limits)
      if (nearest === undefined) return undefined
      const { remaining: left, replenishAfterMs } = nearest
      return { decision, limits, capacity: textsOf(nearest).capacity, left: sfInteger(left), reset: secondsOf(replenishAfterMs) }
    },
  }
}

const LIMIT: QuotaField = { name: 'X-RateLimit-Limit', valueOf: ({ capacity }) => capacity }
const REMAINING: QuotaField = { name: 'X-RateLimit-Remaining', leftIn: Number, valueOf: ({ left }) => left }

const TRIPLET: readonly QuotaField[] = [
  { name: 'RateLimit-Limit', valueOf: ({ capacity }) => capacity },
  { name: 'RateLimit-Remaining', leftIn: Number, valueOf: ({ left }) => left },
  { name: 'RateLimit-Reset', valueOf: ({ reset }) => String(reset) },
]

const DICTIONARY: QuotaField = {
  name: 'RateLimit',
  leftIn: (value) => Number(/\bremaining=(\d+)/.exec(value)?.[1]),
  valueOf: ({ capacity, left, reset }) => `limit=${capacity}, remaining=${left}, reset=${reset}`,
}

const DIALECTS: Readonly<Record<HeaderChoice['dialect'], (textsOf: TextsOf) => readonly QuotaField[]>> = {
  // Revisions 8 to 11: lists of named items.
  'draft-11': (textsOf) => [
    list('RateLimit-Policy', /^"/, (view) => textsOf(view).policy),
    list('RateLimit', /^"/, (view) => `${textsOf(view).quoted};r=${sfInteger(view.remaining)};t=${secondsOf(view.replenishAfterMs)}`),
    ...TRIPLET,
  ],
  'draft-7': (textsOf) => [quotaPolicy(textsOf), DICTIONARY],
  'draft-6': (textsOf) => [quotaPolicy(textsOf), ...TRIPLET],
  off: () => [],
}

const RESETS: Readonly<Record<HeaderChoice['legacy'], readonly QuotaField[]>> = {
  off: [],
  delta: [{ name: 'X-RateLimit-Reset', valueOf: ({ reset }) => String(reset) }],
  epoch: [{ name: 'X-RateLimit-Reset', valueOf: ({ decision, reset }) => sfInteger(Math.ceil(decision.at / 1_000) + reset) }],
}

/** Revisions 6 and 7: the quota itself is the item. */
function quotaPolicy(textsOf: TextsOf): QuotaField {
  return list('RateLimit-Policy', /^\d/, (view) => textsOf(view).quota)
}

function list(name: string, begins: RegExp, itemOf: (view: LimitView) => string): QuotaField {
  return {
    name,
    begins,
    valueOf({ limits }) {
      let value = itemOf(limits[0] as LimitView)
      for (let index = 1; index < limits.length; index += 1) value += `, ${itemOf(limits[index] as LimitView)}`
      return value
    },
  }
}

function nearestOf({ limitName }: Decision, limits: readonly LimitView[]): LimitView | undefined {
  let nearest = limits[0]
  for (const view of limits) {
    if (view.name === limitName) return view
    if (view.remaining < (nearest as LimitView).remaining) nearest = view
  }
  return nearest
}
