import type { Decision, LimitView } from '../decision/decision.ts'
import type { HeaderChoice } from '../policy/model/header-choice.ts'
import { type LimitTexts, limitTexts, secondsOf, sfInteger } from './limit-texts.ts'

export interface Standing {
  readonly decision: Decision
  readonly limits: readonly LimitView[]
  /** `capacity`, `left` and `reset` describe one limit: the one that denied, otherwise the one that has the fewest tokens left. */
  readonly capacity: string
  readonly left: string
  /** Seconds. Undefined for slots, because nobody knows when one is given back. */
  readonly reset: number | undefined
}

export interface QuotaField {
  readonly name: string
  /** For lists: matches a value to which a second limiter may append items. */
  readonly begins?: RegExp
  /** Reads the remaining tokens from a value that another limiter has written. */
  readonly leftIn?: (value: string) => number
  /** For a reset: the fields with one value that describe the same limit. */
  readonly resetOf?: readonly string[]
  /** Undefined: the field is not sent. */
  valueOf(standing: Standing): string | undefined
}

export interface QuotaFields {
  /** In the order in which they are sent. */
  readonly fields: readonly QuotaField[]
  /** Undefined if the decision has no limit. */
  standingOf(decision: Decision): Standing | undefined
}

type TextsOf = (view: LimitView) => LimitTexts

export function quotaFields({ dialect, legacy, limit, remaining }: HeaderChoice): QuotaFields {
  const textsOf = limitTexts()
  const older = [...(limit ? [LIMIT] : []), ...(remaining ? [REMAINING] : []), ...RESETS[legacy]]
  const fields = [...DIALECTS[dialect](textsOf), ...older]
  return {
    fields,
    standingOf(decision) {
      const { limits } = decision
      const nearest = nearestOf(decision, limits)
      if (nearest === undefined) return undefined
      const { remaining: left, replenishAfterMs, unit } = nearest
      const { capacity } = textsOf(nearest)
      return { decision, limits, capacity, left: sfInteger(left), reset: unit === undefined ? secondsOf(replenishAfterMs) : undefined }
    },
  }
}

const limitIn = (name: string): QuotaField => ({ name, valueOf: ({ capacity }) => capacity })
const remainingIn = (name: string): QuotaField => ({ name, leftIn: Number, valueOf: ({ left }) => left })
const resetIn = (family: 'RateLimit' | 'X-RateLimit', textOf: (reset: number, decision: Decision) => string = String): QuotaField => ({
  name: `${family}-Reset`,
  resetOf: [`${family}-Limit`, `${family}-Remaining`],
  valueOf: ({ reset, decision }) => (reset === undefined ? undefined : textOf(reset, decision)),
})

const LIMIT = limitIn('X-RateLimit-Limit')
const REMAINING = remainingIn('X-RateLimit-Remaining')
const TRIPLET = [limitIn('RateLimit-Limit'), remainingIn('RateLimit-Remaining'), resetIn('RateLimit')]

const DICTIONARY: QuotaField = {
  name: 'RateLimit',
  leftIn: (value) => Number(/\bremaining=(\d+)/.exec(value)?.[1]),
  valueOf: ({ capacity, left, reset }) => `limit=${capacity}, remaining=${left}${reset === undefined ? '' : `, reset=${reset}`}`,
}

const DIALECTS: Readonly<Record<HeaderChoice['dialect'], (textsOf: TextsOf) => readonly QuotaField[]>> = {
  // Revisions 8 to 11: lists of named items.
  'draft-11': (textsOf) => [
    list('RateLimit-Policy', /^"/, (view) => textsOf(view).policy),
    list('RateLimit', /^"/, (view) => {
      const item = `${textsOf(view).quoted};r=${sfInteger(view.remaining)}`
      return view.unit === undefined ? `${item};t=${secondsOf(view.replenishAfterMs)}` : item
    }),
    ...TRIPLET,
  ],
  'draft-7': (textsOf) => [quotaPolicy(textsOf), DICTIONARY],
  'draft-6': (textsOf) => [quotaPolicy(textsOf), ...TRIPLET],
  off: () => [],
}

const RESETS: Readonly<Record<HeaderChoice['legacy'], readonly QuotaField[]>> = {
  off: [],
  delta: [resetIn('X-RateLimit')],
  epoch: [resetIn('X-RateLimit', (reset, { at }) => sfInteger(Math.ceil(at / 1_000) + reset))],
}

/** Revisions 6 and 7 of the draft: an item has no name. */
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
