import type { Reading } from '@sluice/dashboard/limits.js'
import type { LimitView } from 'sluice'
import type { Policy, Rule } from 'sluice/policy'

type Tier = Rule['tiers'][number]

const UNITS = [
  ['a second', 1_000],
  ['a minute', 60_000],
  ['an hour', 3_600_000],
  ['a day', 86_400_000],
] as const

/** A policy may have thousands of limits, and each shown one is sent several times a second. */
const MAX_SHOWN = 200
const shown = new WeakMap<Policy, ReadonlySet<string>>()
const byName = new WeakMap<Policy, ReadonlyMap<string, Rule>>()

function rulesOf(policy: Policy): ReadonlyMap<string, Rule> {
  const known = byName.get(policy) ?? new Map(policy.rules.map((rule) => [rule.name, rule]))
  byName.set(policy, known)
  return known
}

export function isShown(policy: Policy, name: string): boolean {
  const known =
    shown.get(policy) ??
    new Set(
      enforcing(policy)
        .slice(0, MAX_SHOWN)
        .map((rule) => rule.name),
    )
  shown.set(policy, known)
  return known.has(name)
}

function enforcing({ rules }: Policy): readonly Rule[] {
  return rules.filter(({ mode, tiers }) => mode === 'enforce' && tiers.length > 0)
}

export function isShared(policy: Policy, name: string): boolean {
  return rulesOf(policy).get(name)?.key.length === 0
}

/**
 * From 0 to 1. A bucket refills; a window keeps its count until it ends.
 * @param age milliseconds since the decision
 */
export function usedOf(policy: Policy, view: LimitView, age: number): number {
  const fillMs = fillOf(tierOf(policy, view), view)
  const left = Math.max(0, view.resetAfterMs - age)
  if (fillMs !== undefined) return Math.min(1, left / fillMs)
  return left === 0 ? 0 : 1 - view.remaining / view.limit
}

export function readingOf(policy: Policy, view: LimitView, age: number): Reading {
  const tier = tierOf(policy, view)
  const fillMs = fillOf(tier, view)
  return {
    name: view.name,
    limit: view.limit,
    used: usedOf(policy, view, age),
    resetMs: Math.max(0, view.resetAfterMs - age),
    ...(fillMs === undefined ? {} : { fillMs }),
    rate:
      fillMs === undefined
        ? `${numberText(view.limit)} in ${durationText(tier?.limit.windowMs ?? view.windowMs)}`
        : refillText(view.limit, fillMs),
    counts: countsText(rulesOf(policy).get(view.name)),
  }
}

/**
 * Limits as before any request. Of a rule's several limits (tiers) the last is shown, the one for requests that meet no condition, if there
 * is one.
 */
export function freshReadings(policy: Policy): { readonly limits: readonly Reading[]; readonly notShown: number } {
  const rules = enforcing(policy)
  const limits = rules.slice(0, MAX_SHOWN).map(({ name, tiers }) => {
    const tier = tiers.at(-1) as Tier
    const { capacity: limit } = tier.limit
    const windowMs = tier.windowMs ?? tier.limit.windowMs
    return readingOf(policy, { name, limit, remaining: limit, replenishAfterMs: 0, resetAfterMs: 0, windowMs }, 0)
  })
  return { limits, notShown: rules.length - limits.length }
}

function tierOf(policy: Policy, view: LimitView): Tier | undefined {
  const tiers = rulesOf(policy).get(view.name)?.tiers ?? []
  return tiers.find(({ limit, windowMs }) => limit.capacity === view.limit && (windowMs ?? limit.windowMs) === view.windowMs)
}

/**
 * Milliseconds in which an empty bucket is full; undefined for a window. A limit that no tier has is an override, and is taken for a
 * bucket.
 */
function fillOf(tier: Tier | undefined, { windowMs }: LimitView): number | undefined {
  if (tier === undefined) return windowMs
  return tier.limit.algorithm.name === 'token-bucket' ? tier.limit.windowMs : undefined
}

function countsText(rule: Rule | undefined): string {
  if (rule === undefined || rule.key.length === 0) return 'all requests together'
  return `each ${rule.key.map((sources) => sources.map(({ text }) => text).join(' or ')).join(' and ')}`
}

function refillText(tokens: number, fillMs: number): string {
  // Whole milliseconds are too coarse for the rate of a short refill.
  if (fillMs < 100) return `refilled within ${fillMs} ms`
  const perMs = tokens / fillMs
  const [unit, ms] = UNITS.find(([, length]) => perMs * length >= 0.995) ?? UNITS[3]
  return `refilled at ${numberText(Math.round(perMs * ms * 100) / 100)} ${unit}`
}

function numberText(number: number): string {
  return number.toLocaleString('en')
}

/** In the largest unit of which it has at least one: `1.5 s`, `10 min`. */
export function durationText(ms: number): string {
  const [unit, length] = (
    [
      ['d', 86_400_000],
      ['h', 3_600_000],
      ['min', 60_000],
      ['s', 1_000],
    ] as const
  ).find(([, size]) => ms >= size) ?? ['ms', 1]
  return `${Math.round((ms / length) * 10) / 10} ${unit}`
}
