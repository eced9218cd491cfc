import type { Decision, LimitView } from '../decision/decision.ts'
import type { HeaderChoice } from '../policy/header-choice.ts'
import { sfInteger, sfNumber, sfString } from './structured.ts'

/** What one answer says about its limits, as far as every field needs it. */
export interface Standing {
  readonly decision: Decision
  readonly limits: readonly LimitView[]
  /** Texts of the limit that single-valued fields describe. */
  readonly capacity: string
  readonly left: string
  readonly reset: number
}

/** One header field about quota. */
export interface QuotaField {
  readonly name: string
  /** What a value of the same form begins with, where it is a list to which a second limiter appends its items. */
  readonly begins?: RegExp
  /** The tokens left that a value of another limiter tells, where this field tells them. */
  readonly leftIn?: (value: string) => number
  valueOf(standing: Standing): string
}

/** What of an item stays the same from answer to answer. */
interface Item {
  readonly limit: number
  readonly windowMs: number
  readonly text: string
}

/** More names than a policy has; names come from configuration, but nothing may grow without a bound. */
const MOST_ITEMS = 4_096

const TRIPLET: readonly QuotaField[] = [
  { name: 'RateLimit-Limit', valueOf: ({ capacity }) => capacity },
  { name: 'RateLimit-Remaining', leftIn: Number, valueOf: ({ left }) => left },
  { name: 'RateLimit-Reset', valueOf: ({ reset }) => String(reset) },
]

/** The fields of a choice, in the order they are sent. Their names are unique. */
export function quotaFields({ dialect, legacy, limit, remaining }: HeaderChoice): readonly QuotaField[] {
  return [
    ...FIELDS[dialect](),
    ...(limit ? [{ name: 'X-RateLimit-Limit', valueOf: ({ capacity }: Standing) => capacity }] : []),
    ...(remaining ? [{ name: 'X-RateLimit-Remaining', leftIn: Number, valueOf: ({ left }: Standing) => left }] : []),
    ...LEGACY_RESET[legacy],
  ]
}

const FIELDS: Readonly<Record<HeaderChoice['dialect'], () => readonly QuotaField[]>> = {
  // Revisions 8 to 11: lists of named items.
  'draft-11': () => [
    list('RateLimit-Policy', /^"/, ({ name, limit, windowMs }) => `${sfString(name)};q=${sfInteger(limit)};w=${windowOf(windowMs)}`),
    list(
      'RateLimit',
      /^"/,
      ({ name }) => `${sfString(name)};r=`,
      ({ remaining, replenishAfterMs }) => `${sfInteger(remaining)};t=${secondsOf(replenishAfterMs)}`,
    ),
    ...TRIPLET,
  ],
  'draft-7': () => [
    policyOfNumbers(),
    {
      name: 'RateLimit',
      leftIn: (value) => Number(/\bremaining=(\d+)/.exec(value)?.[1]),
      valueOf: ({ capacity, left, reset }) => `limit=${capacity}, remaining=${left}, reset=${reset}`,
    },
  ],
  'draft-6': () => [policyOfNumbers(), ...TRIPLET],
  off: () => [],
}

const LEGACY_RESET: Readonly<Record<HeaderChoice['legacy'], readonly QuotaField[]>> = {
  off: [],
  delta: [{ name: 'X-RateLimit-Reset', valueOf: ({ reset }) => String(reset) }],
  epoch: [{ name: 'X-RateLimit-Reset', valueOf: ({ decision, reset }) => sfInteger(Math.ceil(decision.at / 1_000) + reset) }],
}

/** Revisions 6 and 7: the quota itself is the item. */
function policyOfNumbers(): QuotaField {
  return list('RateLimit-Policy', /^\d/, ({ limit, windowMs }) => `${sfInteger(limit)};w=${windowOf(windowMs)}`)
}

/** A list with an item for each limit: a text that is made once for each limit, and what changes from answer to answer. */
function list(name: string, begins: RegExp, fixed: (limit: LimitView) => string, changing?: (limit: LimitView) => string): QuotaField {
  const items = new Map<string, Item>()
  const itemOf = (view: LimitView): string => {
    const known = items.get(view.name)
    if (known !== undefined && known.limit === view.limit && known.windowMs === view.windowMs) return known.text
    const text = fixed(view)
    if (items.size >= MOST_ITEMS) items.clear()
    items.set(view.name, { limit: view.limit, windowMs: view.windowMs, text })
    return text
  }
  const whole = changing === undefined ? itemOf : (view: LimitView): string => itemOf(view) + changing(view)
  return {
    name,
    begins,
    valueOf({ limits }) {
      let value = whole(limits[0] as LimitView)
      for (let index = 1; index < limits.length; index += 1) value += `, ${whole(limits[index] as LimitView)}`
      return value
    },
  }
}

/** What fields are made from; undefined where no limit is known, so that nothing is told. */
export function standingOf(decision: Decision): Standing | undefined {
  const { limits } = decision
  const nearest = nearestOf(decision, limits)
  if (nearest === undefined) return undefined
  const { limit, remaining, replenishAfterMs } = nearest
  return { decision, limits, capacity: sfInteger(limit), left: sfInteger(remaining), reset: secondsOf(replenishAfterMs) }
}

/** The limit that denied, or else the one that would run out first. */
function nearestOf({ limitName }: Decision, limits: readonly LimitView[]): LimitView | undefined {
  let nearest = limits[0]
  for (const view of limits) {
    if (view.name === limitName) return view
    if (view.remaining < (nearest as LimitView).remaining) nearest = view
  }
  return nearest
}

function secondsOf(ms: number): number {
  return sfNumber(Math.ceil(ms / 1_000))
}

/** Windows are whole seconds above 0. */
function windowOf(ms: number): string {
  return String(Math.max(1, secondsOf(ms)))
}
