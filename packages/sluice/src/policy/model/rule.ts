import type { AnyLimit } from '../../algorithms/algorithm.ts'
import { finalPath } from '../../identity/path-readings.ts'
import type { Request } from '../../identity/request.ts'
import type { Source } from '../../identity/source.ts'
import { type FindByCondition, indexByCondition } from './condition-index.ts'
import type { Exemption } from './exemption.ts'
import type { Micros } from '../../time/micros.ts'
import { type Glob, pathSegments } from './glob.ts'
import { finish, type Sliced } from './sliced.ts'

/** The outcome of a group if the store cannot answer. */
export type OnStoreFailure = 'allow' | 'deny' | 'local'

/** `shadow` decides and reports, but never denies; `off` does nothing. */
export type Mode = 'enforce' | 'shadow' | 'off'

/** One compiled rule: which requests it matches, their key, their limit and their cost. */
export interface Rule {
  readonly name: string
  readonly mode: Mode
  readonly match: Match
  /** Requests that this rule does not limit. */
  readonly exempt?: readonly Exemption[]
  /** Several parts make one key of several values; none means one bucket for all requests. */
  readonly key: readonly KeyPart[]
  /** The first tier whose conditions hold gives the limit; if none holds, the rule does not apply. */
  readonly tiers: readonly Tier[]
  readonly cost: Cost
  /** Of this many requests, one is charged this many times its cost and the others nothing; absent: every request is charged. */
  readonly sample?: number
  readonly onStoreFailure: OnStoreFailure
  /** The most tokens that the rule may admit above its limit; Infinity: any number; absent: not checked. */
  readonly maxOvergrant?: number
}

/** Conditions on a request. Omitted fields match every request. */
export interface Match {
  readonly path?: Glob
  readonly methods?: ReadonlySet<string>
  readonly hosts?: readonly Glob[]
  readonly when: readonly Condition[]
}

/** A condition on a request for a rule or a tier. */
export interface Condition {
  readonly source: Source
  /** For messages. */
  readonly value: string
  /** Replaces the comparison with `value`. */
  accepts?(value: string): boolean
  /** Replaces reading the source. */
  test?(request: Request): Truth
}

/** The truth of a condition; undefined if upstreams may differ about it. */
export type Truth = boolean | undefined

/**
 * The sources of one part of a key; the first that has a value counts. Each source has its own position in the key, so a subject and an
 * address with the same text stay apart. All requests without any value share one bucket.
 */
export type KeyPart = readonly Source[]

export interface Tier {
  /** Separates the states of a rule's tiers; empty for the tier without conditions. */
  readonly label: string
  readonly when: readonly Condition[]
  readonly limit: AnyLimit
  /** The period that the policy states, if it replaces the time the bucket takes to fill. */
  readonly windowMs?: number
}

export interface Cost {
  readonly text: string
  of(request: Request): number
  /** The cost of a request of which nothing is known. */
  readonly unknown: number
  /** The highest cost of any request. */
  readonly most?: number
}

/** Another limit for one key of one rule; it replaces the limit of every tier. */
export interface Override {
  readonly rule: string
  /** The values of the rule's key in their order; undefined for absent ones. */
  readonly values: readonly (string | undefined)[]
  readonly limit: AnyLimit
  /** The first instant at which it is no longer in force; absent: no end. */
  readonly until?: Micros
}

export const DEFAULT_DEADLINE = { deadlineMs: 50, defaultDeadline: true } as const

/** The settings of a policy for a store that cannot answer. */
export interface FailureChoice {
  /** Milliseconds a remote store may take. */
  readonly deadlineMs: number
  /** Set if the policy states no deadline: the first calls may then take longer, while the first connection is made. */
  readonly defaultDeadline?: true
  /** For rules without their own `onStoreFailure`. */
  readonly policy: OnStoreFailure
  /** The most processes that share the store, and the longest outage in milliseconds; bounds are computed from them. */
  readonly processes?: number
  readonly outageMs?: number
  /** Absent: the defaults of the breaker. */
  readonly breaker?: BreakerChoice
}

/** When to stop calling a store that fails, and when to probe it. An absent field is the breaker's default. */
export interface BreakerChoice {
  /** Failures within `windowMs` milliseconds that open it. */
  readonly failures?: number
  readonly windowMs?: number
  /** Milliseconds between probes. */
  readonly probeMs?: number
}

/** The first tier whose conditions hold; if several may be the first, the strictest of them. */
export function tierOf(rule: Rule, request: Request): Tier | undefined {
  let possible: Tier | undefined
  for (const tier of (tierIndexes.get(rule.tiers) ?? finish(indexTiers(rule)))(request)) {
    const truth = allHold(tier.when, request)
    if (truth === false) continue
    possible = possible === undefined ? tier : stricter(possible, tier)
    if (truth === true) break
  }
  return possible
}

const tierIndexes = new WeakMap<readonly Tier[], FindByCondition<Tier>>()

/** Indexes the tiers of a rule for `tierOf`, which otherwise does it at the first request. */
export function* indexTiers({ tiers }: Rule): Sliced<FindByCondition<Tier>> {
  const find = yield* indexByCondition(tiers, ({ when }) => when)
  tierIndexes.set(tiers, find)
  return find
}

/** The tier with the lower long-term rate; for equal rates, the one with the smaller capacity. */
function stricter(one: Tier, other: Tier): Tier {
  const [a, b] = [rateOf(one.limit), rateOf(other.limit)]
  if (a !== b) return a < b ? one : other
  return one.limit.capacity <= other.limit.capacity ? one : other
}

function rateOf({ algorithm, plan }: AnyLimit): number {
  const { n, m } = algorithm.envelope(plan)
  return n / m
}

/** The values of a rule's key; undefined for absent ones. Of several readings of the path only those that the rule matches count. */
export function keyOf(rule: Rule, request: Request): (string | undefined)[] {
  const { path } = rule.match
  const seen =
    path === undefined || request.readings === undefined
      ? request
      : { ...request, path: finalPath(request, (reading) => path.matches(pathSegments(reading.path))) }
  return rule.key.flatMap((sources) => {
    const values = sources.map((source) => source.read(seen))
    const first = values.findIndex((value) => value !== undefined)
    return values.map((value, index) => (index === first ? value : undefined))
  })
}

/** Whether a condition holds; undefined if upstreams may take different values and only some of them satisfy it. */
export function truthOf(condition: Condition, request: Request): Truth {
  const { source, value } = condition
  if (condition.test !== undefined) return condition.test(request)
  const accepts = (found: string | undefined): boolean =>
    found !== undefined && (condition.accepts === undefined ? found === value : condition.accepts(found))
  const several = source.alternatives?.(request)
  if (several === undefined) return accepts(source.read(request))
  if (!several.some(accepts)) return false
  // A value that appears twice is never certain, even if both are equal: the upstream may refuse it, or read neither.
  return accepts(source.read(request)) && several.every(accepts) ? true : undefined
}

/** Whether all conditions hold; false if one does not, even if others are unknown. */
export function allHold(conditions: readonly Condition[], request: Request): Truth {
  let all: Truth = true
  for (const condition of conditions) {
    const truth = truthOf(condition, request)
    if (truth === false) return false
    if (truth === undefined) all = undefined
  }
  return all
}

/** Why a rule cannot be sampled this way; undefined if it can. The counted request pays for all that it represents. */
export function sampleProblem(sample: number = 1, { most = Infinity }: Cost, tiers: readonly Tier[]): string | undefined {
  const least = Math.min(...tiers.map(({ limit }) => limit.capacity))
  if (sample === 1 || most * sample <= least) return undefined
  return `one request in ${sample} is charged ${sample} times up to ${most}, above the capacity ${least} of this rule: it could never pass`
}
