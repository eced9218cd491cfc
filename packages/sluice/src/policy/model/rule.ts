import type { AnyLimit } from '../../algorithms/algorithm.ts'
import { finalPath } from '../../identity/path-readings.ts'
import type { Request } from '../../identity/request.ts'
import type { Source } from '../../identity/source.ts'
import { type FindByCondition, indexByCondition } from './condition-index.ts'
import type { Exemption } from './exemption.ts'
import type { Micros } from '../../time/micros.ts'
import { type Glob, pathSegments } from './glob.ts'
import { finish, type Sliced } from './sliced.ts'

/** What happens to requests if the store cannot answer. */
export type OnStoreFailure = 'allow' | 'deny' | 'local'

/** `shadow` decides and reports, but never denies; `off` does nothing. */
export type Mode = 'enforce' | 'shadow' | 'off'

/** One compiled rule: which requests it matches, their key, their limit and their cost. */
export interface Rule {
  /** The name of the rule; unique in the policy. It appears in headers, in metrics, and in the ids of states in the store. */
  readonly name: string
  /** Whether the rule denies (`enforce`), only reports (`shadow`), or does nothing (`off`). */
  readonly mode: Mode
  /** The requests that the rule applies to. */
  readonly match: Match
  /** Requests that this rule does not limit. */
  readonly exempt?: readonly Exemption[]
  /** Several parts make one key of several values. Without parts all requests share one bucket. */
  readonly key: readonly KeyPart[]
  /** The limits of the rule, called tiers. The first one whose conditions hold applies; if none holds, the rule does not apply. */
  readonly tiers: readonly Tier[]
  /** The tokens that a request takes. */
  readonly cost: Cost
  /** With `sample` n, one of n requests is charged n times its cost, and the others nothing. Absent: every request is charged. */
  readonly sample?: number
  /** What happens to requests of this rule while the store fails. */
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

/** A condition of a rule or a tier on a request: a source (a reader of one value, such as a header) has `value`. */
export interface Condition {
  readonly source: Source
  /** The required value; with `accepts` or `test` it is only for messages. */
  readonly value: string
  /** Tests the value of the source. Replaces the comparison with `value`. */
  accepts?(value: string): boolean
  /** Tests the request. Replaces reading the source. */
  test?(request: Request): Truth
}

/** Whether a condition holds; undefined if upstreams may read the request differently. */
export type Truth = boolean | undefined

/**
 * The sources (readers of a value, such as a header) of one part of a key; the first that has a value counts. Each source has its own
 * position in the key, so a subject and an address with the same text are different keys. Requests for which no source has a value share
 * one bucket.
 */
export type KeyPart = readonly Source[]

/** One of the limits of a rule. */
export interface Tier {
  /** A part of the ids of the tier's states, so that tiers of one rule have separate states; empty for the tier without conditions. */
  readonly label: string
  /** Conditions that must all hold; none: the tier is for every request. */
  readonly when: readonly Condition[]
  /** The limit of the tier; its states are separate from those of other tiers. */
  readonly limit: AnyLimit
  /** The period that the policy states. It is reported as the window instead of the time that the bucket takes to fill. */
  readonly windowMs?: number
}

export interface Cost {
  readonly text: string
  of(request: Request): number
  /** The cost of a request whose facts are not known. */
  readonly unknown: number
  /** The highest cost of any request. */
  readonly most?: number
}

/** Another limit for one key of one rule. It applies in place of each of the rule's tiers (limits). */
export interface Override {
  /** Name of the rule. */
  readonly rule: string
  /** The values of the rule's key in their order; undefined for absent ones. */
  readonly values: readonly (string | undefined)[]
  /** The limit of this key, in every tier. */
  readonly limit: AnyLimit
  /** The first instant at which the override no longer applies; absent: it has no end. */
  readonly until?: Micros
}

export const DEFAULT_DEADLINE = { deadlineMs: 50, defaultDeadline: true } as const

/** The settings of a policy for a store that cannot answer. */
export interface FailureChoice {
  /** Milliseconds a remote store may take. */
  readonly deadlineMs: number
  /** Set if the policy states no deadline: the first calls may then take longer, while the first connection is made. */
  readonly defaultDeadline?: true
  /** The failure policy of rules without their own `onStoreFailure`. */
  readonly policy: OnStoreFailure
  /**
   * The most processes that share the store. By how much they may exceed limits under the failure policy `local` is computed for this
   * number.
   */
  readonly processes?: number
  /** The longest outage, in milliseconds, for which it is computed by how much limits may be exceeded under the failure policy `local`. */
  readonly outageMs?: number
  /** The options of the breaker; absent: its defaults. */
  readonly breaker?: BreakerChoice
}

/** When to stop calling a store that fails, and when to probe it. For an absent field the default of the circuit breaker applies. */
export interface BreakerChoice {
  /** The number of failures within `windowMs` milliseconds that opens the breaker. */
  readonly failures?: number
  /** Milliseconds over which failures are counted. */
  readonly windowMs?: number
  /** Milliseconds between probes. */
  readonly probeMs?: number
}

/** The values of a rule's key in their order; undefined for absent ones. */
export type KeyValues = Override['values']

/**
 * The first tier (limit of the rule) whose conditions hold. If it is not known whether some conditions hold, several tiers may be the
 * first. Then the strictest of these is returned.
 */
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

/** Indexes the tiers (limits) of a rule for `tierOf`. Without this call `tierOf` makes the index at the first request. */
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

/**
 * The values of a rule's key; undefined for absent ones. If upstreams may read the path in several ways, only those count in which the rule
 * matches.
 */
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
  // A header or parameter that appears twice is never certain, even with equal values: the upstream may refuse the request or ignore both.
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

/**
 * Why a rule cannot have this `sample`; undefined if it can. The counted request is charged for all requests that it represents, so that
 * charge must fit into every limit.
 */
export function sampleProblem(sample = 1, { most = Infinity }: Cost, tiers: readonly Tier[]): string | undefined {
  const least = Math.min(...tiers.map(({ limit }) => limit.capacity))
  if (sample !== 1 && tiers.some(({ limit }) => limit.algorithm.holding !== undefined))
    return 'a concurrency limit counts every request, because each one gives back its own slot'
  if (sample === 1 || most * sample <= least) return undefined
  return `one request in ${sample} is charged ${sample} times up to ${most}, above the capacity ${least} of this rule: it could never pass`
}
