import type { Reading } from '@sluice/dashboard/limits.js'
import type { Decision, DecisionEvent, LimitView } from 'sluice'
import type { Policy } from 'sluice/policy'
import { type PerSecond, perSecond, SECONDS } from './per-second.ts'
import { isShared, isShown, readingOf, usedOf } from './readings.ts'
import { reasonOf, type Refused } from './refusal.ts'

/** The last five minutes of a process, without keys. */
export interface Activity {
  /** The second that has just begun, since 1970. */
  readonly second: number
  /** Requests per second, oldest first, up to the second before `second`. */
  readonly allowed: readonly number[]
  readonly refused: readonly number[]
  readonly refusedBy: Readonly<Record<string, number>>
  readonly refusal?: Refused
  /** For each limit used in the last minute, what the client that has used most of it has left. */
  readonly limits: readonly Reading[]
  /** The policy's hash. */
  readonly policy: string
}

/** Milliseconds for which a view (what a client has left of a limit) is kept. */
const KEPT_MS = 60_000
/** Views are recorded until this many milliseconds after somebody last read them. */
const WATCHED_MS = 10_000
/** Rules of replaced policies count too. */
const MAX_RULES = 1_000

interface Seen {
  readonly view: LimitView
  readonly at: number
}

/** @param now milliseconds since 1970 */
export function createActivity(policyNow: () => Policy, now: () => number = Date.now) {
  const [allowed, refused] = [perSecond(), perSecond()]
  const refusedBy = new Map<string, PerSecond>()
  const seen = new Map<string, Seen>()
  let last: { readonly at: number; readonly decision: Decision } | undefined
  let watchedUntil = 0

  const note = (view: LimitView, at: number): void => {
    const current = policyNow()
    if (!isShown(current, view.name)) return
    const known = seen.get(view.name)
    // A view (what a client has left) does not name its client. All buckets of a rule refill equally, so the known client has the least
    // left until another view shows more use.
    const replaces = known === undefined || at < known.at || at - known.at > KEPT_MS || isShared(current, view.name)
    if (replaces || usedOf(current, view, 0) >= usedOf(current, known.view, at - known.at)) seen.set(view.name, { view, at })
  }
  const countRefusal = (name: string, second: number): void => {
    if (!isShown(policyNow(), name)) return
    if (!refusedBy.has(name) && refusedBy.size >= MAX_RULES) refusedBy.clear()
    const counts = refusedBy.get(name) ?? perSecond()
    refusedBy.set(name, counts)
    counts.add(second)
  }
  return {
    onDecision({ decision }: DecisionEvent) {
      const at = now()
      const second = Math.floor(at / 1_000)
      if (decision.allowed) allowed.add(second)
      else {
        refused.add(second)
        if (decision.limitName !== undefined) countRefusal(decision.limitName, second)
        last = { at, decision }
      }
      if (at < watchedUntil) for (const view of decision.limits) note(view, at)
    },
    report(): Activity {
      const at = now()
      const second = Math.floor(at / 1_000)
      watchedUntil = at + WATCHED_MS
      const current = policyNow()
      // From before the clock was set back.
      if (last !== undefined && last.at > at) last = undefined
      for (const [name, { at: then }] of seen) if (then > at) seen.delete(name)
      const counts = [...refusedBy].filter(([name]) => isShown(current, name))
      return {
        second,
        allowed: allowed.before(second),
        refused: refused.before(second),
        refusedBy: Object.fromEntries(counts.map(([name, seconds]) => [name, sum(seconds.before(second))])),
        ...(last === undefined ? {} : { refusal: { at: last.at, why: reasonOf(last.decision) } }),
        limits: [...seen.values()]
          .filter(({ view }) => isShown(current, view.name))
          .map(({ view, at: then }) => readingOf(current, view, at - then)),
        policy: current.hash,
      }
    },
  }
}

/** A rule may have an inherited name, such as `constructor`. */
export function refusedOf({ refusedBy }: Activity, name: string): number {
  return Object.hasOwn(refusedBy, name) ? (refusedBy[name] ?? 0) : 0
}

export function sumActivity(all: readonly Activity[]): Activity | undefined {
  const [first, ...more] = all
  if (first === undefined) return undefined
  return more.reduce(addActivity, first)
}

function addActivity(one: Activity, other: Activity): Activity {
  const second = Math.max(one.second, other.second)
  const add = (name: 'allowed' | 'refused'): number[] => {
    const [left, right] = [one, other].map((each) => shifted(each[name], second - each.second)) as [readonly number[], readonly number[]]
    return left.map((count, index) => count + (right[index] ?? 0))
  }
  // An assignment to `__proto__`, a possible rule name, would add no property.
  const names = Object.keys({ ...one.refusedBy, ...other.refusedBy })
  const refusedBy = Object.fromEntries(names.map((name) => [name, refusedOf(one, name) + refusedOf(other, name)]))
  const limits = new Map(one.limits.map((limit) => [limit.name, limit]))
  for (const limit of other.limits) if (limit.used >= (limits.get(limit.name)?.used ?? 0)) limits.set(limit.name, limit)
  const refusal = [one.refusal, other.refusal].filter((each) => each !== undefined).toSorted((a, b) => b.at - a.at)[0]
  return {
    second,
    allowed: add('allowed'),
    refused: add('refused'),
    refusedBy,
    ...(refusal === undefined ? {} : { refusal }),
    limits: [...limits.values()],
    policy: one.policy,
  }
}

/** Shifts counts that were reported `seconds` seconds before others, so that all end with the same second. */
function shifted(counts: readonly number[], seconds: number): readonly number[] {
  return [...counts, ...Array.from({ length: Math.min(seconds, SECONDS) }, () => 0)].slice(-counts.length)
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0)
}
